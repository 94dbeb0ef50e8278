"""Lower what computes each value by itself."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.lowering.program_node import ProgramNode
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import arithmetic, shapes
from brainsmith.graph.node_view import Span, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

_COMPARISONS = ("And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or", "Xor")
_SPANS: dict[str, Callable[[int, int], int]] = {
    "Add": lambda a, b: a + b,
    "Sum": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Max": max,
    "Min": min,
}
_MONOTONE: dict[str, Callable[[int], int]] = {
    "Ceil": lambda v: v,
    "Floor": lambda v: v,
    "Neg": lambda v: -v,
    "Round": lambda v: v,
    "Sign": lambda v: (v > 0) - (v < 0),
}


@lowers("", "Add", "Sub", "Mul", "Max", "Min", "Sum", *_COMPARISONS)
def exact(node: ProgramNode) -> None:
    """Combine tensors by what IEEE 754 rounds in one way."""
    node.emit(arithmetic.binary, broadcast(node), node.outputs, name=node.op_type)
    if node.op_type in _COMPARISONS:
        node.prove(node.outputs[0], 0, 1)
        return
    spans = [node.span(name) for name in node.inputs]
    if _is_float(node) and None not in spans:
        node.prove(node.outputs[0], *_combined(node.op_type, [span for span in spans if span]))
    if node.op_type in ("Max", "Min"):
        node.treats_ends_differently()


def _combined(op_type: str, spans: list[Span]) -> Span:
    low, high = spans[0]
    for other in spans[1:]:
        ends = [_SPANS[op_type](a, b) for a, b in product((low, high), other)]
        low, high = min(ends), max(ends)
    return low, high


@lowers("", "Div")
def divide(node: ProgramNode) -> None:
    """Divide; whole numbers towards 0."""
    whole = node.dtype(node.inputs[0]).kind in "iu"
    if whole:
        node.emit(arithmetic.whole_quotient, broadcast(node), node.outputs)
    else:
        node.emit(arithmetic.binary, broadcast(node), node.outputs, name="Div")


@lowers("", "Pow")
def power(node: ProgramNode) -> None:
    """Raise to a power; squares are products."""
    exponent = node.constant(1)
    if exponent is not None and exponent.size == 1 and exponent.item() == 2 and _is_float(node):
        name = node.stack(0, exponent.ndim)
        node.emit(arithmetic.binary, [name, name], node.outputs, name="Mul")
        return
    if not _is_float(node) or node.dtype(node.inputs[1]) != np.float32:
        raise Unsupported("it raises whole numbers")
    node.rounds_differently()
    if exponent is not None and exponent.size == 1 and exponent.item() == 0.5:
        node.emit(arithmetic.power_of_half, [node.stack(0, exponent.ndim)], node.outputs)
        return
    node.emit(arithmetic.binary, broadcast(node), node.outputs, name="Pow")


@lowers("", "Mean")
def mean(node: ProgramNode) -> None:
    """Take the mean of several tensors."""
    node.rounds_differently()
    node.emit(arithmetic.mean, broadcast(node), node.outputs)


@lowers("", "Abs", "Ceil", "Floor", "IsNaN", "Neg", "Not", "Reciprocal", "Round", "Sign", "Sqrt")
def unary(node: ProgramNode) -> None:
    """Apply what IEEE 754 rounds in one way."""
    node.emit(arithmetic.unary, node.inputs, node.outputs, name=node.op_type)
    span = node.span(node.inputs[0])
    output = node.outputs[0]
    if node.op_type in ("IsNaN", "Not"):
        node.prove(output, 0, 1)
    elif node.op_type in _MONOTONE and span:
        ends = [_MONOTONE[node.op_type](end) for end in span]
        node.prove(output, min(ends), max(ends))
    elif node.op_type == "Abs" and span:
        least = 0 if span[0] <= 0 <= span[1] else min(map(abs, span))
        node.prove(output, least, max(map(abs, span)))


@lowers("", "Cos", "Exp", "Log", "Sin", "Tanh")
def transcendental(node: ProgramNode) -> None:
    """Apply a function that each library rounds in its own way."""
    node.rounds_differently()
    node.emit(arithmetic.unary, node.inputs, node.outputs, name=node.op_type)


@lowers("", "Sigmoid")
def sigmoid(node: ProgramNode) -> None:
    """Apply the logistic function."""
    node.rounds_differently()
    node.emit(arithmetic.sigmoid, node.inputs, node.outputs)


@lowers("", "HardSigmoid")
def hard_sigmoid(node: ProgramNode) -> None:
    """Apply a line that is clipped."""
    node.rounds_differently()
    alpha, beta = float(node.attribute("alpha", 0.2)), float(node.attribute("beta", 0.5))
    node.emit(arithmetic.hard_sigmoid, node.inputs, node.outputs, alpha=alpha, beta=beta)


@lowers("", "Relu")
def relu(node: ProgramNode) -> None:
    """Cut off what is below 0."""
    node.emit(arithmetic.relu, node.inputs, node.outputs)
    if span := node.span(node.inputs[0]):
        node.prove(node.outputs[0], max(span[0], 0), max(span[1], 0))


@lowers("", "LeakyRelu")
def leaky_relu(node: ProgramNode) -> None:
    """Flatten what is below 0."""
    slope = node.hold(np.asarray(node.attribute("alpha", 0.01), np.float32))
    node.emit(arithmetic.leaky, [node.inputs[0], slope], node.outputs)


@lowers("", "PRelu")
def p_relu(node: ProgramNode) -> None:
    """Flatten what is below 0, each channel by its own slope."""
    node.emit(arithmetic.leaky, broadcast(node), node.outputs)
    node.treats_ends_differently()


@lowers("", "Clip")
def clip(node: ProgramNode) -> None:
    """Cut off on both sides."""
    if node.opset < 11:
        ends: list[Any] = [
            node.hold(np.asarray(node.attributes[key], np.float32)) if key in node.attributes else ""
            for key in ("min", "max")
        ]
    else:
        ends = [node.stack(at, len(node.shape(node.inputs[0]))) if node.given(at) else "" for at in (1, 2)]
        constants = [node.constant(at) for at in (1, 2)]
        if any(constant is not None and np.isnan(constant).any() for constant in constants):
            raise Unsupported("an end is NaN")
    span = node.span(node.inputs[0])
    node.emit(arithmetic.clip, [node.inputs[0], *_finite(node, ends)], node.outputs)
    if span is None:
        return
    for end, choose in zip(ends, (max, min), strict=True):
        limit = node.span(end) if end else None
        if end and limit is None:
            return
        if limit is not None:
            span = choose(span[0], limit[0]), choose(span[1], limit[1])
    node.prove(node.outputs[0], *span)


def _finite(node: ProgramNode, ends: list[str]) -> list[str]:
    """Return the ends of a Clip, one that is left out as ONNX Runtime's: the last finite float, which cuts infinity."""
    if not _is_float(node) or node.span(node.inputs[0]) is not None:
        return ends
    last = np.finfo(np.float32)
    return [
        end or node.hold(np.asarray(limit, np.float32))
        for end, limit in zip(ends, (last.min, last.max), strict=True)
    ]


@lowers("", "Where")
def where(node: ProgramNode) -> None:
    """Choose between two tensors."""
    node.emit(arithmetic.where, broadcast(node), node.outputs)
    yes, no = node.span(node.inputs[1]), node.span(node.inputs[2])
    if yes and no:
        node.prove(node.outputs[0], min(yes[0], no[0]), max(yes[1], no[1]))


@lowers("", "Cast")
def cast(node: ProgramNode) -> None:
    """Give values another type."""
    from onnx import helper

    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(node.attributes["to"]))
    if dtype.kind not in "biuf" or node.dtype(node.inputs[0]).kind not in "biuf":
        raise Unsupported("it is a cast of strings or of floats of few bits")
    node.emit(shapes.cast, node.inputs[:1], node.outputs, dtype=dtype.name)
    span = node.span(node.inputs[0])
    if span and _holds(dtype, span):
        node.prove(node.outputs[0], *span)


@lowers("", "BatchNormalization")
def batch_normalisation(node: ProgramNode) -> None:
    """Scale and shift each channel by constants, rounded as ONNX Runtime does."""
    if node.attribute("training_mode", 0) or len([name for name in node.outputs if name]) > 1:
        raise Unsupported("it is in training mode")
    scale, bias, mean, variance = (
        node.needed_constant(at, what) for at, what in enumerate(("scale", "bias", "mean", "variance"), 1)
    )
    factor = scale / np.sqrt(variance + np.float32(node.attribute("epsilon", 1e-5)))
    offset = bias - mean * factor
    rank = len(node.shape(node.inputs[0])) - 2
    held = [node.hold(np.asarray(c, np.float32).reshape(-1, *(1,) * rank)) for c in (factor, offset)]
    node.emit(arithmetic.scale_and_shift, [node.inputs[0], *held], node.outputs)


def broadcast(node: ProgramNode) -> list[str]:
    """Return the inputs' names, those that vary with shapes of one rank, so that their runs stay apart."""
    rank = max(len(node.shape(name)) for name in node.inputs)
    return [node.stack(at, rank) for at in range(len(node.inputs))]


def _is_float(node: ProgramNode) -> bool:
    return node.dtype(node.inputs[0]) == np.float32


def _holds(dtype: np.dtype[Any], span: Span) -> bool:
    if dtype.kind == "f":
        return max(map(abs, span)) <= 1 << 11 if dtype.itemsize == 2 else True
    if dtype.kind == "b":
        return span in ((0, 0), (0, 1), (1, 1))
    limits = np.iinfo(dtype)
    return int(limits.min) <= span[0] and span[1] <= int(limits.max)
