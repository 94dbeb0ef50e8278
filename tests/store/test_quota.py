"""Quotas: what goes first."""

from brainsmith.store.quota import trim


def test_the_oldest_go_first_and_no_more_than_needed():
    entries = [(3.0, 10, "c"), (1.0, 10, "a"), (2.0, 10, "b")]
    for limit, left in ((30, "abc"), (29, "bc"), (20, "bc"), (19, "c"), (0, "")):
        dropped = []
        trim(entries, limit, lambda path, dropped=dropped: dropped.append(path) or True)
        assert "".join(sorted({"a", "b", "c"} - set(dropped))) == left


def test_what_is_in_use_stays_and_others_go_in_its_place():
    dropped = []
    trim(
        [(1.0, 10, "a"), (2.0, 10, "b"), (3.0, 10, "c")],
        15,
        lambda path: path != "a" and not dropped.append(path),
    )
    assert dropped == ["b", "c"]
