"""FunctionRules: functions of the integers of one tensor, that need not rise or fall with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brainsmith.graph.well_formed import node_text
from brainsmith.transforms.graph_view import is_standard
from brainsmith.transforms.integer.integer_tensor import IntegerTensor
from brainsmith.transforms.integer.moved_tensor import MovedTensor
from brainsmith.transforms.integer.scaled_sum import ScaledSum
from brainsmith.transforms.integer.tabled_link import FUNCTIONS, function_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.layouts import Layouts
    from brainsmith.transforms.integer.sums_of_scales import SumsOfScales


class FunctionRules:
    """Finds what such a function gives.

    Args:
        view: The network.
        layouts: Moves tensors.
        sums: Gives sums of several scales one scale.
    """

    def __init__(self, view: GraphView, layouts: Layouts, sums: SumsOfScales) -> None:
        self._view = view
        self._layouts = layouts
        self._sums = sums

    def result(self, node: NodeProto, given: Mapping[str, Any]) -> IntegerTensor | MovedTensor | None:
        """Return a function of the integers of one tensor, moved or not; None of another node.

        Args:
            node: It.
            given: Its inputs that are not constant, by name.

        Raises:
            NoLayerError: It is a function of a sum of several scales that has no one scale.
        """
        moved = [value for value in given.values() if isinstance(value, MovedTensor)]
        if moved and len(moved) == len(given) and all(each.layout == moved[0].layout for each in moved):
            found = self._of_integers(node, {name: value.base for name, value in given.items()})
            if found is not None:
                return replace(moved[0], base=found)
        if moved and len(given) == 1 and is_standard(node, *FUNCTIONS):
            # It has a constant for each channel, where the channels are now.
            base = node.name or node.output[0]
            given = {name: self._layouts.settled(value, base) for name, value in given.items()}
        return self._of_integers(node, given)

    def _of_integers(self, node: NodeProto, given: Mapping[str, Any]) -> IntegerTensor | None:
        if not all(isinstance(value, IntegerTensor | ScaledSum) for value in given.values()):
            return None
        if _is_sum(node, given) or not _of_one_sum(node, given):
            return None
        single = {name: self._sums.of_one_scale(value, node_text(node)) for name, value in given.items()}
        function = function_of(self._view, node, single)
        return None if function is None else replace(next(iter(single.values())), links=(function,))


def _is_sum(node: NodeProto, given: Mapping[str, Any]) -> bool:
    """Tell whether a node adds integers as they are."""
    chains = [value.chain if isinstance(value, ScaledSum) else value for value in given.values()]
    return node.op_type in ("Add", "Sub") and all(chain.affine() is not None for chain in chains)


def _of_one_sum(node: NodeProto, given: Mapping[str, Any]) -> bool:
    """Tell whether a node may be a function of the integers of one tensor, where some are sums of several scales."""
    sums = [value for value in given.values() if isinstance(value, ScaledSum)]
    if len(given) == 1 or not sums:
        return not sums or is_standard(node, *FUNCTIONS)
    return len(sums) == len(given) and all(each.rows is sums[0].rows for each in sums)
