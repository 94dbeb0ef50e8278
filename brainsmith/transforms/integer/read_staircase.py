"""Read the nodes that bring each value to one of a few levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import ModelError
from brainsmith.transforms.integer.given_thresholds import given_thresholds
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.lattice.staircases import is_quantiser, is_thresholds, quantiser_of
from brainsmith.transforms.lattice.truncations import is_truncation, truncation_of

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.lattice.staircases import Staircase

MOST_BITS = 8
"""Of the levels that thresholds give."""


def staircase_of(view: GraphView, node: NodeProto) -> Staircase | None:
    """Read a quantiser, a MultiThreshold or a Trunc; None of any other node.

    Raises:
        NoLayerError: No integers stand for what it gives.
    """
    if is_thresholds(node):
        return given_thresholds(view, node)
    if not is_quantiser(node) and not is_truncation(node):
        return None
    try:
        return quantiser_of(view, node) if is_quantiser(node) else truncation_of(view, node)
    except NoLayerError:
        raise
    except ModelError as error:
        why = str(error).removeprefix(f"{node.op_type} '{node.name or node.output[0]}' ")
        raise NoLayerError(
            f"it {why}",
            "give it constants: scales above 0, one or one for each channel, whole zero points, and a whole number of "
            "bits; and a rounding mode of QONNX such as ROUND, FLOOR or CEIL",
        ) from error


def check_levels(staircase: Staircase) -> None:
    """Raise a NoLayerError if thresholds cannot give so many levels."""
    steps = (staircase.high - staircase.low) // staircase.step
    if steps >= 1 << MOST_BITS:
        raise NoLayerError(
            f"it has {steps + 1} levels, more than the {1 << MOST_BITS} that thresholds give",
            f"use a quantiser with {MOST_BITS} bits or fewer",
        )
