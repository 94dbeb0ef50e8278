"""QONNX's classes do what ours do, whenever they were imported."""

import inspect

import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.plugin.adapters.finn_runtime import prepare_finn
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


def test_windows_of_which_no_loop_turns_twice_are_generated():
    """The width that FINN fails to compute is read by circuits of `dynamic_mode` alone."""
    prepare_finn()
    from finn.custom_op.fpgadataflow.rtl import convolutioninputgenerator_rtl as module

    assert [module.math.ceil(module.math.log2(number)) for number in (0, 1, 2, 5)] == [0, 0, 1, 3]


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


@pytest.mark.parametrize(("reader", "stays"), [("MVAU_rtl", False), ("StreamingSplit", True)])
@pytest.mark.slow
def test_a_reshape_stays_in_front_of_a_layer_that_states_its_shape(reader, stays):
    layer = {"domain": "finn.custom_op.fpgadataflow", "backend": "fpgadataflow"}
    nodes = [
        helper.make_node("Thresholding", ["x", "t"], ["a"], name="first", **layer),
        helper.make_node("Reshape", ["a", "to"], ["f"]),
        helper.make_node(reader, ["f", "t"], ["y"], name="second", **layer),
    ]
    shapes = {"x": [1, 2, 2, 4], "y": [1, 16], "a": [1, 2, 2, 4], "f": [1, 16], "t": [16, 1]}
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    held = [helper.make_tensor("to", TensorProto.INT64, [2], [1, 16])]
    graph = helper.make_graph(nodes, "flat", values[:1], values[1:2], held, value_info=values[2:])
    after = ModelWrapper(helper.make_model(graph)).transform(tfm.finn.RemoveCNVtoFCFlatten(), cleanup=False)
    assert [node.op_type for node in after.graph.node].count("Reshape") == stays


def chain(layers):
    """Return a network of sums with constants, each with one of its own."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("t0", f"t{layers}")]
    nodes = [
        helper.make_node("Add", [f"t{at}", f"c{at}"], [f"t{at + 1}"], f"add{at}") for at in range(layers)
    ]
    held = [helper.make_tensor(f"c{at}", TensorProto.FLOAT, [4], [at] * 4) for at in range(layers)]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], held)
    return ModelWrapper(helper.make_model(graph), fix_missing_initializer_valueinfo=False)


def test_shapes_are_stated_where_the_graph_or_an_initialiser_has_them():
    model = chain(2)
    assert not model.check_all_tensor_shapes_specified(fix_missing_init_shape=True)  # of t1
    assert {value.name: model.get_tensor_shape(value.name) for value in model.graph.value_info} == {
        "c0": [4],
        "c1": [4],
    }
    model.set_tensor_shape("t1", [1, 4])
    del model.graph.value_info[0]
    assert model.check_all_tensor_shapes_specified()
    assert [value.name for value in model.graph.value_info] == ["c1", "t1"]  # nothing is added unasked
    model.graph.value_info.append(model.graph.value_info[0])
    with pytest.raises(AssertionError, match=r"^Multiple ValueInfoProto found for c1$"):
        model.check_all_tensor_shapes_specified()


def test_the_clean_up_of_a_clean_network_searches_initialisers_for_inputs_alone(monkeypatch):
    model = chain(30).transform(tfm.InferShapes())
    searched = []
    own = ModelWrapper.get_initializer
    monkeypatch.setattr(
        ModelWrapper,
        "get_initializer",
        lambda self, name, *more: searched.append(name) or own(self, name, *more),
    )
    model.cleanup()
    assert searched == ["t0"]  # an input of the graph


def test_the_clean_up_puts_constants_last_and_gives_each_node_its_own():
    model = chain(2)
    model.graph.node[0].input[:] = ["c0", "t0"]
    model.graph.node[1].input[1] = "c0"
    model.cleanup()
    first, second = ([*node.input] for node in model.graph.node)
    assert first == ["t0", "c0"]
    assert second[0] == "t1"
    assert second[1] not in ("c0", "c1")
    assert (model.get_initializer(second[1]) == model.get_initializer("c0")).all()


def test_a_transposed_constant_leaves_other_readers_their_quantiser():
    """QONNX gives the quantiser the transposed constant, and the other reader of its output is left without one."""
    import numpy as np
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.transformation.quant_constant_folding import FoldTransposeIntoQuantInit

    assert tfm.FoldTransposeIntoQuantInit is FoldTransposeIntoQuantInit
    weights = np.arange(-2, 2, dtype=np.float32).reshape(2, 2)
    nodes = [
        helper.make_node("Quant", ["w", "s", "z", "b"], ["q"], "quant", domain="qonnx.custom_op.general", signed=1,
                         narrow=0, rounding_mode="ROUND"),
        helper.make_node("MatMul", ["x", "q"], ["m"], "first"),
        helper.make_node("Transpose", ["q"], ["t"], "turn", perm=[1, 0]),
        helper.make_node("MatMul", ["m", "t"], ["y"], "second"),
    ]  # fmt: skip
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2])] for name in "xy"]
    model = ModelWrapper(helper.make_model(helper.make_graph(nodes, "tied", *ends)))
    for name, value in {"w": weights, "s": np.float32(1), "z": np.float32(0), "b": np.float32(4)}.items():
        model.set_initializer(name, value)
    model.model.opset_import.append(helper.make_opsetid("qonnx.custom_op.general", 1))
    x = np.array([[1, 3]], np.float32)
    before = execute_onnx(model.transform(tfm.InferShapes()), {"x": x})["y"]
    after = model.transform(tfm.InferShapes()).transform(FoldTransposeIntoQuantInit())
    assert [node.op_type for node in after.graph.node].count("Transpose") == 0
    np.testing.assert_array_equal(execute_onnx(after, {"x": x})["y"], before)
