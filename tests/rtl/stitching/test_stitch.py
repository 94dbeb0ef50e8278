"""Plans of stitched designs: what is in them, what is refused, and what their simulation does not let pass."""

import re
from dataclasses import replace

import numpy as np
import pytest
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.errors import BuildError, OutputError, RtlSourceError, SimulationError
from brainsmith.plugin.processes import run
from brainsmith.rtl.simulation.simulation_plan import Memory
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.simulation.toolchain import find_toolchain
from brainsmith.rtl.stitching import stitch as stitching
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.design import DESIGN, End, Layer
from brainsmith.rtl.stitching.design_folder import read_design, write_design
from brainsmith.rtl.stitching.stitch import stitch
from brainsmith.rtl.stitching.suitable import check_attributes, check_layers
from brainsmith.rtl.stitching.top_module import plan_design, top_module
from brainsmith.rtl.verification.design_runs import run_design
from tests.rtl import finn_layers

FRAMES = 6

HLS_ONLY = {
    "OuterShuffle_hls": "HLS is its only backend; no RTL backend of kernel OuterShuffle is registered. Remove the layer "
    'from the model, or register one: @backend(kernel="finn:OuterShuffle", backend_type="rtl", domain=..., op_type=...)',
    "DuplicateStreams_hls": "kernel DuplicateStreams has the RTL backend brainsmith:DuplicateStreamsRTL: list it in the "
    "blueprint, hw_compiler: kernels: [{kernel: finn:DuplicateStreams, backends: [rtl]}]; specialize chooses it "
    "if it supports this layer, and gives the reason if not",
    "Nothing_hls": "its kernel is not known, so no RTL backend can take its place; remove the layer from the model",
}


def stitched(model, folder):
    return stitch(generate_layers(model, folder, finn_layers.PART))


@pytest.fixture
def layer(tmp_path):
    return finn_layers.matrix_vector(
        tmp_path / "layer", np.random.default_rng(1), mem_mode="internal_decoupled"
    )


@pytest.fixture
def design(layer, tmp_path):
    return stitched(layer.model, tmp_path / "code")


@pytest.fixture
def frames(layer):
    return layer.random_input(np.random.default_rng(2), FRAMES)


def with_memory(design, change):
    return replace(design, memories=tuple(Memory(one.name, change(one.text)) for one in design.memories))


def test_a_plan_says_what_is_connected(design):
    assert str(design) == (
        "design finn_design\n"
        "  memstream                    MVAU_rtl_0_memstream_wrapper, 0 cycles\n"
        "  MVAU_rtl                     MVAU_rtl_0, 96 cycles\n"
        "  s_axis_0 -> MVAU_rtl_0.in0_V: 16 bits\n"
        "  MVAU_rtl_0_memstream_wrapper.m_axis_0 -> MVAU_rtl_0.in1_V: 48 bits\n"
        "  MVAU_rtl_0.out0_V -> m_axis_0: 48 bits"
    )
    assert design.links[0].source == End(DESIGN, "s_axis_0")
    assert [one.name for one in design.memories] == ["MVAU_rtl_0_memblock.dat"]
    assert (design.interval, design.latency) == (96, 96)


def test_a_plan_does_not_depend_on_where_it_was_generated(layer, design, tmp_path):
    assert stitched(layer.model, tmp_path / "elsewhere") == design


def test_the_model_is_not_changed(layer, tmp_path):
    before = layer.model.model.SerializeToString()
    stitched(layer.model, tmp_path / "code")
    assert layer.model.model.SerializeToString() == before


@pytest.mark.slow
def test_a_stitched_layer_computes_what_it_should(layer, design, frames, build):
    deep = design.with_depths({"s_axis_0": 8, "MVAU_rtl_0_out0_V": 4})
    assert "FIFO of 8" in str(deep)
    for chosen in (design, deep):
        found = run_design(build(plan_design(chosen)), chosen, {"x": frames})
        np.testing.assert_array_equal(found.outputs["y"], layer.expected(frames))
        assert found.interval == pytest.approx(design.interval, rel=0.01)


@pytest.fixture
def unloaded(design, build):
    """The simulation of the design without its weights."""
    return build(plan_design(replace(design, memories=())))


def test_weights_that_are_not_there_are_an_error(unloaded, design, frames):
    with pytest.raises(SimulationError, match=r"MVAU_rtl_0_memblock.dat:0: \$readmem file not found"):
        run_design(unloaded, design, {"x": frames})


@pytest.mark.slow
def test_weights_that_are_all_zero_are_an_error(design, frames, build):
    empty = with_memory(design, lambda text: re.sub(r"[0-9a-f]", "0", text))
    with pytest.raises(
        SimulationError, match=r"^all 96 beats of output 'm_axis_0' of 'finn_design' have the same"
    ):
        run_design(build(plan_design(empty)), design, {"x": frames})


def test_inputs_must_be_frames(design, unloaded):
    with pytest.raises(
        ValueError, match=r"^every input must have the same number of frames, 1 or more, not \[0\]$"
    ):
        run_design(unloaded, design, {"x": np.zeros((0, 1, 4, 24), np.int64)})


def test_a_folding_that_loses_results_is_refused(tmp_path):
    layer = finn_layers.matrix_vector(
        tmp_path / "layer", np.random.default_rng(1), mw=8, mh=4, simd=8, pe=2, mem_mode="internal_decoupled"
    )
    with pytest.raises(BuildError, match=r"^SIMD must be less than MW, not equal to it, in MVAU_rtl_0: "):
        stitched(layer.model, tmp_path / "code")


@pytest.mark.parametrize(
    ("op_type", "attributes", "message"),
    [
        ("MVAU_rtl", {"MW": 4, "SIMD": 2}, None),
        ("VVAU_rtl", {"Kernel": [3, 3], "SIMD": 3}, None),
        (
            "VVAU_rtl",
            {"Kernel": [3, 3], "SIMD": 9},
            "SIMD must be less than the size of Kernel, not equal to it, in layer: FINN's matrix-vector unit loses "
            "results then under back-pressure at its output\n  fold these layers with a lower SIMD",
        ),
        (
            "VVAU_rtl",
            {"Kernel": [1, 1], "SIMD": 1},
            "layer cannot be built: a result is one product there (the size of Kernel is 1), so one may come in every "
            "cycle, and FINN's matrix-vector unit loses results then under back-pressure at its output; no folding avoids "
            "it\n  make the layer wider, or end the model before it",
        ),
        (
            "MVAU_rtl",
            {"MW": 1, "SIMD": 1},
            "layer cannot be built: a result is one product there (MW is 1), so one may come in every cycle, and "
            "FINN's matrix-vector unit loses results then under back-pressure at its output; no folding avoids it\n"
            "  make the layer wider, or end the model before it",
        ),
    ],
)
def test_every_layer_of_the_unit_that_loses_results_is_refused(op_type, attributes, message):
    node = helper.make_node(
        op_type, ["x", "w"], ["y"], domain="finn.custom_op.fpgadataflow.rtl", PE=1, **attributes
    )
    if message is None:
        check_attributes({"layer": getCustomOp(node)})
        return
    with pytest.raises(BuildError) as caught:
        check_attributes({"layer": getCustomOp(node)})
    assert str(caught.value) == message


def test_a_layer_without_rtl_is_named(layer, tmp_path):
    layer.model.graph.node[0].domain = "finn.custom_op.fpgadataflow.hls"
    stated = {"NumOutputStreams": 1, "NumChannels": 3}  # besides what a matrix-vector unit states
    layer.model.graph.node[0].attribute.extend(helper.make_attribute(*one) for one in stated.items())
    for op_type, message in HLS_ONLY.items():
        layer.model.graph.node[0].op_type = op_type
        with pytest.raises(BuildError) as caught:
            stitched(layer.model, tmp_path / "code")
        begin = "the model cannot become a circuit, because these layers have no RTL:\n  MVAU_rtl_0"
        assert str(caught.value) == f"{begin} ({op_type}): {message}"
    assert not (tmp_path / "code").exists()


def test_a_model_without_any_layer_is_told_what_makes_them():
    nodes = [helper.make_node("Relu", [before], [after]) for before, after in ("xy", "yz")]
    ends = [helper.make_tensor_value_info(name, 1, [1, 4]) for name in "xz"]
    model = ModelWrapper(helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:])))
    with pytest.raises(BuildError) as caught:
        check_layers(model)
    assert str(caught.value) == (
        "the model has no hardware layers: none of its 2 nodes is one\n"
        "  the steps hardware_inference and specialize make layers of operators, and must stand before this one"
    )


def test_a_layer_that_the_host_computes_is_named(layer, tmp_path):
    node = layer.model.graph.node[0]
    node.domain, node.op_type = "", "Mul"
    with pytest.raises(BuildError) as caught:
        stitched(layer.model, tmp_path / "code")
    assert str(caught.value) == (
        "the model cannot become a circuit, because these layers have no RTL:\n  MVAU_rtl_0 (Mul): it is not a hardware "
        "layer, and the host cannot compute it between layers that are; let a transform absorb it, or end the model "
        "before it"
    )


def test_a_model_without_generated_code_is_refused(layer):
    with pytest.raises(
        BuildError, match=r"^layer 'MVAU_rtl_0' has no generated code \(.*\): run the step rtl_codegen"
    ):
        layer.node.set_nodeattr("code_gen_dir_ipgen", "")
        stitch(layer.model)


def test_a_written_design_is_read_back(design, tmp_path):
    deep = design.with_depths({"s_axis_0": 8})
    write_design(deep, tmp_path / "design")
    found = read_design(tmp_path / "design")
    assert found == deep
    assert found.digest() == deep.digest() != design.digest()


def test_a_design_that_is_not_whole_is_refused(design, tmp_path):
    folder = tmp_path / "design"
    with pytest.raises(BuildError) as caught:
        read_design(folder)
    assert str(caught.value) == (
        f"{folder} holds no whole design: {folder}/design.json: No such file or directory\n  build it again"
    )
    write_design(design, folder)
    plan = (folder / "design.json").read_text()
    for text, message in (
        ("{", "was not written by a build, or is damaged (JSONDecodeError: "),
        (
            plan.replace('"layers"', '"lawyers"'),
            "was not written by a build, or is damaged (KeyError: 'layers')",
        ),
        (
            plan.replace('"format": 1', '"format": 7'),
            "has format 7, and this version reads 1: build it again",
        ),
    ):
        (folder / "design.json").write_text(text)
        with pytest.raises(BuildError) as caught:
            read_design(folder)
        assert str(caught.value).startswith(f"{folder}/design.json {message}")


def test_weights_from_outside_are_refused(tmp_path):
    layer = finn_layers.matrix_vector(tmp_path / "layer", np.random.default_rng(1), mem_mode="external")
    design = stitched(layer.model, tmp_path / "code")
    with pytest.raises(BuildError, match=r"^input 'in1_V_TDATA' of layer 'MVAU_rtl_0' would be left open"):
        top_module(design)


def test_a_second_clock_is_refused(layer, tmp_path):
    layer.node.set_nodeattr("pumpedCompute", 1)
    with pytest.raises(BuildError, match=r"^pumpedCompute and pumpedMemory must be 0 in MVAU_rtl_0: "):
        stitched(layer.model, tmp_path / "code")


def test_a_tensor_that_feeds_several_layers_is_refused(layer, tmp_path):
    for name in ("a", "b"):
        node = layer.model.graph.node.add()
        node.CopyFrom(layer.model.graph.node[0])
        node.name, node.input[0], node.output[0] = name, "y", name
    with pytest.raises(BuildError) as caught:
        stitched(layer.model, tmp_path / "code")
    assert str(caught.value) == (
        "a tensor can feed one layer only; these feed several: y\n"
        "  put a layer there that copies its stream, DuplicateStreams: the step hardware_inference does, and so does "
        "the transform finn:InferDuplicateStreamsLayer, before specialize"
    )


def test_no_input_is_left_open(design):
    first, second = design.layers
    odd = Layer(second.name, second.module, second.kernel, (*second.ports, ("in7_V_TDATA", True)))
    message = r"^input 'in7_V_TDATA' of layer 'MVAU_rtl_0' would be left open, so the design is not stitched$"
    with pytest.raises(BuildError, match=message):
        top_module(replace(design, layers=(first, odd)))


@pytest.mark.parametrize(
    ("depths", "message"),
    [
        ({"nope": 4}, r"^there is no link 'nope' for a FIFO; the links are MVAU_rtl_0_out0_V, s_axis_0$"),
        ({"s_axis_0": 1}, r"^the depth of the FIFO 's_axis_0' must be 0, or 2 or more, not 1$"),
    ],
)
def test_a_fifo_that_cannot_be_is_refused(design, depths, message):
    with pytest.raises(BuildError, match=message):
        design.with_depths(depths)


@pytest.mark.slow
def test_written_files_are_enough_for_a_tool_that_runs_there(design, tmp_path, simulations):
    folder = tmp_path / "design"
    sources = write_design(design.with_depths({"s_axis_0": 8}), folder)
    listed = (folder / "filelist.f").read_text().split()
    assert [folder / name for name in listed] == sources
    texts = [path.read_text() for path in sources]
    assert {name for text in texts for name in re.findall(r'"([^"]+\.dat)"', text)} == {
        "memory/MVAU_rtl_0_memblock.dat"
    }
    assert (folder / "memory" / "MVAU_rtl_0_memblock.dat").read_text() == design.memories[0].text
    assert not any(str(tmp_path) in text or "@brainsmith" in text for text in texts)
    tools = find_toolchain()
    flags = ["--lint-only", "--no-timing", "-Wno-fatal", "-Wno-lint", "--top-module", design.top]
    run([tools.verilator, *flags, *map(str, sources)], timeout=60, variables={"VERILATOR_ROOT": tools.root})


def test_a_folder_that_cannot_be_written_is_named(design, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file: the design cannot be written: "):
        write_design(design, tmp_path / "file")


@pytest.mark.parametrize("interval", [24, 25, 31, 100])
@pytest.mark.slow
def test_a_steady_input_takes_the_interval(design, interval):
    stalls = Stalls.steady(design.inputs[0].layout.beats, interval)
    assert len(stalls.bits) == interval
    assert stalls.bits.count(False) == 24


def test_what_the_library_lacks_is_said(layer, tmp_path, library, monkeypatch):
    broken = type(library)(tmp_path, library.version)
    monkeypatch.setattr(stitching, "find_library", lambda: broken)
    with pytest.raises(RtlSourceError, match=r"cannot be read"):
        stitched(layer.model, tmp_path / "code")


@pytest.mark.parametrize("kind", ["FLOAT32", "FIXED<8,4>", "SCALEDINT<8>"])
def test_a_stream_of_what_is_no_integer_is_refused(layer, tmp_path, kind):
    model = generate_layers(layer.model, tmp_path / "code", finn_layers.PART)
    getCustomOp(model.graph.node[0]).set_nodeattr("inputDataType", kind)
    with pytest.raises(BuildError) as caught:
        stitch(model)
    assert str(caught.value) == (
        f"tensor 'x' is {kind}, and the streams of a design carry integers\n"
        "  it is an input of the accelerator: give the model's input a datatype of integers, such as UINT8, and put a "
        "factor such as 1/255 after it; docs/operators.md shows how"
    )
