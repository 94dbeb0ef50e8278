"""Quantised constants that are no weights, such as the biases of Brevitas, as the numbers that QONNX computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.transforms.graph_view import GraphView
from brainsmith.transforms.lattice.quantised_values import value_of_quantised
from brainsmith.transforms.lattice.staircases import is_quantiser

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

WEIGHTS = {"Conv": (1,), "ConvTranspose": (1,), "Gemm": (1,), "MatMul": (0, 1), "Transpose": (0,)}
"""Which inputs of a node are weights, whose integers and scale are of use."""


def fold_what_is_no_weight(model: ModelWrapper) -> ModelWrapper:
    """Let nodes read the numbers of quantised constants, in place, but for the weights of products."""
    view = GraphView(model)
    found: dict[str, str] = {}
    for node in model.graph.node:
        for at, name in enumerate(node.input):
            maker = view.made_by(name)
            if at in WEIGHTS.get(node.op_type, ()) or maker is None or not is_quantiser(maker):
                continue
            if not all(map(view.is_constant, maker.input)):
                continue
            if name not in found:
                found[name] = view.add_constant(f"{name}_numbers", value_of_quantised(view, maker))
            node.input[at] = found[name]
    return model
