"""QONNX's classes do what ours do, whenever they were imported."""

import inspect

import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.plugin.adapters.framework_mends import REPLACED
from brainsmith.plugins import transforms as tfm
from tests.plugin.installed import run_python

NAMES = [(module, name) for module, names in REPLACED.items() for name in names]

SQUARE = """
from onnx import helper, TensorProto
def square():
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])] for name in "xy"]
    nodes = [helper.make_node("Mul", ["x", "x"], ["t"]), helper.make_node("Add", ["t", "t"], ["y"], name="sum")]
    return ModelWrapper(helper.make_model(helper.make_graph(nodes, "square", *ends)))
def named(model):
    model.rename_tensor("t", "new")
    return [list(node.input) for node in model.graph.node]
"""

LOAD = "from brainsmith.plugins import transforms as tfm; tfm.InferShapes\n"
IMPORT = "from qonnx.core.modelwrapper import ModelWrapper\n"


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_each_has_a_transform_of_ours_that_takes_the_same_arguments(module, name):
    theirs, ours = getattr(__import__(module, fromlist=[name]), name), tfm[name]
    assert theirs is tfm.qonnx[name]
    assert theirs is not ours
    assert ours.__module__.startswith("brainsmith.transforms.")
    assert inspect.signature(theirs).parameters.keys() == inspect.signature(ours).parameters.keys()
    # What ours reads of itself is what an object of theirs holds.
    assert vars(theirs()) == vars(ours())


@pytest.mark.parametrize("order", [LOAD + IMPORT, IMPORT + LOAD], ids=["import after", "import before"])
@pytest.mark.slow
def test_renaming_changes_every_place(order):
    code = f"import json\n{order}{SQUARE}\nprint(json.dumps(named(square())))"
    assert run_python(code) == [["x", "x"], ["new", "new"]]


@pytest.mark.parametrize("order", [LOAD + IMPORT, IMPORT + LOAD], ids=["import after", "import before"])
@pytest.mark.slow
def test_the_function_that_removes_a_node_is_mended_where_it_is_imported_already(order):
    code = f"""
import json
from qonnx.transformation.remove import remove_node_and_rewire as early
{order}{SQUARE}
from onnx import helper
model = square()
model.graph.node.append(helper.make_node("Identity", ["y"], ["z"]))
model.graph.output[0].name = "z"
early(model, model.graph.node[-1])
alone = square()
del alone.graph.node[:]
alone.graph.node.append(helper.make_node("Relu", ["x"], ["y"]))
early(alone, alone.graph.node[0])
print(json.dumps([[[node.op_type, *node.output] for node in graph.node] for graph in (model.graph, alone.graph)]))
"""
    assert run_python(code) == [[["Mul", "t"], ["Add", "z"]], [["Identity", "y"]]]


def test_importing_the_hub_imports_nothing_of_qonnx():
    code = """
import json, sys
from brainsmith.plugin.adapters.framework_mends import mend_frameworks
mend_frameworks(); mend_frameworks()
print(json.dumps([name for name in sys.modules if name.partition(".")[0] in ("qonnx", "onnx", "numpy")]))
"""
    assert run_python(code) == []


def test_a_reduction_that_states_its_axes_as_an_attribute_is_no_pool():
    node = helper.make_node("ReduceMean", ["x"], ["y"], axes=[-1])
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)]
        for name, shape in (("x", [1, 4]), ("y", [1, 1]))
    ]
    proto = helper.make_model(
        helper.make_graph([node], "mean", *ends), opset_imports=[helper.make_opsetid("", 17)]
    )
    after = ModelWrapper(proto).transform(tfm.finn.InferPoolFromReduce())
    assert [node.op_type for node in after.graph.node] == ["ReduceMean"]


def test_a_flatten_stays_in_front_of_a_join():
    layer = {"domain": "finn.custom_op.fpgadataflow", "backend": "fpgadataflow"}
    nodes = [
        helper.make_node("Thresholding", ["x", "t"], ["a"], name="first", **layer),
        helper.make_node("Flatten", ["a"], ["f"], axis=1),
        helper.make_node("StreamingConcat", ["z", "f"], ["y"], name="joined", **layer),
    ]
    shapes = {"x": [1, 1, 1, 4], "z": [1, 4], "y": [1, 8], "a": [1, 1, 1, 4], "f": [1, 4]}
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    graph = helper.make_graph(nodes, "flat", values[:2], values[2:3], value_info=values[3:])
    after, changed = tfm.finn.RemoveCNVtoFCFlatten().apply(ModelWrapper(helper.make_model(graph)))
    assert not changed
    assert list(after.graph.node[2].input) == ["z", "f"]


@pytest.mark.parametrize(
    ("forked", "reader", "stays"),
    [(False, "MVAU", False), (True, "MVAU", True), (False, "Thresholding", True)],
)
@pytest.mark.slow
def test_a_flatten_stays_where_another_node_or_thresholds_read_its_result(forked, reader, stays):
    layer = {"domain": "finn.custom_op.fpgadataflow", "backend": "fpgadataflow"}
    nodes = [
        helper.make_node("Thresholding", ["x", "t"], ["a"], name="first", **layer),
        helper.make_node("Flatten", ["a"], ["f"], axis=1),
        helper.make_node(reader, ["f", "t"], ["y"], name="second", **layer),
        *([helper.make_node("Relu", ["f"], ["z"])] if forked else []),
    ]
    ends = [
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 4])],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4])
            for name in ("yz" if forked else "y")
        ],
    ]
    shapes = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("a", [1, 1, 1, 4]), ("f", [1, 4]), ("t", [4, 1]))
    ]
    model = ModelWrapper(helper.make_model(helper.make_graph(nodes, "flat", *ends, value_info=shapes)))
    after, changed = tfm.finn.RemoveCNVtoFCFlatten().apply(model)
    assert changed is not stays
    assert [node.op_type for node in after.graph.node].count("Flatten") == stays
