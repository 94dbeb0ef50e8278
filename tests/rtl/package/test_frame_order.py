"""Frames in the design's order and in the network's: what is found, what is taken, what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.package.frame_order import (
    FrameOrder,
    accepted_shapes,
    as_frames,
    find_order,
    stored_type,
)
from brainsmith.rtl.stitching.design import Layout

LAYOUT = Layout("x", (1, 2, 3, 4), 2, 4, True)
NETWORK = FrameOrder((4, 2, 3), (1, 2, 0))


def frames(*shape, count=3):
    return np.random.default_rng(0).integers(-8, 8, (count, *shape))


@given(shape=st.lists(st.integers(1, 4), min_size=1, max_size=4), data=st.data())
def test_the_order_that_made_frames_is_found(shape, data):
    axes = tuple(data.draw(st.permutations(range(len(shape)))))
    given_frames = np.arange(5 * np.prod(shape)).reshape(5, *shape)
    target = (1, *(shape[axis] for axis in axes))
    golden = FrameOrder(tuple(shape), axes).apply(given_frames[:3], target)
    found = find_order(given_frames, golden)
    assert found is not None
    np.testing.assert_array_equal(found.apply(given_frames[:3], target), golden)


def test_frames_that_are_not_moved_keep_their_order():
    values = frames(4, 4)
    assert find_order(values, values.reshape(3, 1, 16)) == FrameOrder((4, 4), (0, 1))


@pytest.mark.parametrize(
    ("network", "golden"),
    [
        (frames(6), frames(6) + 1),
        (frames(6), frames(7)),
        (frames(6, count=2), frames(6)),
        (frames(*[1] * 6), frames(1)),
    ],
)
def test_frames_with_other_values_have_no_order(network, golden):
    assert find_order(network, golden) is None


def test_the_shapes_that_are_taken():
    assert accepted_shapes(LAYOUT, None) == [(1, 2, 3, 4), (2, 3, 4)]
    assert accepted_shapes(LAYOUT, NETWORK) == [(1, 2, 3, 4), (2, 3, 4), (4, 2, 3)]
    assert accepted_shapes(Layout("x", (5,), 1, 4, True), None) == [(5,)]


@given(
    shape=st.sampled_from(accepted_shapes(LAYOUT, NETWORK)), kind=st.sampled_from(["i1", "i8", "f4", "f8"])
)
def test_frames_of_each_shape_and_kind_are_taken(shape, kind):
    values = frames(*shape)
    found = as_frames(values.astype(kind), LAYOUT, NETWORK)
    assert found.shape == (3, 1, 2, 3, 4)
    assert found.dtype == np.int64
    plain = values.transpose(0, 2, 3, 1) if shape == (4, 2, 3) else values
    np.testing.assert_array_equal(found.ravel(), plain.ravel())


def test_where_a_shape_is_both_it_is_the_networks():
    layout, order = Layout("x", (1, 2, 2), 1, 4, True), FrameOrder((2, 2), (1, 0))
    values = np.array([[[1, 2], [3, 4]]])
    assert as_frames(values, layout, order).ravel().tolist() == [1, 3, 2, 4]
    assert as_frames(values.reshape(1, 1, 2, 2), layout, order).ravel().tolist() == [1, 2, 3, 4]


REFUSED = {
    "shape": (
        frames(7),
        "it has the shape (3, 7), and (frames, 1, 2, 3, 4) or (frames, 2, 3, 4) or (frames, 4, 2, 3) is expected, "
        "with one frame or more",
    ),
    "no frame": (
        frames(2, 3, 4)[:0],
        "it has the shape (0, 2, 3, 4), and (frames, 1, 2, 3, 4) or (frames, 2, 3, 4) or (frames, 4, 2, 3) is "
        "expected, with one frame or more",
    ),
    "text": (np.full((1, 2, 3, 4), "a"), "it holds <U1, and whole numbers are expected"),
    "complex": (frames(2, 3, 4) + 0j, "it holds complex128, and whole numbers are expected"),
    "fraction": (
        np.full((1, 2, 3, 4), 0.5),
        "its value at (0, 0, 0, 0) is 0.5, and whole numbers are expected",
    ),
    "not a number": (
        np.full((1, 2, 3, 4), np.nan),
        "its value at (0, 0, 0, 0) is nan, and whole numbers are expected",
    ),
    "too large": (
        np.arange(24).reshape(1, 2, 3, 4),
        "it has values from 0 to 23, and INT4, -8 to 7, is expected",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused(what):
    values, message = REFUSED[what]
    with pytest.raises(ValueError) as caught:
        as_frames(values, LAYOUT, NETWORK)
    assert str(caught.value) == message


@given(bits=st.integers(1, 62), signed=st.booleans())
def test_a_stored_type_holds_all_values_of_a_stream(bits, signed):
    layout = Layout("x", (1,), 1, bits, signed)
    low, high = layout.span
    assert high - low == (1 << bits) - 1
    info = np.iinfo(stored_type(layout))
    assert info.min <= low and high <= info.max
