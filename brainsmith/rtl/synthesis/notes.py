"""Sentences on what a synthesis' figures overstate, leave out, or corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from brainsmith.rtl.synthesis.fpga_families import Family
    from brainsmith.rtl.synthesis.synthesis_report import SynthesisReport

SHIFT_REGISTERS = ("SRL16E", "SRLC32E")
_APART = 0.1
_COMPARED = {"lut": "LUTs", "ff": "flip-flops", "bram18": "BRAM18", "uram": "URAM", "dsp": "DSP"}


def notes_on(report: SynthesisReport, family: Family, cells: Mapping[str, int]) -> Iterator[str]:
    """Yield what a reader of the figures must know.

    Args:
        report: The figures.
        family: Of the part.
        cells: Of the whole design, by their types.
    """
    yield from family.notes
    yield (
        "Synthesis without place and route: LUTs are counted one by one, where Vivado packs pairs of small ones into "
        "one LUT6, so it needs fewer"
    )
    yield (
        "The clock is estimated from the mapped logic, with typical delays of cells and wires: it ranks layers and tells "
        "what is far too slow, and place and route decide. Power is not estimated"
    )
    count = sum(cells.get(kind, 0) for kind in SHIFT_REGISTERS)
    if count:
        yield (
            f"{count} LUTs are shift registers (SRL16E, SRLC32E), in FIFOs of up to 33 beats and in the layers' output "
            "queues. Yosys alone counts those with a variable tap as flip-flops, one per bit and stage, and a multiplexer"
        )
    if any(layer.kernel == "Thresholding_rtl" and not layer.used.bram18 for layer in report.layers):
        yield (
            "Thresholds are in LUTs where Yosys finds that cheaper than block RAM; Vivado may decide otherwise for long "
            "tables"
        )
    names = [layer.name for layer in report.layers if layer.estimate and layer.estimate.lut is None]
    if names:
        yield f"there is no estimate of LUTs for {', '.join(names)}"
    apart = _differences(report)
    if apart:
        *others, last = apart
        text = f"{', '.join(others)} and {last}" if others else last
        yield f"Layers and FIFOs synthesised alone add up to {text} of the whole design"


def _differences(report: SynthesisReport) -> list[str]:
    """Return by how much the sum of all parts differs from the whole design, where it does."""
    alone, whole = report.parts_sum, report.used
    pairs = [(label, getattr(alone, name), getattr(whole, name)) for name, label in _COMPARED.items()]
    return [
        f"{one:,} {label} instead of {other:,}"
        for label, one, other in pairs
        if abs(one - other) > _APART * max(other, 1)
    ]
