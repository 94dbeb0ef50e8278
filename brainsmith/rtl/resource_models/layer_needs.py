"""What a layer needs of a part, as it is folded or for many foldings of it: what its backend states, or else a model."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.resource_models.finn_parameters import parameters_of
from brainsmith.rtl.resource_models.resource_model import Needs, distinct, has_model, needs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from brainsmith.rtl.synthesis.cells import Resources

Foldings = Mapping[str, "NDArray[np.int64]"]
"""Values of a layer's attributes, (foldings,) of each."""


def layer_needs(
    layer: Any, family: str, held: NDArray[Any] | None = None, foldings: Foldings | None = None
) -> Needs | None:
    """Return what a layer needs; None if there is neither a statement of its backend nor a model.

    A backend with `core_resources` states it: one of this project, of a project that uses it, or of a package.

    Args:
        layer: QONNX's instance of the node; it is not changed.
        family: Of the part.
        held: Its constants, the weights of a product or the thresholds, if they are known.
        foldings: Of what folding changes, such as `PE`, many values; then so many of each need are returned.
    """
    foldings = foldings or {}
    if hasattr(layer, "core_resources"):
        return _stated_for(layer, foldings) if foldings else _needs(layer.core_resources())
    op_type = layer.onnx_node.op_type
    parameters = parameters_of(op_type, layer.get_nodeattr, held) if has_model(op_type, family) else None
    return None if parameters is None else needs(op_type, parameters | dict(foldings), family)


def _stated_for(layer: Any, foldings: Foldings) -> Needs:
    """Return what a backend states for each of many foldings; it is asked once for those that are alike."""
    first, back = distinct(list(foldings.values()))
    other = type(layer)(copy.deepcopy(layer.onnx_node), onnx_opset_version=layer.onnx_opset_version)
    found = []
    for at in first:
        for name, values in foldings.items():
            other.set_nodeattr(name, int(values[at]))
        found.append(_needs(other.core_resources()))
    return Needs(*(np.array(each)[back] for each in zip(*found, strict=True)))


def _needs(stated: Resources) -> Needs:
    return Needs(stated.lut, stated.ff, stated.bram18, stated.dsp, stated.uram)
