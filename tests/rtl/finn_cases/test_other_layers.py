"""What FINN+ has in RTL besides, in several foldings: InnerShuffle and Reshape.

Requant is in `test_finn_executes.py`. FINN+ has no RTL layer with several outputs, and Concat only in HLS.
"""

from itertools import product

import numpy as np
import pytest
from finn.transformation.fpgadataflow.convert_to_hw.reshape import InferReshape
from onnx import helper

from tests.rtl.finn_cases.bench import check
from tests.rtl.finn_cases.cases import HARDWARE, Case, make_model, specialised

PART = "xczu7ev-ffvc1156-2-e"


def make_inner_shuffle(shape, simd, kind):
    node = helper.make_node(
        "InnerShuffle", ["x"], ["y"], domain=HARDWARE, backend="fpgadataflow", data_type=kind, in_shape=shape,
        transpose_in_shape=shape, SIMD=simd,
    )  # fmt: skip
    turned = (*shape[:-2], shape[-1], shape[-2])
    model = make_model(node, {"x": shape}, {"y": turned}, {"x": kind, "y": kind})
    layer = specialised(model, PART, "InnerShuffle_rtl")
    return Case(None, layer, PART, compute=lambda x: x.swapaxes(-1, -2))


@pytest.mark.slow
def test_inner_shuffle(tmp_path, library, simulations):
    grid = list(product([(4, 4), (2, 2, 12, 8), (8, 16, 32), (1, 24, 12)], [2, 4], ["INT8"]))
    check(make_inner_shuffle, grid, tmp_path, library)


def make_reshape(before, after, pe, kind):
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], name="reshape")
    shapes = {"x": before}, {"y": after}
    golden = make_model(node, *shapes, {"x": kind, "y": kind}, {"shape": np.array(after, np.int64)})
    layer = specialised(golden.transform(InferReshape()), PART, "Reshape_rtl", PE=pe)
    return Case(golden, layer, PART, tolerance=10)


@pytest.mark.slow
def test_reshape(tmp_path, library, simulations):
    grid = [
        ((1, 4, 4, 8), (1, 16, 8), 2, "INT4"),
        ((1, 16, 8), (1, 128), 8, "UINT3"),
        ((1, 12), (1, 3, 4), 1, "INT8"),
    ]
    check(make_reshape, grid, tmp_path, library)
