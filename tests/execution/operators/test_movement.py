"""Layers that move values: as programs, as standard ONNX and by their own Python models, bit for bit."""

from importlib import import_module

import numpy as np
import pytest

from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.operators.every_form import assert_every_form_right
from tests.execution.program.single_node import FINN, QONNX, one_node, whole_numbers

prepare_finn()
import_module(f"{FINN}.reshape")  # enters its class among FINN's operators, which the package alone does not
OURS = "brainsmith.kernels"


def draw(shape, low=-8, high=7, seed=0):
    return whole_numbers(np.random.default_rng(seed), low, high, (3, *shape))


def checked(model):
    """Return the tensors that a program holds to their annotations while it runs."""
    return [made.outputs for made in lower(runnable_copy(model)).instructions if "annotated" in made.function]


CASES = {
    "StreamingFIFO": (FINN, (1, 3, 4), (1, 3, 4), {"folded_shape": [1, 3, 4, 1], "dataType": "INT4", "depth": 8}),
    "StreamingDataWidthConverter": (
        FINN, (1, 3, 4), (1, 3, 4),
        {"inShape": [1, 3, 4], "outShape": [1, 3, 4], "inWidth": 4, "outWidth": 16, "dataType": "INT4"},
    ),
    "Reshape": (
        FINN, (1, 3, 4), (1, 12),
        {"inp_dtype": "INT4", "out_dtype": "INT4", "inp_shape": [1, 3, 4], "out_shape": [1, 12]},
    ),
    "Shuffle": (
        FINN, (1, 6, 4), (1, 2, 12),
        {"transpose_in_shape": [1, 3, 2, 4], "perm": [0, 2, 1, 3], "out_shape": [1, 2, 12], "in_shape": [1, 6, 4],
         "transpose_out_shape": [1, 2, 3, 4], "data_type": "INT4", "SIMD": 1},
    ),
    "ShuffleKernel": (
        OURS, (1, 6, 4), (1, 2, 12),
        {"transpose_in_shape": [1, 3, 2, 4], "perm": [0, 2, 1, 3], "out_shape": [1, 2, 12], "in_shape": [1, 6, 4],
         "inputDataType": "INT4"},
    ),
    "InnerShuffle": (
        FINN, (1, 6, 4), (1, 4, 6),
        {"transpose_in_shape": [1, 6, 4], "in_shape": [1, 6, 4], "out_shape": [1, 4, 6], "data_type": "INT4", "SIMD": 1},
    ),
    "Crop": (
        FINN, (1, 6, 5, 2), (1, 3, 2, 2),
        {"ImgDim": [6, 5], "NumChannels": 2, "CropNorth": 1, "CropSouth": 2, "CropWest": 0, "CropEast": 3, "SIMD": 1,
         "inputDataType": "INT4", "numInputVectors": [1]},
    ),
    "Crop, two sides": (
        FINN, (1, 4, 5, 2), (1, 3, 2, 2),
        {"ImgDim": [4, 5], "NumChannels": 2, "CropNorth": 1, "CropSouth": 0, "CropWest": 1, "CropEast": 2, "SIMD": 1,
         "inputDataType": "INT4", "numInputVectors": [1]},
    ),
    "ShuffleKernel, of the first axis": (
        OURS, (1, 3, 4), (2, 2, 3),
        {"transpose_in_shape": [1, 3, 2, 2], "perm": [2, 0, 3, 1], "out_shape": [2, 2, 3], "in_shape": [1, 3, 4],
         "inputDataType": "INT4"},
    ),
    "CropKernel": (
        OURS, (2, 5, 4), (3, 2),
        {"starts": [1, 2, 2], "sizes": [1, 3, 2], "in_shape": [2, 5, 4], "out_shape": [3, 2], "inputDataType": "INT4"},
    ),
    "DebugMarker": (QONNX, (1, 3), (1, 3), {"export_debug_name": "seen"}),
    "SelectToken": (
        FINN, (1, 4, 3), (1, 3),
        {"TokenIndex": -1, "NumTokens": 4, "NumChannels": 3, "SIMD": 1, "inputDataType": "INT4"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(CASES))
def test_one_stream(case):
    domain, given, wanted, attributes = CASES[case]
    kinds, op_type = {"x": "INT4", "y": "INT4"}, case.partition(",")[0]
    model = one_node(op_type, {"x": given}, {"y": wanted}, domain=domain, datatypes=kinds, **attributes)
    assert_every_form_right(model, x=draw(given))
    assert checked(model) == [("x",)]


def test_moved_bits_stay_bits():
    model = one_node(
        "StreamingFIFO", {"x": (1, 6)}, {"y": (1, 6)}, domain=FINN, folded_shape=[1, 6, 1], dataType="BIPOLAR", depth=2,
        datatypes={"x": "BIPOLAR", "y": "BIPOLAR"},
    )  # fmt: skip
    assert_every_form_right(model, x=np.where(draw((1, 6)) < 0, -1, 1).astype(np.float32))
    assert checked(model) == [("x",)]


SEVERAL = {
    "DuplicateStreams": (
        {"x": "INT4"}, {"x": (1, 2, 5)}, {"y": (1, 2, 5), "z": (1, 2, 5)},
        {"NumChannels": 5, "PE": 1, "inputDataType": "INT4", "outFIFODepths": [2, 2], "NumOutputStreams": 2},
    ),
    "StreamingConcat": (
        {"x": "INT4", "z": "UINT2", "y": "INT4"}, {"x": (1, 2, 5), "z": (1, 2, 3)}, {"y": (1, 2, 8)},
        {"ChannelsPerStream": [5, 3], "SIMD": 1, "inputDataTypes": ["INT4", "UINT2"], "inFIFODepths": [2, 2]},
    ),
    "StreamingSplit": (
        {"x": "INT4"}, {"x": (1, 2, 8)}, {"y": (1, 2, 5), "z": (1, 2, 3)},
        {"ChannelsPerStream": [5, 3], "SIMD": 1, "inputDataType": "INT4", "outFIFODepths": [2, 2]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("op_type", sorted(SEVERAL))
def test_several_streams(op_type):
    kinds, given, wanted, stated = SEVERAL[op_type]
    model = one_node(op_type, given, wanted, domain=FINN, datatypes=kinds, numInputVectors=[1, 2], **stated)
    ends = {"INT4": (-8, 7), "UINT2": (0, 3)}
    assert_every_form_right(model, **{name: draw(shape, *ends[kinds[name]]) for name, shape in given.items()})


@pytest.mark.parametrize("factors", [(1, 1), (2, 3), (4, 2), (5, 7)])
def test_enlarged_images(factors):
    model = one_node(
        "UpsampleNearestNeighbour", {"x": (1, 4, 3, 5)}, {"y": (1, 4 * factors[0], 3 * factors[1], 5)}, domain=FINN,
        HI=4, WI=3, HO=4 * factors[0], WO=3 * factors[1], NumChannels=5, SIMD=1, inputDataType="INT4",
        datatypes={"x": "INT4"},
    )  # fmt: skip
    assert_every_form_right(model, x=draw((1, 4, 3, 5)))


def test_a_look_up():
    table = draw((7, 4), seed=1)[0]
    model = one_node(
        "Lookup", {"x": (1, 5)}, {"y": (1, 5, 4)}, {"t": table}, domain=FINN, NumEmbeddings=7, EmbeddingDim=4,
        EmbeddingType="INT4", InputType="UINT3", InputShape=[1, 5], datatypes={"x": "UINT3", "t": "INT4"},
    )  # fmt: skip
    model.graph.input[0].type.tensor_type.elem_type = 7  # ONNX's int64, as FINN keeps the indices
    x = draw((1, 5), 0, 6).astype(np.int64)
    assert_every_form_right(model, x=x)
