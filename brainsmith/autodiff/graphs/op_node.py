"""An op as a node of a QONNX graph: its shapes, its datatypes, its execution, all from the op itself."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from qonnx.custom_op.base import CustomOp

from brainsmith.autodiff.calls import call_op
from brainsmith.autodiff.graphs.node_attributes import attribute_types, from_node
from brainsmith.errors import BrainsmithError, OpError
from brainsmith.figures import plural
from brainsmith.plugin.node_types import NodeType
from brainsmith.shown import typed_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import GraphProto, NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.autodiff.op import Op


class OpNode(CustomOp):  # type: ignore[misc]
    """A node of the domain `brainsmith.ops`; `node_class` makes the class of an op's nodes.

    What the op raises reaches the caller as an OpError that names node and op: QONNX would report a KeyError of its
    own as "not supported".
    """

    op: ClassVar[Op]

    def get_nodeattr_types(self) -> dict[str, tuple[Any, ...]]:
        """Return the op's attributes, with their defaults."""
        return attribute_types(self.op, self.onnx_node)

    def make_shape_compatible_op(self, model: ModelWrapper) -> NodeProto:
        """Return a standard node whose outputs have the shapes and dtypes that the op's rules say."""
        with self._named():
            known = KnownTensors(model)
            names = list(self.onnx_node.input)
            attributes = from_node(self.op, self.onnx_node)
            shapes = self.op.output_shape([known.shape(name) for name in names], **attributes)
            dtypes = self.op.output_dtype([known.dtype(name) for name in names], **attributes)
        if self.op.num_outputs == 1:
            shapes, dtypes = (shapes,), (dtypes,)
        return constant_node(self.onnx_node, shapes, dtypes)

    def infer_node_datatype(self, model: ModelWrapper) -> None:
        """Annotate the outputs with what the op's rule says."""
        from qonnx.core.datatype import DataType

        with self._named():
            given = [model.get_tensor_datatype(name).name for name in self.onnx_node.input]
            constants = [model.get_initializer(name) for name in self.onnx_node.input]
            found = self.op.output_datatype_for(given, constants, **from_node(self.op, self.onnx_node))
            names = (found,) if self.op.num_outputs == 1 else found
            datatypes = [DataType[name] for name in names]
        for tensor, datatype in zip(self.onnx_node.output, datatypes, strict=False):
            if tensor:
                model.set_tensor_datatype(tensor, datatype)

    def execute_node(self, context: dict[str, Any], graph: GraphProto) -> None:
        """Run the op on the node's inputs, and put the outputs in their places."""
        with self._named():
            inputs = [context[name] for name in self.onnx_node.input]
            result = call_op(self.op, inputs, from_node(self.op, self.onnx_node))
        outputs = (result,) if self.op.num_outputs == 1 else result
        named = zip(self.onnx_node.output, outputs, strict=False)
        context.update({tensor: value for tensor, value in named if tensor})

    def verify_node(self) -> list[str]:
        """Return what is wrong with the node: its attributes, its numbers of inputs and outputs; empty if nothing."""
        problems = []
        try:
            from_node(self.op, self.onnx_node)
        except OpError as error:
            problems.append(str(error))
        for what, wanted, tensors in (
            ("input", self.op.num_inputs, self.onnx_node.input),
            ("output", self.op.num_outputs, self.onnx_node.output),
        ):
            if len(tensors) != wanted:
                problems.append(
                    f"operation {self.op.name!r} has {plural(wanted, what)}, the node {len(tensors)}"
                )
        return problems

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name node and op in what is raised."""
        where = f"node {self.onnx_node.name!r} ({self.op.name})"
        try:
            yield
        except OpError as error:
            raise type(error)(f"{where}: {error}") from error
        except BrainsmithError:
            raise
        except Exception as error:  # the user's code: whatever it raises names node and op
            raise OpError(f"{where}: {typed_text(error)}") from error


def node_class(op: Op) -> type[OpNode]:
    """Make the class of an op's nodes in the domain `brainsmith.ops`.

    QONNX makes an instance of it for each node that it looks at.
    """
    return type(NodeType(op.name), (OpNode,), {"op": op, "__doc__": type(op).__doc__, "__module__": __name__})


class KnownTensors:
    """The shapes and dtypes of a model's tensors; inferred where the model does not state them yet.

    QONNX asks all nodes of its own before it infers any shape. Those before this one are standard nodes by then.
    """

    def __init__(self, model: ModelWrapper) -> None:
        self._model = model
        self._inferred: dict[str, Any] | None = None

    def shape(self, tensor: str) -> tuple[int, ...]:
        """Return a tensor's shape.

        Raises:
            OpError: It can not be inferred.
        """
        shape = self._model.get_tensor_shape(tensor)
        if shape is not None:
            return tuple(shape)
        value = self._inference().get(tensor)
        if value is None or not value.type.tensor_type.HasField("shape"):
            raise OpError(f"the shape of its input {tensor!r} is not known")
        return tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)

    def dtype(self, tensor: str) -> np.dtype[Any]:
        """Return a tensor's dtype; float32 where the model says none."""
        from onnx import helper

        initializer = self._model.get_initializer(tensor)
        if initializer is not None:
            stored: np.dtype[Any] = initializer.dtype
            return stored
        value = self._model.get_tensor_valueinfo(tensor) or self._inference().get(tensor)
        kind = value.type.tensor_type.elem_type if value is not None else 0
        found: np.dtype[Any] = helper.tensor_dtype_to_np_dtype(kind) if kind else np.dtype(np.float32)
        return found

    def _inference(self) -> dict[str, Any]:
        if self._inferred is None:
            from onnx.shape_inference import infer_shapes

            graph = infer_shapes(self._model.model).graph
            self._inferred = {value.name: value for value in (*graph.input, *graph.output, *graph.value_info)}
        return self._inferred


def constant_node(node: NodeProto, shapes: Any, dtypes: Any) -> NodeProto:
    """Return a standard node that gives a node's outputs, of shapes and dtypes.

    Where it is more than one of float32, both branches of a condition give the same: that is the one standard operator
    that can have any number of outputs, of any kinds. QONNX finds it again by its text, so it is as shape
    inference leaves it.
    """
    from onnx import helper
    from onnx.shape_inference import infer_shapes

    branches = {
        f"{name}_branch": _branch(f"{node.output[0]}_{name}", shapes, dtypes) for name in ("then", "else")
    }
    made = helper.make_node("If", [""], list(node.output), **branches)
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    model = helper.make_model(helper.make_graph([made], "g", [], outputs))
    return infer_shapes(model).graph.node[0]


def _branch(name: str, shapes: Any, dtypes: Any) -> Any:
    from onnx import AttributeProto, helper

    nodes, outputs = [], []
    for at, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
        made, tensor = f"{name}_{at}_float", f"{name}_{at}"
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        drawn = helper.make_node("RandomNormal", [], [made])
        drawn.attribute.append(helper.make_attribute("shape", list(shape), attr_type=AttributeProto.INTS))
        nodes.append(drawn)
        nodes.append(helper.make_node("Cast", [made], [tensor], to=kind))
        outputs.append(helper.make_empty_tensor_value_info(tensor))
    return helper.make_graph(nodes, name, [], outputs)
