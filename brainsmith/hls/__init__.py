"""HLS C++ compiled and run here: a C++ compiler and the open headers of ap_int and hls_stream stand in for Vitis HLS.

What is simulated is the function that Vitis HLS would synthesise, as a program that feeds its streams; it says what
the hardware computes, and nothing of its cycles.
"""

from __future__ import annotations

from brainsmith.hls.headers import find_headers
from brainsmith.hls.program import HlsProgram, HlsStream, compile_program, run_program
from brainsmith.lazy_names import lazy_names

__all__ = ["HlsNode", "HlsProgram", "HlsStream", "compile_program", "find_headers", "run_program"]

_HOMES = {"HlsNode": "brainsmith.hls.node"}  # its base is FINN's

__getattr__, __dir__ = lazy_names(__name__, _HOMES, *__all__)
