"""An ONNX graph in the making: one node for each record, and what it reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from brainsmith.autodiff.exporting.graph_names import GraphNames, input_names
from brainsmith.autodiff.exporting.operator_schemas import check_dtypes
from brainsmith.autodiff.exporting.walk import key_of
from brainsmith.autodiff.graphs.node_attributes import to_node
from brainsmith.autodiff.graphs.node_lookup import FUSED, OPS_DOMAIN
from brainsmith.autodiff.graphs.op_definition import is_same_op
from brainsmith.autodiff.primitives.elementwise import Elementwise
from brainsmith.autodiff.primitives.movements import Transpose
from brainsmith.autodiff.primitives.onnx_form import OnnxCall, OnnxForm, OnnxNode
from brainsmith.autodiff.primitives.primitive import Primitive
from brainsmith.autodiff.primitives.products import MatMul
from brainsmith.autodiff.primitives.reductions import Reduction, axes_of
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from brainsmith.autodiff.op import Array, Op
    from brainsmith.autodiff.tape.tape import Record
    from brainsmith.autodiff.tape.tensor import Tensor

OPSET = 17
"""The ONNX operators that QONNX 1.0 and FINN read and write."""

_PROMOTING = (Elementwise, MatMul, Reduction)
"""Primitives that compute in numpy's common dtype of their inputs; ONNX wants the inputs in it."""


@dataclass
class GraphWriter:
    """Nodes, initialisers and tensors in the making.

    Attributes:
        names: Who names what.
        inputs: The keys of the graph's inputs, which are no constants.
    """

    names: GraphNames
    inputs: set[tuple[int, int]]
    nodes: list[NodeProto] = field(default_factory=list)
    constants: dict[str, TensorProto] = field(default_factory=dict)
    tensors: dict[str, ValueInfoProto] = field(default_factory=dict)
    domains: set[str] = field(default_factory=set)

    def add(self, record: Record) -> None:
        """Add the node of a record, and the constants that it reads."""
        op, given = record.op, self.names.given((record.serial, 0))
        name = self.names.node(given or op.name)
        node = _onnx_node(record)
        read = self._promoted(record, name, self._inputs(record, name))
        for at, constant in enumerate(node.constants):
            source = "" if constant is None else self._constant(None, f"{name}_constant_{at}", constant)
            read.append((source, constant))
        outputs = []
        for at, array in enumerate(record.outputs):
            wanted = f"{name}_out" if len(record.outputs) == 1 else f"{name}_out_{at}"
            outputs.append(self.names.tensor((record.serial, at), wanted))
            self.tensors[outputs[-1]] = value_info(outputs[-1], array)
        if not node.domain:
            kinds = [None if array is None else _kind_of(array) for _, array in read]
            check_dtypes(op.name, node.op_type, OPSET, kinds, [_kind_of(array) for array in record.outputs])
        self._node(node, name, [source for source, _ in read], outputs)

    def _inputs(self, record: Record, name: str) -> list[tuple[str, Array | None]]:
        """Return what a record reads, with its name; what its node has in another form is a constant in that form."""
        form: OnnxForm | None = getattr(record.op, "onnx", None)
        roles = input_names(record.op, len(record.inputs))
        found: list[tuple[str, Array | None]] = []
        for at, (tensor, array, role) in enumerate(zip(record.inputs, record.arrays, roles, strict=True)):
            if form is None or at not in form.converted:
                found.append((self._input(tensor, f"{name}_{role}", array), array))
                continue
            if not self.is_constant(tensor):
                raise OpError(
                    f"{role} of operation {record.op.name!r} must be a constant to be exported: "
                    f"the node {form.op_type} stores it in another form"
                )
            converted = form.converted[at](array)
            found.append((self._constant(None, f"{name}_{role}", converted), converted))
        return found

    def is_constant(self, tensor: Tensor) -> bool:
        """Tell whether a Tensor is neither computed nor an input of the graph."""
        return tensor.record is None and key_of(tensor) not in self.inputs

    def output(self, name: str, tensor: Tensor) -> ValueInfoProto:
        """Return the value of a graph's output; a copy of the tensor where that has another name."""
        if tensor.record is None or self.names.given(key_of(tensor)) != name:
            source = self._input(tensor, f"{name}_constant", tensor.numpy())
            self._node(OnnxNode("Identity", "", {}, ()), self.names.node(f"{name}_copy"), [source], [name])
        self.tensors.pop(name, None)
        return value_info(name, tensor.numpy())

    def _node(self, node: OnnxNode, name: str, inputs: list[str], outputs: list[str]) -> None:
        self.domains.add(node.domain)
        self.nodes.append(
            helper.make_node(node.op_type, inputs, outputs, name=name, domain=node.domain, **node.attributes)
        )

    def _input(self, tensor: Tensor, wanted: str, array: Array) -> str:
        """Return the name of what a node reads; a constant is entered when it is first read."""
        key = key_of(tensor)
        if self.is_constant(tensor):
            return self._constant(key, wanted, array)
        return self.names.tensor(key, wanted)

    def _constant(self, key: tuple[int, int] | None, wanted: str, array: Array) -> str:
        """Return the name of a constant; one whose data was replaced between two records is two of them."""
        name = self.names.tensor(key, wanted)
        if name in self.constants and not _holds(self.constants[name], array):
            name = self.names.tensor(None, name)
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(
                np.ascontiguousarray(array).reshape(array.shape), name
            )
        return name

    def _promoted(
        self, record: Record, name: str, read: list[tuple[str, Array | None]]
    ) -> list[tuple[str, Array | None]]:
        """Cast inputs to the dtype in which a primitive computes, where they have another one."""
        if not isinstance(record.op, _PROMOTING) or record.outputs[0].dtype.kind == "b":
            return read
        wanted = record.outputs[0].dtype
        for at, (source, array) in enumerate(read):
            if array is not None and array.dtype != wanted:
                target = self.names.tensor(None, f"{name}_cast_{at}")
                cast = OnnxNode("Cast", "", {"to": helper.np_dtype_to_tensor_dtype(wanted)}, ())
                self._node(cast, self.names.node(f"{name}_cast_{at}"), [source], [target])
                converted = array.astype(wanted)
                self.tensors[target] = value_info(target, converted)
                read[at] = target, converted
        return read


def _holds(constant: TensorProto, array: Array) -> bool:
    """Tell whether a constant has the values of an array, bit by bit."""
    return bool(constant.raw_data == np.ascontiguousarray(array).tobytes())


def _kind_of(array: Array) -> int:
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))


def value_info(name: str, array: Array | Tensor) -> ValueInfoProto:
    """Return what a graph says of a tensor that is like an array."""
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def _onnx_node(record: Record) -> OnnxNode:
    """Return the node of a record: the one that its op states, or else one of the domain of ops.

    Raises:
        OpError: A primitive has no ONNX form; or the op is not the one that a model would find by this name.
    """
    op = record.op
    form: OnnxForm | None = getattr(op, "onnx", None)
    if _keeps_all(record):
        return OnnxNode("Identity", "", {}, ())
    if form is not None:
        return _formed(form, record)
    if isinstance(op, Elementwise):
        return _fused_node(op, record)
    if isinstance(op, Primitive):
        raise OpError(f"{op.name} on the tape has no ONNX operator of its own; it cannot be exported")
    _check_registered(op)
    return OnnxNode(op.name, OPS_DOMAIN, to_node(op, record.attributes), ())


def _keeps_all(record: Record) -> bool:
    """Tell whether a step is over no axis at all: ONNX's would be over all of them, or has no form for a number."""
    op, (first, *_) = record.op, record.arrays
    if isinstance(op, Reduction):
        return first.ndim == 0 or not axes_of(record.attributes["axis"], first.ndim)
    return isinstance(op, Transpose) and first.ndim == 0


def _formed(form: OnnxForm, record: Record) -> OnnxNode:
    shapes = tuple(array.shape for array in record.arrays)
    try:
        return form.node(OnnxCall(record.attributes, shapes, OPSET, record.arrays[0].dtype))
    except (ValueError, ArithmeticError) as error:
        raise OpError(
            f"operation {record.op.name!r} on an array of shape {shapes[0]} cannot be exported: ONNX's {form.op_type} "
            f"has no form for it ({error}); give it another shape: functional.reshape(x, (1,))"
        ) from error


def _fused_node(op: Elementwise, record: Record) -> OnnxNode:
    """Return a node that holds what a primitive computes as an expression: ONNX has no operator for it."""
    from brainsmith.autodiff.compiling.tracer import trace
    from brainsmith.autodiff.graphs.fused_node import ATTRIBUTE

    expression = trace(op.forward, [array.dtype for array in record.arrays], op.name)
    return OnnxNode(FUSED, OPS_DOMAIN, {ATTRIBUTE: expression.text}, ())


def _check_registered(op: Op) -> None:
    from brainsmith.autodiff.op_registry import get_custom_op, is_custom_op_registered

    if not is_custom_op_registered(op.name):
        raise OpError(
            f"operation {op.name!r} is not registered, so a model would not find it: "
            "ops.register_custom_op(op), or @op on its class"
        )
    if not is_same_op(get_custom_op(op.name), op):
        raise OpError(f"another operation is registered as {op.name!r}; register this one")
