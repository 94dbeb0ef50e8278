"""What compiles HLS C++: g++, and the headers ap_int.h, ap_fixed.h, hls_stream.h."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import ToolError
from brainsmith.plugin.tools import find_hls_headers, find_program

if TYPE_CHECKING:
    from brainsmith.plugin.tools import Tool


def find_hls_compiler() -> tuple[Tool, Path]:
    """Return the C++ compiler, and the folder of the headers (`find_headers`).

    Raises:
        ToolError: One of them is missing.
    """
    compiler = find_program("g++", "install a C++ compiler, such as Debian's g++")
    if not compiler.usable:
        raise ToolError(f"no HLS C++ can be compiled: g++ is {compiler.status}: {compiler.note}")
    return compiler, find_headers()


def find_headers() -> Path:
    """Return the folder of the headers, which the package hls4ml brings along (Apache-2.0); it is not imported.

    Raises:
        ToolError: They are missing.
    """
    tool = find_hls_headers()
    if not tool.usable:
        raise ToolError(f"no HLS C++ can be compiled: the headers are {tool.status}: {tool.note}")
    return Path(tool.path)
