"""EmbeddedVVAURTL against FINN's VVAU."""

import numpy as np
import pytest
from hypothesis import strategies as st
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.embedded_vvau_rtl import EmbeddedVVAURTL
from tests.backends.rtl.bench import (
    Case,
    check_cores,
    law_of_cores,
    lint,
    make_model,
    random_values,
)


def case(channels, kernel, simd, pe, kind="INT4", held="INT4", size=(2, 2), output="", seed=0, **attributes):
    """Return a node with random weights; the output holds whatever they give."""
    window = kernel[0] * kernel[1]
    weights = random_values(np.random.default_rng(seed), held, (channels, 1, *kernel))
    one, other = (max(abs(int(DataType[name].min())), int(DataType[name].max())) for name in (kind, held))
    counts = kind == held == "BIPOLAR"
    signed = not counts and min(DataType[kind].min(), DataType[held].min()) < 0
    bits = (window * one * other).bit_length()
    stated = {
        "Channels": channels, "Kernel": list(kernel), "SIMD": simd, "PE": pe, "Dim": list(size), "inputDataType": kind,
        "weightDataType": held, "outputDataType": output or (f"INT{bits + 1}" if signed else f"UINT{bits}"),
        "noActivation": 1, **attributes,
    }  # fmt: skip
    return Case(
        "EmbeddedVVAU_rtl", [((1, *size, window * channels), kind)], stated, constants=[(weights, held)]
    )


def node_of(*arguments, **attributes):
    return getCustomOp(make_model([case(*arguments, **attributes)]).graph.node[0])


KINDS = ["BIPOLAR", "BINARY", "TERNARY", "INT2", "UINT3", "INT4", "UINT8", "INT8", "INT9"]


@st.composite
def cases(draw):
    kernel = draw(st.sampled_from([(1, 1), (1, 3), (2, 2), (3, 3), (3, 2), (5, 1), (5, 5)]))
    window = kernel[0] * kernel[1]
    pe = draw(st.integers(1, 4))
    return case(
        channels=pe * draw(st.integers(1, 4)),
        kernel=kernel,
        simd=draw(st.sampled_from([one for one in range(1, window + 1) if window % one == 0])),
        pe=pe,
        kind=draw(st.sampled_from(KINDS)),
        held=draw(st.sampled_from(KINDS)),
        size=draw(st.sampled_from([(1, 1), (1, 3), (3, 2)])),
        seed=draw(st.integers(0, 99)),
        ram_style=draw(st.sampled_from(["auto", "block", "distributed"])),
        mem_mode=draw(st.sampled_from(["internal_embedded", "internal_decoupled"])),
    )


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case(1, (1, 1), 1, 1),  # one weight
        case(3, (1, 1), 1, 1, size=(1, 5)),  # a result each cycle
        case(4, (3, 3), 9, 4),  # all of a window at once, and all channels: one word
        case(4, (3, 3), 9, 2, "UINT8", "INT8"),
        case(4, (3, 3), 3, 2, "UINT4", "TERNARY"),
        case(4, (3, 3), 1, 4, "BIPOLAR", "BIPOLAR"),  # counts
        case(4, (2, 2), 4, 2, "BIPOLAR", "BIPOLAR"),
        case(4, (2, 2), 2, 2, "BIPOLAR", "UINT3"),
        case(4, (2, 2), 2, 2, "UINT4", "BIPOLAR"),
        case(2, (2, 2), 2, 2, "BINARY", "BINARY"),
        case(8, (5, 5), 5, 2, "INT8", "INT8", ram_style="block"),
        case(2, (1, 3), 3, 1, "INT11", "INT11"),
        case(2, (1, 1), 1, 1, "INT16", "INT8"),
    ]
    check_cores(chosen, tmp_path, simulations, count=5)


test_computes_what_finn_computes = law_of_cores(cases(), draws=8, least=8, most=14)


@pytest.mark.parametrize(
    "parameters",
    [
        {"SIMD": 1, "PE": 1, "BEATS": 1, "FOLDS": 1, "OUT_BITS": 8},
        {"SIMD": 9, "PE": 2, "BEATS": 1, "FOLDS": 3, "IN_BITS": 8, "IN_KIND": 1, "OUT_BITS": 16, "STYLE": "block"},
        {"SIMD": 3, "PE": 1, "BEATS": 3, "FOLDS": 1, "IN_KIND": 0, "WEIGHT_KIND": 0, "OUT_BITS": 12},
        {
            "SIMD": 2, "PE": 2, "BEATS": 2, "FOLDS": 2, "IN_BITS": 1, "IN_KIND": 2, "WEIGHT_BITS": 1,
            "WEIGHT_KIND": 2, "OUT_BITS": 3,
        },
        {"SIMD": 2, "PE": 2, "BEATS": 2, "FOLDS": 2, "IN_BITS": 1, "IN_KIND": 2, "OUT_BITS": 7},
        {"SIMD": 4, "PE": 1, "BEATS": 1, "FOLDS": 2, "WEIGHT_BITS": 1, "WEIGHT_KIND": 2, "OUT_BITS": 7},
    ],
)  # fmt: skip
def test_lint_is_silent(parameters):
    assert lint(EmbeddedVVAURTL, parameters) == ""
