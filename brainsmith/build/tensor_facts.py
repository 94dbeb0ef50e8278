"""What a graph says of its tensors, shapes and datatypes, and which datatypes follow although it does not say them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.forks import cached_property
from brainsmith.graph.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from qonnx.core.modelwrapper import ModelWrapper

DATATYPE = "datatype"
SHAPE = "shape"
_KEY = "finn_datatype"
_FLOATS = ("FLOAT32", "FLOAT16")
"""What counts as no datatype: nothing is lost with it."""
_FLOAT = 1
"""`TensorProto.FLOAT`."""
_FROM_NOTHING = ("Sign", "QuantizeLinear", "DequantizeLinear")
"""Operators of ONNX whose output has a datatype whatever their first input has; QONNX's inference has no others."""


class TensorFacts(Wiring):
    """What is known of the tensors of a graph.

    Args:
        graph: An ONNX graph, which is not changed.
    """

    @cached_property
    def stated(self) -> dict[str, str]:
        """The names of datatypes by tensor, without those that are floats, as the graph states them."""
        return {
            annotation.tensor_name: value
            for annotation in self.graph.quantization_annotation[:]
            for entry in annotation.quant_parameter_tensor_names[:]
            if entry.key == _KEY and (value := entry.value) not in _FLOATS
        }

    @cached_property
    def datatypes(self) -> dict[str, str]:
        """Those that are stated, and those that were found since."""
        return self.stated

    @cached_property
    def constants(self) -> dict[str, Any]:
        """The initialisers by name."""
        return {tensor.name: tensor for tensor in self.graph.initializer}

    @cached_property
    def declared(self) -> dict[str, Any]:
        """What is declared of tensors, by name."""
        graph = self.graph
        return {value.name: value for value in (*graph.value_info, *graph.input, *graph.output)}

    @cached_property
    def unshaped(self) -> list[str]:
        """The outputs of nodes whose shape is not known."""
        unshaped = {name: None for names in self.gives for name in names if name}
        for value in self.graph.value_info[:] + self.graph.output[:]:
            if (name := value.name) in unshaped and value.type.tensor_type.HasField("shape"):
                del unshaped[name]
        return list(unshaped)

    def lacking(self) -> dict[tuple[str, str], str]:
        """Return what is not known of which tensors, each with what stays of it under another name.

        The keys are `(DATATYPE or SHAPE, name)`; the values the type of the node that gives it.
        """
        typed, unshaped = self.stated, set(self.unshaped)
        found: dict[tuple[str, str], str] = {}
        for node, names in zip(self.nodes, self.gives, strict=True):
            for name in names:
                if name not in typed:
                    found[DATATYPE, name] = node.op_type
                if name in unshaped:
                    found[SHAPE, name] = node.op_type
        found |= {(DATATYPE, name): "constant" for name in self.constant_names if name not in typed}
        found |= {(DATATYPE, name): "input" for name in self.input_names if name not in typed}
        return found

    def untyped(self) -> list[tuple[int, list[str]]]:
        """Return the places of the nodes that give tensors without a datatype, with these."""
        typed = self.datatypes
        found = []
        for at, names in enumerate(self.gives):
            lacking = [name for name in names if name and name not in typed]
            if lacking:
                found.append((at, lacking))
        return found

    def may_follow(self, node: Any) -> bool:
        """Tell whether QONNX's rules may give an output of a node a datatype: most of ONNX's ask for the first input's."""
        if node.domain or node.op_type in _FROM_NOTHING:
            return True
        return bool(node.input) and node.input[0] in self.datatypes

    @cached_property
    def ends(self) -> dict[str, str]:
        """The graph's inputs and constants, each with the datatype that it states; empty for a float."""
        typed = self.stated.get
        return {name: typed(name, "") for name in self.input_names + self.constant_names}

    def taken(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the datatypes of a node's inputs; empty for a float."""
        typed = self.datatypes.get
        return tuple([typed(name, "") for name in names])

    def content(self, at: int) -> tuple[bytes, tuple[str, ...]]:
        """Return what is the same only for the same node, by its place, with inputs of the same datatypes."""
        data = self._data.get(at)
        if data is None:
            data = self._data[at] = self.nodes[at].SerializeToString(deterministic=True)
        return data, self.taken(self.reads[at])

    @cached_property
    def _data(self) -> dict[int, bytes]:
        """What nodes say, by their places, as far as it was asked: the next step asks again for this one's result."""
        return {}

    def form(self, node: Any) -> tuple[Any, ...]:
        """Return what stays of a node when it and its tensors get other names."""
        attributes = frozenset(each.SerializeToString(deterministic=True) for each in node.attribute)
        return node.op_type, node.domain, attributes, self.taken(node.input)


def following(
    model: ModelWrapper, facts: TensorFacts, known: Collection[Any] = ()
) -> tuple[dict[str, str], list[Any]]:
    """Find datatypes that follow from nodes and their inputs and that the graph lacks; they are added to the facts.

    Args:
        model: What the facts are of; not changed.
        facts: Get what is found.
        known: The content of nodes that need no look.

    Returns:
        The datatypes by tensor; and the nodes that were looked at and give floats by QONNX's rules.
    """
    found: dict[str, str] = {}
    floats: list[Any] = []
    facts.datatypes = dict(facts.datatypes)  # what is stated stays as it is
    before = -1
    while len(found) > before:  # one pass, and one more if something was found: nodes may stand in any order
        before, floats = len(found), []
        for at, lacking in facts.untyped():
            if known and facts.content(at) in known:
                continue
            node = facts.nodes[at]
            inferred = _inferred(model, facts, node) if facts.may_follow(node) else {}
            given = {
                name: inferred[name] for name in lacking if inferred.get(name, _FLOATS[0]) not in _FLOATS
            }
            found |= given
            facts.datatypes.update(given)
            if not given:
                floats.append(node)
    return found, floats


def _inferred(model: ModelWrapper, facts: TensorFacts, node: Any) -> dict[str, str]:
    """Infer the datatypes of one node's outputs, in a model of this node alone: QONNX's look-ups walk all of a graph.

    Returns:
        Them by tensor; none where the operator's own rule fails.
    """
    import onnx
    from qonnx.core.datatype import DataType
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.transforms.infer_data_types import InferDataTypes

    names = dict.fromkeys(name for name in (*node.input, *node.output) if name)
    graph = onnx.GraphProto(name="one", node=[node])
    for name in names:
        if name in facts.constants:
            graph.initializer.append(facts.constants[name])
            continue
        value = facts.declared.get(name) or onnx.helper.make_tensor_value_info(name, _FLOAT, None)
        (graph.output if name in node.output else graph.input).append(value)
    one = ModelWrapper(onnx.ModelProto(graph=graph, ir_version=8, opset_import=model.model.opset_import))
    for name in names:
        if name in facts.datatypes:
            one.set_tensor_datatype(name, DataType[facts.datatypes[name]])
    try:
        one, _ = InferDataTypes().apply(one)
    except Exception:  # noqa: BLE001  (an operator's rule may raise anything: nothing follows, so a loss is reported)
        return {}
    return {name: one.get_tensor_datatype(name).name for name in node.output if name}
