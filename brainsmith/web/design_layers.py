"""The hardware layers of a report: those that were estimated and, where there is a circuit, its width converters too.

What a synthesis counted stands in place of what was estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from brainsmith.figures import number
from brainsmith.report_fields import Fields, fields, first_text, items
from brainsmith.rtl.stitching.design import MEMORY

RESOURCES = ("lut", "ff", "bram18", "dsp", "uram")
_CONVERTER = "StreamingDataWidthConverter"


@dataclass(frozen=True)
class DesignLayer:
    """One hardware layer: cycles per frame, and by `RESOURCES` its LUTs, flip-flops, 18 Kb block RAMs, DSPs and UltraRAMs.

    The resources are those of the synthesis if it was synthesised; `estimates` has what was estimated in any case.
    """

    index: int
    name: str
    op_type: str
    backend: str
    cycles: float | None
    resources: Mapping[str, float | None]
    attributes: Fields
    choice: str
    synthesised: bool
    estimates: Mapping[str, float | None]

    @property
    def is_converter(self) -> bool:
        """Whether it is a width converter, which the build adds between layers of different widths."""
        return self.op_type.startswith(_CONVERTER)


def read_layers(report: Fields) -> tuple[DesignLayer, ...]:
    """Read the hardware layers, in the order of the circuit if there is one."""
    estimated = [fields(layer) for layer in items(report.get("layers"))]
    found = {first_text(layer, "name") or f"layer {at + 1}": layer for at, layer in enumerate(estimated)}
    circuit = {first_text(layer, "name"): layer for layer in _circuit_layers(report)}
    counted = _synthesised(report)
    return tuple(
        _layer(index, name, found.get(name, {}), circuit.get(name, {}), counted)
        for index, name in enumerate(_order(list(found), list(circuit)))
    )


class DesignFifos(NamedTuple):
    """What all FIFOs of a design take together, by resource; nothing where it is not known.

    Attributes:
        synthesised: As it was counted.
        estimates: As it was estimated.
    """

    synthesised: Mapping[str, float]
    estimates: Mapping[str, float]

    @property
    def used(self) -> Mapping[str, float]:
        """What was synthesised, or else the estimate."""
        return self.synthesised or self.estimates


def read_fifos(report: Fields) -> DesignFifos:
    """Add up what the FIFOs take of each resource."""
    fifos = [fields(fifo) for fifo in items(fields(report.get("synthesis")).get("fifos"))]
    estimate = fields(fields(report.get("estimate")).get("fifos"))
    return DesignFifos(*(_added(each) for each in (fifos, [estimate] if estimate else [])))


def _added(fifos: Sequence[Fields]) -> dict[str, float]:
    return {key: sum(number(fifo.get(key)) or 0 for fifo in fifos) for key in RESOURCES} if fifos else {}


def _circuit_layers(report: Fields) -> list[Fields]:
    """Return the layers of the stitched design; the memory of a layer's weights belongs to its layer."""
    design = fields(fields(report.get("rtl")).get("design"))
    layers = [fields(layer) for layer in items(design.get("layers"))]
    return [layer for layer in layers if first_text(layer, "name") and first_text(layer, "kernel") != MEMORY]


def _synthesised(report: Fields) -> dict[str, Fields] | None:
    """Return the synthesis' figures by layer; None if there was no synthesis."""
    layers = [fields(layer) for layer in items(fields(report.get("synthesis")).get("layers"))]
    return {first_text(layer, "name"): layer for layer in layers} if layers else None


def _order(estimated: Sequence[str], circuit: Sequence[str]) -> list[str]:
    if set(estimated) <= set(circuit):
        return list(circuit)
    return [*estimated, *(name for name in circuit if name not in estimated)]


def _layer(
    index: int, name: str, layer: Fields, stitched: Fields, counted: Mapping[str, Fields] | None
) -> DesignLayer:
    kernel = first_text(stitched, "kernel")
    ending = kernel.rpartition("_")[2]
    source = (layer or _not_estimated(kernel)) if counted is None else counted.get(name, {})
    return DesignLayer(
        index,
        name,
        first_text(layer, "op_type") or kernel,
        first_text(layer, "backend") or (ending if ending in ("rtl", "hls") else ""),
        number(layer.get("cycles")) if layer else number(stitched.get("cycles")) or None,
        _resources(source),
        fields(layer.get("attributes")),
        first_text(layer, "choice"),
        counted is not None,
        _resources(layer),
    )


def _resources(source: Fields) -> dict[str, float | None]:
    return {key: number(source.get(key)) for key in RESOURCES}


def _not_estimated(kernel: str) -> Fields:
    """Return what is known of a layer without estimates: a width converter is made of LUTs and flip-flops alone."""
    return dict.fromkeys(("bram18", "dsp", "uram"), 0) if kernel.startswith(_CONVERTER) else {}
