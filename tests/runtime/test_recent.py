"""What was used last is remembered, by its key."""

from __future__ import annotations

from brainsmith.runtime.recent import Recent


def test_what_was_not_used_for_longest_is_forgotten():
    recent = Recent(2)
    assert [recent.keep(key, key * 2) for key in "ab"] == [None, None]
    assert recent.find("a") == "aa"
    assert recent.keep("c", "cc") == "bb"
    assert [recent.find(key) for key in "abc"] == ["aa", None, "cc"]


def test_a_value_is_forgotten_under_all_of_its_keys():
    recent, value = Recent(3), object()
    for key, kept in (("a", value), ("b", object()), ("c", value)):
        recent.keep(key, kept)
    recent.forget(value)
    assert [recent.find(key) is None for key in "abc"] == [True, False, True]
    recent.clear()
    assert recent.find("b") is None
