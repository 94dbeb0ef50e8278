"""The driver's C interface: the same structures as in `driver.cpp`, and its functions."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from ctypes import POINTER, Structure, c_char_p, c_int32, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

from brainsmith.errors import SimulationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUNNING, COMPLETE, LIMIT, FAULT = range(4)
"""What a step ends with."""

STALL_KINDS = {"none": 0, "random": 1, "pattern": 2}

SCHEDULE = 3
"""A kind besides these: each beat has the first cycle in which it may move."""


class StreamState(Structure):
    """One stream while it runs; the arrays belong to the caller."""

    _fields_ = (
        ("words", c_void_p),
        ("moved_at", c_void_p),
        ("pattern", c_void_p),
        ("schedule", c_void_p),
        *((name, c_uint64) for name in ("word_bytes", "beats", "done", "stalled", "waited", "surplus")),
        *((name, c_uint64) for name in ("pattern_length", "random_state", "threshold")),
        *((name, c_int32) for name in ("data", "valid", "ready", "is_output", "stall_kind", "offered")),
    )


class MonitorState(Structure):
    """One stream inside of the design, which is only looked at; the arrays belong to the caller."""

    _fields_ = (
        *((name, c_void_p) for name in ("words", "moved_at", "phases")),
        *((name, c_uint64) for name in ("word_bytes", "room", "done", "blocked", "starved")),
        *((name, c_int32) for name in ("data", "valid", "ready", "phase")),
    )


class RunState(Structure):
    """One run."""

    _fields_ = (
        ("streams", POINTER(StreamState)),
        ("monitors", POINTER(MonitorState)),
        *((name, c_uint64) for name in ("stream_count", "monitor_count", "window_begin", "window_cycles")),
        *((name, c_uint64) for name in ("limit", "drain", "reset_cycles", "cycle", "drained")),
        *((name, c_int32) for name in ("clock", "double_clock", "reset", "reset_is_low", "doubled")),
    )


def load(path: Path) -> ctypes.CDLL:
    """Load a simulation's library.

    Raises:
        SimulationError: It cannot be loaded, or was made for another driver.
    """
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise SimulationError(f"{path}: the simulation cannot be loaded: {error}") from error
    for name, result, arguments in _FUNCTIONS:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    sizes = [ctypes.sizeof(structure) for structure in (RunState, StreamState, MonitorState)]
    if library.brainsmith_layout() != (sizes[0] * 1000 + sizes[1]) * 1000 + sizes[2]:
        raise SimulationError(f"{path}: the simulation was made for another driver; remove its folder")
    return library


@contextmanager
def opened(library: ctypes.CDLL, top: str, trace: Path | None = None) -> Iterator[int]:
    """Open a fresh copy of a design, and close it again.

    Args:
        library: Its simulation.
        top: What messages call it.
        trace: Where its waveforms are written; nowhere by default.

    Raises:
        SimulationError: It does not start.
    """
    error = ctypes.create_string_buffer(1024)
    handle = library.brainsmith_open(str(trace).encode() if trace else None, error, len(error))
    if not handle:
        raise SimulationError(f"the simulation of {top!r} does not start: {error.value.decode()}")
    try:
        yield handle
    finally:
        library.brainsmith_close(handle)


_FUNCTIONS: tuple[tuple[str, Any, list[Any]], ...] = (
    ("brainsmith_open", c_void_p, [c_char_p, c_char_p, c_uint64]),
    ("brainsmith_start", c_int32, [c_void_p, POINTER(RunState)]),
    ("brainsmith_step", c_int32, [c_void_p, POINTER(RunState), c_uint64]),
    ("brainsmith_finish", c_int32, [c_void_p, c_char_p, c_uint64]),
    ("brainsmith_hold", None, [c_void_p, c_int32, c_uint64]),
    ("brainsmith_value", c_uint64, [c_void_p, c_int32]),
    ("brainsmith_state", c_void_p, [c_void_p]),
    ("brainsmith_state_bytes", c_uint64, [c_void_p]),
    ("brainsmith_messages", c_char_p, [c_void_p]),
    ("brainsmith_close", None, [c_void_p]),
    ("brainsmith_layout", c_uint64, []),
)


def buffer_address(array: Any) -> int:
    """Return where a contiguous array begins."""
    return int(array.ctypes.data)
