"""What clients send is computed, and nothing else: models that do more are refused, and do nothing on the way."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from brainsmith.errors import ModelError
from brainsmith.runtime.serving.model_screening import check_config, check_model
from tests.build import graphs

ROOT = Path(__file__).parents[3]
DOMAINS = (
    "onnx.brevitas",
    "qonnx.custom_op.channels_last",
    "qonnx.custom_op.general",
    "finn.custom_op.fpgadataflow",
    "finn.custom_op.fpgadataflow.hls",
    "finn.custom_op.fpgadataflow.rtl",
    "finn.custom_op.general",
    "brainsmith.backends.hls",
    "brainsmith.backends.rtl",
    "brainsmith.kernels",
    "brainsmith.ops",
)
EVIL = "__import__('pathlib').Path('evaluated').touch()"


def model(node=None, **attributes):
    made = onnx.ModelProto()
    made.CopyFrom(graphs.quant_mlp().model)
    if node is not None:
        made.graph.node.append(
            helper.make_node(*node[:1], ["x"], ["more"], name="n", domain=node[1], **attributes)
        )
    return made


def annotated(key, value):
    made = model()
    (pair,) = [made.graph.quantization_annotation.add(tensor_name="x")]
    pair.quant_parameter_tensor_names.add(key=key, value=value)
    return made


def external(place):
    made = model()
    tensor = made.graph.initializer[0]
    if place == "attribute":
        made.graph.node.append(
            helper.make_node("Constant", [], ["c"], value=TensorProto(name="v", data_type=1))
        )
        tensor = made.graph.node[-1].attribute[0].t
    elif place == "function":
        made.functions.add(name="f", domain="d").node.append(helper.make_node("Constant", [], ["c"]))
        tensor = made.functions[0].node[0].attribute.add(name="value", type=4).t
    elif place == "branch":
        graph = helper.make_graph([], "g", [], [], [TensorProto(name="v", data_type=1)])
        made.graph.node.append(helper.make_node("If", ["x"], ["c"], then_branch=graph))
        tensor = made.graph.node[-1].attribute[0].g.initializer[0]
    tensor.name = "v"
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    return made


def renamed():
    made = model(("MVAU_hls", "finn.custom_op.fpgadataflow.hls"))
    made.graph.node[-1].name = "f() { system(); } void g"
    return made


ELSEWHERE = (
    "tensor 'v' is stored in another file, and no file of the server is read for clients: save the model with its weights "
    "in it"
)
REFUSED = {
    "a module": (
        lambda: model(("Popen", "subprocess")),
        "node 'n' (Popen) is of domain 'subprocess', which is not executed for clients; those are ONNX's own and "
        + ", ".join(DOMAINS),
    ),
    "a module below": (
        lambda: model(("x", "finn.custom_op.fpgadataflow.hls.anything")),
        "node 'n' (x) is of domain 'finn.custom_op.fpgadataflow.hls.anything', which is not executed for clients; those "
        "are ONNX's own and " + ", ".join(DOMAINS),
    ),
    "a layout": (
        lambda: annotated("tensor_layout", EVIL),
        f"tensor_layout must be a list or a table of plain values, not {EVIL!r}",
    ),
    "a sparsity": (
        lambda: annotated("tensor_sparsity", "[x for x in ()]"),
        "tensor_sparsity must be a list or a table of plain values, not '[x for x in ()]'",
    ),
    "a program": (
        lambda: model(("MVAU_hls", "finn.custom_op.fpgadataflow.hls"), executable_path="/bin/sh"),
        "node 'n' (MVAU_hls) has attribute executable_path = '/bin/sh', which names a file or a program of the server",
    ),
    "a library": (
        lambda: model(("MVAU_rtl", "finn.custom_op.fpgadataflow.rtl"), rtlsim_so="x.so"),
        "node 'n' (MVAU_rtl) has attribute rtlsim_so = 'x.so', which names a file or a program of the server",
    ),
    "a model": (
        lambda: model(("StreamingDataflowPartition", "finn.custom_op.fpgadataflow"), model="other.onnx"),
        "node 'n' (StreamingDataflowPartition) has attribute model = 'other.onnx', which names a file or a program of the "
        "server",
    ),
    "C++": (
        lambda: model(("MVAU_hls", "finn.custom_op.fpgadataflow.hls"), ram_style='auto"); system("id'),
        """node 'n' (MVAU_hls) has attribute ram_style = 'auto"); system("id', which is neither a plain word nor numbers""",
    ),
    "several": (
        lambda: model(("MVAU_hls", "finn.custom_op.fpgadataflow.hls"), words=["ok", "#include <x>"]),
        "node 'n' (MVAU_hls) has attribute words = '#include <x>', which is neither a plain word nor numbers",
    ),
    "a name": (
        renamed,
        "the name of a node must be letters, digits, spaces and ./:-, not 'f() { system(); } void g'",
    ),
    **{
        place: (lambda place=place: external(place), ELSEWHERE)
        for place in ("weights", "attribute", "function", "branch")
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_model_that_does_more_is_refused(case):
    make, message = REFUSED[case]
    with pytest.raises(ModelError) as error:
        check_model(make().SerializeToString())
    assert str(error.value) == message


def test_metadata_that_finn_evaluates_is_looked_at():
    made = model()
    helper.set_model_props(made, {"vivado_stitch_ifnames": EVIL, "author": EVIL})
    with pytest.raises(ModelError) as error:
        check_model(made.SerializeToString())
    assert (
        str(error.value) == f"vivado_stitch_ifnames must be a list or a table of plain values, not {EVIL!r}"
    )


@pytest.mark.slow
def test_qonnx_does_evaluate_a_layout(tmp_path):
    """What makes the refusal needed; if this fails, QONNX has become safer."""
    file = tmp_path / "m.onnx"
    file.write_bytes(annotated("tensor_layout", EVIL).SerializeToString())
    code = f"from qonnx.core.modelwrapper import ModelWrapper as M; M({str(file)!r}).get_tensor_layout('x')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert (tmp_path / "evaluated").exists()


@pytest.mark.parametrize("file", sorted(ROOT.glob("examples/**/*.onnx")), ids=lambda path: path.stem)
def test_the_examples_are_served(file):
    check_model(file.read_bytes())


def test_layouts_datatypes_and_tuples_are_plain():
    made = model(
        ("Im2Col", "qonnx.custom_op.general"), input_shape="(1,8,8,16)", data_layout="NHWC", io_map="{}"
    )
    made.graph.quantization_annotation.add(tensor_name="x").quant_parameter_tensor_names.add(
        key="tensor_layout", value="['N', 'C']"
    )
    made.graph.quantization_annotation.add(tensor_name="y").quant_parameter_tensor_names.add(
        key="finn_datatype", value="FIXED<8,4>"
    )
    check_model(made.SerializeToString())


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_do_more_than_being_refused(data):
    try:
        check_model(data)
    except ModelError as error:
        assert str(error)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_damaged_models_neither(data):
    whole = bytearray(graphs.quant_mlp().model.SerializeToString())
    for _ in range(3):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        check_model(bytes(whole))
    except ModelError as error:
        assert str(error)


@pytest.mark.parametrize("text", ["/etc/passwd", "a/b", "..", ".", "a\\b", "\0"])
def test_configurations_name_no_files(text):
    for config in ({"bitfile": text}, {text: 1}, {"a": [{"b": text}]}):
        with pytest.raises(ModelError) as error:
            check_config(config)
        assert str(error.value) == (
            f"the configuration from a client must not name files of the server: {text!r}"
        )
    check_config({"faithful": True, "dma": {"s_axis_0": "axi_dma_0"}, "frames": 3, "x": [None, 1.5]})


def test_large_weights_are_not_walked():
    made = model()
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(1_000_000, np.float32), "w"))
    check_model(made.SerializeToString())
