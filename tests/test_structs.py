"""Classes that are their fields."""

import pytest

from brainsmith.structs import Struct


class Point(Struct):
    x: int
    y: int
    name: str = "here"

    def __post_init__(self):
        self.sum = self.x + self.y


def test_fields_are_given_in_their_order_or_by_name_and_may_have_defaults():
    assert vars(Point(1, y=2)) == {"x": 1, "y": 2, "sum": 3}
    assert (Point(1, 2).name, Point(1, 2, "there").name) == ("here", "there")
    assert repr(Point(1, 2)) == "Point(1, 2, 'here')"


@pytest.mark.parametrize(("values", "named"), [((1,), {}), ((1, 2, "a", 4), {}), ((1, 2), {"z": 3})])
def test_what_is_missing_or_unknown_is_refused(values, named):
    with pytest.raises(TypeError, match=r"^Point takes x, y, name$"):
        Point(*values, **named)
