"""Try a library in a child process before this one loads it: what crashes or hangs there does no harm here."""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING, Any

from brainsmith import __version__
from brainsmith.errors import (
    LibraryDependencyError,
    LibraryFormatError,
    LibraryPermissionError,
    NativeLibraryError,
    PluginCrashError,
)
from brainsmith.native.library_checks import no_entry
from brainsmith.plugin.process_ends import signal_name
from brainsmith.plugin.processes import start_python

if TYPE_CHECKING:
    from pathlib import Path

    from brainsmith.native.copy import LibraryCopy

_SHOWN = 5
"""Lines of what a crashed library printed that its message quotes."""

_NO_LIBRARY = re.compile(r"(?P<name>[^\s:]+): cannot open shared object file: No such file")
_NO_SYMBOL = re.compile(r"undefined symbol: (?P<name>[^\s,]+)")
_NO_VERSION = re.compile(r"(?P<library>[^\s:]+): version [`'](?P<name>[^']+)' not found")


def probe(path: Path, copy: LibraryCopy, time_limit: float) -> dict[str, Any]:
    """Load, read and unload a library in a child process, and return its table (`plugin_table.describe`).

    Every opening probes. A verdict is not kept: it hangs on more than the file, such as the libraries that it needs.

    Args:
        path: How messages name it.
        copy: What is loaded.
        time_limit: Seconds that all of it may take.

    Raises:
        PluginCrashError: It ended the child, or did not let it end.
        NativeLibraryError: It cannot be loaded, or gave no table.
    """
    reports = os.memfd_create("brainsmith-probe", os.MFD_CLOEXEC)
    printed = os.memfd_create("brainsmith-probe-output", os.MFD_CLOEXEC)
    try:
        with copy.shown() as place:
            arguments = f"{place!r}, {copy.beside!r}, {reports}, {printed}, {__version__!r}"
            program = f"from brainsmith.native.probe_child import main\nmain({arguments})\n"
            child = start_python(program, (copy.descriptor, reports, printed))
            try:
                in_time = child.has_ended(time_limit)
            finally:
                code = child.end()
        lines = _content(reports).splitlines()
        last: dict[str, Any] = ast.literal_eval(lines[-1]) if lines else {"stage": "before it was loaded"}
        if not in_time or code or "stage" in last:
            raise PluginCrashError(
                _crash(path, last, code if in_time else None, time_limit, _content(printed))
            )
        if "table" not in last:
            raise _refusal(path, place, last)
        table: dict[str, Any] = last["table"]
        return table
    finally:
        os.close(reports)
        os.close(printed)


def _content(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0).decode(errors="replace")


def _crash(path: Path, last: dict[str, Any], code: int | None, limit: float, printed: str) -> str:
    """Say how a library ended its child process; `code` is None where it did not end."""
    stage = last.get("stage", "when the process ended")
    if code is None:
        what = f"did not end within {limit:g} seconds {stage}"
    elif code < 0:
        what = f"crashed with {signal_name(-code)} {stage}"
    else:
        what = f"ended its process with exit code {code} {stage}"
    lines = "".join(f"\n  it printed: {line}" for line in printed.splitlines()[-_SHOWN:])
    return f"native plugin {path} {what}; that was in a child process, and it was not loaded here{lines}"


def _refusal(path: Path, place: str, last: dict[str, Any]) -> NativeLibraryError:
    if "missing" in last:
        return no_entry(path)
    if "null" in last:
        why = last["null"] or "it gave no reason"
        return NativeLibraryError(f"{path}: create_plugin returned no table: {why}")
    return loader_error(path, str(last["refused"]).replace(place, str(path)))


def loader_error(path: Path, message: str) -> NativeLibraryError:
    """Return the error that a message of the system's loader means."""
    if found := _NO_LIBRARY.search(message):
        return LibraryDependencyError(
            f"{path} needs the library {found['name']!r}, which was not found\n"
            "  install it, or link with -Wl,-rpath,FOLDER where it lies elsewhere"
        )
    if found := _NO_SYMBOL.search(message):
        return LibraryDependencyError(
            f"{path} needs the symbol {found['name']!r}, which none of the libraries that it names defines\n"
            "  link it with the one that does (-l...)"
        )
    if found := _NO_VERSION.search(message):
        return LibraryDependencyError(
            f"{path} needs version {found['name']!r} of {found['library']}, which is older here\n"
            "  build it on this system, or on one as old"
        )
    if "not permitted" in message or "ermission denied" in message:
        return LibraryPermissionError(f"{path} may not be loaded: {message}")
    if "invalid ELF" in message or "file too short" in message:
        return LibraryFormatError(f"{path} is damaged: {message}")
    return NativeLibraryError(f"{path} cannot be loaded: {message}")
