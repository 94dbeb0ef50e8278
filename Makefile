# Two commands do everything on a machine that has Python 3.11 or newer, g++, make and a package index:
#   make example   builds the shipped example to a packed accelerator, and ends with its report
#   make test      passes the tests
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OUTPUT ?= out/digits_mlp
SITE ?= out/site
# What pytest makes of the tests' sources is kept, whatever the variable says: without it collecting takes twice as long.
# A worker takes tests of the other one when its own are done, so a module's fixtures are mostly made once.
# A test that should be in the other tier is seen at the end. The laws are tried in part by the first, and in full by the second.
# Those of the second tier wait for other processes in a quarter of the time, so one more worker than cores runs them.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --dist worksteal --durations 20 --durations-min 2

.PHONY: example test test-slow check docs release install clean

example: install
	$(BIN)/brainsmith build examples/digits/mlp.onnx --blueprint blueprints/digits_mlp_rtl.yaml --output $(OUTPUT)

test: install
	$(PYTEST) -n 2 -m "not slow"

test-slow: install
	LAWS=all $(PYTEST) -n 3 -m "slow or hypothesis"

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The documentation as a site. A broken link, or anything else that it warns of, is an error.
docs: install $(VENV)/.docs
	$(BIN)/python tools/site/make_site.py --output "$(SITE)" --url "$(SITE_URL)"

$(VENV)/.docs: requirements/docs.txt $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements/docs.txt
	@touch $@

# Wheel and sdist in dist/, tried in a new environment.
release: install
	$(BIN)/python tools/release.py

install: $(READY)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m compileall -q brainsmith

# Compiling on all cores at the end takes half the time of pip's own compiling.
$(READY): requirements/lock.txt pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.11 ...")'
	"$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile -r requirements/lock.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	-@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m compileall -q -j 0 $(VENV)/lib > /dev/null 2>&1
	@touch $(READY)

clean:
	rm -rf $(VENV) .kept out dist
