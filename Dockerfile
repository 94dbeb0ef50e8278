# The README's first command in an image, which then has the program and what it needs:
#   docker build --tag brainsmith .
#   docker run --rm --volume "$PWD":/work --workdir /work brainsmith brainsmith health

# A machine as the README asks for: Python 3.11, g++ and make.
FROM python:3.11-bookworm AS machine

FROM machine
WORKDIR /brainsmith
COPY . .
RUN make example
ENV PATH="/brainsmith/.venv/bin:$PATH"
CMD ["brainsmith", "--help"]
