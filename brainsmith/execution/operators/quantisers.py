"""Rounding to integers of few bits, and to signs: of QONNX, and ONNX's QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.one_instruction import LayerOfRuns
from brainsmith.execution.operators.operator import ByValue, along
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.operators.scaled import (
    Integers,
    emit_rounding,
    emit_units,
    emit_values,
    hold_parameters,
    integers_of,
    parameter,
    rounding_of,
)
from brainsmith.execution.program.functions import quantisers
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import QONNX, STANDARD

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


@dataclass(frozen=True)
class Quantiser(ByValue):
    """`(round(clip(x / scale + zero)) - zero) * scale`, each step in float32; with the signs, if there is one signed bit.

    Source: `int_quant` of QONNX.

    Attributes:
        scale: Broadcast to the tensor; None if it is computed.
        zero: Likewise.
        integers: What is rounded to.
        rounding: A key of ROUNDINGS.
    """

    scale: Array | None
    zero: Array | None
    integers: Integers
    rounding: str

    @property
    def bipolar(self) -> bool:
        """Whether signs are taken."""
        return self.integers.signed and float(self.integers.bits) == 1

    def to_program(self, node: ProgramNode) -> None:
        """Emit one instruction; prove integers where nothing is scaled."""
        scale, zero, _ = hold_parameters(node, self.scale, self.zero, self.integers.bits)
        limits = None if self.bipolar else self.integers.limits
        given = [node.inputs[0], scale, zero]
        node.emit(quantisers.quant, given, node.outputs, limits=limits, rounding=self.rounding)
        if not (np.all(self.scale == 1) and np.all(self.zero == 0)):
            return
        if self.bipolar:
            node.prove(node.outputs[0], -1, 1, bipolar=True)
        elif node.span(node.inputs[0]) is not None:  # else it may be NaN, which stays
            node.prove(node.outputs[0], *self.integers.limits)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write it step by step."""
        x = emit_units(node, emit, self.scale, self.zero)
        if self.bipolar:
            x = _signs(emit, x)
        else:
            x = emit_rounding(emit, self.integers.emit_clip(emit, x), self.rounding)
        emit_values(node, emit, x, self.scale, self.zero)
        ends = (-1.0, 1.0) if self.bipolar else self.integers.limits
        _prove_scaled(node, ends, self.scale, self.zero)


@dataclass(frozen=True)
class Signs(ByValue):
    """The scale where x >= 0, and its negative elsewhere, so also for NaN.

    Attributes:
        scale: Broadcast to the tensor; None if it is computed.
    """

    scale: Array | None

    def to_program(self, node: ProgramNode) -> None:
        """Emit one instruction."""
        node.emit(
            quantisers.bipolar_quant, [node.inputs[0], *hold_parameters(node, self.scale)], node.outputs
        )
        if np.all(self.scale == 1):
            node.prove(node.outputs[0], -1, 1, bipolar=True)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a comparison, and a product."""
        zero = np.zeros((), np.float32)
        emit_values(node, emit, _signs(emit, node.inputs[0]), self.scale, zero)
        _prove_scaled(node, (-1.0, 1.0), self.scale, zero)


@reads(QONNX, "Quant", "IntQuant")
def quant(node: NodeView, narrow: bool = True) -> Quantiser:
    """Read one; `narrow` says whether the range is, where the node does not state it."""
    scale, zero = parameter(node, 1, "scale"), parameter(node, 2, "zero point")
    return Quantiser(scale, zero, integers_of(node, 3, "bit width", narrow), rounding_of(node, "ROUND"))


@reads(QONNX, "BipolarQuant")
def bipolar_quant(node: NodeView) -> Signs:
    """Read one."""
    return Signs(parameter(node, 1, "scale"))


@reads(STANDARD, "QuantizeLinear", "DequantizeLinear")
def linear(node: NodeView) -> LayerOfRuns:
    """Read one, whose scale and zero point are one number, or one for each entry of an axis that holds no runs."""
    rank, scale = len(node.shape(node.inputs[0])), node.needed_constant(1, "scale")
    integers, quantises = node.dtype(node.outputs[0]), node.kind == "QuantizeLinear"
    if not quantises:
        integers = node.dtype(node.inputs[0])
    zero = node.needed_constant(2, "zero point") if node.given(2) else np.zeros((), integers)
    behind = rank - 1 - node.attribute("axis", 1) % max(rank, 1)
    if node.attribute("block_size", 0) or (scale.size > 1 and behind == rank - 1):
        raise Unsupported(along(0))
    if scale.size > 1:
        scale, zero = (value.reshape(-1, *(1,) * behind) for value in (scale, zero))
    function = quantisers.quantise_linear if quantises else quantisers.dequantise_linear
    plain = integers in (np.int8, np.uint8) and scale.dtype == np.float32
    return LayerOfRuns(function if plain else None, [node.inputs[0], scale, zero], other_ends=quantises)


def _signs(emit: Emitter, x: str) -> str:
    positive = emit.at_least(x, emit.constant(0.0, "scalar"))
    return emit.add("Where", [positive, emit.constant(1.0, "scalar"), emit.constant(-1.0, "scalar")])


def _prove_scaled(node: NodeView, ends: tuple[float, float], scale: Array | None, zero: Array | None) -> None:
    if scale is None or zero is None:
        return
    if not all(np.array_equal(one, np.rint(one)) for one in (np.asarray(ends), scale, zero)):
        return
    reached = np.stack([(end - zero) * scale for end in ends])
    node.prove(node.outputs[0], float(reached.min()), float(reached.max()))
