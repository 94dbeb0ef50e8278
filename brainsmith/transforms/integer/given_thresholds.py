"""MultiThresholds that a network has already, as quantisers of the values that they give."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.lattice.staircases import Staircase, thresholds_of

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView


def given_thresholds(view: GraphView, node: NodeProto) -> Staircase:
    """Return what a MultiThreshold does as a quantiser does it: levels, times a scale.

    For example 15 thresholds with an out_bias of -8 give the levels -8 to 7, and one with an out_scale of 2 and an
    out_bias of -1 gives -1 and 1, which are bits.

    Raises:
        NoLayerError: Its thresholds are not constant, its values are not whole numbers of its out_scale, or that is not
            above 0.
    """
    found = thresholds_of(view, node)
    if found is None:
        raise NoLayerError("its thresholds are not constant", "make them constants")
    scale, bias = (
        np.float32(attribute(node, name, value)) for name, value in (("out_scale", 1), ("out_bias", 0))
    )
    counts = np.arange(found.high + 1)
    if (float(scale), float(bias), found.high) == (2, -1, 1):
        return replace(found, levels=lambda x: 2 * found.levels(x) - 1, low=-1, high=1, step=2)
    low = round(float(bias / scale)) if scale > 0 else 0
    given = scale * counts.astype(np.float32) + bias
    if scale <= 0 or not np.array_equal(given, np.asarray((counts + low) * np.float64(scale), np.float32)):
        raise NoLayerError(
            f"its values, {scale:g} times its levels plus {bias:g}, are not whole numbers of a scale above 0",
            "make out_bias a whole number times out_scale, which is above 0",
        )
    size = None if scale == 1 else np.asarray(scale)
    return replace(found, levels=lambda x: found.levels(x) + low, low=low, high=low + found.high, scale=size)
