"""What stands here for an op of another environment: a class of QONNX's nodes, whose methods the worker there answers."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import ForeignPluginError
from brainsmith.plugin.environments import worker_wire
from brainsmith.plugin.environments.environment_worker import worker_of
from brainsmith.plugin.environments.worker_failure import failure
from brainsmith.plugin.node_claims import op_type_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    import numpy.typing as npt
    from onnx import GraphProto, NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.plugin.info import PluginInfo

    Array = npt.NDArray[Any]

_KEYS = {"quantization_annotation": "tensor_name"}
"""What tells the entries of a graph's field apart where it is not the name."""

_MOST = 4096
"""The nodes of a class whose attributes are remembered."""


class ForeignOp:
    """What a class of QONNX's nodes has that stands for an op of another environment; `op_class` makes it.

    Each method is a call of the environment's worker, which makes an instance of the op's own class for it.
    """

    info: ClassVar[PluginInfo]
    known: ClassVar[dict[Any, dict[str, tuple[Any, ...]]]]
    onnx_node: NodeProto
    onnx_opset_version: int

    def get_nodeattr_types(self) -> dict[str, tuple[Any, ...]]:
        """Return what the op's class says, which is asked once for a node as it is."""
        worker, node = worker_of(self.info), self.onnx_node.SerializeToString()
        pid = worker.current_pid
        found = None if pid is None else self.known.get((pid, node))
        if found is None:
            stated = self._ask("attributes")
            found = {name: (*each[:3], *map(set, each[3:])) for name, each in stated.items()}
            if len(self.known) >= _MOST:
                self.known.clear()
            self.known[worker.pid, node] = found
        return dict(found)

    def make_shape_compatible_op(self, model: ModelWrapper) -> NodeProto:
        """Return the standard node that the op's class gives."""
        return type(self.onnx_node).FromString(self._ask("shape", model))

    def infer_node_datatype(self, model: ModelWrapper) -> None:
        """Annotate what the op's class annotates."""
        self._ask("datatype", model)

    def verify_node(self) -> Any:
        """Return what the op's class finds."""
        return self._ask("verify")

    def execute_node(self, context: dict[str, Any], graph: GraphProto) -> None:
        """Have the op executed on the node's inputs, and put the outputs in their places.

        Raises:
            ForeignPluginError: It raised, or gave an output another shape than the model states.
        """
        given = {name: context[name] for name in self.onnx_node.input if name}
        outputs = {name: context.get(name) for name in self.onnx_node.output if name}
        states = {name: value for name, value in outputs.items() if value is not None}
        found = self._execute(given, {}, states, graph)
        for name, array in found.items():
            require_shape(self._where(), name, array.shape, states[name].shape if name in states else None)
        context.update(found)

    def execute_runs(
        self,
        stacks: Mapping[str, Array],
        given: Mapping[str, Array],
        outputs: Mapping[str, Array],
        graph: GraphProto,
    ) -> dict[str, Array]:
        """Have the op executed once for each of several runs, in one call.

        Args:
            stacks: The inputs that vary: the runs' arrays, one after the other in a new first axis.
            given: The inputs that all runs have in common.
            outputs: An array of each output's shape and dtype, as `execute_node` finds it in its place.
            graph: That the node is of.

        Returns:
            A stack for each output.
        """
        return self._execute(given, stacks, outputs, graph)

    def _execute(
        self,
        given: Mapping[str, Array],
        stacks: Mapping[str, Array],
        outputs: Mapping[str, Array],
        graph: GraphProto,
    ) -> dict[str, Array]:
        values = {
            "given": dict(given),
            "stacks": dict(stacks),
            "runs": len(next(iter(stacks.values()))) if stacks else 1,
            "outputs": {name: (array.shape, array.dtype.str) for name, array in outputs.items()},
            "graph": self._around(graph).SerializeToString(),
        }
        found: dict[str, Array] = self._ask("execute", **values)
        return found

    def _around(self, graph: GraphProto) -> GraphProto:
        """Return what a graph says of its tensors, with this node alone and no weights: those are among the inputs."""
        part = type(graph)(name=graph.name, doc_string=graph.doc_string)
        for field in ("input", "output", "value_info", "quantization_annotation"):
            getattr(part, field).extend(getattr(graph, field))
        part.node.append(self.onnx_node)
        return part

    def _ask(self, do: str, model: ModelWrapper | None = None, **more: Any) -> Any:
        """Have the worker call a method; what that changes of node and model is changed here."""
        node = self.onnx_node
        values: dict[str, Any] = {"node": node.SerializeToString(), "opset": self.onnx_opset_version, **more}
        values["model"], values["at"] = None, None
        if model is not None:
            values["model"] = model.model.SerializeToString()
            same = (
                at for at, one in enumerate(model.graph.node) if one.output == node.output and one == node
            )
            values["at"] = next(same, None)
        blobs, inputs = [b""], self.info.extra.get("num_inputs")
        try:
            encoded = worker_wire.encode(values, blobs)
        except worker_wire.UnsendableError as error:
            raise ForeignPluginError(
                f"{self._where()}an input holds a value of type {error}, which cannot be passed to environment "
                f"{self.info.extra['environment']!r}"
            ) from None
        header = {
            "type": "op",
            "module": self.info.import_name,
            "name": self.info.reference.partition(":")[2],
            "stated": {"name": self.info.name, **({"num_inputs": inputs} if inputs else {})},
            "do": do,
            "values": encoded,
        }
        answer, out = worker_of(self.info).call(self.info, header, blobs, lambda asked: asked)
        if answer["kind"] == "failed":
            raise failure(self.info, answer, self._where())
        value = worker_wire.decode(answer["value"], out)
        if "node" in value:
            node.ParseFromString(value["node"])
        for field, name, data in value.get("changes", ()):
            _change(getattr(model.graph, field), _KEYS.get(field, "name"), name, data)  # type: ignore[union-attr]
        return value["result"]

    def _where(self) -> str:
        return f"node {self.onnx_node.name!r} ({self.info.qualified}): "


def op_class(info: PluginInfo) -> Any:
    """Make the class of the nodes of an op of another environment, a subclass of QONNX's; nothing is started yet."""
    from qonnx.custom_op.base import CustomOp  # the framework costs more than the hub

    content = {
        "info": info,
        "known": {},
        "__doc__": info.docstring or info.description,
        "__module__": info.module,
    }
    return type(CustomOp)(op_type_of(info), (ForeignOp, CustomOp), content)


def require_shape(where: str, output: str, found: tuple[int, ...], stated: tuple[int, ...] | None) -> None:
    """Check the shape of an output.

    Args:
        where: What the message begins with.
        output: Its name.
        found: Its shape.
        stated: The shape that the model states, in which 0 stands for what it leaves open; None where it states none.

    Raises:
        ForeignPluginError: It is another one.
    """
    if stated is not None and 0 not in stated and found != stated:
        raise ForeignPluginError(
            f"{where}execute_node gave output {output!r} the shape {list(found)}, where the model states {list(stated)}"
        )


def _change(entries: Any, key: str, name: str, data: bytes | None) -> None:
    """Let the entry of a name be another one, or go."""
    at = next((at for at, entry in enumerate(entries) if getattr(entry, key) == name), None)
    if data is None:
        if at is not None:
            del entries[at]
    else:
        (entries.add() if at is None else entries[at]).ParseFromString(data)
