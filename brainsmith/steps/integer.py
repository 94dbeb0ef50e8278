"""integer: bring a quantised network into layers of integers, exact by construction."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step
from brainsmith.steps.own_transforms import own_transform, transformed
from brainsmith.steps.step_reports import write_report

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

REPORT = "report/approximations.json"


@step(
    description="Rewrite a QONNX network as layers of integers, in place of qonnx_to_finn and streamline",
    requires=("qonnx",),
)
def integer(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Rewrite a network of QONNX quantisers as layers of integers, channels last.

    No scale is moved by rules of algebra: each threshold is found by evaluating the network's own operators over the
    integers that reach it (transform IntegerLayers). An input of floats that a quantiser follows is quantised by the
    host, and so are the scales behind the last layer.

    A sum of scales without a unit in common, for which no whole factors give the network's levels, is refused, unless
    `cfg.approximate` names this step (`verify: {approximate: {integer: ...}}` in a blueprint). Then it gets the closest
    factors, and `report/approximations.json` says by how much each such sum is off.

    Raises:
        ModelError: A node has no layer of integers; the text names each such node, and why.
    """
    from qonnx.transformation.infer_shapes import InferShapes

    if not model.check_all_tensor_shapes_specified():
        model = model.transform(InferShapes())
    integer_layers = own_transform("IntegerLayers")("integer" in getattr(cfg, "approximate", ()))
    layers = transformed(model, integer_layers, InferShapes())
    if integer_layers.approximated:
        write_report(cfg, REPORT, {"sums": [found.record() for found in integer_layers.approximated]})
        for found in integer_layers.approximated:
            logging.getLogger(__name__).warning("approximated: %s", found.text())
    return transformed(layers, own_transform("InferGlobalSum")())
