"""Tables inside cores: their content, and what they are made of."""

import numpy as np
import pytest
from qonnx.core.datatype import DataType

from brainsmith.errors import BuildError
from brainsmith.rtl.cores.tables import Table, make_table, table_text
from brainsmith.rtl.synthesis.cells import Resources


@pytest.mark.parametrize(
    ("words", "kind", "text"),
    [
        ([[1, 2], [3, 4]], "UINT4", "21\n43\n"),
        ([[-1, 0], [-8, 7]], "INT4", "0f\n78\n"),
        ([[-1, 1, 1], [1, -1, -1]], "BIPOLAR", "6\n1\n"),
        ([[1, -1, 0]], "TERNARY", "0d\n"),
    ],
)
def test_the_first_value_has_the_lowest_bits(words, kind, text):
    assert table_text(np.array(words), DataType[kind]) == text


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        ([1, 16], "UINT4", "16"),
        ([-9, 0], "INT4", "-9"),
        ([0.5, 1], "INT4", "0.5"),
        ([1, 0], "BIPOLAR", "0"),
        ([2, 1], "TERNARY", "2"),
        ([float("nan"), 1], "INT8", "nan"),
    ],
)
def test_what_the_datatype_does_not_have_is_refused(values, kind, text):
    with pytest.raises(BuildError) as raised:
        table_text(np.array([values]), DataType[kind], "layer 'a': a table")
    assert str(raised.value) == f"layer 'a': a table of {kind} cannot hold {text}"


@pytest.mark.parametrize(
    ("bits", "depth", "style", "expected"),
    [
        (512, 32, "auto", "distributed"),
        (8, 128, "auto", "distributed"),
        (8, 129, "auto", "block"),
        (1, 2, "block", "block"),
        (64, 4096, "distributed", "distributed"),
    ],
)
def test_what_a_table_is_made_of(bits, depth, style, expected):
    assert make_table(bits, depth, style) == Table(bits, depth, expected)


@pytest.mark.parametrize(
    ("table", "needs"),
    [
        (Table(8, 1, "block"), Resources()),
        (Table(8, 65, "distributed"), Resources(lut=16, ff=8)),
        (Table(64, 4, "distributed"), Resources(lut=14, ff=14)),
        (Table(36, 512, "block"), Resources(bram18=1)),
        (Table(8, 2049, "block"), Resources(bram18=2)),
        (Table(128, 1024, "block"), Resources(bram18=8)),
        (
            Table(40, 1107, "block"),
            Resources(lut=40, ff=2, bram18=4),
        ),  # as Yosys makes of the weights of an MVAU
    ],
)
def test_what_a_table_needs(table, needs):
    assert table.resources("xcup") == needs
