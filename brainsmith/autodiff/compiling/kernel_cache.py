"""Build the C++ of a kernel once per content, and call it."""

from __future__ import annotations

import ctypes
import json
import platform
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from brainsmith.errors import OpError, ToolError
from brainsmith.plugin.processes import run
from brainsmith.plugin.tools import which
from brainsmith.settings import cache_dir
from brainsmith.store.fingerprint import digest
from brainsmith.store.folders import KeptFolders

FLAGS = (
    "-std=c++17", "-O3", "-fPIC", "-shared", "-fno-gnu-unique", "-fwrapv", "-fno-math-errno", "-fno-trapping-math",
    "-ffp-contract=off", "-fno-thread-jumps", "-fno-ssa-phiopt", "-fschedule-insns", "-pthread",
    "-Wall", "-Wextra", "-Wno-psabi",
)  # fmt: skip
"""None of them changes a value: -ffast-math does, and multiply-add where numpy rounds twice (contraction) does too.

Without jump threading and its like a selection stays one, and unrolled vectors are computed in turn (-fschedule-insns).
"""

NATIVE = ("-march=native", "-mprefer-vector-width=512")
SECONDS = 120.0


def load_kernel(source: str, name: str) -> Callable[..., None]:
    """Return the function of a translation unit, which is compiled once per content, compiler and CPU.

    Args:
        source: With a function `brainsmith_run`.
        name: How messages name it.

    Raises:
        ToolError: There is no g++, or it fails.
        OpError: The cache cannot be written.
    """
    key = _key(source)
    function = _LOADED.get(key)
    if function is None:
        function = ctypes.CDLL(str(build(source, name))).brainsmith_run
        function.restype = None
        function.argtypes = (ctypes.c_int64, *[ctypes.c_void_p] * 3, ctypes.c_int64)
        _LOADED[key] = function
    return function


_LOADED: dict[str, Callable[..., None]] = {}
"""The functions of this process, by key: a library that is in use is never unloaded."""


def build(source: str, name: str) -> Path:
    """Return the library of a translation unit."""
    compiler = _compiler()

    def make(work: Path) -> None:
        (work / "unit.cpp").write_text(source, encoding="utf-8")
        command = [compiler, *FLAGS, str(work / "unit.cpp"), "-o", str(work / "op.so")]
        try:
            _compile([*command, *NATIVE], name)
        except ToolError:  # a compiler that does not know this CPU
            _compile(command, name)

    store = KeptFolders(Path(cache_dir()) / "ops", failure=OpError, holds_code=True)
    return store.obtain(_key(source), make, {"of": f"operation {name}"}) / "op.so"


def _compile(command: list[str], name: str) -> None:
    run(command, timeout=SECONDS, what=f"compiling operation {name!r}")


def _compiler() -> str:
    path = which("g++")
    if not path:
        raise ToolError(
            "an operation cannot be compiled: there is no g++ on PATH\n"
            "  install a C++ compiler, such as Debian's g++; the operation itself runs without being compiled"
        )
    return path


def _key(source: str) -> str:
    """Return what stands for a library: its source, how it is compiled, by which compiler, and for which CPU."""
    path = Path(_compiler()).resolve()
    status = path.stat()
    content = [source, FLAGS, NATIVE, str(path), status.st_size, status.st_mtime_ns, _cpu()]
    return digest(json.dumps(content))


@lru_cache(maxsize=1)
def _cpu() -> str:
    """Return what tells this CPU's instructions from another's."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    names = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in lines if line.startswith(names)}))
