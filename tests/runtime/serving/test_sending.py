"""A model as it is sent: as it is, unless it means something of this machine."""

import onnx
from onnx import helper

from brainsmith.runtime.serving.model_screening import check_model
from brainsmith.runtime.serving.sending import model_bytes, why_not_whole
from tests.build import graphs

MODEL = graphs.quant_mlp().model


def copied():
    made = onnx.ModelProto()
    made.CopyFrom(MODEL)
    return made


def test_a_model_is_sent_as_it_is(tmp_path):
    data = MODEL.SerializeToString(deterministic=True)
    (tmp_path / "m.onnx").write_bytes(data)
    for resource in (
        data,
        bytearray(data),
        tmp_path / "m.onnx",
        str(tmp_path / "m.onnx"),
        MODEL,
        graphs.quant_mlp(),
    ):
        assert model_bytes(resource) == data


def test_paths_of_generated_files_are_left_out():
    made = copied()
    made.graph.node.append(
        helper.make_node(
            "Thresholding_rtl", ["x"], ["y"], name="t", domain="finn.custom_op.fpgadataflow.rtl",
            code_gen_dir_ipgen="/tmp/x", ip_path="/tmp/x/ip", PE=2, outputDataType="INT4",
        )
    )  # fmt: skip
    before = made.SerializeToString()
    sent = onnx.load_model_from_string(model_bytes(made))
    assert [one.name for one in sent.graph.node[-1].attribute] == ["PE", "outputDataType"]
    assert sent.graph.node[:-1] == made.graph.node[:-1]
    assert made.SerializeToString() == before
    check_model(model_bytes(made))


def test_weights_in_other_files_go_with_it(tmp_path):
    onnx.save(copied(), tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    sent = onnx.load_model_from_string(model_bytes(tmp_path / "m.onnx"))
    check_model(sent.SerializeToString())
    for found, expected in zip(sent.graph.initializer, MODEL.graph.initializer, strict=True):
        assert onnx.numpy_helper.to_array(found).tobytes() == onnx.numpy_helper.to_array(expected).tobytes()


def test_a_model_in_several_files_is_not_whole(tmp_path):
    made = copied()
    made.graph.node.append(
        helper.make_node(
            "GenericPartition", ["m1"], ["y"], domain="qonnx.custom_op.general", model="/home/me/inner.onnx"
        )
    )
    onnx.save(made, tmp_path / "whole.onnx")
    for resource in (made, made.SerializeToString(), tmp_path / "whole.onnx"):
        assert why_not_whole(resource) == (
            "its dataflow partitions are models in files of this machine (/home/me/inner.onnx), which are not sent with "
            "it: execute it on a target of this machine"
        )
    assert why_not_whole(MODEL) == ""
