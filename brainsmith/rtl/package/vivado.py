"""The Tcl script that brings an accelerator into Vivado."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainsmith.rtl.package.contents import PackageFacts
    from brainsmith.rtl.stitching.design import Design

SCRIPT = Path(__file__).with_name("import.tcl")


def import_tcl(design: Design, facts: PackageFacts) -> str:
    """Return the script for a design: what it is called, its part and its clock in nanoseconds, then the procedures."""
    head = f"set top {{{design.top}}}\nset part {{{facts.part}}}\nset period {facts.period:g}\n"
    return f"{SCRIPT.read_text(encoding='utf-8')}".replace("\nproc ", f"\n{head}\nproc ", 1)
