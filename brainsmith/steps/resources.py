"""What a layer needs of the part, before any synthesis."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from brainsmith.rtl.resource_models.finn_parameters import parameters_of
from brainsmith.rtl.resource_models.resource_model import has_model, needs
from brainsmith.rtl.synthesis.fpga_families import family_of

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

RESOURCES = {"lut": "LUT", "bram18": "BRAM_18K", "dsp": "DSP", "uram": "URAM"}
"""What reports call them, and what FINN does."""


def estimated_resources(layer: Any, part: str, model: ModelWrapper) -> dict[str, int]:
    """Return the estimate of one layer by `RESOURCES`; 0 LUTs say that there is no model of them.

    A backend of this project states what it needs; of FINN's RTL layers there are models that were calibrated against
    Yosys; what FINN itself says is left for all others.

    Args:
        layer: QONNX's instance of the node.
        part: The FPGA.
        model: Holds the layer's constants.

    Raises:
        BuildError: The part is of no known family.
    """
    if hasattr(layer, "core_resources"):
        stated = asdict(layer.core_resources())
        return {name: stated[name] for name in RESOURCES}
    node, family = layer.onnx_node, family_of(part).name
    if has_model(node.op_type, family):
        parameters = parameters_of(node.op_type, layer.get_nodeattr, is_narrow(layer, model))
        if parameters is not None:
            foretold = needs(node.op_type, parameters, family)._asdict()
            return {name: int(foretold.get(name, 0)) for name in RESOURCES}
    used = layer.node_res_estimation(part)
    return {name: round(float(used.get(key, 0))) for name, key in RESOURCES.items()}


def is_narrow(layer: Any, model: ModelWrapper) -> bool:
    """Tell whether the least weight that its datatype holds does not occur in a product's weights."""
    inputs = layer.onnx_node.input
    weights = model.get_initializer(inputs[1]) if len(inputs) > 1 else None
    return weights is not None and bool(weights.min() > layer.get_input_datatype(1).min())
