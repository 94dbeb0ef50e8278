"""A datatype that a transform loses is restored or reported, whatever the transform renames, inserts or removes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.base import Transformation

from brainsmith.build.artifact import Artifact
from brainsmith.build.lost_facts import KnownFacts
from brainsmith.build.transform_watch import transforms_watched
from brainsmith.plugin.adapters.graph_edits import rename_tensors
from brainsmith.transforms.infer_data_types import InferDataTypes

OPERATORS = ("Quant", "MatMul", "Add", "Mul", "Transpose", "Identity", "Sign", "Relu")
WITHOUT_RULE = ("Relu", "Relu", "Identity")
CUSTOM = "qonnx.custom_op.general"


class Random(Transformation):
    """Does what it is made with, once."""

    def __init__(self, edit):
        self.edit = edit

    def apply(self, model):
        self.edit(model)
        return model, False


class Net:
    """A network of small nodes, each with a datatype for all that it gives."""

    def __init__(self, draw):
        self.draw = draw
        self.nodes, self.constants = [], {}
        self.stated = {"x": draw(st.sampled_from(["INT4", "UINT3", "BIPOLAR"]))}
        self.tensors = ["x"]
        operators = draw(st.sampled_from([OPERATORS, WITHOUT_RULE]))
        for at in range(draw(st.integers(2, 7))):
            self.add(draw(st.sampled_from(operators)), f"t{at}")

    def add(self, op_type, name):
        """Add a node that reads what there is."""
        read = [self.draw(st.sampled_from(self.tensors))]
        more = {}
        if op_type == "Quant":
            bits = float(self.draw(st.integers(2, 5)))
            read += [
                self.constant(f"{name}_{key}", value) for key, value in (("s", 1.0), ("z", 0.0), ("b", bits))
            ]
            more = {"domain": CUSTOM, "signed": 1, "narrow": 0, "rounding_mode": "ROUND"}
        elif op_type == "MatMul":
            values = np.asarray(self.draw(st.lists(st.integers(-2, 1), min_size=4, max_size=4)), np.float32)
            read.append(self.constant(f"{name}_w", values.reshape(2, 2), "INT2"))
        elif op_type == "Add":
            read.append(self.draw(st.sampled_from(self.tensors)))
        elif op_type == "Mul":
            read.append(self.constant(f"{name}_f", self.draw(st.sampled_from([0.5, 0.25]))))
        elif op_type == "Transpose":
            more = {"perm": [1, 0]}
        elif op_type == "Relu":  # QONNX has no rule for it: somebody stated this
            self.stated[name] = self.draw(st.sampled_from(["UINT3", "UINT6"]))
        self.nodes.append(helper.make_node(op_type, read, [name], name=f"n_{name}", **more))
        self.tensors.append(name)

    def constant(self, name, value, datatype=None):
        """Add a constant."""
        self.constants[name] = np.asarray(value, np.float32)
        if datatype:
            self.stated[name] = datatype
        return name

    def model(self):
        """Return it with all datatypes that follow."""
        read = {name for node in self.nodes for name in node.input}
        outputs = [name for name in self.tensors[1:] if name not in read]
        graph = helper.make_graph(
            self.nodes,
            "random",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in outputs],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
            value_info=[
                helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2])
                for name in self.tensors[1:]
                if name in read
            ],
        )
        opsets = [helper.make_opsetid("", 13), helper.make_opsetid(CUSTOM, 1)]
        model = ModelWrapper(helper.make_model(graph, ir_version=9, opset_imports=opsets))
        for name, datatype in self.stated.items():
            model.set_tensor_datatype(name, DataType[datatype])
        return model.transform(InferDataTypes(), cleanup=False)


def datatypes(model):
    """Return what the model states, floats left out."""
    return {
        each.tensor_name: each.quant_parameter_tensor_names[0].value
        for each in model.graph.quantization_annotation
        if each.quant_parameter_tensor_names[0].value != "FLOAT32"
    }


def forget(model, name):
    """Take a tensor's annotation away."""
    for each in [each for each in model.graph.quantization_annotation if each.tensor_name == name]:
        model.graph.quantization_annotation.remove(each)


def edits(draw, model):
    """Draw new names for all, some or no tensors and nodes, Identity nodes to insert, and the names that take part."""
    inner = [name for node in model.graph.node[:-1] for name in node.output]
    names = [
        *(t.name for t in model.graph.initializer),
        "x",
        *(o for n in model.graph.node for o in n.output),
    ]
    renamed = draw(st.sampled_from(["all", "some", "swapped", "none"]))
    if renamed == "swapped":  # with each other's names, it is not certain which one lost its datatype
        alike = [node.output[0] for node in model.graph.node if node.op_type == "Relu"]
        names = [name for name in names if name not in alike[1:]]
    chosen = (
        names
        if renamed in ("all", "swapped")
        else [n for n in names if renamed == "some" and draw(st.booleans())]
    )
    new = (
        draw(st.permutations(chosen)) if renamed == "swapped" else [f"new_{at}" for at in range(len(chosen))]
    )
    return dict(zip(chosen, new, strict=True)), draw(
        st.lists(st.sampled_from(inner), max_size=2, unique=True)
    )


def change(model, names, inserted):
    """Insert typed Identity nodes behind some tensors, and rename tensors and all nodes."""
    for name in inserted:
        for node in model.graph.node:
            for at, read in enumerate(node.input):
                if read == name:
                    node.input[at] = f"{name}_same"
        model.graph.node.insert(0, helper.make_node("Identity", [name], [f"{name}_same"], name=f"i_{name}"))
        model.set_tensor_shape(f"{name}_same", [2, 2])
        model.set_tensor_datatype(f"{name}_same", model.get_tensor_datatype(name))
    for at, node in enumerate(model.graph.node):
        node.name = f"node{at}"
    rename_tensors(model.graph, names)


def applied(model, edit):
    """Return what a transform makes of a model in a step, and what the build says of it."""
    known = KnownFacts(Artifact.of(model))
    with transforms_watched(lineage=known.lineage):
        result = model.transform(Random(edit), cleanup=False)
    return result, known.restore(result)


@settings(max_examples=120)
@given(st.data())
def test_what_is_lost_is_restored_or_reported_with_the_transform(data):
    model = Net(data.draw).model()
    before = datatypes(model)
    names, inserted = edits(data.draw, model)
    lost = data.draw(st.lists(st.sampled_from(sorted(before)), min_size=1, max_size=3, unique=True))
    expected, opaque = {}, set()

    def edit(model):
        change(model, names, inserted)
        expected.update(datatypes(model))
        for name in lost:
            forget(model, names.get(name, name))

    for node in model.graph.node:  # what follows from a tensor that is unknown is unknown as well
        rule = node.op_type not in ("Quant", "Sign", "Relu")
        if node.output[0] in lost and (
            node.op_type == "Relu" or (rule and opaque.difference(inserted).intersection(node.input))
        ):
            opaque.add(node.output[0])
    opaque = {names.get(name, name) for name in opaque}
    after, lines = applied(model, edit)
    found = datatypes(after)
    assert {name for name in expected if name not in found} == opaque
    for name in (names.get(name, name) for name in lost):
        if name not in opaque:
            assert found[name] == expected[name] or name.endswith("_same")
        (line,) = [line for line in lines if f"'{name}'" in line]
        end = "cannot be inferred: these tensors count as floats" if name in opaque else "were inferred again"
        assert line.startswith("the datatypes of ")
        assert line.endswith(f" were lost by transform 'Random', and {end}")


@settings(max_examples=60)
@given(st.data())
def test_nothing_is_reported_where_nothing_is_lost(data):
    model = Net(data.draw).model()
    if data.draw(st.booleans()):  # of what was never inferred, nothing is lost
        for name in [name for node in model.graph.node for name in node.output]:
            forget(model, name)
    names, inserted = edits(data.draw, model)
    removed = data.draw(st.booleans())
    made = []

    def edit(model):
        change(model, names, inserted)
        last = model.graph.node[-1]
        if removed and len(model.graph.output) > 1 and last.output[0] in [o.name for o in model.graph.output]:
            gone = next(value for value in model.graph.output if value.name == last.output[0])
            model.graph.output.remove(gone)
            forget(model, last.output[0])
            model.graph.node.remove(last)
        made.append(model.model.SerializeToString(deterministic=True))

    after, lines = applied(model, edit)
    assert lines == []
    assert after.model.SerializeToString(deterministic=True) == made[0]
