"""Native plugins for tests, made on the fly with cc."""

import shutil
import subprocess
from pathlib import Path

from brainsmith import native

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def compile_c(source, target, *flags):
    """Compile one C file to a shared library; what goes wrong is shown."""
    command = [
        "cc",
        "-O1",
        "-shared",
        "-fPIC",
        f"-I{native.include_folder()}",
        *flags,
        str(source),
        "-o",
        str(target),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def build_plugin(folder, *flags, name="spoilt.so", **parts):
    """Build `plugin.c` with some of its parts replaced; texts are to be given with their quotes."""
    defined = [f"-D{part}={value}" for part, value in parts.items()]
    return compile_c(HERE / "plugin.c", Path(folder) / name, *defined, *flags)


def build_rust(target_folder, folder=ROOT / "examples" / "native_rust"):
    """Build the crate of the example, without a network; None where there is no cargo."""
    if shutil.which("cargo") is None:
        return None
    command = ["cargo", "build", "--offline", "--release", "--quiet", "--target-dir", str(target_folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(target_folder) / "release" / "librust_plugin_example.so"


def is_mapped(text):
    """Tell whether this process's memory has a file whose name has this text."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        return any(text in line for line in file)
