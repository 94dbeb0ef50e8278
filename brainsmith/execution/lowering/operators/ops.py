"""Nodes of the domain brainsmith.ops: the quantisers that come with us, and fused expressions.

What other ops compute their own forward says, which the `foreign` instruction runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.operators import quantisers, thresholds
from brainsmith.execution.program.functions import fused
from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode

Array = np.ndarray[Any, Any]

OPS = "brainsmith.ops"


@lowers(OPS, "int_quant", "power_of_two_quant")
def int_quant(node: ProgramNode) -> None:
    """Quantise as QONNX's Quant does, with the op's own defaults."""
    _ours(node)
    read = quantisers.quant(node, narrow=False)
    if node.op_type == "power_of_two_quant" and read.scale is not None:
        read = replace(read, scale=_power_of_two(read.scale))
    read.to_program(node)


@lowers(OPS, "bipolar_quant")
def bipolar_quant(node: ProgramNode) -> None:
    """Take signs as QONNX's BipolarQuant does."""
    _ours(node)
    quantisers.bipolar_quant(node).to_program(node)


@lowers(OPS, "multi_threshold")
def multi_threshold(node: ProgramNode) -> None:
    """Count as QONNX's MultiThreshold does."""
    _ours(node)
    thresholds.multi_threshold(node).to_program(node)


@lowers(OPS, "fused_elementwise")
def fused_elementwise(node: ProgramNode) -> None:
    """Compute the expression of all runs at once."""
    text = node.attribute("expression", "")
    rank = max((len(node.shape(name)) for name in node.inputs), default=0)
    if not text or any(len(node.shape(name)) != rank for name in node.outputs):
        raise Unsupported("the node itself says what it lacks")
    operands = [node.stack(at, rank) for at in range(len(node.inputs))]
    node.emit(fused.expression, operands, node.outputs, text=text)


def _ours(node: ProgramNode) -> None:
    """Refuse another project's op of the same name.

    Raises:
        Unsupported: It is one.
    """
    if type(node.operation().op).__module__ != f"{OPS}.{node.op_type}":
        raise Unsupported("it is another project's op")


def _power_of_two(scale: Array) -> Array:
    """Return the powers of two next to scales on a logarithmic axis."""
    return np.asarray(np.exp2(np.round(np.log2(scale.astype(np.float64)))), np.float32)
