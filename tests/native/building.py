"""Native plugins for tests, made on the fly with cc and cargo."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from brainsmith import native

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HOME = os.environ.get("HOME", "/")
"""The user's own: tests have another, in which rustup finds no compiler."""


def run_tool(command, folder=None):
    """Run a compiler, and return what it prints; what goes wrong is shown."""
    environment = {**os.environ, "HOME": HOME}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def expect_cargo():
    """Skip the test where Rust cannot be built."""
    environment = {**os.environ, "HOME": HOME}
    cargo = shutil.which("cargo")
    if (
        cargo is None
        or subprocess.run([cargo, "--version"], env=environment, capture_output=True, check=False).returncode
    ):
        pytest.skip("needs cargo and a Rust toolchain; https://rustup.rs")


def compile_c(source, target, *flags):
    """Compile one C file to a shared library."""
    run_tool(["cc", "-O0", "-shared", "-fPIC", f"-I{native.include_folder()}", source, "-o", target, *flags])
    return target


def build_plugin(folder, *flags, name="spoilt.so", **parts):
    """Build `plugin.c` with some of its parts replaced; texts are to be given with their quotes."""
    defined = [f"-D{part}={value}" for part, value in parts.items()]
    return compile_c(HERE / "plugin.c", Path(folder) / name, *defined, *flags)


def is_mapped(text):
    """Tell whether this process's memory has a file whose name has this text."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        return any(text in line for line in file)
