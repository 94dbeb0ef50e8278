"""Where the headers of HLS C++ are: ap_int.h, ap_fixed.h, hls_stream.h."""

from __future__ import annotations

from pathlib import Path

from brainsmith.errors import ToolError
from brainsmith.plugin.tools import find_hls_headers


def find_headers() -> Path:
    """Return the folder of the headers, which the package hls4ml brings along (Apache-2.0); it is not imported.

    Raises:
        ToolError: They are missing.
    """
    tool = find_hls_headers()
    if not tool.usable:
        raise ToolError(f"no HLS C++ can be compiled: the headers are {tool.status}: {tool.note}")
    return Path(tool.path)
