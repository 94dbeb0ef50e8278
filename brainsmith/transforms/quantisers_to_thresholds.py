"""QuantisersToThresholds: every quantiser of an activation becomes the MultiThreshold that computes the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.transformation.base import Transformation

from brainsmith.errors import ModelError
from brainsmith.graph.integer_range import within
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute
from brainsmith.transforms.lattice.reader import Lattices
from brainsmith.transforms.lattice.staircases import is_quantiser, is_thresholds, quantiser_of, thresholds_of
from brainsmith.transforms.lattice.threshold_placing import place
from brainsmith.transforms.lattice.value_lattice import Lattice, of_integers

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.transforms.lattice.staircases import Staircase
    from brainsmith.transforms.lattice.threshold_placing import PlacedThresholds

QONNX = "qonnx.custom_op.general"
MOST_BITS = 8

PASSING = ("Flatten", "Identity", "MaxPool", "Mul", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
"""Operators after which a product still gets the signs of a quantiser, times a scale."""

LAYOUTS = {(2, -1): "NC", (3, -1): "NWC", (3, -2): "NCW", (4, -1): "NHWC", (4, -3): "NCHW"}
"""What a MultiThreshold with a row for each channel states, by the number of axes and the channels' axis."""


@transform(
    stage="topology_opt",
    description="Turn quantisers of activations into MultiThresholds that give QONNX's levels, ties included",
    tags=("quantisation",),
)
class QuantisersToThresholds(Transformation):
    """Replace Quant, IntQuant and BipolarQuant of activations by MultiThreshold and Mul, for every rounding mode.

    Levels are computed with QONNX's own quantiser, through the operators before it (scales, additions,
    BatchNormalization, Relu and other functions that rise), for the values that come in: whole numbers times a scale,
    as far as ranges prove it. A threshold is the middle between two such values, so that a tie falls to the level
    that the rounding mode says, and later steps cannot move it to the other side by rounding. Where values are not
    known, a threshold is the least float that reaches the level. MultiThresholds that the graph has already are
    placed anew in the same way.

    Any scale but 0, one or one for each channel; a whole zero point. Thresholds rise, so the scale of the Mul is
    positive, and a factor of -1 before the thresholds turns channels that fall.

    Args:
        most_bits: A wider quantiser stays; it would need too many thresholds.

    Raises:
        ModelError: A quantiser has parameters that thresholds cannot give.
    """

    def __init__(self, most_bits: int = MOST_BITS) -> None:
        super().__init__()
        self._most_bits = most_bits

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Replace all of them in one pass; the flag is always False."""
        view = GraphView(model)
        lattices = Lattices(view)
        for node in list(model.graph.node):
            if is_quantiser(node) and view.constant(node.input[0]) is None:
                self._quantiser(view, lattices, node)
            elif is_thresholds(node) and (staircase := thresholds_of(view, node)) is not None:
                _thresholds(view, lattices, staircase)
            else:
                lattices.enter(node)
        return model, False

    def _quantiser(self, view: GraphView, lattices: Lattices, node: NodeProto) -> None:
        staircase = quantiser_of(view, node)
        result = node.output[0]
        if staircase.datatype == "BIPOLAR" and not _feeds_signs(view, result):
            # FINN has no layer that gives -1 and 1; two equal thresholds do.
            staircase = replace(staircase, step=1, datatype="INT2")
        if _bits(view, node) > self._most_bits:
            low, high = staircase.low, staircase.high
        else:
            placed = _expressible(view, staircase, place(view, lattices, staircase))
            low, high = placed.low, placed.high
            _replace(view, staircase, placed)
        plain = of_integers(low, high)
        if staircase.scale is not None:
            scale = staircase.scale.astype(np.float64).reshape(-1)
            plain = Lattice(scale, plain.offset, plain.range, staircase.axis or -1)
        lattices.note(result, plain)


def _feeds_signs(view: GraphView, name: str) -> bool:
    """Tell whether a tensor goes into products by weights of -1 and 1 alone: then they become XNOR and a count."""
    readers = view.nodes_reading(name)
    return (
        bool(readers)
        and view.readers(name) == len(readers)
        and all(_takes_signs(view, node) for node in readers)
    )


def _takes_signs(view: GraphView, node: NodeProto) -> bool:
    if node.op_type in ("MatMul", "Conv"):
        padded = any(attribute(node, "pads", []))
        return not padded and view.model.get_tensor_datatype(node.input[1]).name == "BIPOLAR"
    return node.op_type in PASSING and _feeds_signs(view, node.output[0])


def _bits(view: GraphView, node: NodeProto) -> int:
    if node.op_type == "BipolarQuant":
        return 1
    bits = view.constant(node.input[3])
    return 0 if bits is None else int(bits.reshape(-1)[0])


def _expressible(view: GraphView, staircase: Staircase, placed: PlacedThresholds | None) -> PlacedThresholds:
    """Return the thresholds, if a MultiThreshold can have them.

    Raises:
        ModelError: Channels are on an axis, or the tensor has a number of axes, that it does not take.
    """
    node = staircase.node
    rank = len(view.model.get_tensor_shape(node.input[0]) or ())
    axis = staircase.axis if placed is None else placed.axis
    if placed is not None and rank > 1 and (axis is None or (rank, axis) in LAYOUTS):
        return placed
    where = "no axis for channels" if axis is None else f"its channels on axis {axis % rank} of {rank}"
    raise ModelError(
        f"{node.op_type} '{node.name or node.output[0]}' has {where}: thresholds need channels on the second axis or "
        "on the last one"
    )


def _thresholds(view: GraphView, lattices: Lattices, staircase: Staircase) -> None:
    """Place a MultiThreshold anew, where its input is known."""
    node = staircase.node
    result = node.output[0]
    scale, bias = float(attribute(node, "out_scale", 1.0)), float(attribute(node, "out_bias", 0.0))
    placed = place(view, lattices, staircase)
    if placed is None:
        return
    if placed.proven and scale > 0:
        _replace(view, staircase, placed)
    if scale == 2 and bias == -1:
        lattices.note(result, of_integers(-1, 1))
    elif scale:
        levels = within(placed.low, placed.high)
        lattices.note(result, Lattice(np.asarray([scale]), np.asarray([bias]), levels))


def _replace(view: GraphView, staircase: Staircase, placed: PlacedThresholds) -> None:
    old, model = staircase.node, view.model
    result, stem = old.output[0], old.name or old.output[0]
    shape = model.get_tensor_shape(result) or model.get_tensor_shape(placed.source)
    nodes = []
    source = placed.source
    if (placed.signs < 0).any():
        signs = view.add_constant(f"{stem}_signs", _broadcast(placed.signs, placed.axis), DataType["BIPOLAR"])
        turned = view.new_tensor(f"{stem}_turned", shape)
        nodes.append(helper.make_node("Mul", [source, signs], [turned], name=f"{stem}_turn"))
        source = turned
    levels = result
    if staircase.scale is not None:
        levels = view.new_tensor(f"{stem}_levels", shape)
    rows = view.add_constant(f"{stem}_thresholds", placed.thresholds)
    nodes.append(_multi_threshold(view, staircase, placed, source, rows, levels))
    if staircase.scale is not None:
        scale = view.add_constant(f"{stem}_scale", np.asarray(staircase.scale, np.float32))
        nodes.append(helper.make_node("Mul", [levels, scale], [result], name=f"{stem}_scaled"))
    view.replace(old, nodes, [name for name in old.input if name != placed.source])
    model.set_tensor_datatype(levels, DataType[staircase.datatype])


def _multi_threshold(
    view: GraphView, staircase: Staircase, placed: PlacedThresholds, source: str, rows: str, levels: str
) -> NodeProto:
    node = helper.make_node(
        "MultiThreshold", [source, rows], [levels], name=staircase.node.name, domain=QONNX,
        out_dtype=staircase.datatype,
    )  # fmt: skip
    if is_thresholds(staircase.node):
        kept = [entry for entry in staircase.node.attribute if entry.name in ("out_scale", "out_bias")]
        node.attribute.extend(kept)
    elif staircase.step != 1 or staircase.low:
        stated = {"out_scale": float(staircase.step), "out_bias": float(staircase.low)}
        node.attribute.extend(helper.make_attribute(name, value) for name, value in stated.items())
    layout = _layout(view, placed, staircase.node)
    if layout:
        node.attribute.append(helper.make_attribute("data_layout", layout))
    return node


def _layout(view: GraphView, placed: PlacedThresholds, old: NodeProto) -> str:
    shape = view.model.get_tensor_shape(placed.source)
    if placed.axis is not None and len(placed.thresholds) > 1:
        return LAYOUTS[len(shape), placed.axis]
    stated = attribute(old, "data_layout", b"").decode() if is_thresholds(old) else ""
    return stated or "".join(view.model.get_tensor_layout(placed.source) or ())


def _broadcast(values: Any, axis: int | None) -> Any:
    """Return one number for each channel, in the form in which it is one along their axis."""
    trailing = 0 if axis is None else -axis - 1
    return values.astype(np.float32).reshape(-1, *(1,) * trailing)
