"""Emitting a convolution with constant weights, channels first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.lowering.products import exact_type, product_span
from brainsmith.execution.program.functions import windows
from brainsmith.graph.model_facts import span_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.execution.lowering.program_node import ProgramNode

Array = np.ndarray[Any, Any]


def emit_convolution(
    node: ProgramNode, image: str, weights: Array, geometry: Mapping[str, Any], output: str | None = None
) -> str:
    """Emit a convolution, exactly where both sides are whole numbers.

    Args:
        node: The node that is lowered: its inputs are image, weights and, perhaps, a bias; its first output's span
            is proved.
        image: A stack (runs, batch, channels, *space), which holds what the node's first input does.
        weights: (filters, channels of a group, *kernel).
        geometry: Strides, dilations and padding, as `windows.convolve` takes them.
        output: Its name; None makes a temporary.

    Returns:
        Its name.

    Raises:
        Unsupported: The bias is no constant; or it rounds, and the program is to give the reference's own bits.
    """
    bias = node.inputs[2] if node.given(2) else ""
    if bias:
        node.needed_constant(2, "bias")
    matrix = weights.reshape(len(weights), -1).T
    span = node.span(node.inputs[0])
    if span is not None:
        span = min(span[0], 0), max(span[1], 0)  # the padding
    if span is None or span_of(weights) is None:
        node.rounds_differently()
    kind = exact_type(span, matrix)
    made = node.emit(
        windows.convolve,
        [image, node.hold(weights.astype(kind)), bias],
        None if output is None else [output],
        **geometry,
        groups=node.attribute("group", 1),
        exact=kind,
    )
    sums = None if span is None else product_span(span, matrix)
    added = node.span(bias) if bias else (0, 0)
    if sums is not None and added is not None:
        node.prove(node.outputs[0], sums[0] + added[0], sums[1] + added[1])
    return made
