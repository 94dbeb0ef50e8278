"""What runs in the child process that probes a library: load it, read its table, unload it, and report.

It writes a line for each stage as it begins, so that a crash says where, and then one of what it found. A line is a
Python literal; importing json would take longer than all the rest.
"""

from __future__ import annotations

import os
import resource

from brainsmith import TYPE_CHECKING
from brainsmith.native import abi
from brainsmith.native.dynamic_loading import load
from brainsmith.native.plugin_table import create, describe

if TYPE_CHECKING:
    from typing import Any


def main(place: str, beside: tuple[str, ...], reports: int, printed: int, host_version: str) -> None:
    """Probe a library.

    Args:
        place: The path to load it from.
        beside: The libraries that lie beside it and that it needs.
        reports: The open file that gets the lines.
        printed: The open file that gets what the library itself prints.
        host_version: What the plugin gets as the host's version.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is expected here, and its memory is of no use
    os.dup2(printed, 1)
    os.dup2(printed, 2)

    def report(**values: Any) -> None:
        os.write(reports, repr(values).encode() + b"\n")

    report(stage="when it was loaded")
    try:
        library = load(place, beside)
    except OSError as error:
        report(refused=str(error))
        return
    report(stage="in create_plugin")
    try:
        address, message = create(library, host_version)
    except AttributeError:
        report(missing=True)
        return
    if not address:
        report(null=message)
        return
    report(stage="when its table was read")
    table = describe(address)
    report(stage="when it was unloaded")
    if table.get("destroy"):
        abi.DESTROY_FUNCTION(table["destroy"])(address)
    from _ctypes import dlclose

    dlclose(library._handle)
    report(table=table)
