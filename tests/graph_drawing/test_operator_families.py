"""Operators by family."""

import pytest

from brainsmith.graph_drawing.operator_families import family


@pytest.mark.parametrize(
    ("op_type", "expected"),
    [
        ("Input", "port"), ("MatMul", "compute"), ("MVAU_rtl", "compute"), ("ConvTranspose", "compute"),
        ("Quant", "threshold"), ("MultiThreshold", "threshold"), ("Thresholding_rtl", "threshold"),
        ("ElementwiseMul_hls", "arithmetic"), ("BatchNormalization", "arithmetic"), ("Im2Col", "movement"),
        ("ConvolutionInputGenerator_rtl", "movement"), ("StreamingDataWidthConverter_rtl", "movement"),
        ("Transpose", "movement"), ("TopK", "other"), ("", "other"),
    ],
)  # fmt: skip
def test_family(op_type, expected):
    assert family(op_type) == expected
