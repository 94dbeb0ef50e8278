"""integer: bring a quantised network into layers of integers, exact by construction."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from brainsmith.errors import ModelError
from brainsmith.plugin.core import step
from brainsmith.steps.hardware_nodes import is_layer
from brainsmith.steps.own_transforms import own_transform, transformed
from brainsmith.steps.step_reports import write_report
from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.lattice.staircases import is_quantiser, is_thresholds

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

REPORT = "report/approximations.json"
FINDINGS = "report/integers.json"
"""What each tensor of the network is made of, and what the host does at its ends."""

LOWERED = ("Im2Col", "MaxPoolNHWC", "QuantAvgPool2d", "XnorPopcountMatMul")
"""Operators of QONNX that only a front end writes."""

NO_QUANTISERS = (
    "The model has no quantisers, and layers compute with integers: quantise its weights and activations, with Brevitas "
    "for example, and export it as QONNX"
)


@step(
    description="Rewrite a QONNX network as layers of integers, in place of qonnx_to_finn and streamline",
    requires=("qonnx",),
)
def integer(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Rewrite a network of QONNX quantisers as layers of integers, channels last.

    No scale is moved by rules of algebra: each threshold is found by evaluating the network's own operators over the
    integers that reach it (transform IntegerLayers). An input of floats that a quantiser follows is quantised by the
    host, and so are the scales after the last layer. A model without quantisers that has layers already, be they
    FINN's hardware or what a front end lowers to, stays as it is; the step says so.

    A sum of scales without a common unit, for which no whole factors give the network's levels, is refused, unless
    `cfg.approximate` names this step (`verify: {approximate: {integer: ...}}` in a blueprint). Then it gets the closest
    factors, and `report/approximations.json` says by how much each such sum is off.

    `report/integers.json` has the scale, zero point and range of each tensor, and what the host does at the ends.

    Raises:
        ModelError: A node has no layer of integers; the text names each such node, why, and what would help.
    """
    made, transform = integer_layers(model, "integer" in getattr(cfg, "approximate", ()))
    if transform is None:
        named = ", ".join(f"{count} {op_type}" for op_type, count in _lowered(model).items())
        logging.getLogger(__name__).info(
            "nothing to do: the model has no quantisers, and is lowered to layers already (%s)", named
        )
        return made
    if transform.approximated:
        write_report(cfg, REPORT, {"sums": [found.record() for found in transform.approximated]})
        for found in transform.approximated:
            logging.getLogger(__name__).warning("approximated: %s", found.text())
    if transform.findings is not None and cfg is not None:
        write_report(cfg, FINDINGS, transform.findings.to_plain())
    return transformed(made, own_transform("InferGlobalSum")())


def integer_layers(model: ModelWrapper, approximate: bool) -> tuple[ModelWrapper, Any]:
    """Return a network as layers of integers, and the transform that made them; None where it is lowered already.

    Args:
        model: Cleaned up.
        approximate: Whether sums of several scales may have the closest factors.

    Raises:
        ModelError: A node has no layer of integers; the text names each such node, why, and what would help.
    """
    from qonnx.transformation.infer_shapes import InferShapes

    if not model.check_all_tensor_shapes_specified():
        model = model.transform(InferShapes())
    quantised = any(is_quantiser(node) for node in model.graph.node)
    if not quantised and _lowered(model):
        return model, None
    found = own_transform("IntegerLayers")(approximate)
    try:
        return model.transform(found, cleanup=False).transform(InferShapes()), found
    except ModelError as error:
        if quantised or any(is_thresholds(node) for node in model.graph.node):
            raise
        raise ModelError(f"{error}. {NO_QUANTISERS}") from error


def _lowered(model: ModelWrapper) -> Counter[str]:
    """Count the nodes that are hardware, or lowered to what a front end makes, by operator."""
    return Counter(node.op_type for node in model.graph.node if _is_lowered(node))


def _is_lowered(node: NodeProto) -> bool:
    """Tell whether a node is hardware, or channels last as a front end leaves it."""
    if is_layer(node) or any(each.name == "backend" for each in node.attribute):
        return True
    last = is_thresholds(node) and attribute(node, "data_layout", b"") == b"NHWC"
    return last or (node.op_type in LOWERED and node.domain.startswith("qonnx"))
