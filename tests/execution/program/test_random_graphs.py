"""Graphs drawn at random compute what QONNX computes: whole numbers in every bit, at every size of batch."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from tests.execution.program.one_node import expected

UNARY = ("Relu", "Abs", "Neg", "Sign", "Floor", "Identity")
BINARY = ("Add", "Sub", "Mul", "Max", "Min")
IMAGES = ("Conv", "MaxPool", "Transpose", "Pad", "Concat", "Slice")


class Graph:
    """A graph of whole numbers that grows node by node."""

    def __init__(self, draw):
        self.draw = draw
        self.nodes, self.constants = [], []
        self.shape = (1, draw(st.integers(1, 3)), draw(st.integers(2, 5)), draw(st.integers(2, 5)))
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)]
        self.last = "x"
        self.seed = draw(st.integers(0, 1000))

    def constant(self, shape):
        name = f"c{len(self.constants)}"
        values = np.random.default_rng(self.seed + len(self.constants)).integers(-4, 5, shape)
        self.constants.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def index(self, *values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, np.int64), name))
        return name

    def add(self, op_type, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], name=f"n_{name}", **attributes))
        self.last = name

    def grow(self, kind):
        draw, (batch, channels, high, wide) = self.draw, self.shape
        if kind in UNARY:
            self.add(kind, self.last)
        elif kind in BINARY:
            shape = draw(st.sampled_from([(), (wide,), (channels, 1, 1), self.shape, "self"]))
            other = self.last if shape == "self" else self.constant(shape)
            self.add(kind, self.last, other)
        elif kind == "Conv":
            taps = draw(st.integers(1, min(high, wide)))
            self.add(kind, self.last, self.constant((2, channels, taps, taps)), pads=[1, 0, 0, 1])
            self.shape = (batch, 2, high + 2 - taps, wide + 2 - taps)
        elif kind == "MaxPool":
            self.add(kind, self.last, kernel_shape=[2, 2], strides=[1, 2])
            self.shape = (batch, channels, high - 1, (wide - 2) // 2 + 1)
        elif kind == "Transpose":
            self.add(kind, self.last, perm=[0, 1, 3, 2])
            self.shape = (batch, channels, wide, high)
        elif kind == "Pad":
            self.add(kind, self.last, self.index(0, 0, 1, 0, 0, 0, 0, 2))
            self.shape = (batch, channels, high + 1, wide + 2)
        elif kind == "Concat":
            self.add(kind, self.last, self.constant((batch, 1, high, wide)), axis=1)
            self.shape = (batch, channels + 1, high, wide)
        elif kind == "Slice":
            self.add(kind, self.last, self.index(1), self.index(-1), self.index(2))
            self.shape = (batch, channels, high - 2, wide)

    def model(self, datatype):
        output = helper.make_empty_tensor_value_info(self.last)
        output.type.tensor_type.elem_type = TensorProto.FLOAT
        for size in self.shape:
            output.type.tensor_type.shape.dim.add().dim_value = size
        graph = helper.make_graph(self.nodes, "drawn", self.inputs, [output], self.constants)
        proto = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 13)])
        model = ModelWrapper(proto).transform(InferShapes())
        model.set_tensor_datatype("x", DataType[datatype])
        return model


@st.composite
def drawn_models(draw):
    graph = Graph(draw)
    for _ in range(draw(st.integers(1, 6))):
        small = min(graph.shape[2:]) < 3
        kinds = (*UNARY, *BINARY, "Pad", "Concat", "Transpose") if small else (*UNARY, *BINARY, *IMAGES)
        graph.grow(draw(st.sampled_from(kinds)))
    datatype = draw(st.sampled_from(["INT4", "UINT8", "BIPOLAR", "INT2"]))
    return graph.model(datatype), datatype


@given(drawn_models(), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_whole_numbers_are_those_of_the_reference_in_every_bit(drawn, seed):
    model, datatype = drawn
    program = lower(runnable_copy(model))
    kind = DataType[datatype]
    generator = np.random.default_rng(seed)
    stack = generator.integers(int(kind.min()), int(kind.max()) + 1, (4, *program.signature.inputs[0].shape))
    stack = np.where(stack == 0, 1, stack) if datatype == "BIPOLAR" else stack
    feed = {"x": stack.astype(np.float32)}
    found = program.run(feed, keep=None)
    name = program.signature.outputs[0].name
    reference = expected(model, {"x": feed["x"][:2]})[name]
    if np.abs(reference).max(initial=0) < 2**24:
        np.testing.assert_array_equal(found[name][:2], reference)
    singles = [program.run({"x": feed["x"][at : at + 1]})[name] for at in range(4)]
    np.testing.assert_array_equal(found[name], np.concatenate(singles))


@given(drawn_models())
@settings(max_examples=25, deadline=None)
def test_what_is_proved_holds(drawn):
    """The span of each tensor, as the faithful program relies on it, holds the values that come."""
    from brainsmith.execution.program.lower import _Lowering

    model, datatype = drawn
    lowering = _Lowering(runnable_copy(model))
    program = lowering.program()
    kind = DataType[datatype]
    shape = program.signature.inputs[0].shape
    ends = np.stack([np.full(shape, kind.min()), np.full(shape, kind.max())]).astype(np.float32)
    for name, values in program.run({"x": ends}, keep=None).items():
        if span := lowering.facts.span(name):
            assert span[0] <= values.min(initial=span[0])
            assert values.max(initial=span[1]) <= span[1]
