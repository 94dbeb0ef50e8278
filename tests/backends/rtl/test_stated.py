"""When Yosys' figures are as a backend states them."""

import pytest

from brainsmith.rtl.synthesis.cells import Resources
from tests.backends.rtl.stated import as_stated


@pytest.mark.parametrize(
    ("used", "stated", "right"),
    [
        ({"lut": 3}, {"lut": 8}, True),
        ({"lut": 3}, {"lut": 9}, False),
        ({"lut": 22}, {"lut": 17}, False),
        ({"lut": 125}, {"lut": 100}, True),
        ({"lut": 126}, {"lut": 100}, False),
        ({"ff": 1}, {"ff": 2}, False),
        ({"bram18": 1}, {}, False),
        ({"dsp": 4}, {"dsp": 5}, True),
        ({"dsp": 1}, {"dsp": 2}, False),
    ],
)
def test_few_luts_alone_may_be_a_few_others(used, stated, right):
    assert as_stated(Resources(**used), Resources(**stated)) is right
