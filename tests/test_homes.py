"""A home is lent again only as it was made."""

import os

import pytest

from tests.homes import Homes


@pytest.fixture
def lending(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()

    def fill(folder, parts):
        (folder / "brainsmith").mkdir(parents=True)
        for part in parts:
            (folder / "brainsmith" / part).symlink_to(shared)

    (tmp_path / "homes").mkdir()
    return Homes(tmp_path / "homes", fill)


def test_one_that_is_left_as_it_was_is_lent_again(lending):
    with lending.lend(("rtl",)) as first:
        assert os.listdir(first / "cache" / "brainsmith") == ["rtl"]
        (first / "cache" / "brainsmith" / "rtl" / "kept").write_text("for all")
    with lending.lend(("rtl",)) as second:
        assert second == first
        with lending.lend(("rtl",)) as at_the_same_time:
            assert at_the_same_time != first
    with lending.lend(()) as sharing_nothing:
        assert os.listdir(sharing_nothing / "cache" / "brainsmith") == []


CHANGES = {
    "a file": lambda home: (home / ".profile").write_text(""),
    "a folder in the cache": lambda home: (home / "cache" / "brainsmith" / "settings").mkdir(),
    "a link removed": lambda home: (home / "cache" / "brainsmith" / "rtl").unlink(),
    "a link to elsewhere": lambda home: (
        (home / "cache" / "brainsmith" / "rtl").unlink(),
        (home / "cache" / "brainsmith" / "rtl").symlink_to(home),
    ),
    "another mode": lambda home: (home / "cache").chmod(0o500),
    "no cache": lambda home: (home / "cache").rename(home / "moved"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_one_that_a_test_changed_is_not_lent_again(lending, change):
    with lending.lend(("rtl",)) as first:
        change(first)
    with lending.lend(("rtl",)) as second:
        assert second != first
        assert os.listdir(second) == ["cache"]
        assert os.listdir(second / "cache" / "brainsmith") == ["rtl"]
