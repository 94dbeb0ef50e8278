"""What FINN's backends cannot be is told before anything is generated."""

from onnx import helper

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

prepare_finn()

from brainsmith.rtl.cores.finn_choice import finn_supports  # noqa: E402


def test_thresholds_of_signs_are_no_rtl():
    node = helper.make_node(
        "Thresholding", ["x", "t"], ["y"], domain="finn.custom_op.fpgadataflow", inputDataType="BIPOLAR"
    )
    answer = finn_supports(None, node, "rtl", "xczu7ev-ffvc1156-2-e")
    assert not answer
    assert answer.reason == "it would compare the bits of its BIPOLAR input, 0 and 1, in place of -1 and 1"
