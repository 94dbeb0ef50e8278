import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.errors import ModelError
from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from brainsmith.plugins import transforms as tfm
from brainsmith.targets import ResourceManager
from tests.steps.conftest import Graph, integers, op_types, streamlined


@pytest.mark.slow
def test_thresholds_stay_layers_of_their_own(config, dense):
    model = steps.hardware_inference(streamlined(dense(), config), config)
    assert [node for node in op_types(model) if node != "Mul"] == ["Thresholding", "MVAU", "Thresholding"]


@pytest.mark.slow
def test_a_builder_that_wants_merged_thresholds_gets_them(config, dense):
    config.kernel_preferences = {}
    config.standalone_thresholds = False
    model = steps.hardware_inference(streamlined(dense(), config), config)
    assert [node for node in op_types(model) if node != "Mul"] == ["Thresholding", "MVAU"]


def test_a_float_scale_at_the_end_stays_for_the_host(config, dense):
    model = steps.hardware_inference(streamlined(dense(), config), config)
    assert op_types(model)[-1] == "Mul"


@pytest.mark.slow
@pytest.mark.parametrize("last", ["LogSoftmax", "HardSigmoid", "LeakyRelu"])
def test_scales_in_front_of_what_the_host_computes_stay_for_it_too(config, last):
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).node("Mul", 0.3).node("Add", integers(2, 6) + 0.5)
    model = steps.integer(steps.cleanup(graph.node(last).model(1, 6), config), config)
    assert op_types(steps.hardware_inference(model, config))[-3:] == ["Mul", "Add", last]


@pytest.mark.slow
def test_bit_widths_fit_the_values(config, dense):
    model = steps.hardware_inference(streamlined(dense(), config), config)
    product = model.get_nodes_by_op_type("MVAU")[0]
    widths = {a.name: a.s.decode() for a in product.attribute if a.name in ("weightDataType", "accDataType")}
    assert widths == {"weightDataType": "INT4", "accDataType": "INT10"}


def test_an_operator_between_layers_that_cannot_be_converted_is_named(config, dense):
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(4, scale=16.0).node("Cos").quant(4)
    model = graph.node("MatMul", graph.weights(integers(2, 6, 5))).model(1, 5)
    with pytest.raises(ModelError) as caught:
        steps.hardware_inference(streamlined(model, config), config)
    assert str(caught.value) == (
        "these nodes lie between hardware layers, and no kernel supports them: Cos (Cos_0). The reason is the operator, "
        "its datatypes, its shapes or its attributes. `brainsmith plugins list --type kernel` lists the kernels"
    )


def test_that_what_lies_between_layers_has_floats_is_said(config):
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(4, scale=16.0)
    graph.node("MatMul", np.random.default_rng(0).normal(size=(6, 6)).astype(np.float32)).quant(4)
    model = graph.node("MatMul", graph.weights(integers(2, 6, 5))).model(1, 5)
    with pytest.raises(ModelError) as caught:
        steps.hardware_inference(streamlined(model, config), config)
    assert str(caught.value).splitlines()[1:] == [
        "  MatMul_0: its weights must be quantised, and not FLOAT32"
    ]


@pytest.mark.slow
def test_a_transpose_that_moves_nothing_is_a_reshape(config):
    graph = Graph(1, 1, 4, 4).quant(4)
    graph.node("Conv", graph.weights(integers(1, 2, 1, 3, 3)), kernel_shape=[3, 3]).quant(4, scale=8.0)
    model = streamlined(graph.model(1, 2, 2, 2), config)
    assert "Transpose" in op_types(model)
    x = integers(4, 1, 1, 4, 4)
    before = execute_onnx(model, {model.graph.input[0].name: x})[model.graph.output[0].name]
    model = steps.hardware_inference(model, config)
    assert op_types(model)[0] == "Reshape"
    after = execute_onnx(model, {model.graph.input[0].name: x})[model.graph.output[0].name]
    assert np.array_equal(before, after)


@pytest.mark.slow
def test_the_layout_of_several_channels_stays_with_the_host(config):
    graph = Graph(1, 2, 4, 4).quant(4)
    graph.node("Conv", graph.weights(integers(1, 2, 2, 3, 3)), kernel_shape=[3, 3]).quant(4, scale=8.0)
    model = steps.hardware_inference(streamlined(graph.model(1, 2, 2, 2), config), config)
    assert op_types(model)[0] == "Transpose"


@pytest.mark.slow
def test_the_blueprints_own_kernels_come_first(config):
    graph = Graph(1, 4, 4).quant(4)
    one = graph.tail
    graph.node("Transpose", perm=[0, 2, 1])
    model = graph.node("MatMul", one).model(1, 4, 4)
    config.kernel_preferences = {"MatMul": ("hls",)}
    model = steps.hardware_inference(streamlined(model, config), config)
    assert {(n.domain, n.op_type) for n in model.graph.node} >= {("brainsmith.kernels", "MatMulKernel")}


@pytest.mark.slow
def test_a_normalisation_is_a_kernel_of_floats_unless_the_blueprint_names_one(config):
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(6, scale=2.0)
    graph.node("LayerNormalization", np.linspace(0.5, 1.5, 6), np.full(6, 0.25)).quant(4, scale=0.25)
    model = graph.node("MatMul", graph.weights(integers(2, 6, 5))).model(1, 5)
    x = integers(3, 1, 8)
    expected = execute_onnx(model.transform(tfm.InferShapes()), {"in": x})[graph.tail]
    model = streamlined(model.transform(tfm.ExpandNorms()), config)
    found = steps.hardware_inference(model, config)
    (kernel,) = found.get_nodes_by_op_type("LayerNormKernel")
    assert found.get_tensor_datatype(kernel.output[0]).name == "FLOAT32"
    (result,) = Executor(found).run({found.graph.input[0].name: x[None]}).values()
    assert np.array_equal(result.reshape(1, 5), expected)
    config.kernel_preferences = {"LayerNorm": ("rtl",)}
    named = steps.hardware_inference(model, config)
    (kernel,) = named.get_nodes_by_op_type("LayerNormKernel")
    assert named.get_tensor_datatype(kernel.output[0]).is_integer()


@pytest.mark.slow
def test_a_scale_that_finns_streamline_leaves_in_front_of_a_fork_moves_behind_the_products(config):
    graph = Graph(1, 8).quant(4)
    forked = graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(4, scale=4.0).tail
    one = graph.node("MatMul", graph.weights(integers(2, 6, 5))).quant(4, scale=8.0).tail
    graph.tail = forked
    graph.node("MatMul", graph.weights(integers(4, 6, 5))).quant(4, scale=8.0)
    model = graph.node("Add", one).model(1, 5)
    x = integers(3, 1, 8)
    expected = execute_onnx(model.transform(tfm.InferShapes()), {"in": x})[graph.tail]
    model = steps.qonnx_to_finn(steps.cleanup(model, config), config).transform(tfm.finn.Streamline())
    assert sum(model.is_fork_node(node) for node in model.get_nodes_by_op_type("Mul")) == 1
    found = steps.hardware_inference(model, config)
    assert op_types(found).count("MVAU") == 3
    assert np.array_equal(execute_onnx(found, {found.graph.input[0].name: x})["global_out"], expected)


@pytest.mark.parametrize(
    "target",
    ["numpy", *(pytest.param(name, marks=pytest.mark.slow) for name in ("reference", "onnxruntime"))],
)
def test_an_arg_max_runs_on_all_targets(config, tmp_path, target):
    """The labels of a TopK are int64, those of the layer in its place float32; the graph declares what it gives."""
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(4, scale=16.0)
    model = graph.model(1, 6)
    model.graph.initializer.append(numpy_helper.from_array(np.asarray([1], np.int64), "one"))
    model.graph.node.append(
        helper.make_node("TopK", [graph.tail, "one"], ["values", "label"], name="top", axis=-1)
    )
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("label", TensorProto.INT64, [1, 1]))
    stack = integers(4, 30, 8, low=-60, high=60)
    expected = Executor(model).run({"in": stack[:, None]})["label"].reshape(-1)
    built = steps.hardware_inference(streamlined(model, config), config)
    assert op_types(built)[-1] == "LabelSelect"
    built.save(str(tmp_path / "model.onnx"))
    with ResourceManager({"device": target}) as manager:
        prepared = manager.prepare_resource(str(tmp_path / "model.onnx"), device=target)
        (result,) = manager.execute(prepared, {built.graph.input[0].name: stack}).values()
    assert result.reshape(-1).tolist() == expected.tolist()


@pytest.mark.parametrize(("scale", "kinds"), [(1.0, 1), (0.5, 0)])
@pytest.mark.slow
def test_a_wide_quantiser_is_a_requant_only_behind_integers(config, scale, kinds):
    """A Requant rounds ties up, which integers do not have."""
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6), scale=scale)).quant(10)
    model = steps.hardware_inference(streamlined(graph.model(1, 6), config), config)
    assert op_types(model).count("Requant") == kinds
    assert op_types(model).count("Quant") == 1 - kinds


def test_a_reshape_in_front_of_the_hosts_quantiser_is_no_layer(config):
    """A picture as Brevitas exports it: its rows are made one before it is quantised."""
    graph = Graph(1, 1, 4, 2)
    graph.node("Flatten", axis=1).node("Div", 255.0).quant(4, 0.125)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(4, scale=16.0)
    graph.node("Reshape", "shape")
    graph.constants.append(numpy_helper.from_array(np.asarray([1, 3, 2]), "shape"))
    model = steps.integer(steps.cleanup(graph.model(1, 3, 2, datatype="FLOAT32"), config), config)
    found = steps.hardware_inference(model, config)
    front = op_types(found)[: op_types(found).index("MVAU")]
    assert front == ["Flatten", "Div", "Div", "Quant"] or front == ["Reshape", "Div", "Div", "Quant"]
    samples = np.random.default_rng(0).integers(0, 256, (4, 1, 1, 4, 2)).astype(np.float32)
    for sample in samples:
        (expected,) = execute_onnx(model, {model.graph.input[0].name: sample}).values()
        (result,) = execute_onnx(found, {found.graph.input[0].name: sample}).values()
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("allowed", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_rows_are_kernels_of_integers_where_the_step_may_approximate(config, allowed):
    graph = Graph(1, 4, 4).quant(4, 0.5)
    first = graph.tail
    graph.node("Transpose", perm=[0, 2, 1])
    second, graph.tail = graph.tail, first
    graph.node("MatMul", second).node("Softmax", axis=-1).quant(4, 0.125)
    graph.node("MatMul", graph.weights(integers(0, 4, 4))).quant(4, 0.5)
    if allowed:
        config.approximate = {"hardware_inference": 1.0}
    model = steps.integer(steps.cleanup(graph.model(1, 4, 4, datatype="INT4"), config), config)
    made = steps.hardware_inference(model, config)
    assert op_types(made).count("MatMulKernel") == 1
    assert ("SoftmaxKernel" in op_types(made)) == allowed
