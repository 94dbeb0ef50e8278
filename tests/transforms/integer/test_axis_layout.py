"""AxisLayout: reshapes and transposes that are written down give what numpy does."""

from math import prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.transforms.integer.axis_layout import AxisLayout

SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=4)


@settings(deadline=None)
@given(SIZES, st.data())
def test_moves_are_those_of_numpy(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    layout = AxisLayout.of(shape, order)
    memory = np.arange(prod(shape)).reshape([shape[axis] for axis in order])
    start = memory.transpose(np.argsort(order))
    values = start
    for _ in range(data.draw(st.integers(0, 4))):
        if data.draw(st.booleans()):
            axes = data.draw(st.permutations(range(len(layout.dims))))
            layout, values = layout.transposed(axes), values.transpose(axes)
            continue
        left, to = prod(shape), []
        for _ in range(data.draw(st.integers(0, 3))):
            to.append(data.draw(st.sampled_from([size for size in range(1, left + 1) if left % size == 0])))
            left //= to[-1]
        found = layout.reshaped([*to, left])
        if found is None:
            continue
        layout, values = found, values.reshape([*to, left])
    assert layout.shape == values.shape
    np.testing.assert_array_equal(layout.forth(start), values)
    np.testing.assert_array_equal(layout.back(values), start)
    np.testing.assert_array_equal(values.reshape(-1)[layout.places()], np.arange(prod(shape)))
    assert prod(layout.sizes) == prod(shape)


def test_a_shape_whose_sizes_have_no_parts_in_common_has_no_layout():
    assert AxisLayout.of((2, 3), (0, 1)).reshaped((3, 2)) is None
    assert AxisLayout.of((2, 3), (0, 1)).reshaped((6,)).dims == ((0, 1),)
    assert AxisLayout.of((4, 6), (0, 1)).reshaped((8, 3)).sizes == (4, 2, 3)
