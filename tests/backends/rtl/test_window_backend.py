"""WindowBackend: what CropRTL and PadRTL share."""

import pytest
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.crop_rtl import CropRTL
from brainsmith.backends.rtl.pad_rtl import PadRTL
from tests.backends.rtl.bench import lint, make_model
from tests.backends.rtl.test_crop_rtl import case as crop
from tests.backends.rtl.test_pad_rtl import case as pad

BOTH = pytest.mark.parametrize("backend", [CropRTL, PadRTL])


def instance(one):
    return getCustomOp(make_model([one]).graph.node[0])


def loops(*turns):
    """Return the parameter of six loops; those that are not given, the outermost ones, have one turn."""
    nest = ((1, 0, 0),) * (6 - len(turns)) + turns
    words = [word for loop in nest for word in reversed(loop)]
    return {"TURNS": sum(word << 32 * at for at, word in enumerate(words))}


@BOTH
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        loops(),
        loops((3, 1, 1), *[(1, 0, 0)] * 4, (5, 0, 4)),
        loops((7, 0, 6), (1, 0, 0), (2, 0, 0), (4, 1, 2), (1, 0, 0)),
    ],
)
def test_lint_is_silent(backend, parameters):
    assert lint(backend, parameters) == ""


@pytest.mark.parametrize(
    "parameters",
    [
        {"IN_BITS": 1, "OUT_BITS": 1, "VALUE": 1},
        {"SIGNED": 1, "OUT_BITS": 9},
        {"SIMD": 3, "VALUE": 255},
    ],
)
def test_lint_of_widths_is_silent(parameters):
    assert lint(PadRTL, parameters) == ""
    assert lint(CropRTL, {"BITS": parameters.get("IN_BITS", 8)}) == ""


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (crop((2, 3, 8, 4, 16), (0, 0, 3, 0, 0), (2, 3, 1, 4, 16), simd=4), loops((8, 3, 3), (16, 0, 15))),
        (pad((1, 8, 4, 4, 16), (0, 1, 0, 0, 0), (0, 2, 0, 0, 0), simd=4), loops((11, 1, 8), (64, 0, 63))),
    ],
)
def test_axes_that_are_whole_are_one_loop(one, expected):
    assert instance(one).core_parameters()["TURNS"] == expected["TURNS"]


@pytest.mark.parametrize(("backend", "case"), [(CropRTL, crop), (PadRTL, pad)], ids=["CropRTL", "PadRTL"])
def test_more_loops_than_the_core_has_are_refused(backend, case):
    seven = instance(case((3,) * 7, (1,) * 7, (1,) * 7))
    assert backend.supports(seven).reason == "its window needs 7 nested loops, and the core has 6"
    floats = instance(case((3, 2), (1, 0), (1, 2), kind="FLOAT32"))
    assert backend.supports(floats).reason == "input 0 is FLOAT32, but its core computes with integers only"
    assert backend.supports(instance(case((3, 2), (1, 0), (1, 2))))


@pytest.mark.parametrize(
    ("one", "lanes"),
    [(crop((8, 32), (3, 8), (1, 24)), (1, 2, 4, 8)), (pad((8, 32), (3, 8), (0, 4)), (1, 2, 4))],
)
def test_what_folding_may_raise(one, lanes):
    (found,) = instance(one).parallelism()
    assert (found.attribute, found.values) == ("SIMD", lanes)
