"""What the child process does: it runs Yosys in a folder that holds all it needs, and writes what came out there."""

from __future__ import annotations

import json
import os
import re
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.rtl.synthesis.script import LIBRARY, LIBRARY_CELLS

if TYPE_CHECKING:
    from collections.abc import Iterable

JOB, RESULT = "job.json", "result.json"
"""Of the child's folder: what to do (the three lists of a `Script`, and whether a library is needed), and the result."""

_STATISTICS = "statistics.json"


def main(folder: str) -> None:
    """Run a job.

    The result has `cells` (how many of each type), `seconds`, and `peak_mb`, the most memory that the process had.
    """
    from pyosys import libyosys

    os.chdir(folder)
    begin = time.monotonic()
    job = json.loads(Path(JOB).read_text("utf-8"))
    if job["library"]:
        share = Path(libyosys.proc_share_dirname()) / "xilinx"
        text = "".join((share / name).read_text("utf-8") for name in ("cells_sim.v", "cells_xtra.v"))
        Path(LIBRARY).write_text(library(text, LIBRARY_CELLS), encoding="utf-8")
    design = libyosys.Design()
    for command in job["before"]:
        design.run_pass(command)
    if any(kind.startswith("$mem") for kind in _cells(design)):
        for command in job["memory"]:
            design.run_pass(command)
    for command in job["after"]:
        design.run_pass(command)
    used = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    result = {
        "cells": _cells(design),
        "seconds": round(time.monotonic() - begin, 2),
        "peak_mb": round(max(one.ru_maxrss for one in used) / 1024),
    }
    Path(RESULT).write_text(json.dumps(result), encoding="utf-8")


def library(text: str, cells: Iterable[str]) -> str:
    """Return the modules of some cells from the text of Yosys' libraries.

    Raises:
        LookupError: One is not there: this is another Yosys than the one that is known.
    """
    found = []
    for cell in cells:
        match = re.search(rf"^module {cell}\b.*?^endmodule\n", text, re.MULTILINE | re.DOTALL)
        if match is None:
            raise LookupError(f"Yosys has no cell {cell}")
        found.append(match.group())
    return "\n".join(found)


def _cells(design: Any) -> dict[str, int]:
    design.run_pass(f"tee -q -o {_STATISTICS} stat -json")
    statistics = json.loads(Path(_STATISTICS).read_text("utf-8"))
    return dict(statistics["design"]["num_cells_by_type"])
