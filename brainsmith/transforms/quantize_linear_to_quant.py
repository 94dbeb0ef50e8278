"""QuantizeLinearToQuant: ONNX's own quantisers, as ONNX Runtime and Brevitas export them, become QONNX's Quant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper, numpy_helper
from qonnx.transformation.base import Transformation

from brainsmith.errors import ModelError
from brainsmith.graph.well_formed import node_text
from brainsmith.plugin.core import transform
from brainsmith.rtl.cores.integers import integer_bits
from brainsmith.transforms.graph_view import GraphView, attribute

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

QONNX = "qonnx.custom_op.general"
DOMAINS = ("", "ai.onnx", "com.microsoft")
"""ONNX Runtime writes nodes of its own where the operator set has no integers of 4 or 16 bits."""

MOST_BITS = 16
"""Constants of more bits are biases: their numbers are folded."""

ADVICE = (
    "Quantise it with constant scales, and a QuantizeLinear and a DequantizeLinear around each tensor "
    "(quant_format=QuantFormat.QDQ)"
)


@dataclass(frozen=True)
class _Integers:
    """What a DequantizeLinear reads: where it comes from, and which integers it can be.

    Attributes:
        source: The tensor that is quantised; empty for constants.
        constant: The integers, where they are constant.
        low: The least integer.
        high: The greatest.
    """

    source: str
    constant: npt.NDArray[np.int64] | None
    low: int
    high: int


@transform(
    stage="cleanup",
    description="Fuse QuantizeLinear, Clip and DequantizeLinear into Quant nodes",
    tags=("quantisation",),
)
class QuantizeLinearToQuant(Transformation):
    """Replace each DequantizeLinear, with the QuantizeLinear and the Clip before it, by one Quant.

    Constants, such as weights, become the Quant of their real values; those of more than 16 bits, such as biases, the
    values alone. Scales may be one number or one for each channel. The zero point goes into the range where that is
    exact: INT8 with the zero point -128 is UINT8 with 0. A Clip gives fewer bits, as Brevitas exports them.

    Levels are those of ONNX but for values in the middle between two of them, or as near to it as float32 rounds, beside
    a zero point that stays: ONNX rounds before it adds the zero point, and Quant afterwards.

    Raises:
        ModelError: A QuantizeLinear or DequantizeLinear is none of these.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Replace all of them in one pass; the flag is always False."""
        view = GraphView(model)
        found = [node for node in model.graph.node if _is(node, "DequantizeLinear")]
        for node in found:
            _replace(view, node)
        for node in model.graph.node:
            if _is(node, "QuantizeLinear"):
                raise ModelError(f"{node_text(node)} has no DequantizeLinear after it. {ADVICE}.")
        if found and QONNX not in model.get_opset_imports():
            model.model.opset_import.append(helper.make_opsetid(QONNX, 1))
        return model, False


def _is(node: NodeProto, op_type: str) -> bool:
    return node.op_type == op_type and node.domain in DOMAINS


def _replace(view: GraphView, node: NodeProto) -> None:
    scale, zero = _parameters(view, node)
    integers = _integers(view, node, scale, zero)
    name, unread = node.output[0], list(node.input)
    shaped = _for_broadcast(view, node, scale), _for_broadcast(view, node, zero)
    if integers.constant is None:
        low, high, zero_point = integers.low, integers.high, shaped[1]
        if zero.size == 1 and _bits_of(low - int(zero), high - int(zero)):
            low, high, zero_point = low - int(zero), high - int(zero), np.zeros((), np.int64)
        source = integers.source
    else:
        numbers = integers.constant - shaped[1]
        values = numbers.astype(np.float32) * shaped[0]
        if integers.high >= 1 << MOST_BITS:
            _fold(view, node, values)
            return
        low, high, zero_point = integers.low, integers.high, np.zeros((), np.int64)
        if zero.any():
            low, high = _range_around(int(numbers.min()), int(numbers.max()))
        source = view.add_constant(f"{name}_values", values)
    kind = _bits_of(low, high)
    if kind is None:
        raise _refusal(
            node, f"its Clip limits it to the levels {low} to {high}, and no Quant has exactly these"
        )
    constants = (shaped[0], zero_point.astype(np.float32), np.asarray(kind[0], np.float32))
    inputs = [
        view.add_constant(f"{name}_{what}", value)
        for what, value in zip(("scale", "zero_point", "bits"), constants, strict=True)
    ]
    quant = helper.make_node(
        "Quant", [source, *inputs], [name], name=node.name, domain=QONNX, signed=int(low < 0), narrow=kind[1],
        rounding_mode="ROUND",
    )  # fmt: skip
    view.replace(node, [quant], unread)


def _parameters(view: GraphView, node: NodeProto) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Return the scale and the zero point of a QuantizeLinear or DequantizeLinear."""
    given = [view.constant(name) if name else np.zeros((), np.int64) for name in node.input[1:3]]
    if any(value is None for value in given):
        raise _refusal(node, "its scale or its zero point is not constant")
    if attribute(node, "block_size", 0):
        raise _refusal(node, "its scale is given for blocks")
    scale = np.asarray(given[0], np.float32)
    zero = np.asarray(given[1] if len(given) > 1 else 0).astype(np.int64)
    return scale.reshape(()) if scale.size == 1 else scale, zero.reshape(()) if zero.size == 1 else zero


def _integers(view: GraphView, node: NodeProto, scale: npt.NDArray[Any], zero: npt.NDArray[Any]) -> _Integers:
    """Return what a DequantizeLinear reads, through a Clip of integers."""
    name, low, high = node.input[0], -np.inf, np.inf
    while (clip := view.producer(name, "Clip")) is not None:
        least, most = view.number(clip, 1, "min", -np.inf), view.number(clip, 2, "max", np.inf)
        if least is None or most is None:
            raise _refusal(node, "the Clip before it has limits that are not constant")
        low, high = max(low, least), min(high, most)
        name = clip.input[0]
    constant = view.constant(name)
    if constant is not None:
        least, most = _type_range(node, constant.dtype.name)
        low, high = int(max(low, least)), int(min(high, most))
        return _Integers("", np.clip(constant.astype(np.int64), low, high), low, high)
    quantise = view.made_by(name)
    if quantise is None or not _is(quantise, "QuantizeLinear"):
        raise _refusal(node, "its input is neither a constant nor the output of a QuantizeLinear")
    own_scale, own_zero = _parameters(view, quantise)
    axes = {attribute(each, "axis", 1) for each in (node, quantise)} if scale.ndim or zero.ndim else {1}
    if len(axes) > 1 or not (np.array_equal(own_scale, scale) and np.array_equal(own_zero, zero)):
        raise _refusal(node, f"{node_text(quantise)}, which it undoes, has another scale, zero point or axis")
    given = view.constant(quantise.input[2]) if len(quantise.input) > 2 and quantise.input[2] else None
    least, most = _type_range(node, "uint8" if given is None else given.dtype.name)
    return _Integers(quantise.input[0], None, int(max(low, least)), int(min(high, most)))


def _type_range(node: NodeProto, dtype: str) -> tuple[int, int]:
    found = re.fullmatch(r"(u?)int(\d+)", dtype)
    if found is None:
        raise _refusal(node, f"its numbers are {dtype}, and no integers")
    bits = int(found[2])
    return (0, (1 << bits) - 1) if found[1] else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _bits_of(low: int, high: int) -> tuple[int, int] | None:
    """Return how many bits a Quant of just these levels has, and whether it is narrow; None if there is none."""
    if low > 0 or high < 1:
        return None
    bits = integer_bits(low, high)
    if low:
        narrow = low == -high
        return (bits, int(narrow)) if high == (1 << (bits - 1)) - 1 and (narrow or low == -high - 1) else None
    return (bits, 0) if high == (1 << bits) - 1 else None


def _range_around(low: int, high: int) -> tuple[int, int]:
    """Return the least range of a signed type that holds these numbers."""
    bits = integer_bits(min(low, -1), max(high, 1))
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def _for_broadcast(view: GraphView, node: NodeProto, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return one number for each channel in the form in which it is one along their axis."""
    if values.ndim == 0:
        return values
    rank = view.rank(node.input[0])
    if rank is None:
        raise _refusal(node, "it has a scale for each channel, and the shape of its input is unknown")
    shape = [1] * rank
    shape[attribute(node, "axis", 1)] = values.size
    return values.reshape(shape)


def _fold(view: GraphView, node: NodeProto, values: npt.NDArray[np.float32]) -> None:
    constant = helper.make_node(
        "Constant", [], list(node.output), name=node.name, value=numpy_helper.from_array(values)
    )
    view.replace(node, [constant], node.input)


def _refusal(node: NodeProto, why: str) -> ModelError:
    return ModelError(f"{node_text(node)} cannot become a Quant: {why}. {ADVICE}.")
