"""LayerGraph: the integer layers, and the host's operators around them, before they are written as a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType

from brainsmith.graph.integer_range import IntegerRange
from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.transforms.graph_view import set_attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.transforms.lattice.array_kinds import Whole

QONNX = "qonnx.custom_op.general"


@dataclass
class LayerTensor:
    """A tensor between layers: its shape, channels last, and the least and greatest integer; None of a float.

    `origin` is the part of the network that it comes from, such as "Conv 'conv1'"; `added` is what was added to
    the integers since they were an `IntegerTensor`, one number for each channel. `doubles` tells that it is one of
    float64, for integers that float32 does not hold.
    """

    shape: tuple[int, ...]
    range: IntegerRange | None = None
    origin: str = ""
    added: Whole | None = None
    doubles: bool = False

    @property
    def element_type(self) -> int:
        """ONNX's number of the type in which it is computed."""
        return int(TensorProto.DOUBLE if self.doubles else TensorProto.FLOAT)

    @property
    def datatype(self) -> str:
        """The least datatype of QONNX that holds it."""
        if self.range is None:
            return "FLOAT32"
        return of_ends(*self.range.ends)


@dataclass
class LayerNode:
    """One node, with its constant operand.

    Attributes:
        node: It, without the constant.
        constant: The second input; None where there is none.
        taps_of_channels: Its window, (height, width), if it is the product of a depthwise convolution.
        constant_at: Which input the constant is.
    """

    node: NodeProto
    constant: np.ndarray[Any, Any] | None = None
    taps_of_channels: tuple[int, ...] = ()
    constant_at: int = 1

    @property
    def result(self) -> str:
        """The tensor that it gives."""
        return str(self.node.output[0])


@dataclass
class LayerGraph:
    """Layers in the order in which they run.

    Attributes:
        layers: They.
        tensors: What is known of each tensor.
        used: All names that are taken.
        held: Constants of the host's operators, by name.
        successors: Of tensors that have gone: the tensor that has their integers, and by what these are multiplied there.
        origin: The part of the network that is being read: that of the tensors which are added.
    """

    layers: list[LayerNode] = field(default_factory=list)
    tensors: dict[str, LayerTensor] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    held: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    successors: dict[str, tuple[str, Whole]] = field(default_factory=dict)
    origin: str = ""

    def hold(self, value: np.ndarray[Any, Any], base: str) -> str:
        """Add a constant, and return its name."""
        name = self.name(base)
        self.held[name] = value
        return name

    def name(self, base: str) -> str:
        """Return a name that is not taken, and take it."""
        name, count = base, 0
        while name in self.used:
            count += 1
            name = f"{base}_{count}"
        self.used.add(name)
        return name

    def add(
        self,
        op_type: str,
        inputs: Sequence[str],
        base: str,
        shape: Sequence[int],
        range: IntegerRange | None = None,
        *,
        constant: np.ndarray[Any, Any] | None = None,
        taps_of_channels: tuple[int, ...] = (),
        domain: str = "",
        result: str = "",
        **attributes: Any,
    ) -> str:
        """Add a node with one result, and return the result's name."""
        result = result or self.name(base)
        node = helper.make_node(op_type, list(inputs), [result], name=result, domain=domain, **attributes)
        return self.put(
            LayerNode(node, constant, taps_of_channels),
            LayerTensor(tuple(map(int, shape)), range),
        )

    def reshape(self, name: str, shape: Sequence[int], range: IntegerRange | None, base: str) -> str:
        """Add a Reshape, and return the name of its result; one number without axes is squeezed, which the host does."""
        if not shape:
            return self.add("Squeeze", [name], base, shape, range)
        return self.add("Reshape", [name], base, shape, range, constant=np.asarray(shape, np.int64))

    def put(self, layer: LayerNode, *tensors: LayerTensor) -> str:
        """Add a layer with its results; return the first one's name."""
        self.layers.append(layer)
        for name, tensor in zip(layer.node.output, tensors, strict=True):
            tensor.origin = tensor.origin or self.origin
            self.tensors[name] = tensor
            self.used.add(name)
        return layer.result

    def rename(self, name: str, to: str, ends: Sequence[str]) -> bool:
        """Give what a layer gives the name of an output; False if it is an input, or an output already."""
        maker = self.maker(name)
        if maker is None or name in ends:
            return False
        for layer in self.layers:
            for names in (layer.node.input, layer.node.output):
                names[:] = [to if each == name else each for each in names]
        self.tensors[to] = self.tensors.pop(name)
        self.moved(name, to, np.ones(1, np.int64))
        return True

    def maker(self, name: str) -> LayerNode | None:
        """Return the layer that gives a tensor."""
        return next((layer for layer in self.layers if name in layer.node.output), None)

    def readers(self, name: str) -> list[LayerNode]:
        """Return the layers that read a tensor."""
        return [layer for layer in self.layers if name in layer.node.input]

    def moved(self, name: str, to: str, factor: Whole) -> None:
        """Note that a tensor's integers, times factors, one or one for each channel, are another tensor's from now on."""
        self.successors[name] = to, factor

    def placed(self, name: str) -> tuple[str, Whole]:
        """Return the tensor that has a layer's integers at last, and by what they are multiplied there."""
        times = np.ones(1, np.int64)
        while name in self.successors:
            name, factor = self.successors[name]
            times = times * factor
        return name, times

    def write(self, model: ModelWrapper) -> ModelWrapper:
        """Return a model of these layers with another one's inputs and outputs."""
        from qonnx.core.modelwrapper import ModelWrapper

        copy = ModelProto()
        copy.CopyFrom(model.model)
        graph = copy.graph
        for part in (graph.node, graph.initializer, graph.value_info, graph.quantization_annotation):
            del part[:]
        made = ModelWrapper(copy)
        graph = made.graph
        for value in graph.input:
            made.set_tensor_datatype(value.name, model.get_tensor_datatype(value.name))
            if len(value.type.tensor_type.shape.dim) not in (2, 3, 4):  # of which QONNX would guess a layout
                made.set_tensor_layout(value.name, [])
        graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in self.held.items())
        ends = {value.name for value in (*graph.input, *graph.output)}
        for layer in self.layers:
            node = layer.node
            if layer.constant is not None:
                name = self.name(f"{layer.result}_constant")
                node.input.insert(layer.constant_at, name)
                self._constant(made, name, layer)
            for at, output in enumerate(node.output):
                tensor = self.tensors[output]
                if tensor.range is None and not tensor.doubles:
                    continue
                if output not in ends:
                    kind = TensorProto.INT64 if node.op_type == "TopK" and at else tensor.element_type
                    graph.value_info.append(helper.make_tensor_value_info(output, kind, tensor.shape))
                if node.op_type == "MultiThreshold":
                    set_attribute(node, "out_dtype", tensor.datatype)
                made.set_tensor_datatype(output, DataType[tensor.datatype])
                made.set_tensor_layout(output, list({2: "NC", 4: "NHWC"}.get(len(tensor.shape), "")))
            graph.node.append(node)
        return made

    def _constant(self, model: ModelWrapper, name: str, layer: LayerNode) -> None:
        value = layer.constant
        assert value is not None
        if value.dtype == np.int64 and layer.node.op_type in ("Pad", "ReduceSum", "Reshape", "Split", "TopK"):
            model.graph.initializer.append(numpy_helper.from_array(value, name))
            return
        doubles = self.tensors[layer.result].doubles
        tensor = numpy_helper.from_array(np.asarray(value, np.float64 if doubles else np.float32), name)
        model.graph.initializer.append(tensor)
        model.graph.value_info.append(helper.make_tensor_value_info(name, tensor.data_type, value.shape))
        if value.dtype == np.int64:
            kind = datatype_of(value, layer.node.op_type)
            signs = (
                kind == "BIPOLAR" and layer.node.op_type == "MatMul" and _of_signs(model, layer.node.input[0])
            )
            model.set_tensor_datatype(name, DataType["INT2" if signs else kind])
        if layer.taps_of_channels:
            model.set_tensor_sparsity(name, {"dw": {"kernel_shape": list(layer.taps_of_channels)}})


def _of_signs(model: ModelWrapper, name: str) -> bool:
    """Tell whether a tensor may be an input of -1 and 1: FINN takes their products with such weights for counts."""
    given = {model.get_tensor_datatype(value.name).name for value in model.graph.input}
    return "BIPOLAR" in given and model.get_tensor_datatype(name).name in ("BIPOLAR", "INT2")


def datatype_of(values: Whole, op_type: str) -> str:
    """Return the least datatype of QONNX that holds an operand: BIPOLAR where a product is by -1 and 1 alone."""
    if op_type == "XnorPopcountMatMul":
        return "BINARY"
    if op_type in ("MatMul", "Mul") and np.isin(values, (-1, 1)).all():
        return "BIPOLAR"
    return of_ends(int(values.min()), int(values.max()))


def of_ends(low: int, high: int) -> str:
    """Return the least datatype of QONNX that holds the integers from low to high; FINN has no INT1."""
    found = str(integer_datatype(low, high).name)
    return "INT2" if found == "INT1" else found
