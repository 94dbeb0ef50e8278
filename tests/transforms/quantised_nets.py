"""Small networks with quantisers, and running them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.execution.execute import Executor

CUSTOM = "qonnx.custom_op.general"


class Net:
    """A small network in the making: nodes one after the other on one path."""

    def __init__(self, *shape, datatype="INT6"):
        self.shape, self.datatype, self.tail = list(shape), datatype, "x"
        self.nodes, self.constants, self.values = [], [], []

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def node(self, op_type, *others, shape=None, **attributes):
        inputs = [self.tail, *(other if isinstance(other, str) else self.constant(other) for other in others)]
        output, name = f"t{len(self.nodes)}", f"{op_type.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=name, **attributes))
        self.shape_of(output, shape or self.shape)
        self.tail = output
        return self

    def shape_of(self, name, shape):
        self.last = list(shape)
        self.values.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)))

    def quant(self, scale=1.0, zero=0.0, bits=4, signed=1, narrow=0, mode="ROUND"):
        more = {"signed": signed, "narrow": narrow, "rounding_mode": mode}
        return self.node("Quant", scale, zero, float(bits), domain=CUSTOM, shape=self.last_shape(), **more)

    def weights(self, values, scale, bits, signed=1, narrow=0):
        """Return the name of constants behind a quantiser of their own."""
        tail, last, self.tail = self.tail, self.last_shape(), self.constant(values)
        self.last = np.shape(values)
        self.quant(scale, 0.0, bits, signed, narrow)
        held, self.tail, self.last = self.tail, tail, last
        return held

    def last_shape(self):
        return getattr(self, "last", self.shape)

    def model(self):
        ends = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape), self.values[-1]
        graph = helper.make_graph(
            self.nodes, "net", ends[:1], ends[1:], self.constants, value_info=self.values[:-1]
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(CUSTOM, 1)]
        wrapper = ModelWrapper(helper.make_model(graph, ir_version=9, opset_imports=opsets))
        wrapper.set_tensor_datatype("x", DataType[self.datatype])
        return wrapper


def run(model, stack):
    executor = Executor(model)
    return executor.run({executor.inputs[0]: stack})[executor.outputs[0]]


def every_integer(model):
    """Return each integer that the input may hold, in all places alike."""
    kind = DataType[model.get_tensor_datatype("x").name]
    numbers = np.arange(kind.min(), kind.max() + 1, dtype=np.float32)
    shape = model.get_tensor_shape("x")
    return np.broadcast_to(numbers.reshape(-1, *(1,) * len(shape)), (len(numbers), *shape)).copy()


def kinds(model):
    return [node.op_type for node in model.graph.node]
