"""Beats compared with tensors."""

import numpy as np
import pytest

from brainsmith.rtl.stitching.design import Layout
from brainsmith.rtl.verification.beat_comparison import Mismatch, compare_words
from brainsmith.rtl.verification.design_runs import layout_values, layout_words

LAYOUT = Layout("t", (3, 4), 2, 5, True)
GOLDEN = np.random.default_rng(1).integers(-16, 16, (5, 3, 4))


def test_what_moved_is_compared_and_what_did_not_is_counted():
    words = layout_words(LAYOUT, 16, GOLDEN)
    whole = compare_words(LAYOUT, words, len(words), GOLDEN)
    assert (whole.beats, whole.moved, whole.wrong, whole.values, whole.first) == (30, 30, 0, 60, None)
    assert whole.complete
    part = compare_words(LAYOUT, words[:7], 7, GOLDEN)
    assert (part.moved, part.wrong, part.values, part.complete) == (7, 0, 14, False)
    none = compare_words(LAYOUT, words[:0], 0, GOLDEN)
    assert (none.wrong, none.values, none.first) == (0, 0, None)


def test_the_first_wrong_value_has_frame_and_index():
    found = GOLDEN.copy()
    found[3, 1, 2] = -found[3, 1, 2] - 1
    found[4, 0, 0] = -found[4, 0, 0] - 1
    words = layout_words(LAYOUT, 16, found)
    seen = compare_words(LAYOUT, words, 30, GOLDEN)
    assert seen.wrong == 2
    assert seen.first == Mismatch(3, (1, 2), int(GOLDEN[3, 1, 2]), int(found[3, 1, 2]))


def test_bipolar_values_are_single_bits():
    layout = Layout("t", (2, 4), 4, 1, False, bipolar=True)
    values = np.array([[[1, -1, -1, 1], [-1, -1, 1, 1]]])
    words = layout_words(layout, 8, values)
    assert words.tolist() == [[0b1001], [0b1100]]
    np.testing.assert_array_equal(layout_values(layout, words, 1), values)
    assert compare_words(layout, words, 2, values).wrong == 0
    assert compare_words(layout, words, 2, -values).wrong == 8
    assert layout.span == (-1, 1)
    with pytest.raises(ValueError, match=r"^tensor 't' is bipolar: values must be -1 or 1$"):
        layout_words(layout, 8, np.zeros((1, 2, 4)))
