"""Numbers as people read them."""

import math

import pytest

from brainsmith import figures


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "–"), (0, "0 ns"), (2e-9, "2.00 ns"), (1.25e-6, "1.25 µs"), (0.0999, "99.9 ms"),
        (1.0, "1.00 s"), (75, "75.0 s"), (303, "5 min 3 s"),
    ],
)  # fmt: skip
def test_seconds(value, said):
    assert figures.seconds(value) == said


@pytest.mark.parametrize(
    ("value", "said"), [(None, "–"), (0, "0"), (1234567, "1,234,567"), (2.5, "2.5"), (255102.04, "255,102")]
)
def test_count(value, said):
    assert figures.count(value) == said


@pytest.mark.parametrize(
    ("value", "said"), [(None, "–"), (1, "100.00 %"), (0.9722, "97.22 %"), (97.2, "97.20 %"), (0, "0.00 %")]
)
def test_percent(value, said):
    assert figures.percent(value) == said


@pytest.mark.parametrize(
    ("value", "read"),
    [("12", 12), (1.5, 1.5), (True, None), (math.inf, None), ("x", None), ([], None), (10**400, None)],
)
def test_number(value, read):
    assert figures.number(value) == read


def test_plural():
    assert [figures.plural(1, "layer"), figures.plural(1200, "layer"), figures.plural(2, "box", "boxes")] == [
        "1 layer", "1,200 layers", "2 boxes",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "places", "said"),
    [
        (0, 1, "0.0 %"), (40 / 230_400, 1, "0.02 %"), (40 / 230_400, 0, "0.02 %"), (0.0004, 1, "0.04 %"),
        (0.0096, 0, "1 %"), (1e-7, 2, "0.00001 %"), (0.1234, 1, "12.3 %"), (2.5, 0, "250 %"),
    ],
)  # fmt: skip
def test_a_share_that_is_not_0_is_never_written_as_0(value, places, said):
    assert figures.share(value, places) == said


def test_small():
    assert [figures.small(value) for value in (None, 0, 0.00391, 1.2e-7)] == ["–", "0", "0.0039", "1.2e-07"]
