"""Sentences on what a synthesis' figures overstate, leave out, or corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.synthesis.fpga_families import Family
    from brainsmith.rtl.synthesis.synthesis_report import SynthesisReport

SHIFT_REGISTERS = ("SRL16E", "SRLC32E")
_APART = 0.1
_COMPARED = {"lut": "LUTs", "ff": "flip-flops", "bram18": "BRAM18", "uram": "URAM", "dsp": "DSP"}


def notes_on(report: SynthesisReport, family: Family, cells: Mapping[str, int]) -> tuple[str, ...]:
    """Return what a reader of the figures must know.

    Args:
        report: The figures.
        family: Of the part.
        cells: Of the whole design, by their types.
    """
    return (
        *family.notes,
        "Synthesis without place and route: LUTs are counted one by one, where Vivado packs pairs of small ones into "
        "one LUT6, so it needs fewer",
        *_shift_registers(cells),
        *_thresholds(report),
        *_not_modelled(report),
        *_sum(report),
    )


def _shift_registers(cells: Mapping[str, int]) -> list[str]:
    count = sum(cells.get(kind, 0) for kind in SHIFT_REGISTERS)
    if not count:
        return []
    return [
        f"{count} LUTs are shift registers (SRL16E, SRLC32E), in FIFOs of up to 33 beats and in the layers' output "
        "queues. Yosys alone counts those with a variable tap as flip-flops, one per bit and stage, and a multiplexer"
    ]


def _thresholds(report: SynthesisReport) -> list[str]:
    if not any(layer.kernel == "Thresholding_rtl" and not layer.used.bram18 for layer in report.layers):
        return []
    return [
        "Thresholds are in LUTs where Yosys finds that cheaper than block RAM; Vivado may decide otherwise for long "
        "tables"
    ]


def _not_modelled(report: SynthesisReport) -> list[str]:
    names = [
        layer.name for layer in report.layers if layer.estimate is not None and layer.estimate.lut is None
    ]
    return [f"FINN's estimate has no LUTs for {', '.join(names)}"] if names else []


def _sum(report: SynthesisReport) -> list[str]:
    alone, whole = report.parts_sum, report.used
    pairs = [(label, getattr(alone, name), getattr(whole, name)) for name, label in _COMPARED.items()]
    apart = [
        f"{one:,} {label} instead of {other:,}"
        for label, one, other in pairs
        if abs(one - other) > _APART * max(other, 1)
    ]
    if not apart:
        return []
    *others, last = apart
    text = f"{', '.join(others)} and {last}" if others else last
    return [f"Layers and FIFOs synthesised alone add up to {text} of the whole design"]
