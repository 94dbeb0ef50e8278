"""What the child process does: it runs Yosys in a folder that holds all it needs, and writes what came out there."""

from __future__ import annotations

import json
import re
import resource
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.rtl.synthesis.cell_timing import Delays
from brainsmith.rtl.synthesis.script import LIBRARY, LIBRARY_CELLS, LUTRAMS, MEMORY
from brainsmith.rtl.synthesis.slowest_path import slowest_path

if TYPE_CHECKING:
    from collections.abc import Iterable

JOB, RESULT = "job.json", "result.json"
"""Of the child's folder: what to do (fields of `yosys.Job`), and the result."""

_STATISTICS, _NETLIST = "statistics.json", "mapped.json"


def main() -> None:
    """Run the job of the current folder.

    The result has `cells` (how many of each type), `path` (the slowest, if the job has delays), `seconds` of processor
    time, and `peak_mb`, the most memory that the process had.
    """
    from pyosys import libyosys

    job = json.loads(Path(JOB).read_text("utf-8"))
    if job["lutrams"]:
        share = Path(libyosys.proc_share_dirname()) / "xilinx"
        text = "".join((share / name).read_text("utf-8") for name in ("cells_sim.v", "cells_xtra.v"))
        Path(LIBRARY).write_text(library(text, LIBRARY_CELLS), encoding="utf-8")
        text = (share / job["lutrams"]).read_text("utf-8")
        Path(LUTRAMS).write_text(mended(text, job["lutrams"]), encoding="utf-8")
    design = libyosys.Design()
    for command in job["commands"]:
        if command["needs"] == MEMORY:
            hand_on_styles(design, job["styles"])
        if not command["needs"] or any(kind.startswith(command["needs"]) for kind in _cells(design)):
            design.run_pass(command["text"])
    cells = _cells(design)
    path = _slowest_path(design, job["top"], job["delays"]) if job["delays"] else None
    used = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    result = {
        "cells": cells,
        "path": path,
        "seconds": round(sum(one.ru_utime + one.ru_stime for one in used), 2),
        "peak_mb": round(max(_peak_kb(), used[1].ru_maxrss) / 1024),
    }
    Path(RESULT).write_text(json.dumps(result), encoding="utf-8")


def _peak_kb() -> int:
    """Return the most memory that this process had; `ru_maxrss` would count what its parent had when it was started."""
    return int(
        re.findall(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text("ascii"), re.MULTILINE)[0]
    )


def library(text: str, cells: Iterable[str]) -> str:
    """Return the modules of some cells from the text of Yosys' libraries.

    Raises:
        LookupError: One does not exist: this is another Yosys than the one that is known.
    """
    found = []
    for cell in cells:
        match = re.search(rf"^module {cell}\b.*?^endmodule\n", text, re.MULTILINE | re.DOTALL)
        if match is None:
            raise LookupError(f"Yosys has no cell {cell}")
        found.append(match.group())
    return "\n".join(found)


def mended(text: str, name: str) -> str:
    """Return a library of memories without its error.

    That of UltraScale says 16 address bits where the memory of 512 words (RAM512X1S) has 9. So Yosys takes it for 65,536
    words at the price of 512, and then cannot map it.

    Raises:
        LookupError: The text that is wrong does not exist: this is another Yosys than the one that is known.
    """
    if name != "lutrams_xcu.txt":
        return text
    found, count = re.subn(r'option "ABITS" 16 \{\s+abits 16;', 'option "ABITS" 9 {\n\t\tabits 9;', text)
    if count != 1:
        raise LookupError(f"Yosys' {name} is of an unknown version: its memory of 512 words is not found")
    return found


def hand_on_styles(design: Any, styles: dict[str, str]) -> None:
    """Set what kind of memory each must become, where its source says so.

    Yosys reads the attribute `ram_style`, in small letters; FINN's sources say `RAM_STYLE`.
    """
    from pyosys.libyosys import IdString

    for module in design.selected_modules():
        for cell in module.selected_cells():
            asked = cell.get_string_attribute(IdString("\\RAM_STYLE"))
            if str(cell.type).startswith(MEMORY) and asked in styles:
                cell.set_string_attribute(IdString("\\ram_style"), styles[asked])


def _cells(design: Any) -> dict[str, int]:
    design.run_pass(f"tee -q -o {_STATISTICS} stat -json")
    statistics = json.loads(Path(_STATISTICS).read_text("utf-8"))
    return dict(statistics["design"]["num_cells_by_type"])


def _slowest_path(design: Any, top: str, delays: dict[str, float]) -> dict[str, Any]:
    design.run_pass(f"json -o {_NETLIST} {top}")
    netlist = json.loads(Path(_NETLIST).read_text("utf-8"))
    return asdict(slowest_path(netlist["modules"][top], Delays(**delays)))
