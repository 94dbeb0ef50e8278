"""What a layer needs and how long it takes in each of its foldings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.cores.frame_cycles import frame_cycles
from brainsmith.rtl.devices.device import RESOURCES
from brainsmith.rtl.resource_models.layer_needs import layer_needs
from brainsmith.steps.hardware_nodes import backend_type
from brainsmith.steps.legal_foldings import set_all
from brainsmith.steps.resources import estimated_resources

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    Synthesis = Callable[[NodeProto, ModelWrapper], dict[str, int]]

    Counts = NDArray[np.int64]

_LANES = ("PE", "SIMD")
"""Attributes of which many values are asked for at once."""


def needs_of_foldings(
    layer: Any,
    foldings: Sequence[dict[str, Any]],
    part: str,
    model: ModelWrapper,
    synthesis: Synthesis | None = None,
) -> Counts:
    """Return what a layer needs in each folding, (foldings, resources), in the order of a device's `RESOURCES`.

    0 LUTs say that there is no model of them.

    Args:
        layer: QONNX's instance of the node; its attributes are changed.
        foldings: Attributes by name.
        part: The FPGA.
        model: Holds the layer's constants.
        synthesis: Counts an RTL layer of the model that there is no model of; nothing does by default.
    """
    alike: dict[tuple[Any, ...], list[int]] = {}
    for at, attributes in enumerate(foldings):
        rest = tuple(sorted(item for item in attributes.items() if item[0] not in _LANES))
        alike.setdefault(rest, []).append(at)
    found = np.zeros((len(foldings), len(RESOURCES)), np.int64)
    for places in alike.values():
        first = foldings[places[0]]
        set_all(layer, first)
        lanes = {name: np.array([foldings[at][name] for at in places]) for name in _LANES if name in first}
        foretold = layer_needs(layer, part, model, lanes)
        if foretold is None:
            found[places] = _one_by_one(layer, [foldings[at] for at in places], part, model, synthesis)
            continue
        for column, name in enumerate(RESOURCES):
            found[places, column] = getattr(foretold, name)
    return found


def _one_by_one(
    layer: Any,
    foldings: Sequence[dict[str, Any]],
    part: str,
    model: ModelWrapper,
    synthesis: Synthesis | None,
) -> list[list[int]]:
    """Ask FINN for each folding of a layer that there is no model of, and then synthesis."""
    found = []
    for attributes in foldings:
        set_all(layer, attributes)
        stated = estimated_resources(layer, part, model)
        if stated["lut"] is None and synthesis is not None and backend_type(layer.onnx_node) == "rtl":
            stated |= synthesis(layer.onnx_node, model)
            stated["lut"] = max(1, stated["lut"] or 0)  # 0 would say that there is no model
        found.append([stated.get(name) or 0 for name in RESOURCES])
    return found


def lanes_of(attributes: dict[str, Any]) -> tuple[Any, ...]:
    """Return what of a folding changes cycles and streams: all but the style of its memories."""
    return tuple(sorted(item for item in attributes.items() if item[0] != "ram_style"))


def cycles_of_foldings(layer: Any, foldings: Sequence[dict[str, Any]]) -> Counts:
    """Return the cycles of a frame in each folding, (foldings,); memories do not change them."""
    known: dict[tuple[Any, ...], int] = {}
    found = []
    for attributes in foldings:
        key = lanes_of(attributes)
        if key not in known:
            set_all(layer, attributes)
            known[key] = frame_cycles(layer)
        found.append(known[key])
    return np.array(found, np.int64)
