"""UnknownInputs: what is known of a node, whatever comes in, after nodes that have no layer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.graph.integer_range import within
from brainsmith.transforms.graph_view import is_standard
from brainsmith.transforms.integer import host_part, row_function, tabled_link
from brainsmith.transforms.integer.constant_weights import integer_weights
from brainsmith.transforms.integer.integer_tensor import of_range
from brainsmith.transforms.integer.no_layer import OTHER_OPERATORS, NoLayerError
from brainsmith.transforms.integer.read_staircase import check_levels, staircase_of
from brainsmith.transforms.lattice import links

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.host_part import HostPart
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor

OF_ELEMENTS = (
    *links.OPERATORS, *tabled_link.FUNCTIONS, *tabled_link.JOINING, *row_function.OPERATORS, *host_part.OPERATORS,
)  # fmt: skip
"""Operators for which it depends on what comes in whether a layer, or the host, computes them."""

_RESULTS = {"Conv": 0, "ConvTranspose": 1, "Gemm": -1, "MatMul": -1}
"""Products with weights, and which axis of the weights is that of the results."""


class UnknownInputs:
    """Reads nodes after one that has no layer, so that a refusal names all nodes, and not only the first.

    Args:
        view: The network.
        host: Brings what is read as an input into the layers' layout.
        has_rule: Tells whether a rule makes layers of a node.
    """

    def __init__(self, view: GraphView, host: HostPart, has_rule: Callable[[NodeProto], bool]) -> None:
        self._view = view
        self._host = host
        self._has_rule = has_rule

    def check(self, node: NodeProto) -> None:
        """Raise a NoLayerError if no layer computes a node, whatever comes in."""
        staircase = staircase_of(self._view, node)
        if staircase is not None:
            check_levels(staircase)
        elif is_standard(node, *_RESULTS):
            integer_weights(self._view, node.input[1], _RESULTS[node.op_type])
        elif not is_standard(node, *OF_ELEMENTS) and not self._has_rule(node):
            raise NoLayerError("no layer of integers computes this operator", OTHER_OPERATORS)

    def levels(self, node: NodeProto) -> IntegerTensor | None:
        """Return the levels that a quantiser gives of anything, as if they were an input; None of another node."""
        try:
            staircase = staircase_of(self._view, node)
            if staircase is None:
                return None
            check_levels(staircase)
        except NoLayerError:
            return None
        name = node.output[0]
        shape = self._view.shape(name)
        if len(shape) not in (
            2,
            3,
            4,
        ):  # after an operator whose results have an unknown shape, it is unknown, too
            return None
        ends = within(staircase.low, staircase.high)
        image = self._host.image_shape(shape)
        channels = 1 - len(shape) if len(image) == 4 else -1
        if staircase.channels > 1 and staircase.axis != channels:
            return None
        source = self._host.channels_last(name, shape, image, ends)
        scale = np.ones(1) if staircase.scale is None else staircase.scale.astype(np.float64).reshape(-1)
        return replace(of_range(source, image, staircase.low, staircase.high), scale=scale)
