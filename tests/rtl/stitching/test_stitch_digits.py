"""The shipped networks as whole circuits: the complete test set, bit for bit, at the estimated rate."""

from dataclasses import replace

import numpy as np
import pytest

from brainsmith.rtl.simulation.simulation_plan import Memory
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.design_runs import run_design
from tests.rtl.digits import check_test_set, make_digits

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def mlp(tmp_path_factory, simulations):
    return make_digits("mlp", tmp_path_factory.mktemp("mlp"))


def test_the_mlp_computes_the_whole_test_set(mlp, build):
    check_test_set(mlp, build(plan_design(mlp.design)), held=(0.9, 0.9))


def test_the_fifos_of_the_mlp_are_small(mlp):
    report = mlp.sizing.report()
    assert {
        fifo["name"]: (fifo["gauge"], fifo["depth"]) for fifo in report["fifos"] if fifo["gauge"] > 5
    } == {
        "StreamingDataWidthConverter_rtl_0_out0_V": (8, 6),
        "StreamingDataWidthConverter_rtl_1_out0_V": (16, 10),
        "Thresholding_rtl_2_out0_V": (17, 5),
    }
    assert (report["gauge_bits"], report["total_bits"]) == (1008, 752)
    assert mlp.sizing.minimal
    assert not mlp.sizing.notes
    assert mlp.sizing.interval == mlp.design.interval


def test_one_wrong_bit_of_one_weight_is_seen(mlp, build):
    name = "MVAU_rtl_2_memblock.dat"
    memories = tuple(_flipped(one) if one.name == name else one for one in mlp.design.memories)
    assert memories != mlp.design.memories
    wrong = replace(mlp.design, memories=memories)
    run = run_design(build(plan_design(wrong)), wrong, mlp.feed)
    assert mlp.mismatches(run) > 0
    differs = run.outputs[mlp.design.outputs[0].layout.tensor] != mlp.expected
    assert np.flatnonzero(differs.any(axis=(0, 1))).tolist() == [0]


def _flipped(memory):
    """Flip the lowest bit of the first word."""
    first, _, rest = memory.text.partition("\n")
    return Memory(memory.name, f"{int(first, 16) ^ 1:0{len(first)}x}\n{rest}")


def test_the_cnn_computes_the_whole_test_set(tmp_path, simulations, build):
    cnn = make_digits("cnn", tmp_path)
    assert cnn.sizing.minimal
    assert not cnn.sizing.notes
    assert cnn.sizing.report()["total_bits"] < 0.7 * cnn.sizing.report()["gauge_bits"]
    check_test_set(cnn, build(plan_design(cnn.design)), held=(0.98, 0.999))
