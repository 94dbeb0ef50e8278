"""Products with matrices in hardware: FINN's MVAU and VVAU, and QONNX's XnorPopcountMatMul."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.onnx.counting import emit_levels
from brainsmith.execution.onnx.integer_products import write_product
from brainsmith.execution.operators.operator import Apart
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.operators.thresholds import Threshold, activation
from brainsmith.execution.program.exact_products import emit_product, sums_of
from brainsmith.execution.program.functions import arithmetic, channel_products, shapes
from brainsmith.execution.program.staircase import emit_staircase
from brainsmith.graph.array_types import Array, Shape
from brainsmith.graph.integer_range import within
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


IMAGE = 4
ROWS = 2


@dataclass(frozen=True)
class Ending:
    """What is made of sums of products: nothing, how many bits are alike, or levels.

    One-bit products count the places where both bits are alike: with weights w of -1 and 1, that is half of x w plus
    the length, or for bits x of 0 and 1, x w plus the zeros among the weights. So these are products too, and their
    thresholds are moved instead of the sums.

    Attributes:
        offset: Added to each channel's sums; None for nothing.
        half: Whether they are halved then.
        threshold: What sums, as they are, are compared with; None if they are given.
    """

    offset: Array | None = None
    half: bool = False
    threshold: Threshold | None = None

    @property
    def is_plain(self) -> bool:
        """Whether sums are given as they are."""
        return self.offset is None and self.threshold is None

    def to_program(self, node: ProgramNode, sums: str) -> None:
        """Emit it, in the shape that the graph states; QONNX takes the second axis of other ranks for the channels."""
        made = sums
        if self.threshold is not None:
            made = emit_staircase(node, sums, self.threshold, None)
        elif self.offset is not None:
            made = node.emit(arithmetic.apply, [sums, node.hold(self.offset)], name="Add")
            if self.half:
                made = node.emit(arithmetic.apply, [made, node.hold(np.asarray(0.5, np.float32))], name="Mul")
            self._prove_counts(node, sums, made)
        if made != node.outputs[0]:
            node.emit_reshaped(made)
            node.prove_same(node.outputs[0], made)

    def to_onnx(self, node: NodeView, emit: Emitter, sums: str, shape: Shape) -> None:
        """Write it; sums have a shape, with the channels last."""
        made, output = sums, self.straight(node, shape)
        if self.threshold is not None:
            made = output or emit.fresh(node.outputs[0])
            node.facts.state_shape(made, shape)
            emit_levels(node, emit, sums, self.threshold.rows, -1, self.threshold.levels, made)
        elif self.offset is not None:
            scale = 0.5 if self.half else 1.0
            added = emit.add("Add", [sums, emit.constant(self.offset, "offset")])
            made = emit.affine(added, scale, 0.0, output)
            self._prove_counts(node, sums, made)
        if made != node.outputs[0]:
            emit.reshaped(made, node.shape(node.outputs[0]), node.outputs[0])
            node.prove_same(node.outputs[0], made)

    def straight(self, node: NodeView, shape: Shape) -> str:
        """Return the node's output if it has a shape, else nothing."""
        return node.outputs[0] if shape == node.shape(node.outputs[0]) else ""

    def _prove_counts(self, node: NodeView, sums: str, made: str) -> None:
        given = node.range(sums)
        if given is not None and self.offset is not None:
            low, high = given.plus(within(int(self.offset.min()), int(self.offset.max()))).ends
            node.prove(made, *((low / 2, high / 2) if self.half else (low, high)))


@dataclass(frozen=True)
class MatrixProduct(Apart):
    """Rows times a constant matrix.

    Attributes:
        rows: Shape of the rows, without their own axis.
        weights: (terms, results), float32.
        ending: What is made of the sums.
    """

    rows: Shape
    weights: Array
    ending: Ending

    def to_program(self, node: ProgramNode) -> None:
        """Multiply, exactly where that is proved to be possible."""
        channels = self.weights.shape[1]
        many = self.ending.threshold is not None and len(node.needed_constant(2, "thresholds")) > 1
        if many and len(self.rows) + 1 not in (ROWS, IMAGE):
            raise Unsupported("QONNX takes its second axis for the channels")
        source = node.emit(shapes.reshape, node.inputs[:1], shape=(*self.rows, len(self.weights)))
        if (given := node.range(node.inputs[0], len(self.weights))) is not None:
            node.prove_range(source, given)
        last = self.ending.is_plain and (*self.rows, channels) == node.shape(node.outputs[0])
        self.ending.to_program(
            node, emit_product(node, source, self.weights, node.outputs[0] if last else None)
        )

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a MatMul, exact if the numbers are known to be whole."""
        x, given = node.inputs[0], (*self.rows, len(self.weights))
        if node.shape(x) != given:
            x = emit.reshaped(x, given)
            node.prove_same(x, node.inputs[0])
        shape = (*self.rows, self.weights.shape[1])
        output = self.ending.straight(node, shape) if self.ending.is_plain else ""
        self.ending.to_onnx(node, emit, write_product(node, emit, x, self.weights, output), shape)


@dataclass(frozen=True)
class WindowProduct(Apart):
    """Each channel's window times its own weights.

    Attributes:
        weights: (positions, channels), float32.
        lanes: Windows hold groups of so many channels, all positions of each.
        ending: What is made of the sums.
    """

    weights: Array
    lanes: int
    ending: Ending

    def to_program(self, node: ProgramNode) -> None:
        """Multiply, exactly where that is proved to be possible."""
        found = sums_of(node.range(node.inputs[0], 1), self.weights)
        exact = "float32" if found is None else found.exact
        outputs = node.outputs if self.ending.is_plain else None
        given = [node.inputs[0], node.hold(self.weights.astype(exact))]
        stated = {"lanes": self.lanes, "exact": exact}
        if outputs is not None and node.is_double(outputs[0]):
            stated["dtype"] = "float64"
        sums = node.emit(channel_products.multiply_windows, given, outputs, **stated)
        if found is None:
            node.rounds_differently()
        else:
            node.prove_range(sums, found.range)
        self.ending.to_program(node, sums)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write products, and their sums.

        Raises:
            Unsupported: These may be too large for float32.
        """
        _, height, width, _ = node.shape(node.inputs[0])
        window, channels = self.weights.shape
        found = sums_of(node.range(node.inputs[0], 1), self.weights)
        doubles = any(map(node.is_double, (node.inputs[0], node.outputs[0])))
        held = ("float32", "float64") if doubles else ("float32",)
        if found is not None and found.exact not in held:
            power = 53 if doubles else 24
            raise Unsupported(
                f"its sums may reach {found.bound:.3g}, beyond 2^{power}, where {held[-1]} is not exact"
            )
        source = node.inputs[0]
        if doubles and not node.is_double(source):
            source = emit.add("Cast", [source], to=11)
        kind = np.float64 if doubles else np.float32
        shape = (1, height, width, channels // self.lanes, window, self.lanes)
        ordered = emit.add("Transpose", [emit.reshaped(source, shape)], perm=[0, 1, 2, 3, 5, 4])
        each = emit.reshaped(ordered, (1, height, width, channels, window))
        scaled = emit.add("Mul", [each, emit.constant(self.weights.T, "weights", kind)])
        result = (1, height, width, channels)
        output = self.ending.straight(node, result) if self.ending.is_plain else ""
        if doubles and not (output and node.is_double(output)):
            sums = emit.add("Cast", [emit.sum_over(scaled, [4], keep=False)], output, to=1)
        else:
            sums = emit.sum_over(scaled, [4], output, keep=False)
        if found is not None:
            node.prove_range(sums, found.range)
        self.ending.to_onnx(node, emit, sums, result)


@reads(FINN, "MVAU")
def mvau(node: NodeView) -> MatrixProduct:
    """Read one. Source: `MVAU.execute_node` of FINN; two bipolar operands count agreements there."""
    weights = node.needed_constant(1, "weights")
    if weights.shape != (node.needed("MW"), node.needed("MH")):
        raise Unsupported("its weights do not have the shape (MW, MH) that it states")
    rows = tuple(node.attribute("numInputVectors", (1,)))
    bits = bool(node.attribute("binaryXnorMode", 0))
    ending = _ending(node, weights, bits)
    if bits:
        weights = 2 * weights - 1
    return MatrixProduct(rows, weights.astype(np.float32), ending)


@reads(QONNX, "XnorPopcountMatMul")
def xnor_popcount(node: NodeView) -> MatrixProduct:
    """Read one, which counts the places where bits of a row and of a column are alike."""
    weights = node.needed_constant(1, "second matrix")
    if weights.ndim != ROWS:
        raise Unsupported(f"its second matrix must have 2 axes, not shape {weights.shape}")
    ending = Ending(_zeros(weights))
    return MatrixProduct(node.shape(node.inputs[0])[:-1], (2 * weights - 1).astype(np.float32), ending)


@reads(FINN, "VVAU")
def vvau(node: NodeView) -> WindowProduct:
    """Read one.

    Source: `VVAU.execute_node` of FINN: windows hold groups of PE channels, or of all where they come from the
        kernel of the sliding window.
    """
    channels = node.needed("Channels")
    weights = node.needed_constant(1, "weights").reshape(channels, -1).T.astype(np.float32)
    if len(node.shape(node.inputs[0])) != IMAGE:
        raise Unsupported("its input must have shape (1, height, width, values of a window)")
    all_at_once = node.facts.makers.get(node.inputs[0]) in ("Im2Col", "ConvolutionInputGenerator")
    return WindowProduct(
        weights, channels if all_at_once else node.attribute("PE", 1), _ending(node, weights, bits=False)
    )


def _ending(node: NodeView, weights: Array, bits: bool) -> Ending:
    """Read what is made of products with weights (terms, results), which may be bits of 0 and 1."""
    offset, half = None, False
    if bits:
        offset = _zeros(weights)
    elif node.attribute("inputDataType") == node.attribute("weightDataType") == "BIPOLAR":
        offset, half = np.full(weights.shape[1], len(weights), np.float32), True
    if node.attribute("noActivation", 0):
        return Ending(offset, half)
    thresholds = node.needed_constant(2, "thresholds").astype(np.float64)
    if offset is not None:
        thresholds = (2 * thresholds if half else thresholds) - offset[:, None]
    return Ending(offset, half, activation(node, thresholds, (weights.shape[1],)))


def _zeros(weights: Array) -> Array:
    return np.asarray((weights == 0).sum(axis=0), np.float32)
