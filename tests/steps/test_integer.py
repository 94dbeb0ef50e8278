"""integer: networks that nobody chose become layers of integers, hardware and circuits that compute the same."""

import pytest

from tests.hunt.judge import BLUEPRINT, REFUSED, RIGHT, RTL_BLUEPRINT, judge
from tests.hunt.networks import random_network

STEPS = "  steps: [cleanup, integer, hardware_inference, specialize, fold, estimate]\n"
CIRCUIT = (
    "  steps: [cleanup, integer, hardware_inference, specialize, fold, estimate, rtl_codegen, rtl_stitch, rtl_size_fifos, "
    "rtl_simulate]\n"
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15, 45))
def test_layers_of_a_random_network_are_right_or_refused(seed, tmp_path):
    verdict = judge(random_network(seed), "estimates", tmp_path, blueprint=BLUEPRINT + STEPS)
    assert verdict.kind == RIGHT or (verdict.kind == REFUSED and verdict.text)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [8])
def test_a_circuit_of_a_random_network_is_right(seed, tmp_path):
    verdict = judge(random_network(seed), "simulated", tmp_path, blueprint=RTL_BLUEPRINT + CIRCUIT)
    assert (verdict.kind, verdict.text) == (RIGHT, "")
