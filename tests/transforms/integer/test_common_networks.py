"""Blocks of ResNets, U-Nets, MobileNets, keyword spotters and others come out in every bit."""

import pytest

from tests.transforms.integer.common_networks import NETWORKS
from tests.transforms.integer.test_structure_rules import check


@pytest.mark.slow
@pytest.mark.parametrize("make", NETWORKS, ids=lambda make: make.__name__)
def test_a_block_that_others_use_comes_out_in_every_bit(make):
    assert "MatMul" in check(make(), 8)
