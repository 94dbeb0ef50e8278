"""ExpandNorms: normalisations into their primitive parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto, helper
from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform
from brainsmith.transforms.folded_norm_pattern import find_folded_norm
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard, opset
from brainsmith.transforms.norm_pattern import find_normalisation

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.transforms.folded_norm_pattern import FoldedNorm
    from brainsmith.transforms.norm_pattern import NormPattern

NORM_OPS = ("LayerNormalization", "RMSNormalization")
AXES_ARE_AN_INPUT = 18
"""The opset from which on ReduceMean takes its axes as an input."""


@transform(
    stage="topology_opt",
    description="Expand normalization operations",
    tags=("normalisation", "lowering"),
)
class ExpandNorms(Transformation):
    """Expand LayerNorm and RMSNorm into one canonical chain of primitive operators.

    What comes out, `x` being the input and `axes` the normalised ones (kept with length 1 by the reductions):

        mean      = ReduceMean(x, axes)                      LayerNorm only
        centred   = Sub(x, mean)                             LayerNorm only; for RMSNorm it is x
        square    = Pow(centred, 2)
        variance  = ReduceMean(square, axes)
        shifted   = Add(variance, epsilon)
        deviation = Sqrt(shifted)
        inverse   = Reciprocal(deviation)
        normal    = Mul(centred, inverse)
        scaled    = Mul(normal, scale)                       if there is a scale
        output    = Add(scaled, bias)                        if there is a bias

    So there is one division per row instead of one per element, and every other part is element-wise or a
    reduction. The square is no Mul(centred, centred), because several of FINN's transforms take each of a product's
    inputs for another branch.

    - The operators LayerNormalization and RMSNormalization are replaced. Their outputs Mean and InvStdDev are
      `mean` and `inverse`, under their own names. Where the element type differs from stash_type, a Cast
      stands before `mean` and another after `normal`, as ONNX's definition has them. A node whose input has
      no declared element type, or no declared rank where the axis counts from the front, is left alone: run
      InferShapes first.
    - The sub-graphs that exporters write are brought into the same form: Mul(centred, centred) for the square;
      division by the deviation, Div(1, deviation), Pow(shifted, -0.5) and Pow(shifted, 0.5) for the inverse;
      the subtraction written twice; operands in either order. Scale and bias after them are Mul and Add
      already and stay untouched. What other nodes read of the old form stays.
    - TensorFlow's form, `x * factor + (bias - mean * factor)` with `factor = inverse * scale`, is unfolded
      into the same chain.
    - Reductions over different axes, or without keepdims, are no normalisation and are left alone.

    A sub-graph's result differs from the original by the rounding of one reciprocal and one product: at most
    3 units in the last place of `normal` (a quotient rounds once, a product with a rounded reciprocal twice,
    and Pow may itself be off by one). TensorFlow's form cancels `mean * factor` from two summands, so there
    the difference is relative to that; that of an operator depends on the order in which a runtime sums.
    Source: the function bodies of LayerNormalization (opset 17) and RMSNormalization (opset 23) in ONNX.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Expand every normalisation; the flag is True exactly when there was one."""
        view = GraphView(model)
        modified = False
        for node in list(model.graph.node):
            if is_standard(node, *NORM_OPS):
                modified |= _expand_operator(view, node)
            elif (folded := find_folded_norm(view, node)) is not None:
                _unfold(view, folded)
                modified = True
            elif (norm := find_normalisation(view, node)) is not None and not norm.canonical:
                _rewrite_subgraph(view, norm)
                modified = True
        return model, modified


class _NodeChain:
    """Writes nodes one after the other; each node's tensors are named and declared."""

    def __init__(self, view: GraphView, stem: str, like: str, elem_type: int, axes: tuple[int, ...]) -> None:
        self.view, self.stem, self.like, self.elem_type, self.axes = view, stem, like, elem_type, axes
        self.nodes: list[NodeProto] = []

    def add(
        self,
        op_type: str,
        inputs: list[str],
        part: str,
        output: str = "",
        reduced: bool = False,
        **attrs: int,
    ) -> str:
        """Append a node and return its output's name (a new one, unless it is given)."""
        name = output or self.view.new_name(f"{self.stem}_{part}")
        self.nodes.append(helper.make_node(op_type, inputs, [name], name=f"{self.stem}_{part}", **attrs))
        elem_type = attrs.get("to", self.elem_type)
        self.view.declare_like(name, self.like, elem_type, self.axes if reduced else ())
        return name

    def mean(self, source: str, part: str, output: str = "") -> str:
        """Append a ReduceMean over the axes, in the form that the model's opset has."""
        if opset(self.view.model) >= AXES_ARE_AN_INPUT:
            axes = self.view.add_constant(f"{self.stem}_axes", np.asarray(self.axes, dtype=np.int64))
            return self.add("ReduceMean", [source, axes], part, output, reduced=True, keepdims=1)
        name = self.add("ReduceMean", [source], part, output, reduced=True, keepdims=1)
        self.nodes[-1].attribute.append(helper.make_attribute("axes", list(self.axes)))
        return name

    def square(self, source: str) -> str:
        """Append the square of a tensor."""
        return self.add("Pow", [source, self.number(2.0, "two")], "square")

    def number(self, value: float, part: str) -> str:
        """Add a constant with one element, in the chain's element type."""
        dtype = helper.tensor_dtype_to_np_dtype(self.elem_type)
        return self.view.add_constant(f"{self.stem}_{part}", np.asarray([value], dtype=dtype))

    def inverse(self, shifted: str, output: str = "") -> str:
        """Append the reciprocal of the square root."""
        deviation = self.add("Sqrt", [shifted], "deviation", reduced=True)
        return self.add("Reciprocal", [deviation], "inverse", output, reduced=True)


def _expand_operator(view: GraphView, node: NodeProto) -> bool:
    axis, rank = attribute(node, "axis", -1), view.rank(node.input[0])
    elem_type, stash_type = view.elem_type(node.input[0]), attribute(node, "stash_type", TensorProto.FLOAT)
    if not elem_type or (axis >= 0 and rank is None):
        return False
    source, scale, bias = [*node.input, "", ""][:3]
    output, mean, inverse = [*node.output, "", ""][:3]
    casts = elem_type != stash_type
    axes = tuple(range(axis if axis < 0 else axis - (rank or 0), 0))
    chain = _NodeChain(view, node.name or output, source, stash_type, axes)
    if casts:
        source = chain.add("Cast", [source], "stashed", to=stash_type)
    if node.op_type == "LayerNormalization":
        source = chain.add("Sub", [source, chain.mean(source, "mean", mean)], "centred")
    square = chain.square(source)
    variance = chain.mean(square, "variance")
    epsilon = chain.number(attribute(node, "epsilon", 1e-5), "epsilon")
    shifted = chain.add("Add", [variance, epsilon], "shifted", reduced=True)
    tail = [("normal", "Mul", chain.inverse(shifted, inverse))]
    tail += [
        (part, kind, name) for part, kind, name in (("scaled", "Mul", scale), ("biased", "Add", bias)) if name
    ]
    for place, (part, kind, operand) in enumerate(tail):
        last = place == len(tail) - 1
        source = chain.add(
            kind, [source, operand], part, output if last and not (casts and place == 0) else ""
        )
        if casts and place == 0:
            source = chain.add("Cast", [source], "cast_back", output if last else "", to=elem_type)
            chain.elem_type = elem_type
    view.replace(node, chain.nodes)
    return True


def _unfold(view: GraphView, folded: FoldedNorm) -> None:
    """Scale the centred tensor and then add the bias, instead of scaling its two parts."""
    node, output = folded.node, folded.node.output[0]
    elem_type = view.elem_type(folded.centred, TensorProto.FLOAT)
    chain = _NodeChain(view, node.name or output, folded.centred, elem_type, ())
    result = normal = chain.add("Mul", [folded.centred, folded.inverse], "normal")
    if folded.scale:
        result = chain.add("Mul", [result, folded.scale], "scaled")
    chain.nodes.append(helper.make_node("Add", [result, folded.bias], [output], name=node.name))
    view.replace(node, chain.nodes, node.input)
    product = view.producer(normal, "Mul")
    norm = find_normalisation(view, product) if product is not None else None
    if norm is not None and not norm.canonical:
        _rewrite_subgraph(view, norm)


def _rewrite_subgraph(view: GraphView, norm: NormPattern) -> None:
    """Write the parts that are not canonical yet before the node that gives the normalised tensor."""
    node = norm.node
    output = node.output[0]
    elem_type = view.elem_type(norm.centred, TensorProto.FLOAT)
    chain = _NodeChain(view, node.name or output, norm.centred, elem_type, norm.axes)
    shifted = norm.shifted
    if not norm.square_is_canonical:
        square = chain.square(norm.centred)
        variance = chain.mean(square, "variance")
        shifted = chain.add("Add", [variance, norm.epsilon], "shifted", reduced=True)
    inverse = chain.inverse(shifted)
    chain.nodes.append(helper.make_node("Mul", [norm.centred, inverse], [output], name=node.name))
    view.replace(node, chain.nodes, node.input)
