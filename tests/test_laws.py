"""Laws try a part of their examples in `make test`, all of them in `make test-slow`, and in CI the same ones each time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws import COMPILED, examples, load_profile, scale


@pytest.mark.parametrize(("stated", "tried"), [(100, 20), (25, 10), (12, 10), (8, 8), (1, 1)])
def test_a_law_tries_a_part_of_its_examples_or_all(stated, tried):
    counts = {profile: len(tried_by(profile, stated)) for profile in ("part", "all")}
    assert counts == {"part": tried, "all": stated}


def test_a_law_whose_examples_are_compiled_tries_the_same_two_in_part():
    first, again = (tried_by("part", 8, compiles=COMPILED) for _ in range(2))
    assert (len(first), len(tried_by("all", 8, compiles=COMPILED))) == (2, 8)
    assert first == again


def test_a_law_whose_examples_build_tries_three_in_part():
    assert [len(tried_by(profile, 8, builds=True)) for profile in ("part", "all")] == [3, 8]


def tried_by(profile, stated, **kind):
    """Return the examples that are tried."""
    ran = []

    @settings(max_examples=stated, derandomize=True)
    @given(st.integers())
    def law(number):
        ran.append(number)

    scale(law, profile, **kind)
    law()
    return ran


def test_what_is_no_law_is_left_alone():
    def test():
        pass

    scale(test, "part")
    assert vars(test) == {}


@given(st.integers())
def test_this_law_states_nothing(number):
    assert settings.default.deadline is None


def test_laws_are_scaled_once_where_they_are_collected(request):
    (law,) = {
        item.obj for item in request.session.items if item.name == test_this_law_states_nothing.__name__
    }
    assert law._hypothesis_internal_use_settings.max_examples == examples(100, load_profile())


@pytest.mark.parametrize(
    ("surroundings", "profile", "derandomised"),
    [({}, "part", False), ({"CI": "1"}, "part", True), ({"LAWS": "all"}, "all", False)],
)
def test_the_surroundings_choose(surroundings, profile, derandomised, monkeypatch):
    before = settings.get_current_profile_name()
    for name in ("CI", "LAWS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    try:
        assert (load_profile(), settings.default.derandomize) == (profile, derandomised)
    finally:
        settings.load_profile(before)
