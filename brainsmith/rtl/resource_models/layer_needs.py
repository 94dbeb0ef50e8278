"""What a layer needs of a part, as it is folded or for many foldings of it: what its backend states, or else a model."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.cores.estimated_backend import stated_resources
from brainsmith.rtl.resource_models.finn_parameters import parameters_of
from brainsmith.rtl.resource_models.resource_model import Needs, distinct, has_model, needs
from brainsmith.rtl.synthesis.fpga_families import family_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.synthesis.cells import Resources

Foldings = Mapping[str, "NDArray[np.int64]"]
"""Values of a layer's attributes, (foldings,) of each."""


def layer_needs(layer: Any, part: str, model: ModelWrapper, foldings: Foldings | None = None) -> Needs | None:
    """Return what a layer needs; None if there is neither a statement of its backend nor a model.

    A backend with `core_resources` states it: one of this project, of a project that uses it, or of a package.

    Args:
        layer: QONNX's instance of the node; it is not changed.
        part: The FPGA.
        model: Holds the layer's constants.
        foldings: Of what folding changes, such as `PE`, many values; then so many of each need are returned.

    Raises:
        BuildError: The part is of no known family.
    """
    foldings = foldings or {}
    if hasattr(layer, "core_resources"):
        if foldings:
            return _stated_for(layer, part, foldings)
        stated = stated_resources(layer, part)
        return None if stated is None else _needs(stated)
    parameters = modelled_parameters(layer, part, model)
    if parameters is None:
        return None
    return needs(layer.onnx_node.op_type, parameters | dict(foldings), family_of(part).name)


def fifo_needs(depth: Any, bits: Any, part: str) -> Needs:
    """Return what FIFOs need, as arrays (fifos,).

    Args:
        depth: Of each in beats, 2 or more, (fifos,); or one number for all.
        bits: Of a beat of each, (fifos,).
        part: The FPGA.

    Raises:
        BuildError: The part is of no known family.
    """
    depth, bits = np.broadcast_arrays(np.asarray(depth, np.int64), np.asarray(bits, np.int64))
    return needs("StreamingFIFO_rtl", {"depth": depth, "bits": bits}, family_of(part).name)


def modelled_parameters(layer: Any, part: str, model: ModelWrapper) -> dict[str, Any] | None:
    """Return the parameters of a layer of which there is a calibrated model; None for any other.

    Args:
        layer: QONNX's instance of the node.
        part: The FPGA.
        model: Holds the layer's constants.
    """
    node = layer.onnx_node
    if hasattr(layer, "core_resources") or not has_model(node.op_type, family_of(part).name):
        return None
    return parameters_of(node.op_type, layer.get_nodeattr, is_narrow(layer, model), _held(layer, model))


def is_narrow(layer: Any, model: ModelWrapper) -> bool:
    """Tell whether the least weight that its datatype holds does not occur in a product's weights."""
    held = _held(layer, model)
    return held is not None and bool(held.min() > layer.get_input_datatype(1).min())


def _held(layer: Any, model: ModelWrapper) -> NDArray[Any] | None:
    """Return a layer's constants, such as its weights or thresholds; None if it has none."""
    inputs = layer.onnx_node.input
    return model.get_initializer(inputs[1]) if len(inputs) > 1 else None


def _stated_for(layer: Any, part: str, foldings: Foldings) -> Needs | None:
    """Return what a backend states for each of many foldings; it is asked once for those that are alike.

    None if it states nothing for one of them.
    """
    first, back = distinct(list(foldings.values()))
    other = type(layer)(copy.deepcopy(layer.onnx_node), onnx_opset_version=layer.onnx_opset_version)
    found = []
    for at in first:
        for name, values in foldings.items():
            other.set_nodeattr(name, int(values[at]))
        stated = stated_resources(other, part)
        if stated is None:
            return None
        found.append(_needs(stated))
    return Needs(*(np.array(each)[back] for each in zip(*found, strict=True)))


def _needs(stated: Resources) -> Needs:
    return Needs(stated.lut, stated.ff, stated.bram18, stated.dsp, stated.uram)
