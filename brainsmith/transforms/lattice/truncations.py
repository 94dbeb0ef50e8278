"""Truncations: QONNX's Trunc, with which Brevitas exports its average pools, as staircases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import ModelError
from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.lattice.staircases import DOMAINS, WIDEST, Staircase

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.lattice.array_kinds import Singles, Whole


def is_truncation(node: NodeProto) -> bool:
    """Tell whether a node is a Trunc."""
    return node.op_type == "Trunc" and node.domain in DOMAINS


def truncation_of(view: GraphView, node: NodeProto) -> Staircase:
    """Read a Trunc, whose levels are computed with QONNX's own function.

    Version 1 has five inputs, and its results the scale that came in; version 2 has six, and states their scale.

    Raises:
        ModelError: Its parameters are not constant, or integers cannot give them.
    """
    from qonnx.custom_op.general.intquant import max_int, min_int
    from qonnx.custom_op.general.trunc import trunc_v1, trunc_v2

    where = f"Trunc '{node.name or node.output[0]}'"
    given = [view.constant(name) for name in node.input[1:]]
    if any(value is None or value.size != 1 for value in given):
        raise ModelError(f"{where} has parameters that are not one constant number each")
    scale, zero, bits, *others = (np.asarray(value, np.float32).reshape(()) for value in given)
    size, width = others if len(others) == 2 else (scale, others[0])
    if not (scale > 0 and size > 0 and np.isfinite(scale) and np.isfinite(size)):
        raise ModelError(f"{where} has a scale that is not above 0 and finite")
    if zero != 0:
        raise ModelError(f"{where} has the zero point {zero:g}: with 0 it has whole levels")
    if width != np.rint(width) or not 1 <= width <= WIDEST:
        raise ModelError(f"{where} gives {width:g} bits: a whole number from 1 to {WIDEST} is needed")
    mode = attribute(node, "rounding_mode", b"FLOOR").decode()
    signed, narrow = bool(attribute(node, "signed", 1)), bool(attribute(node, "narrow", 0))

    def truncated(x: Singles) -> Any:
        if len(others) == 1:
            return trunc_v1(x, scale, zero, bits, width, mode)
        return trunc_v2(x, scale, zero, bits, narrow, signed, size, width, mode)

    def levels(x: Singles) -> Whole:
        return np.asarray(np.rint(np.asarray(truncated(x)) / size), np.int64)

    low, high = int(min_int(signed, narrow, width)), int(max_int(signed, narrow, width))
    if len(others) == 1:  # which clips nothing
        low, high = -(1 << WIDEST), 1 << WIDEST
    return Staircase(node, levels, low, high, 1, "INT32", None if size == 1 else size, None, 1)
