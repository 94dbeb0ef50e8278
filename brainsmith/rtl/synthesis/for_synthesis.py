"""Alter a design's sources for synthesis; what is simulated stays as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from brainsmith.rtl.library.rules import RULES, SYNTHESIS_RULES
from brainsmith.rtl.library.sources import Library

if TYPE_CHECKING:
    from brainsmith.rtl.library.sources import RtlSource
    from brainsmith.rtl.stitching.design import Design


def altered_design(design: Design, library: Library) -> Design:
    """Return a design whose sources a synthesis tool can read.

    A source that is a file of FINN's library, as it is simulated, is altered by the rules for synthesis too; every
    other is as it is.

    Args:
        design: As it is simulated.
        library: FINN's RTL library, with the rules for simulation.

    Raises:
        RtlSourceError: The library is not what the rules expect.
    """
    further = Library(library.folder, library.version, (*RULES, *SYNTHESIS_RULES))
    return replace(design, sources=tuple(_altered(source, library, further) for source in design.sources))


def _altered(source: RtlSource, library: Library, further: Library) -> RtlSource:
    for rule in SYNTHESIS_RULES:
        for file in rule.files:
            if PurePosixPath(file).name == source.name and library.read(file).text == source.text:
                return further.read(file)
    return source
