"""Graphs as others write them: drawn by Hypothesis, of standard operators, and all of them valid ONNX."""

import numpy as np
import onnx
from hypothesis import assume
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.testing.small_models import run

ROW = (1, 4)

CONSTANTS = {
    "zeros": np.zeros(1),
    "ones": np.ones(ROW),
    "tiny": np.full(ROW, 1e-6),
    "nearly one": np.full((), 1 + 5e-6),
    "minus zero": np.asarray([-0.0]),
    "two": np.asarray(2.0),
    "row": np.asarray([[1.0, -2.0, 3.0, 5.0]]),
    "rows of ones": np.ones((3, 4)),
}

OPERATORS = (
    "Add",
    "Mul",
    "Sub",
    "Add of a constant",
    "Mul by a constant",
    "Sub of a constant",
    "Div by a constant",
    "constant of a constant",
    "Clip",
    "Concat",
    "Constant",
    "Dropout",
    "Identity",
    "If",
    "MatMul",
    "Pad",
    "Pow",
    "Relu",
    "Reshape to a Shape",
    "Split",
    "Transpose",
)


class Writer:
    """Writes a graph with what Hypothesis draws."""

    def __init__(self, draw):
        self.draw = draw
        self.nodes, self.constants = [], {}
        self.shapes = dict.fromkeys(["x", "y"][: draw(st.integers(1, 2))], ROW)
        self.inputs = list(self.shapes)

    def pick(self, names):
        return self.draw(st.sampled_from(list(names)))

    def tensor(self, shape=None):
        return self.pick(name for name, own in self.shapes.items() if shape in (None, own))

    def constant(self):
        """A constant, often one that other nodes read as well."""
        kind = self.pick(CONSTANTS)
        self.constants.setdefault(kind, CONSTANTS[kind].astype(np.float32))
        return kind

    def fixed(self, value):
        name = f"constant {len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def add(self, op_type, inputs, *shapes, **attributes):
        """Append a node; some have no name, or another's."""
        names = [f"t{len(self.nodes)}_{at}" for at in range(len(shapes))]
        self.nodes.append(
            helper.make_node(
                op_type,
                inputs,
                names,
                name=self.pick(["", "same", f"n{len(self.nodes)}"]),
                **attributes,
            )
        )
        self.shapes.update(zip(names, map(tuple, shapes), strict=True))
        return names

    def add_any(self):
        kind = self.pick(OPERATORS)
        first = self.tensor()
        shape = self.shapes[first]
        if kind in ("Add", "Mul", "Sub"):
            self.add(kind, [first, self.tensor(shape)], shape)  # often the same tensor twice
        elif " of a constant" in kind or " by a constant" in kind:
            self.add_with_constant(kind.partition(" ")[0], first, shape)
        elif kind == "Concat":
            self.add("Concat", [first, self.tensor(shape), first], (shape[0], 3 * shape[1]), axis=1)
        elif kind == "Split":
            assume(shape[1] % 2 == 0)
            half = (shape[0], shape[1] // 2)
            self.add("Split", [first, self.fixed(np.int64([half[1]] * 2))], half, half, axis=1)
        elif kind == "Constant":
            value = np.full(shape, self.pick([0, 1, 3]), np.float32)
            self.add("Constant", [], shape, value=numpy_helper.from_array(value))
        elif kind == "Reshape to a Shape":
            (dims,) = self.add("Shape", [first], ())
            del self.shapes[dims]
            self.add("Reshape", [first, dims], shape)
        elif kind == "If":
            self.add_if(first, shape)
        else:
            more, attributes = {
                "Clip": (["", self.fixed(np.float32(2))], {}),
                "Dropout": ([], {}),
                "Identity": ([], {}),
                "MatMul": ([self.fixed(np.eye(shape[1], dtype=np.float32)[::-1])], {}),
                "Pad": ([self.fixed(np.zeros(4, np.int64))], {}),
                "Pow": ([self.fixed(np.float32(2))], {}),
                "Relu": ([], {}),
                "Transpose": ([], {"perm": [0, 1]}),
            }[kind]
            self.add(kind, [first, *more], shape, **attributes)

    def add_with_constant(self, op_type, first, shape):
        constant = self.constant()
        value = self.constants[constant]
        if op_type == "constant":
            assume(value.ndim == 2)
            self.add("Mul", [constant, constant], value.shape)
            return
        assume(op_type != "Div" or value.all())
        assume(value.size == 1 or shape == ROW)
        order = [first, constant] if op_type == "Div" else self.pick([[first, constant], [constant, first]])
        self.add(op_type, order, np.broadcast_shapes(shape, value.shape))

    def add_if(self, first, shape):
        """Branches that read what they need from outside; their own tensors have names like others'."""
        other = self.pick(["zeros", "two", first])
        if other in CONSTANTS:
            self.constants[other] = CONSTANTS[other].astype(np.float32)

        def branch(op_type, name):
            value = helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))
            return helper.make_graph([helper.make_node(op_type, [first, other], [name])], name, [], [value])

        inner = self.pick([f"inner{len(self.nodes)}", f"Add{len(self.nodes)}_out0"])
        self.add(
            "If",
            [self.fixed(np.asarray(self.draw(st.booleans())))],
            shape,
            then_branch=branch("Add", inner),
            else_branch=branch("Mul", f"{inner}_else"),
        )


@st.composite
def graphs(draw):
    """Draw a model whose shapes are inferred.

    Nodes read one tensor twice, share initializers, have no names or equal ones; several tensors are outputs, some
    of them read inside as well; initializers are graph inputs too.
    """
    writer = Writer(draw)
    for _ in range(draw(st.integers(1, 6))):
        writer.add_any()
    made = [name for node in writer.nodes for name in node.output if name in writer.shapes]
    outputs = [made[-1], *draw(st.lists(st.sampled_from(made), unique=True, max_size=3))]
    outputs = list(dict.fromkeys(outputs))
    listed = {name: writer.shapes[name] for name in writer.inputs}
    also = [name for name in writer.constants if name in CONSTANTS and draw(st.booleans())]
    listed |= {name: writer.constants[name].shape for name in also}

    def values(shapes):
        return [helper.make_tensor_value_info(n, TensorProto.FLOAT, list(s)) for n, s in shapes.items()]

    graph = helper.make_graph(
        writer.nodes,
        "drawn",
        values({name: listed[name] for name in draw(st.permutations(list(listed)))}),
        values({name: writer.shapes[name] for name in outputs}),
        [numpy_helper.from_array(value, name) for name, value in writer.constants.items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return ModelWrapper(onnx.shape_inference.infer_shapes(proto, strict_mode=True))


def inputs_of(model):
    constants = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in constants]


def outputs_of(model):
    """Run a model on whole numbers, inputs and outputs in their order, whatever their names are."""
    random = np.random.default_rng(0)
    feeds = {
        value.name: random.integers(-3, 4, [dim.dim_value for dim in value.type.tensor_type.shape.dim])
        for value in inputs_of(model)
    }
    nameless = ModelWrapper(model.model, make_deepcopy=True)
    for node in nameless.graph.node:
        node.name = ""  # ONNX Runtime refuses two nodes of one name
    return list(run(nameless, {name: value.astype(np.float32) for name, value in feeds.items()}).values())


def malformed(model):
    """What is wrong with the structure of a graph."""
    graph = model.graph
    found = []
    for what, names in {
        "initializer": [tensor.name for tensor in graph.initializer],
        "declared tensor": [value.name for value in (*graph.value_info, *graph.input, *graph.output)],
        "annotated tensor": [note.tensor_name for note in graph.quantization_annotation],
        "tensor made": [name for node in graph.node for name in node.output if name],
    }.items():
        found += [f"{what} {name} twice" for name in set(names) if names.count(name) > 1]
    there = {"", *(value.name for values in (graph.initializer, graph.input) for value in values)}
    for node in graph.node:
        found += [f"{node.op_type} reads {name}" for name in node.input if name not in there]
        there.update(node.output)
    return found + [f"output {value.name}" for value in graph.output if value.name not in there]


__all__ = ["graphs", "inputs_of", "malformed", "outputs_of"]
