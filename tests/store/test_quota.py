"""Quotas: the page of the settings states each."""

import re
from pathlib import Path

from brainsmith.store.quota import MEBIBYTE, QUOTAS, quota_of, trim

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_page_of_the_settings_states_every_quota():
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|.*\| (\d+)(?: each)? \|$", PAGE.read_text(), re.M)
    stated = {kind: int(number) for kinds, number in rows for kind in re.findall(r"\w+", kinds)}
    assert stated.keys() >= QUOTAS.keys()
    assert stated == {kind: quota_of(kind) // MEBIBYTE for kind in stated}


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
