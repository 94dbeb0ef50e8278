"""Whether a synthesis found the DSP slices that it must find: a black box that got lost would pass for thrift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import BuildError
from brainsmith.rtl.synthesis.compute_core import KERNELS, expected_slices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.synthesis.fpga_families import Family
    from brainsmith.rtl.synthesis.pieces import Piece
    from brainsmith.rtl.synthesis.synthesis_report import SynthesisReport


def check_slices(piece: Piece, cells: Mapping[str, int], family: Family) -> list[str]:
    """Compare a piece's DSP slices with those of its part, and with FINN's compute core.

    Args:
        piece: A layer, a FIFO or the whole design.
        cells: What it was mapped to.
        family: Of the part.

    Returns:
        A sentence if there are others than the core's parameters say.

    Raises:
        BuildError: There are slices that the part does not have, or none where the core must have some.
    """
    slices = {kind: count for kind, count in cells.items() if kind.startswith("DSP")}
    foreign = sorted(slices.keys() - set(family.slices))
    if foreign:
        raise BuildError(
            f"{piece.name} instantiates {', '.join(foreign)}, and {family.title} parts have {family.dsp}: its code was "
            "generated for another part\n  run rtl_codegen and rtl_stitch again for the part that is synthesised for"
        )
    if piece.kernel not in KERNELS:
        return []
    found, expected = sum(slices.values()), _expected(piece)
    if not found:
        raise BuildError(
            f"{piece.name} ({piece.kernel}) was synthesised without a DSP slice, but its core computes in "
            f"{expected or 'some'}: they got lost, so the figures are wrong\n"
            "  please report this with the layer's sources"
        )
    if expected is not None and found != expected:
        return [f"{piece.name} has {found} DSP slices, and the parameters of its core say {expected}"]
    return []


def check_whole(report: SynthesisReport) -> None:
    """Refuse figures of a whole design that lost the DSP slices that its layers have.

    Raises:
        BuildError: Layers have some, and the whole design has none.
    """
    alone = sum(layer.used.dsp for layer in report.layers)
    if alone and not report.used.dsp:
        raise BuildError(
            f"the whole design was synthesised without a DSP slice, but its layers have {alone:,} alone: they got "
            "lost, so the figures are wrong\n  please report this with the design's sources"
        )


def _expected(piece: Piece) -> int | None:
    """Return the slices of the core; the wrapper is the one source with its parameters."""
    counts = [expected_slices(source.text) for source in piece.sources]
    return next((count for count in counts if count is not None), None)
