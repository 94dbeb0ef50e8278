"""The profiles of the laws: each tries as many examples as its profile says, and CI the same ones each time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws import examples, scale


@pytest.mark.parametrize(("stated", "tried"), [(100, 40), (25, 10), (12, 10), (8, 8), (1, 1)])
def test_a_law_tries_a_part_of_its_examples_before_a_commit_and_all_in_ci(stated, tried):
    counts = {profile: len(tried_by(profile, stated)) for profile in ("dev", "ci")}
    assert counts == {"dev": tried, "ci": stated}


def test_a_law_whose_examples_are_compiled_tries_the_same_two_before_a_commit():
    first, again = (tried_by("dev", 8, compiles=True) for _ in range(2))
    assert (len(first), len(tried_by("ci", 8, compiles=True))) == (2, 8)
    assert first == again


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

    scale(test, "dev")
    assert vars(test) == {}


@given(st.integers())
def test_this_law_states_nothing(number):
    assert settings.default.deadline is None


def test_laws_are_scaled_once_where_they_are_collected(request):
    (law,) = {
        item.obj for item in request.session.items if item.name == test_this_law_states_nothing.__name__
    }
    profile = settings.get_current_profile_name()
    assert law._hypothesis_internal_use_settings.max_examples == examples(100, profile)
