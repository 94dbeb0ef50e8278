import importlib.resources

import numpy as np
import pytest
from onnx import TensorProto, defs, helper
from qonnx.core.datatype import DataType

from brainsmith.build.model import read_for_build
from brainsmith.errors import ModelError
from tests.build import graphs


def failure(source):
    with pytest.raises(ModelError) as caught:
        read_for_build(source)
    return str(caught.value)


def saved(model, path):
    model.save(str(path))
    return path


def test_reads_a_quantised_model_from_a_file_and_from_memory(tmp_path):
    model = graphs.quant_mlp()
    before = model.model.SerializeToString(deterministic=True)
    from_file = read_for_build(saved(model, tmp_path / "mlp.onnx"))
    from_memory = read_for_build(model)
    assert from_file.digest == from_memory.digest
    assert [node.op_type for node in from_file.peek().graph.node].count("Quant") == 4
    assert model.model.SerializeToString(deterministic=True) == before


def test_a_missing_file_and_what_is_beside_it(tmp_path):
    assert failure(tmp_path / "no.onnx") == f"model {tmp_path}/no.onnx does not exist"
    saved(graphs.quant_mlp(), tmp_path / "mlp.onnx")
    assert (
        failure(tmp_path / "no.onnx") == f"model {tmp_path}/no.onnx does not exist; {tmp_path} has mlp.onnx"
    )
    assert failure(tmp_path / "sub" / "no.onnx") == (
        f"model {tmp_path}/sub/no.onnx does not exist: there is no folder {tmp_path}/sub"
    )


def test_a_folder(tmp_path):
    assert failure(tmp_path) == f"{tmp_path} is a folder, not an ONNX file. Name the .onnx file itself."
    saved(graphs.quant_mlp(), tmp_path / "mlp.onnx")
    assert failure(tmp_path) == f"{tmp_path} is a folder, not an ONNX file. It holds mlp.onnx."


def test_a_device():
    assert failure("/dev/null") == (
        "/dev/null is a pipe or a device, not an ONNX file. Save the model to a file, and name it."
    )


@pytest.mark.parametrize(
    "content", [b"hello, I am text\n", b"\x89PNG\r\n\x1a\n" + bytes(64), b"\x08\x07", bytes(3)]
)
def test_not_an_onnx_file(tmp_path, content):
    file = tmp_path / "x.onnx"
    file.write_bytes(content)
    assert failure(file).startswith(f"{file} is not an ONNX file: it ")


def test_every_cut_of_a_real_model_is_refused(tmp_path):
    data = graphs.quant_mlp().model.SerializeToString()
    file = tmp_path / "x.onnx"
    for end in range(0, len(data) - 1, 97):
        file.write_bytes(data[:end])
        with pytest.raises(ModelError):
            read_for_build(file)


def test_an_empty_file(tmp_path):
    (tmp_path / "x.onnx").touch()
    assert failure(tmp_path / "x.onnx") == f"{tmp_path}/x.onnx is empty; an ONNX file was expected"


def test_a_float_model():
    assert failure(graphs.float_mlp()) == (
        "the model is a float model: it has no Quant, BipolarQuant, Trunc, MultiThreshold or DequantizeLinear node and "
        "no datatype annotation. Train it quantised (with Brevitas or QKeras, for "
        "example) and export it as QONNX."
    )


def test_datatype_annotations_are_quantisation_too():
    model = graphs.float_mlp()
    model.set_tensor_datatype("x", DataType["FLOAT32"])
    assert "is a float model" in failure(model)
    model.set_tensor_datatype("w", DataType["INT4"])
    assert read_for_build(model).peek().get_tensor_datatype("w").name == "INT4"


def test_a_model_that_onnx_runtime_quantised_in_pairs_is_taken():
    model = graphs.float_mlp()
    model.graph.node[0].op_type = "DequantizeLinear"
    assert read_for_build(model).peek().graph.node[0].op_type == "DequantizeLinear"


@pytest.mark.parametrize(
    "op_type",
    ["QLinearConv", "QLinearMatMul", "QGemm", "ConvInteger", "MatMulInteger", "DynamicQuantizeLinear"],
)
def test_operators_of_integers_are_named(op_type):
    model = graphs.float_mlp()
    node = model.graph.node[0]
    node.op_type = op_type
    if defs.has(op_type):  # with as many operands as it has at least
        schema = defs.get_schema(op_type)
        node.input.extend(node.input[:1] * (schema.min_input - len(node.input)))
        node.output.extend(f"more_{at}" for at in range(schema.min_output - len(node.output)))
    assert failure(model) == (
        f"the model has operators of integers, which are not supported: {op_type}. Quantise the float model "
        "with static scales in the format QDQ (quantize_static, quant_format=QuantFormat.QDQ), or export it as QONNX."
    )


def test_several_inputs():
    model = graphs.quant_mlp()
    model.graph.input.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT, [1, 6]))
    assert len(read_for_build(model).peek().graph.input) == 2
    del model.graph.input[:]
    model.graph.node[0].input[0] = model.graph.initializer[0].name
    assert failure(model) == "the model has no inputs: all of it is constant"


def test_a_constant_listed_as_an_input_is_none():
    model = graphs.quant_mlp()
    del model.graph.value_info[:]
    model.graph.input.append(helper.make_tensor_value_info("w0", TensorProto.FLOAT, [6, 8]))
    read_for_build(model)


@pytest.mark.parametrize(("dim", "shown"), [("width", "width"), (0, "?")])
def test_dynamic_shapes(dim, shown):
    model = graphs.quant_mlp()
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", dim]))
    assert failure(model) == (
        f"the model: input 'x' has the dynamic shape [batch, {shown}]: dimension 0 ('batch') is not a number. "
        "Hardware has fixed sizes: export the model with fixed shapes; only its batch may be open, and is 1 then."
    )


@pytest.mark.parametrize("dim", ["batch", 0])
def test_a_batch_that_is_open_is_one(dim):
    model = graphs.quant_mlp()
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, [dim, 6]))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("m1", TensorProto.FLOAT, [dim, 3]))
    read = read_for_build(model).peek()
    assert (read.get_tensor_shape("x"), read.get_tensor_shape("m1")) == ([1, 6], [1, 3])


def test_no_shape_at_all():
    model = graphs.quant_mlp()
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, None))
    assert failure(model) == "the model: input 'x' has no shape. Export the model with fixed shapes."


@pytest.mark.parametrize("shape", [["a", "b"], [1, "b"], None])
def test_output_shapes_that_an_exporter_left_open_are_inferred(shape):
    model = graphs.quant_mlp()
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("m1", TensorProto.FLOAT, shape))
    assert read_for_build(model).peek().get_tensor_shape("m1") == [1, 3]


def test_a_real_network_from_the_qonnx_wheel():
    folder = importlib.resources.files("qonnx") / "data/onnx/bsd300x3-espcn/subpixel"
    model = read_for_build(str(folder / "quant_model.onnx")).peek()
    assert model.get_tensor_shape(model.graph.output[0].name) == [1, 3, 256, 256]
    assert failure(str(folder / "float_model.onnx")).startswith(
        f"{folder}/float_model.onnx is a float model: "
    )


def test_no_nodes():
    model = graphs.quant_mlp()
    del model.graph.node[:]
    assert failure(model) == "the model has no nodes: there is nothing to build"


def test_weights_in_a_file_beside_the_model(tmp_path):
    import onnx

    model = graphs.quant_mlp((64, 64, 4))
    weights = model.get_initializer("w0")
    onnx.save(
        model.model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=100
    )
    again = read_for_build(tmp_path / "m.onnx").peek()
    np.testing.assert_array_equal(again.get_initializer("w0"), weights)
    (tmp_path / "w.bin").unlink()
    assert failure(tmp_path / "m.onnx").startswith(
        f"{tmp_path}/m.onnx keeps weights in another file that cannot be read: "
    )


def test_a_tensor_that_nothing_gives():
    model = graphs.quant_mlp()
    model.graph.node[-1].input[0] = "nowhere"
    assert failure(model) == (
        "the model: node 'matmul1' (MatMul) needs the tensor 'nowhere', which no input, constant or node gives. "
        "Export the model again."
    )
    model = graphs.quant_mlp()
    model.graph.output[0].name = "nowhere"
    assert failure(model) == (
        "the model: the graph's output 'nowhere' is given by no input, constant or node. Export the model again."
    )


def test_a_name_that_is_too_long():
    assert failure("a" * 300) == f"model {'a' * 300} cannot be read: File name too long"


def test_floats_of_16_bits_are_named():
    model = graphs.quant_mlp()
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT16
    name = model.graph.input[0].name
    assert failure(model) == (
        f"the model computes with floats of 16 bits: {name} (FLOAT16). Export it in float32 (in PyTorch: model.float() "
        "before the export, and an input of float32); quantisers give the same integers then."
    )


def with_tail(*nodes):
    """A quantised network whose output goes through further nodes, with an output of no stated shape."""
    model = graphs.quant_mlp()
    last, end = model.graph.output[0].name, nodes[-1].output[0]
    for node in nodes:
        node.input[:] = [last if name == "LAST" else name for name in node.input]
        model.graph.node.append(node)
    model.graph.output[0].name = end
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model


def test_the_operator_whose_shape_nobody_knows_is_named():
    text = failure(with_tail(helper.make_node("FancyOp", ["LAST"], ["y"], "fancy")))
    assert text == (
        "the model: output 'y' has no shape, because node 'fancy' (FancyOp) gives a tensor whose shape neither ONNX's nor "
        "QONNX's rules tell. Replace it by operators that have layers (docs/operators.md), or state the shapes of what it "
        "gives (value_info)."
    )


def test_a_shape_that_the_graph_computes_is_worked_out():
    """As torch writes `x.view(x.size(0), -1)`."""
    model = with_tail(
        helper.make_node("Shape", ["LAST"], ["sizes"], "sizes"),
        helper.make_node("Gather", ["sizes", "first"], ["batch"], "batch"),
        helper.make_node("Concat", ["batch", "rest"], ["shape"], "shape", axis=0),
        helper.make_node("Reshape", ["LAST", "shape"], ["y"], "view"),
    )
    model.set_initializer("first", np.array([0], np.int64))
    model.set_initializer("rest", np.array([-1], np.int64))
    shape = read_for_build(model).peek().get_tensor_shape("y")
    assert shape == read_for_build(graphs.quant_mlp()).peek().get_tensor_shape(
        graphs.quant_mlp().graph.output[0].name
    )
