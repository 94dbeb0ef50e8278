"""How many DSP slices the matrix-vector core has, by hand for the cases of its description."""

import pytest

from brainsmith.errors import BuildError
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.synthesis.compute_core import expected_slices
from brainsmith.rtl.synthesis.fpga_families import family_of
from brainsmith.rtl.synthesis.pieces import Piece
from brainsmith.rtl.synthesis.synthesis_checks import check_slices


def wrapper(**values):
    defaults = {
        "IS_MVU": 1, "VERSION": 2, "PUMPED_COMPUTE": 0, "PE": 4, "SIMD": 4, "ACTIVATION_WIDTH": 4, "WEIGHT_WIDTH": 4,
        "NARROW_WEIGHTS": 0,
    }  # fmt: skip
    lines = "".join(f"\tparameter {name} = {value},\n" for name, value in (defaults | values).items())
    return f"module MVAU_rtl_0 #(\n{lines}\tparameter LAST = 1\n)();\nendmodule\n"


@pytest.mark.parametrize(
    ("values", "slices"),
    [
        ({}, 4),  # four products of 4 bits in a DSP48E2
        ({"PE": 5}, 8),
        ({"VERSION": 1}, 8),  # three in a DSP48E1
        ({"VERSION": 1, "NARROW_WEIGHTS": 1}, 4),  # four, if no weight is the lowest
        ({"WEIGHT_WIDTH": 8, "ACTIVATION_WIDTH": 8}, 8),  # two
        ({"WEIGHT_WIDTH": 27, "ACTIVATION_WIDTH": 4}, 16),  # one
        ({"PUMPED_COMPUTE": 1, "SIMD": 5}, 3),
        ({"VERSION": 3}, 4),  # four lanes, as in a DSP48E2
        (
            {"VERSION": 3, "WEIGHT_WIDTH": 8, "ACTIVATION_WIDTH": 8, "SIMD": 7},
            12,
        ),  # INT8: three products in one
        ({"VERSION": 3, "IS_MVU": 0, "SIMD": 9}, 12),
    ],
)
def test_slices_of_a_core(values, slices):
    assert expected_slices(wrapper(**values)) == slices


def test_another_module_has_no_known_core():
    assert expected_slices("module x #(parameter PE = 4)(); endmodule") is None


def piece(kernel="MVAU_rtl"):
    return Piece("MVAU_rtl_0", kernel, "top", (RtlSource("a.v", wrapper()),), ())


FAMILY = family_of("xczu7ev-ffvc1156-2-e")


def test_a_core_without_slices_is_refused():
    with pytest.raises(BuildError) as caught:
        check_slices(piece(), {"LUT6": 100}, FAMILY)
    assert str(caught.value) == (
        "MVAU_rtl_0 (MVAU_rtl) was synthesised without a DSP slice, but its core computes in 4: they got lost, so the "
        "figures are wrong\n  please report this with the layer's sources"
    )


def test_code_of_another_part_is_refused():
    with pytest.raises(BuildError) as caught:
        check_slices(piece(), {"DSP58": 4}, FAMILY)
    assert str(caught.value) == (
        "MVAU_rtl_0 instantiates DSP58, and UltraScale+ parts have DSP48E2: its code was generated for another part\n"
        "  run rtl_codegen and rtl_stitch again for the part that is synthesised for"
    )


def test_another_number_is_noted_and_the_right_one_is_not():
    assert check_slices(piece(), {"DSP48E2": 4}, FAMILY) == []
    assert check_slices(piece(), {"DSP48E2": 3}, FAMILY) == [
        "MVAU_rtl_0 has 3 DSP slices, and the parameters of its core say 4"
    ]
    assert check_slices(piece("Thresholding_rtl"), {}, FAMILY) == []
