"""Our LayerNorm and Softmax, of integers and of floats, and FINN's softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.lowering.hardware import (
    FINN,
    OURS,
    OURS_HLS,
    OURS_RTL,
    as_python_model,
    whole_datatype,
)
from brainsmith.execution.lowering.node_view import NotLowered
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import whole_rows

if TYPE_CHECKING:
    from brainsmith.execution.lowering.node_view import NodeView


@lowers(OURS, "LayerNormKernel")
@lowers(OURS_RTL, "LayerNormRTL")
@lowers(OURS_HLS, "LayerNormHLS")
def layer_norm(node: NodeView) -> None:
    """Normalise rows, of integers by integers."""
    as_python_model(node)
    if not whole_datatype(node.attribute("outputDataType", "FLOAT32")):
        epsilon = float(node.operation().get_nodeattr("epsilon"))
        node.emit(whole_rows.normalise_floats, node.inputs, node.outputs, epsilon=epsilon)
        return
    arithmetic = _arithmetic(node)
    node.emit(
        whole_rows.normalise_rows,
        node.inputs,
        node.outputs,
        size=arithmetic.size,
        epsilon_term=arithmetic.epsilon_term,
        shift=arithmetic.shift,
        root_bits=arithmetic.root_bits,
        fraction_bits=arithmetic.fraction_bits,
        output_bits=arithmetic.output_bits,
    )
    limit = 1 << (arithmetic.output_bits - 1)
    node.prove(node.outputs[0], -limit, limit - 1)


@lowers(OURS, "SoftmaxKernel")
@lowers(OURS_RTL, "SoftmaxRTL")
@lowers(OURS_HLS, "SoftmaxHLS")
def softmax(node: NodeView) -> None:
    """Divide powers by their sum, of integers by integers."""
    as_python_model(node)
    if not whole_datatype(node.attribute("outputDataType", "FLOAT32")):
        node.emit(whole_rows.soften_floats, node.inputs, node.outputs, wide=True)
        return
    arithmetic = _arithmetic(node)
    node.emit(
        whole_rows.soften_rows,
        [node.inputs[0], node.hold(np.asarray(arithmetic.table, np.int64))],
        node.outputs,
        shift=arithmetic.shift,
        fraction_bits=arithmetic.fraction_bits,
        output_bits=arithmetic.output_bits,
    )
    node.prove(node.outputs[0], 0, (1 << arithmetic.output_bits) - 1)


@lowers(FINN, "HWSoftmax")
def finn_softmax(node: NodeView) -> None:
    """Divide powers by their sum."""
    node.emit(whole_rows.soften_floats, node.inputs, node.outputs, wide=False)


def _arithmetic(node: NodeView) -> Any:
    """Return which integers the kernel computes.

    Raises:
        NotLowered: Its integers cannot be computed; the kernel says why when it runs.
    """
    arithmetic, problem = node.operation().try_arithmetic()
    span = node.span(node.inputs[0])
    if problem or span is None or not arithmetic.low <= span[0] <= span[1] <= arithmetic.high:
        raise NotLowered(problem or "its input may be outside of its datatype")
    return arithmetic
