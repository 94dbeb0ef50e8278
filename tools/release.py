"""Make the files of a release, and try them: `make release`, or `python tools/release.py --output dist`.

The versions must agree, and nothing may be uncommitted. The sdist is built from the files that git has, the wheel from
the sdist. Then the wheel is installed in a new environment, with the dependencies that it declares and FINN, and the
README's example is built from it: outside of this checkout, so that every file comes from the wheel.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "rtl,hls"
"""What the example needs besides FINN."""

VERSIONS = {
    "brainsmith/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "docs/changelog.md": r"^## (.+)$",
}
"""Where else the version is stated; in the changelog it is the first heading."""

_SDIST = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"


class ReleaseError(Exception):
    """A release cannot be made of this checkout."""


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a command, and show it and what it prints; raise ReleaseError if it fails."""
    print(f"$ {shlex.join(command)}", flush=True)
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def disagreements(root: Path) -> list[str]:
    """Return the places that state another version than pyproject.toml."""
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    found = []
    for name, pattern in VERSIONS.items():
        match = re.search(pattern, (root / name).read_text(), re.MULTILINE)
        stated = match.group(1) if match else "no version"
        if stated != version:
            found.append(f"{name} states {stated}; pyproject.toml states {version}")
    return found


def tracked(root: Path) -> list[str]:
    """Return the files of the checkout that git has and that were not deleted."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in names.split("\0") if name and (root / name).is_file()]


def build(root: Path, output: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it; return both. Untracked files and old builds are not read."""
    with TemporaryDirectory() as made:
        source = Path(made) / "source"
        for name in tracked(root):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, source / name)
        sdist = output / run([sys.executable, "-c", _SDIST, str(output)], source).splitlines()[-1]
        with tarfile.open(sdist) as archive:
            archive.extractall(made, filter="data")
        (unpacked,) = (path for path in Path(made).iterdir() if path != source)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        run([*pip, "--wheel-dir", str(output), "."], unpacked)
    (wheel,) = output.glob(f"{sdist.name.removesuffix('.tar.gz')}-*.whl")
    return sdist, wheel


def differences(wheel: Path, names: Sequence[str]) -> list[str]:
    """Return the files of the package that the wheel lacks, and files in it that are not the package's."""
    package = {name for name in names if name.startswith("brainsmith/")}
    with ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    return [
        *(f"the wheel lacks {name}" for name in sorted(package - held)),
        *(f"the wheel has {name}, which git does not have" for name in sorted(held - package)),
    ]


def example_command(readme: str) -> list[str]:
    """Return the first command in the README that builds something."""
    match = re.search(r"^brainsmith build .+$", readme, re.MULTILINE)
    if match is None:
        raise ReleaseError("README.md has no line that starts with 'brainsmith build'")
    return shlex.split(match.group())


def try_wheel(wheel: Path, root: Path) -> str:
    """Install the wheel in a new environment and build the README's example; return what that printed."""
    with TemporaryDirectory() as made:
        place = Path(made)
        for name in ("examples", "blueprints"):
            shutil.copytree(root / name, place / name)
        run([sys.executable, "-m", "venv", "environment"], place)
        programs = place / "environment" / "bin"
        python = str(programs / "python")
        run([python, "-m", "pip", "install", "--quiet", f"{wheel}[{EXTRAS}]"], place)
        run([str(programs / "brainsmith"), "install-finn"], place)
        environment = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": made}
        where = run([python, "-c", "import brainsmith; print(brainsmith.__file__)"], place, environment)
        if not where.startswith(str(place)):
            raise ReleaseError(f"brainsmith was imported from {where.strip()}, not from the new environment")
        return run(example_command((root / "README.md").read_text()), place, environment)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make and try a release; return the exit code."""
    parser = argparse.ArgumentParser(prog="tools/release.py", description="Build and try wheel and sdist.")
    parser.add_argument("--output", type=Path, default=Path("dist"), help="where the files go (dist)")
    output = parser.parse_args(arguments).output.resolve()
    try:
        if found := disagreements(ROOT):
            raise ReleaseError("\n".join(found))
        if changed := run(["git", "status", "--porcelain"], ROOT):
            raise ReleaseError(f"commit these files first, or delete them:\n{changed}")
        output.mkdir(parents=True, exist_ok=True)
        sdist, wheel = build(ROOT, output)
        if found := differences(wheel, tracked(ROOT)):
            raise ReleaseError("\n".join(found))
        print(try_wheel(wheel, ROOT))
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{sdist}\n{wheel}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
