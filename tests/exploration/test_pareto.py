"""The front: no point of it is beaten, and each other one is."""

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.exploration.pareto import front_of

OBJECTIVES = {"fps": "max", "lut": "min", "accuracy": "max"}
figures = st.fixed_dictionaries({name: st.none() | st.integers(0, 4) for name in OBJECTIVES})


def beats(one, other):
    signed = [
        (one[name], other[name]) if wanted == "max" else (-one[name], -other[name])
        for name, wanted in OBJECTIVES.items()
    ]
    return all(a >= b for a, b in signed) and any(a > b for a, b in signed)


@given(st.lists(figures, max_size=25))
def test_it_is_what_comparing_all_pairs_finds(points):
    known = [at for at, one in enumerate(points) if None not in one.values()]
    expected = [at for at in known if not any(beats(points[other], points[at]) for other in known)]
    assert front_of(points, OBJECTIVES) == expected


def test_without_objectives_there_is_no_front():
    assert front_of([{"fps": 1}], {}) == []
    assert front_of([], OBJECTIVES) == []
