"""rtl_codegen and rtl_stitch: from folded layers to the files of one design, and what they refuse."""

import re

import numpy as np
import pytest
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import BuildError
from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from brainsmith.steps.design_files import FOLDER, PROPERTY, hand_over, take_design
from brainsmith.steps.host_ends import PARENT, without_host_ends
from tests.steps.conftest import QONNX, Graph, integers, op_types

FRONT = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold")


@pytest.fixture
def folded(dense, config):
    config.target_fps = 20_000_000
    model = dense()
    for name in FRONT:
        model = steps[name](model, config)
    return model


def test_layers_are_generated_where_their_nodes_say(folded, config, tmp_path, caplog):
    caplog.set_level("INFO", "brainsmith")
    before = folded.model.SerializeToString()
    model = steps.rtl_codegen(folded, config)
    assert caplog.messages[-1] == "not part of the accelerator, and left to the host: Mul_0 (Mul)"
    assert folded.model.SerializeToString() == before
    assert op_types(model).count("StreamingDataWidthConverterAny_rtl") >= 1
    assert {node.domain for node in model.graph.node} == {"finn.custom_op.fpgadataflow.rtl"}
    assert all(model.get_tensor_datatype(node.output[0]).is_integer() for node in model.graph.node)
    generated = sorted(path.name for path in (tmp_path / "rtl" / "layers").iterdir())
    assert generated == sorted(node.name for node in model.graph.node)
    images = np.random.default_rng(1).integers(-8, 8, (16, 1, 8)).astype(np.float32)
    whole, parent = Executor(folded), ModelWrapper(str(tmp_path / PARENT))
    assert op_types(parent) == ["StreamingDataflowPartition", "Mul"]
    parts = Executor(parent, inner=model)
    (given,), (result,) = whole.inputs, whole.outputs
    expected = whole.run({given: images})[result]
    assert len(np.unique(expected)) > 4
    assert np.array_equal(parts.run({parts.inputs[0]: images})[parts.outputs[0]], expected)


@pytest.mark.slow
def test_a_design_is_handed_over_with_its_digest(folded, config, tmp_path):
    model = steps.rtl_stitch(steps.rtl_codegen(folded, config), config)
    design = take_design(model, config)
    assert model.get_metadata_prop(PROPERTY) == design.digest()
    assert [layer.name for layer in design.layers if layer.kernel != "memstream"] == [
        node.name for node in model.graph.node
    ]
    assert {path.name for path in (tmp_path / FOLDER).iterdir()} == {
        "design.json", "filelist.f", "hdl", "memory",
    }  # fmt: skip
    deeper = design.with_depths({"s_axis_0": 16})
    assert take_design(hand_over(model, config, deeper), config) == deeper


def test_a_step_before_its_time_says_which_one_is_missing(folded, config):
    with pytest.raises(
        BuildError, match=r"^the model has no stitched design: run the step rtl_stitch first$"
    ):
        take_design(folded, config)
    with pytest.raises(BuildError, match=r"has no generated code \(.*\): run the step rtl_codegen first$"):
        steps.rtl_stitch(without_host_ends(folded, config), config)


def test_files_that_are_not_the_models_are_refused(folded, config, tmp_path):
    model = steps.rtl_stitch(steps.rtl_codegen(folded, config), config)
    folder = tmp_path / FOLDER
    memory = next((folder / "memory").iterdir())
    whole = memory.read_text()
    memory.write_text(re.sub("[0-9a-f]", "0", whole, count=1) + "\n")
    with pytest.raises(BuildError) as caught:
        take_design(model, config)
    assert str(caught.value) == (
        f"{folder} holds the design of another model, or was changed: run the step rtl_stitch again"
    )
    memory.unlink()
    with pytest.raises(BuildError) as caught:
        take_design(model, config)
    assert str(caught.value) == (
        f"{folder} holds no whole design: {memory}: No such file or directory\n  build it again"
    )


@pytest.mark.slow
def test_a_node_of_the_host_between_layers_is_refused_before_anything_is_generated(folded, config, tmp_path):
    nodes = [*folded.graph.node]
    between = type(nodes[0])()
    between.CopyFrom(nodes[-1])
    between.name, between.input[0], between.output[0] = "Mul_between", nodes[0].output[0], "between"
    nodes[1].input[0] = "between"
    del folded.graph.node[:]
    folded.graph.node.extend([nodes[0], between, *nodes[1:]])
    with pytest.raises(BuildError) as caught:
        steps.rtl_codegen(folded, config)
    assert str(caught.value).startswith(
        "the model cannot become a circuit, because these layers have no RTL:\n  Mul_between (Mul): it is not a hardware "
        "layer, and the host cannot compute it between layers that are; "
    )
    assert not (tmp_path / "rtl").exists()


@pytest.mark.parametrize(
    ("datatype", "rows", "out", "bias"),
    [
        ("INT5", [[-1, -1, 1], [-20, 3, 99]], "INT3", -1.0),
        ("INT2", [[-1, 0, 1], [0, 2, 3]], "INT3", -1.0),
        ("UINT4", [[3, 5, 9], [1, 2, 3]], "UINT4", 6.0),
        ("BIPOLAR", [[-0.5, 0.0, 1.0], [-3, 2, 2]], "INT3", -1.0),
    ],
)
@pytest.mark.slow
def test_thresholds_of_outputs_wider_than_their_count_compute_what_the_model_computes(
    config, datatype, rows, out, bias
):
    """FINN lays the thresholds out by the bits of the output, its circuit by how many there are."""
    graph = Graph(1, 2)
    graph.node("MultiThreshold", np.asarray(rows), domain=QONNX, out_dtype=out, out_bias=bias)
    model = graph.node("MatMul", graph.weights(integers(1, 2, 3))).model(1, 3, datatype=datatype)
    for name in (*FRONT, "rtl_codegen", "rtl_stitch", "rtl_simulate"):
        model = steps[name](model, config)
