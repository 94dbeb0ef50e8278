"""A design whose layers take and give beats when they should, and of which some compute nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from brainsmith.rtl.library.rules import TIMING_RULES
from brainsmith.rtl.library.sources import RtlSource

if TYPE_CHECKING:
    from brainsmith.rtl.stitching.design import Design


def leave_values_out(design: Design) -> Design:
    """Return a design for sizing, which compiles and runs in less time; the same one where nothing is left out.

    What computes values that are only ever data gives 0 instead: when it gives beats does not follow from them. A layer
    after it may be another matter, if when it takes beats depends on what they hold: whoever sizes FIFOs with this design
    measures the one that is shipped, too.
    """
    sources = tuple(_shortened(source) for source in design.sources)
    return design if sources == design.sources else replace(design, sources=sources)


def _shortened(source: RtlSource) -> RtlSource:
    """Return a file without what a rule leaves out; as it is where the text is another than the rule knows."""
    for rule in TIMING_RULES:
        if any(file.endswith(f"/{source.name}") for file in rule.files):
            text, found = re.subn(rule.pattern, rule.replacement, source.text, flags=re.DOTALL)
            if found == rule.count:
                return RtlSource(source.name, text, (*source.rules, rule.name))
    return source
