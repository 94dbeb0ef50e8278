"""The shipped networks as whole circuits: the complete test set, bit for bit, at the estimated rate."""

from dataclasses import replace

import numpy as np
import pytest

from brainsmith.rtl.simulation.plan import Memory
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.frames import run_design
from tests.rtl.digits import check_test_set, make_digits


@pytest.fixture(scope="module")
def mlp(tmp_path_factory, simulations):
    return make_digits("mlp", tmp_path_factory.mktemp("mlp"), simulations)


def test_the_mlp_computes_the_whole_test_set(mlp, build):
    check_test_set(mlp, build(plan_design(mlp.design)), held=(0.9, 0.9))


def test_fifos_are_as_deep_as_the_gauges_say(mlp):
    assert {name for name, depth in mlp.depths.items() if depth > 2} == {
        "StreamingDataWidthConverter_rtl_0_out0_V",
        "StreamingDataWidthConverter_rtl_1_out0_V",
        "Thresholding_rtl_2_out0_V",
    }
    assert max(mlp.depths.values()) <= 16
    assert {link.name: link.depth for link in mlp.design.links if not link.weights} == mlp.depths


def test_one_wrong_bit_of_one_weight_is_seen(mlp, build):
    name = "MVAU_rtl_2_memblock.dat"
    memories = tuple(_flipped(one) if one.name == name else one for one in mlp.design.memories)
    assert memories != mlp.design.memories
    wrong = replace(mlp.design.with_depths(dict.fromkeys(mlp.depths, 0)), memories=memories)
    run = run_design(build(plan_design(wrong)), wrong, mlp.feed)
    assert mlp.mismatches(run) > 0
    differs = run.outputs[mlp.design.outputs[0].layout.tensor] != mlp.expected
    assert np.flatnonzero(differs.any(axis=(0, 1))).tolist() == [0]


def _flipped(memory):
    """Flip the lowest bit of the first word."""
    first, _, rest = memory.text.partition("\n")
    return Memory(memory.name, f"{int(first, 16) ^ 1:0{len(first)}x}\n{rest}")


@pytest.mark.slow
def test_the_cnn_computes_the_whole_test_set(tmp_path, simulations, build):
    cnn = make_digits("cnn", tmp_path, simulations)
    check_test_set(cnn, build(plan_design(cnn.design)), held=(0.99, 0.996))
