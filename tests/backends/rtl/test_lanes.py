"""Lanes that do not divide a core's streams are refused, whichever core it is, before and after a backend is chosen."""

import pytest
from qonnx.custom_op.registry import getCustomOp

from brainsmith.errors import BuildError
from tests.backends.rtl import (
    test_binary_mvau_rtl,
    test_crop_rtl,
    test_global_acc_pool_rtl,
    test_label_select_rtl,
    test_layer_norm_rtl,
    test_mat_mul_rtl,
    test_pool_rtl,
    test_shuffle_rtl,
    test_softmax_rtl,
    test_upsample_nearest_neighbour_rtl,
)
from tests.backends.rtl.bench import make_model

CASES = {
    "Shuffle": (test_shuffle_rtl.case((4, 6), (4, 6), (1, 0)), "SIMD", 2, 1),
    "Crop": (test_crop_rtl.case((3, 8), [0, 3], [3, 2]), "SIMD", 2, 1),
    "Pool": (test_pool_rtl.case("MaxPool", 6, 1), "PE", 4, 6),
    "GlobalAccPool": (test_global_acc_pool_rtl.case(6, 1, (1, 3, 3)), "PE", 4, 6),
    "Upsample": (test_upsample_nearest_neighbour_rtl.case(6, 1, (2, 2), (2, 2)), "SIMD", 4, 6),
    "LabelSelect": (test_label_select_rtl.case(10, 1, 1), "PE", 0, 10),
    "LayerNorm": (test_layer_norm_rtl.case(12, 1), "SIMD", 5, 12),
    "Softmax": (test_softmax_rtl.case(12, 1), "SIMD", 5, 12),
    "MatMul PE": (test_mat_mul_rtl.case((2, 8), (8, 6), 1, 1), "PE", 4, 6),
    "MatMul SIMD": (test_mat_mul_rtl.case((2, 8), (8, 6), 1, 1), "SIMD", 3, 8),
    "BinaryMVAU PE": (test_binary_mvau_rtl.case(128, 6, 1, 1), "PE", 4, 6),
    "BinaryMVAU SIMD": (test_binary_mvau_rtl.case(128, 6, 1, 1), "SIMD", 3, 128),
}


def layer_of(name):
    model = make_model([CASES[name][0]])
    return model, getCustomOp(model.graph.node[0])


@pytest.mark.parametrize("name", CASES)
def test_lanes_that_do_not_divide_are_refused(name):
    _, attribute, value, whole = CASES[name]
    model, layer = layer_of(name)
    assert type(layer).supports(layer), type(layer).supports(layer).reason
    layer.set_nodeattr(attribute, value)
    reason = f"its {attribute} is {value}, which does not divide {whole}"
    assert type(layer).supports(layer).reason == reason
    with pytest.raises(BuildError) as raised:
        layer.generate_hdl(model, "", 5.0)
    assert str(raised.value) == f"layer {layer.onnx_node.name!r}: {reason}"


@pytest.mark.parametrize(("name", "simd"), [("LayerNorm", 12), ("Softmax", 12), ("MatMul SIMD", 8)])
def test_more_lanes_than_are_of_use_are_no_error(name, simd):
    _, layer = layer_of(name)
    layer.set_nodeattr("SIMD", simd)
    assert type(layer).supports(layer), type(layer).supports(layer).reason
