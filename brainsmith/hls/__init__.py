"""HLS C++ compiled and run here: a C++ compiler and the open headers of ap_int and hls_stream stand in for Vitis HLS.

What is simulated is the function that Vitis HLS would synthesise, as a program that feeds its streams; it says what
the hardware computes, and nothing of its cycles.
"""

from __future__ import annotations

from typing import Any

from brainsmith.hls.headers import find_headers
from brainsmith.hls.program import HlsProgram, HlsStream, compile_program, run_program

__all__ = ["HlsNode", "HlsProgram", "HlsStream", "compile_program", "find_headers", "run_program"]


def __getattr__(name: str) -> Any:
    if name == "HlsNode":  # its base is FINN's
        from brainsmith.hls.node import HlsNode

        return HlsNode
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
