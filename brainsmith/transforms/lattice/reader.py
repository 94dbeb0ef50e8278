"""Read a graph once, in order, and note the lattice of every tensor that has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.graph.ends import input_values
from brainsmith.transforms.graph_view import is_standard
from brainsmith.transforms.lattice import operator_rules as rules
from brainsmith.transforms.lattice.links import link_of
from brainsmith.transforms.lattice.value_lattice import Lattice, of_array, of_integers

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.lattice.links import ChainLink

GENERAL = ("qonnx.custom_op.general", "finn.custom_op.general")


class Lattices:
    """The lattices of a graph's tensors, as far as they are known.

    Args:
        view: The graph; its nodes are entered one by one, in order.

    The datatypes of the graph's inputs are taken as true: they say what the model is given. No other annotation is.
    """

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._known: dict[str, Lattice | None] = {}
        for value in input_values(view.graph):
            datatype = view.model.get_tensor_datatype(value.name)
            if datatype.is_integer():
                self._known[value.name] = of_integers(int(datatype.min()), int(datatype.max()))

    def of(self, name: str) -> Lattice | None:
        """Return the lattice of a tensor; None if it is not known to have one."""
        if name not in self._known:
            constant = self._view.constant(name)
            self._known[name] = None if constant is None else of_array(constant)
        return self._known[name]

    def note(self, name: str, lattice: Lattice | None) -> None:
        """Enter the lattice of a tensor."""
        self._known[name] = lattice if lattice is not None and lattice.is_small() else None

    def enter(self, node: NodeProto) -> None:
        """Work out the lattices of a node's outputs."""
        found = self._find(node)
        for name in filter(None, node.output):
            self.note(name, found)

    def _find(self, node: NodeProto) -> Lattice | None:
        view = self._view
        if node.op_type == "QuantAvgPool2d" and node.domain in GENERAL:
            return rules.of_quant_average(view, node)
        if not is_standard(node, node.op_type):
            return None
        link = link_of(view, node)
        if link is not None:
            lattice = self.of(link.source)
            return None if lattice is None else self._behind(link, lattice)
        if node.op_type in ("Add", "Sub", "Concat"):
            found = [self.of(name) for name in node.input]
            if node.op_type == "Concat":
                return rules.of_union(found)
            return rules.of_sum(found, (1, -1) if node.op_type == "Sub" else (1, 1))
        return self._moved(node) if node.input else None

    def _behind(self, link: ChainLink, lattice: Lattice) -> Lattice | None:
        if link.node.op_type == "Relu":
            return rules.of_relu(lattice)
        found = rules.after_link(lattice, link)
        if found is None and (plain := lattice.uniform()) is not None:
            found = rules.after_link(plain, link)
        return found

    def _moved(self, node: NodeProto) -> Lattice | None:
        view, first = self._view, self.of(node.input[0])
        if node.op_type == "MatMul":
            return rules.of_matmul(view, node, [self.of(name) for name in node.input[:2]])
        if node.op_type == "Conv":
            return rules.of_conv(view, node, [first])
        if first is None:
            return None
        if (rule := rules.OF_ONE.get(node.op_type)) is not None:
            return rule(view, node, first)
        if node.op_type in rules.KEEPS and rules.KEEPS[node.op_type](node):
            return first
        return first.uniform() if node.op_type in rules.MOVES else None
