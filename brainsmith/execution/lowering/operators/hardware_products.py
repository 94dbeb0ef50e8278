"""Products with matrices in hardware: FINN's MVAU and VVAU, and QONNX's XnorPopcountMatMul."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.lowering.hardware import emit_reshaped
from brainsmith.execution.lowering.products import (
    emit_product,
    exact_type,
    product_span,
)
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.lowering.staircase import emit_staircase
from brainsmith.execution.operators.thresholds import activation
from brainsmith.execution.program.functions import arithmetic, channel_products, shapes
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode

Array = np.ndarray[Any, Any]

IMAGE = 4
ROWS = 2


@lowers(FINN, "MVAU")
def mvau(node: ProgramNode) -> None:
    """Multiply with a matrix, then count thresholds if there are any.

    One-bit products count the places where both bits are alike: with weights w of -1 and 1, that is half of x w plus
    the length, or for bits x of 0 and 1, x w plus the zeros among the weights. So these are products too, and their
    thresholds are moved instead of the sums.
    """
    weights = node.needed_constant(1, "matrix")
    if weights.shape != (node.needed("MW"), node.needed("MH")):
        raise Unsupported("its matrix has not the size that it states")
    half, offset = _one_bit(node, weights)
    if node.attribute("binaryXnorMode", 0):
        weights = 2 * weights - 1
    vectors = tuple(node.attribute("numInputVectors", (1,)))
    source = node.emit(shapes.reshape, node.inputs[:1], shape=(*vectors, weights.shape[0]))
    if span := node.span(node.inputs[0]):
        node.prove(source, *span)
    plain = not half and offset is None
    last = bool(node.attribute("noActivation", 0))
    ranked = (*vectors, weights.shape[1]) == node.shape(node.outputs[0])
    product = emit_product(
        node, source, weights.astype(np.float32), node.outputs[0] if plain and last and ranked else None
    )
    if not last:
        made = _activated(node, product, weights.shape[1], half, offset, len(vectors) + 1)
    else:
        made = product if plain else _counted(node, product, half, offset)
    if made != node.outputs[0]:
        known = node.span(made)
        emit_reshaped(node, made)
        if known is not None:
            node.prove(node.outputs[0], *known, made in node.bipolar)


def _one_bit(node: ProgramNode, weights: Array) -> tuple[bool, Array | None]:
    """Return whether sums are halved, and what is added to the products before."""
    if node.attribute("binaryXnorMode", 0):
        return False, (weights == 0).sum(axis=0).astype(np.float32)
    if node.attribute("inputDataType", "") == node.attribute("weightDataType", "") == "BIPOLAR":
        return True, np.full(weights.shape[1], weights.shape[0], np.float32)
    return False, None


def _counted(node: ProgramNode, product: str, half: bool, offset: Array | None) -> str:
    """Emit how many bits are alike, from the product."""
    assert offset is not None
    span = node.span(product)
    made = node.emit(arithmetic.add, [product, node.hold(offset)])
    if half:
        made = node.emit(arithmetic.multiply, [made, node.hold(np.asarray(0.5, np.float32))])
    if span is not None:
        low, high = span[0] + int(offset.min()), span[1] + int(offset.max())
        node.prove(made, *((low / 2, high / 2) if half else (low, high)))
    return made


def _activated(
    node: ProgramNode, product: str, channels: int, half: bool, offset: Array | None, rank: int
) -> str:
    """Emit the levels of a product that is still to be halved or shifted: its thresholds are doubled and shifted."""
    thresholds = node.needed_constant(2, "thresholds").astype(np.float64)
    if len(thresholds) > 1 and rank not in (ROWS, IMAGE):
        raise Unsupported("QONNX takes its second axis for the channels")
    if offset is not None:
        thresholds = (2 * thresholds if half else thresholds) - offset[:, None]
    return emit_staircase(node, product, activation(node, thresholds, (channels,)), None)


@lowers(QONNX, "XnorPopcountMatMul")
def xnor_popcount(node: ProgramNode) -> None:
    """Count the places where bits of a row and of a column are alike."""
    weights = node.needed_constant(1, "matrix")
    if weights.ndim != ROWS:
        raise Unsupported("it multiplies with many matrices")
    product = emit_product(node, node.inputs[0], (2 * weights - 1).astype(np.float32))
    offset = (weights == 0).sum(axis=0).astype(np.float32)
    made = _counted(node, product, False, offset)
    known = node.span(made)
    emit_reshaped(node, made)
    if known is not None:
        node.prove(node.outputs[0], *known)


@lowers(FINN, "VVAU")
def vvau(node: ProgramNode) -> None:
    """Multiply each channel's window with its own weights, then count thresholds if there are any."""
    channels = node.needed("Channels")
    weights = node.needed_constant(1, "weights").reshape(channels, -1).T.astype(np.float32)
    if len(node.shape(node.inputs[0])) != IMAGE:
        raise Unsupported("its input is no image of windows")
    made_by = node.facts.makers.get(node.inputs[0])
    lanes = channels if made_by in ("Im2Col", "ConvolutionInputGenerator") else node.attribute("PE", 1)
    span = node.span(node.inputs[0])
    exact = exact_type(span, weights)
    held = node.hold(weights.astype(exact))
    half = node.attribute("inputDataType", "") == node.attribute("weightDataType", "") == "BIPOLAR"
    offset = np.full(channels, len(weights), np.float32) if half else None
    last = bool(node.attribute("noActivation", 0))
    outputs = node.outputs if last and not half else None
    made = node.emit(
        channel_products.multiply_windows, [node.inputs[0], held], outputs, lanes=lanes, exact=exact
    )
    proved = None if span is None else product_span(span, weights)
    if proved is None:
        node.rounds_differently()
    else:
        node.prove(made, *proved)
    if last and half:
        made = _counted(node, made, half, offset)
    elif not last:
        made = _activated(node, made, channels, half, offset, IMAGE)
    if made != node.outputs[0]:
        known = node.span(made)
        emit_reshaped(node, made)
        if known is not None:
            node.prove(node.outputs[0], *known, made in node.bipolar)
