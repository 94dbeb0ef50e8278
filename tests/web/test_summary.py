"""The tile of the page that says how good the foldings are."""

from brainsmith.web.summary import _fit

FIT = {
    "device": "xc7z020",
    "use": 0.8,
    "goal": "fps",
    "gap": 0.0,
    "cost": 0.5,
    "cost_bound": 0.5,
    "proven": True,
}


def test_proven_foldings_are_the_best():
    tile = _fit(FIT)
    assert "the best" in tile
    assert "within 80 % of xc7z020, goal: fps; proven: no other choice is better" in tile


def test_a_gap_is_shown_with_its_bound():
    tile = _fit({**FIT, "proven": False, "gap": 0.1, "cost_bound": 0.45})
    assert "gap 10.0 %" in tile and "not proven (cost 0.5, none below 0.45)" in tile


def test_without_a_fit_there_is_no_tile():
    assert _fit({}) is None
