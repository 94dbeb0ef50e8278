"""An index over one ONNX graph, and the edits that keep it consistent.

QONNX's own look-ups walk the whole graph for each question, and none of them sees what a nested graph (the
body of an If or Loop) reads from outside. The transforms here ask often and must not cut such a reader off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

from brainsmith.graph.ends import input_values
from brainsmith.plugin.adapters.graph_edits import names_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt
    from onnx import GraphProto, NodeProto
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper


_NUMBERS = {"value_float": "f4", "value_floats": "f4", "value_int": "i8", "value_ints": "i8"}
"""The attributes in which a Constant node can state numbers, and their element types."""


class GraphView:
    """Who makes a tensor, how often it is read, and which tensors are constant.

    Attributes:
        model: The model that is looked at, and edited in place.
    """

    def __init__(self, model: ModelWrapper) -> None:
        self.model = model
        self._made = 0
        self._producers: dict[str, NodeProto] = {}
        self._reads: dict[str, int] = {}
        for node in self.graph.node:
            self._enter(node)
        for value in self.graph.output:
            self._reads[value.name] = self._reads.get(value.name, 0) + 1
        self._inputs = {value.name for value in input_values(self.graph)}
        self._initializers = {tensor.name: tensor for tensor in self.graph.initializer}
        self._values = {
            value.name: value for value in (*self.graph.value_info, *self.graph.input, *self.graph.output)
        }

    @property
    def graph(self) -> GraphProto:
        """The graph of the model."""
        return self.model.graph

    def shape(self, name: str) -> tuple[int, ...]:
        """Return a tensor's shape; () if it is not known."""
        value = self._values.get(name)
        if value is None:
            return tuple(self.model.get_tensor_shape(name) or ())
        return tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)

    def _enter(self, node: NodeProto) -> None:
        self._producers.update((name, node) for name in node.output if name)
        for name in names_read(node):
            self._reads[name] = self._reads.get(name, 0) + 1

    def _leave(self, node: NodeProto) -> None:
        for name in node.output:
            self._producers.pop(name, None)
        for name in names_read(node):
            self._reads[name] -= 1

    def producer(self, name: str, *op_types: str) -> NodeProto | None:
        """Return the node that makes a tensor, if it is a standard ONNX node of one of these types."""
        node = self._producers.get(name)
        return node if node is not None and is_standard(node, *op_types) else None

    def made_by(self, name: str) -> NodeProto | None:
        """Return the node that makes a tensor, whatever it is; None for inputs and constants."""
        return self._producers.get(name)

    def readers(self, name: str) -> int:
        """Count the node inputs, nested graphs included, and the graph outputs that read a tensor."""
        return self._reads.get(name, 0)

    def nodes_reading(self, name: str) -> list[NodeProto]:
        """Return the nodes that have a tensor as an input, in the order of the graph."""
        return [node for node in self.graph.node if name in node.input]

    def constant(self, name: str) -> npt.NDArray[Any] | None:
        """Return the value of a tensor that never changes, or None.

        An initializer, or the output of a Constant node. An initializer that is a graph input as well, as older
        exporters write them, is no input: every build takes it for the constant that it is.
        """
        if name in self._initializers:
            return np.asarray(numpy_helper.to_array(self._initializers[name]))
        node = self.producer(name, "Constant")
        return None if node is None else _value_of_constant(node)

    def is_constant(self, name: str) -> bool:
        """Tell whether a tensor never changes, without reading its value."""
        return name in self._initializers or self.constant(name) is not None

    def number(self, node: NodeProto, at: int, name: str, default: float) -> float | None:
        """Return a number that a node has as an input or, in older opsets, as an attribute; None if it varies."""
        if len(node.input) > at and node.input[at]:
            return value_of_one(self.constant(node.input[at]))
        return float(attribute(node, name, default))

    def elem_type(self, name: str, default: int = 0) -> int:
        """Return the ONNX element type that is declared of a tensor; the default of one that is not declared."""
        value = self._values.get(name)
        return default if value is None else value.type.tensor_type.elem_type

    def rank(self, name: str) -> int | None:
        """Return the number of dimensions of a tensor, or None where its shape is not declared."""
        dims = self.dimensions(name)
        return None if dims is None else len(dims)

    def dimensions(self, name: str) -> list[int | None] | None:
        """Return the dimensions of a tensor, None for each that is not known, or None where its rank is not."""
        value = self._values.get(name)
        if value is not None and value.type.tensor_type.HasField("shape"):
            dims = value.type.tensor_type.shape.dim
            return [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]
        return list(self._initializers[name].dims) if name in self._initializers else None

    def static_shape(self, name: str, elem_type: int) -> list[int] | None:
        """Return the shape of a tensor of this element type, or None unless all of it is known.

        Annotated integers of float64, which are those that float32 does not hold, count as float32.
        """
        known = [dim for dim in self.dimensions(name) or () if dim]
        if not known or len(known) != self.rank(name):
            return None
        stated = self.elem_type(name)
        if stated == TensorProto.DOUBLE and self.model.get_tensor_datatype(name).is_integer():
            stated = TensorProto.FLOAT
        return known if stated == elem_type else None

    def new_name(self, base: str) -> str:
        """Return a tensor name that the graph does not use yet; the same graph gives the same names."""
        name = base
        while (
            name in self._values
            or name in self._producers
            or name in self._reads
            or name in self._initializers
        ):
            self._made += 1
            name = f"{base}_{self._made}"
        self._reads[name] = 0
        return name

    def new_tensor(self, base: str, shape: Sequence[int] | None, datatype: BaseDataType | None = None) -> str:
        """Declare a tensor of float32 with a shape and a QONNX datatype, as far as given, and return its name."""
        name = self.new_name(base)
        if shape is not None:
            self.model.set_tensor_shape(name, list(shape))
        if datatype is not None:
            self.model.set_tensor_datatype(name, datatype)
        return name

    def reshape(self, source: str, output: str, shape: Sequence[int], name: str) -> NodeProto:
        """Return a Reshape to a shape; -1 stands for what is left."""
        to = self.add_constant(f"{name}_shape", np.asarray(shape, np.int64))
        return helper.make_node("Reshape", [source, to], [output], name=name)

    def add_constant(self, base: str, value: npt.NDArray[Any], datatype: BaseDataType | None = None) -> str:
        """Add an initializer, annotated with a QONNX datatype if one is given, and return its name."""
        name = self.new_name(base)
        tensor = numpy_helper.from_array(value, name)
        self.graph.initializer.append(tensor)
        self.graph.value_info.append(helper.make_tensor_value_info(name, tensor.data_type, value.shape))
        self._initializers[name], self._values[name] = self.graph.initializer[-1], self.graph.value_info[-1]
        if datatype is not None:
            self.model.set_tensor_datatype(name, datatype)
        return name

    def declare_like(self, name: str, source: str, elem_type: int, ones: Sequence[int] = ()) -> None:
        """Declare a new tensor with the shape of another one; unknown dimensions stay unknown.

        Args:
            name: The new tensor; left as it is if it is declared already.
            source: The tensor whose shape is taken; nothing is declared if that is unknown.
            elem_type: ONNX element type of the new tensor.
            ones: Axes that have length 1 in the new tensor (kept dimensions of a reduction).
        """
        model_of = self._values.get(source)
        if model_of is None or name in self._values:
            return
        value = ValueInfoProto()
        value.CopyFrom(model_of)
        value.name = name
        value.type.tensor_type.elem_type = elem_type
        for axis in ones:
            value.type.tensor_type.shape.dim[axis].Clear()
            value.type.tensor_type.shape.dim[axis].dim_value = 1
        self.graph.value_info.append(value)
        self._values[name] = self.graph.value_info[-1]

    def replace(self, node: NodeProto, new_nodes: Sequence[NodeProto], read: Iterable[str] = ()) -> None:
        """Put nodes in place of one node, in this order.

        Args:
            node: What is replaced.
            new_nodes: What takes its place.
            read: Tensors that were read, and may not be any more: they are dropped then (`drop_unread`).
        """
        before = list(read)
        place = self._remove(node)
        for offset, new_node in enumerate(new_nodes):
            self.graph.node.insert(place + offset, new_node)
            self._enter(self.graph.node[place + offset])
        self.drop_unread(before)

    def _remove(self, node: NodeProto) -> int:
        """Take a node out of the graph and return its place; it is found by its first output."""
        name = node.output[0]
        place = next(i for i, other in enumerate(self.graph.node) if name in other.output)
        self._leave(node)
        del self.graph.node[place]
        return place

    def drop_unread(self, names: Iterable[str]) -> None:
        """Remove those tensors that nothing reads, with their nodes, and then what only these had read.

        Graph inputs stay: they are the model's interface.
        """
        waiting = [name for name in names if name]
        unread: set[str] = set()
        while waiting:
            name = waiting.pop()
            node = self._producers.get(name)
            outputs = [name] if node is None else [output for output in node.output if output]
            if any(self.readers(output) or output in self._inputs for output in outputs):
                continue
            unread.update(outputs)
            if node is not None:
                waiting += [read for read in node.input if read]
                self._remove(node)
        self._forget(unread)

    def _forget(self, names: set[str]) -> None:
        """Remove what the graph says of tensors that it no longer has."""
        lists = [(field, "name") for field in ("input", "initializer", "value_info")]
        lists.append(("quantization_annotation", "tensor_name"))
        for field, key in lists if names else ():
            entries = getattr(self.graph, field)
            for place in reversed(range(len(entries))):
                if getattr(entries[place], key) in names:
                    del entries[place]
        for name in names:
            self._initializers.pop(name, None)
            self._values.pop(name, None)


def _value_of_constant(node: NodeProto) -> npt.NDArray[Any] | None:
    """Return the value of a Constant node; None where it holds text or a sparse tensor."""
    tensor = attribute(node, "value")
    if tensor is not None:
        return np.asarray(numpy_helper.to_array(tensor))
    for name, dtype in _NUMBERS.items():
        value = attribute(node, name)
        if value is not None:
            return np.asarray(value, dtype=dtype)
    return None


def is_standard(node: NodeProto, *op_types: str) -> bool:
    """Tell whether a node is a standard ONNX operator of one of these types."""
    return node.op_type in op_types and node.domain in ("", "ai.onnx")


def attribute(node: NodeProto, name: str, default: Any = None) -> Any:
    """Return an attribute's value, or the default where the node does not state it."""
    for attr in node.attribute:
        if attr.name == name:
            return helper.get_attribute_value(attr)
    return default


def set_attribute(node: NodeProto, name: str, value: Any) -> None:
    """State an attribute of a node, in place of what it states of it."""
    for old in [one for one in node.attribute if one.name == name]:
        node.attribute.remove(old)
    node.attribute.append(helper.make_attribute(name, value))


def kernel_node(
    op_type: str, inputs: Sequence[str], outputs: Sequence[str], name: str, **attributes: Any
) -> NodeProto:
    """Return a node of one of this project's kernels."""
    return helper.make_node(
        op_type, inputs, outputs, name, domain="brainsmith.kernels", backend="fpgadataflow", **attributes
    )


def opset(model: ModelWrapper) -> int:
    """Return the version of the standard ONNX operators that a model uses."""
    imports = model.get_opset_imports()
    return int(imports.get("", imports.get("ai.onnx", 1)))


def value_of_one(value: npt.NDArray[Any] | np.generic | None) -> float | None:
    """Return the number in a constant that has one element, or None."""
    return float(value.reshape(-1)[0]) if value is not None and value.size == 1 else None
