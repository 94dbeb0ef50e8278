"""What a layer needs and how long it takes in each of its foldings."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.cores.frame_cycles import frame_cycles
from brainsmith.rtl.devices.device import RESOURCES
from brainsmith.rtl.resource_models.resource_model import needs
from brainsmith.rtl.synthesis.fpga_families import family_of
from brainsmith.steps.legal_foldings import set_all
from brainsmith.steps.resources import estimated_resources, modelled_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from qonnx.core.modelwrapper import ModelWrapper

    Counts = NDArray[np.int64]

_FREE = ("PE", "SIMD")
"""Attributes of which a calibrated model takes arrays."""


def needs_of_foldings(
    layer: Any, foldings: Sequence[dict[str, Any]], part: str, model: ModelWrapper
) -> Counts:
    """Return what a layer needs in each folding, (foldings, resources), in the order of a device's `RESOURCES`.

    0 LUTs say that there is no model of them.

    Args:
        layer: QONNX's instance of the node; its attributes are changed.
        foldings: Attributes by name.
        part: The FPGA.
        model: Holds the layer's constants.
    """
    if foldings and modelled_parameters(layer, part, model) is not None:
        return _by_arrays(layer, foldings, part, model)
    found = []
    for attributes in foldings:
        set_all(layer, attributes)
        stated = asdict(layer.core_resources()) if hasattr(layer, "core_resources") else None
        stated = estimated_resources(layer, part, model) if stated is None else stated
        found.append([stated.get(name, 0) for name in RESOURCES])
    return np.array(found, np.int64).reshape(len(foldings), len(RESOURCES))


def _by_arrays(layer: Any, foldings: Sequence[dict[str, Any]], part: str, model: ModelWrapper) -> Counts:
    """Ask the model once for all foldings that differ in lanes only."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for at, attributes in enumerate(foldings):
        rest = tuple(sorted(item for item in attributes.items() if item[0] not in _FREE))
        alike.setdefault(rest, []).append(at)
    found = np.zeros((len(foldings), len(RESOURCES)), np.int64)
    for places in alike.values():
        set_all(layer, foldings[places[0]])
        parameters = modelled_parameters(layer, part, model)
        if parameters is None:  # of this style there is no model
            continue
        lanes = {
            name: np.array([foldings[at].get(name, parameters[name]) for at in places])
            for name in _FREE
            if name in parameters
        }
        foretold = needs(layer.onnx_node.op_type, {**parameters, **lanes}, family_of(part).name)._asdict()
        for column, name in enumerate(RESOURCES):
            found[places, column] = foretold.get(name, 0)
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
