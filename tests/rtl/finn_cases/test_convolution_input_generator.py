"""ConvolutionInputGenerator, as FINN+'s `test_fpgadataflow_slidingwindow` has it.

Its cases: 1,416 that are not skipped, all RTL; the 708 with `rtlsim` are run here, the other 708 are Python execution.
Left out: `..._analytical_characterization_slidingwindow` and its `_mobilenet`, which compare two models of traffic, and
`test_fpgadataflow_conv_dynamic` (3), whose other layers are HLS. See `test_dynamic_window.py` for the dynamic ones.
"""

from itertools import product

import pytest
from finn.transformation.fpgadataflow.convert_to_hw.conv_inp_gen import InferConvInpGen
from onnx import helper
from qonnx.custom_op.general.im2col import compute_conv_output_dim

from tests.rtl.finn_cases.bench import batches, check, some
from tests.rtl.finn_cases.cases import Case, make_model, specialised

PART = "xc7z020clg400-1"


def _is_legal(kind, kernel, size, channels, stride, dilation, simd, depthwise, parallel):
    """Tell what upstream's test skips."""
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    point = kernel == (1, 1)
    return (
        channels % simd == 0
        and all(s <= n and t <= n for s, t, n in zip(span, stride, size, strict=True))
        and not any(k == 1 and d != 1 for k, d in zip(kernel, dilation, strict=True))
        and (parallel or point or all(t <= k for t, k in zip(stride, kernel, strict=True)))
        and (not parallel or simd == channels or depthwise or point)
    )


GRID = [
    case
    for case in product(
        ["INT2", "UINT4"],
        [(2, 2), (3, 3), (1, 5)],
        [(8, 8), (1, 21)],
        [2, 4],
        [(1, 1), (2, 2), (2, 1)],
        [(1, 1), (2, 2), (2, 1)],
        [1, 2, 4],
        [0, 1],
        [0, 1],
    )
    if _is_legal(*case)
]


def make_case(kind, kernel, size, channels, stride, dilation, simd, depthwise, parallel):
    out = [
        compute_conv_output_dim(n, k, s, 0, d)
        for n, k, s, d in zip(size, kernel, stride, dilation, strict=True)
    ]
    taps = kernel[0] * kernel[1]
    node = helper.make_node(
        "Im2Col", ["x"], ["y"], domain="qonnx.custom_op.general", stride=stride, kernel_size=kernel,
        input_shape=str((1, *size, channels)), dilations=dilation, pad_amount=[0, 0, 0, 0], pad_value=0,
        depthwise=depthwise,
    )  # fmt: skip
    golden = make_model(
        node, {"x": (1, *size, channels)}, {"y": (1, *out, taps * channels)}, {"x": kind, "y": kind}
    )
    layer = specialised(
        golden.transform(InferConvInpGen()),
        PART,
        "ConvolutionInputGenerator_rtl",
        SIMD=simd,
        parallel_window=parallel,
        M=1,
    )

    def by_channel(result):
        return result.reshape(*out, taps, channels // simd, simd).swapaxes(2, 3).reshape(1, *out, -1)

    return Case(
        golden, layer, PART, tolerance=10, relative=1.1, reorder=by_channel if depthwise else lambda y: y
    )


@pytest.mark.slow
def test_some_cases(tmp_path, library, simulations):
    check(make_case, some(GRID), tmp_path, library)


@pytest.mark.slow
@pytest.mark.parametrize("cases", batches(GRID))
def test_all_cases(cases, tmp_path, library, simulations):
    check(make_case, cases, tmp_path, library)


def test_the_grid_is_upstreams():
    assert len(GRID) == 708
