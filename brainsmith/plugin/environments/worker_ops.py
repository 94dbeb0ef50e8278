"""Ops in the worker of another environment: what QONNX asks of the class of a node, asked of the class that is there.

As `worker_wire`, it is run by the Python of the environment, from 3.9 on; onnx, qonnx and numpy are that environment's.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAMED = (
    ("quantization_annotation", "tensor_name"),
    ("value_info", "name"),
    ("input", "name"),
    ("output", "name"),
)
"""What a method may change of a graph beside its own node: fields, and what tells their entries apart."""


class ForeignNode:
    """A node of an op, as a class of this environment serves it.

    Args:
        plugin: The class that the record names: of QONNX's kind, or of BrainSmith's.
        stated: What the record states of one of BrainSmith's kind: its name, and how many inputs it has, if that is stated.
        values: `node` and perhaps `model` or `graph`, serialised; `at`, the node's place in the model; `opset`.
    """

    def __init__(self, plugin: Any, stated: dict[str, Any], values: dict[str, Any]) -> None:
        from onnx import ModelProto, NodeProto  # of this environment: only where a node comes

        self._values = values
        self._model: Any = None
        self._sent = values["node"]
        node = NodeProto()
        node.ParseFromString(self._sent)
        if values.get("model") is not None:
            from qonnx.core.modelwrapper import ModelWrapper  # so too

            proto = ModelProto()
            proto.ParseFromString(values["model"])
            self._model = ModelWrapper(proto)
            if values["at"] is not None:
                node = self._model.graph.node[values["at"]]
        self._node = node
        self._operation = _operation(plugin, stated, node, values["opset"])

    def answer(self, do: str) -> dict[str, Any]:
        """Call a method; return its result, and what it changed of the node and of the model.

        Raises:
            TypeError: It gives something else than QONNX's interface says.
        """
        before = None
        if self._model is not None:
            before = type(self._model.model)()
            before.CopyFrom(self._model.model)
        found = {"result": getattr(self, f"_{do}")()}
        node = self._node.SerializeToString()
        if node != self._sent:
            found["node"] = node
        if before is not None:
            found["changes"] = self._changes(before, self._model.model, do)
        return found

    def _attributes(self) -> dict[str, tuple[Any, ...]]:
        stated = self._operation.get_nodeattr_types()
        return {
            name: tuple(list(value) if isinstance(value, (set, frozenset)) else value for value in each)
            for name, each in dict(stated).items()
        }

    def _shape(self) -> bytes:
        made = self._operation.make_shape_compatible_op(self._model)
        if not hasattr(made, "op_type") or not hasattr(made, "SerializeToString"):
            raise TypeError(f"make_shape_compatible_op must return a node, not {type(made).__name__}")
        data: bytes = made.SerializeToString()
        return data

    def _datatype(self) -> None:
        self._operation.infer_node_datatype(self._model)

    def _verify(self) -> Any:
        return self._operation.verify_node()

    def _execute(self) -> dict[str, Any]:
        """Execute the node once, or once for each of the runs that are stacked; the outputs then are stacks, too."""
        import numpy  # so too
        from onnx import GraphProto  # so too

        graph = GraphProto()
        graph.ParseFromString(self._values["graph"])
        given, stacks = self._values["given"], self._values["stacks"]
        runs = []
        for at in range(self._values["runs"] if stacks else 1):
            varying = {name: numpy.asarray(stack[at]) for name, stack in stacks.items()}
            context = {"": None, **given, **varying}
            for name, (shape, dtype) in self._values["outputs"].items():
                context[name] = numpy.zeros(shape, dtype)
            self._operation.execute_node(context, graph)
            runs.append({name: _numbers(name, context.get(name)) for name in self._node.output if name})
        return {name: numpy.stack([run[name] for run in runs]) for name in runs[0]} if stacks else runs[0]

    def _changes(self, before: Any, after: Any, do: str) -> list[tuple[str, str, Any]]:
        """Return which entries of the graph a method changed: field, name, and the entry, or None for one that went.

        Raises:
            TypeError: It changed something else, too.
        """
        found: list[tuple[str, str, Any]] = []
        for field, key in _NAMED:
            old = {getattr(each, key): each for each in getattr(before.graph, field)}
            new = {getattr(each, key): each for each in getattr(after.graph, field)}
            found += [
                (field, name, each.SerializeToString()) for name, each in new.items() if old.get(name) != each
            ]
            found += [(field, name, None) for name in old if name not in new]
        at = self._values["at"]
        for proto in (before, after):
            for field, _ in _NAMED:
                proto.graph.ClearField(field)
            if at is not None and at < len(proto.graph.node):
                proto.graph.node[at].Clear()
        if before != after:
            method = {"shape": "make_shape_compatible_op", "datatype": "infer_node_datatype"}[do]
            raise TypeError(
                f"{method} changed more of the model than its own node and the datatypes and shapes of tensors, which "
                "is not passed back"
            )
        return found


def _operation(plugin: Any, stated: dict[str, Any], node: Any, opset: Any) -> Any:
    """Return QONNX's instance of a node.

    Raises:
        TypeError: The plugin is a hardware operator.
    """
    from qonnx.custom_op.base import CustomOp  # of this environment: only where a node comes

    options = {} if opset is None else {"onnx_opset_version": opset}
    if isinstance(plugin, type) and issubclass(plugin, CustomOp):
        if any(base.__name__ == "HWCustomOp" for base in plugin.__mro__):
            raise TypeError(
                "it is a hardware operator (HWCustomOp): those of another environment cannot be used"
            )
        return plugin(node, **options)
    # BrainSmith is installed here, and the op is of its own kind. It is not looked up by its name: the registry of this
    # process may name the plugin of this environment, whose worker this is.
    nodes = importlib.import_module("brainsmith.autodiff.graphs.op_node")
    made = plugin()
    for name, value in stated.items():
        setattr(made, name, value)
    return nodes.node_class(made)(node, **options)


def _numbers(name: str, value: Any) -> Any:
    """Return an output as an array.

    Raises:
        TypeError: It is none of numbers.
    """
    import numpy  # of this environment: an array comes

    array = numpy.asarray(value)
    if array.dtype.kind not in "biuf":
        what = f"an array of {array.dtype}" if isinstance(value, numpy.ndarray) else type(value).__name__
        raise TypeError(f"execute_node must give an array of numbers for output {name!r}, not {what}")
    return array
