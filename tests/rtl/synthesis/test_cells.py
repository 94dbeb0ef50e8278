"""What cells cost: known ones by AMD's documents, unknown ones never nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.errors import BuildError
from brainsmith.rtl.synthesis.cells import Resources, cost

CELLS = {
    "LUT2": 3, "LUT6": 4, "INV": 1, "FDRE": 10, "FDSE": 2, "RAMB18E2": 1, "RAMB36E2": 2, "DSP48E2": 5, "SRL16E": 7,
    "SRLC32E": 1, "RAM32M16": 2, "CARRY8": 2, "CARRY4": 1, "URAM288": 1, "MUXF7": 9,
}  # fmt: skip


def test_each_kind_counts_where_it_belongs():
    assert cost(CELLS, "x") == Resources(
        lut=8 + 7 + 1 + 16, lutram=24, ff=12, bram18=5, dsp=5, uram=1, carry=5
    )


@given(st.dictionaries(st.sampled_from(sorted(CELLS)), st.integers(0, 1000)), st.data())
def test_the_cost_of_two_is_the_sum_of_their_costs(cells, data):
    some = {kind: data.draw(st.integers(0, count)) for kind, count in cells.items()}
    rest = {kind: count - some[kind] for kind, count in cells.items()}
    assert cost(cells, "x") == cost(some, "x") + cost(rest, "x")


def test_an_unknown_cell_is_an_error():
    with pytest.raises(BuildError) as caught:
        cost({"LUT6": 1, "LOOKAHEAD8": 2, "$mul": 1}, "MVAU_rtl_0")
    assert str(caught.value) == (
        "MVAU_rtl_0: Yosys left cells of unknown cost: 1 $mul, 2 LOOKAHEAD8\n"
        "  the figures would be too low without them; please report this with the layer's sources"
    )
