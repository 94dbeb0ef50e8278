"""Folders as one content: files with safe names come back, and nothing else can be unpacked."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.store.shared import packed_folder
from brainsmith.store.shared.packed_folder import is_safe, packed, unpacked

NAMES = (
    st.lists(st.text("abc.-_", min_size=1, max_size=4), min_size=1, max_size=3).map("/".join).filter(is_safe)
)


@given(st.dictionaries(NAMES, st.binary(max_size=20), max_size=6))
def test_the_files_come_back_in_whatever_order_they_were_given(files):
    try:
        content = packed(files)
    except ValueError as error:
        assert str(error) == "a name is that of a file and of a folder"
        return
    assert unpacked(content) == files
    assert packed(dict(reversed(files.items()))) == content


def content_of(head, body=b""):
    return json.dumps(head).encode() + b"\n" + body


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a//b",
        "./a",
        "a/.",
        "",
        "a\\b",
        "C:x",
        "a\nb",
        "a\x1b[2J",
        "x" * 256,
        "a/",
    ],
)
def test_no_name_leads_out_of_the_folder(name):
    for make in (lambda: packed({name: b""}), lambda: unpacked(content_of([[name, 0]]))):
        with pytest.raises(ValueError) as caught:
            make()
        assert str(caught.value) == f"a file may not be called {name[:80]!r}"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it does not say which files it holds"),
        (b"no json\n", "it does not say which files it holds"),
        (b"[" * 100_000 + b"\n", "it does not say which files it holds"),
        (content_of(7), "it does not say which files it holds"),
        (content_of([["a"]]), "it does not say which files it holds"),
        (content_of([["a", 1], ["a", 1]], b"xy"), "a file is named twice, or has no size"),
        (content_of([["a", -1]]), "a file is named twice, or has no size"),
        (content_of([["a", True]], b"x"), "a file is named twice, or has no size"),
        (content_of([["a", 2]], b"x"), "its files have other sizes than it says"),
        (content_of([["a", 1]], b"xy"), "its files have other sizes than it says"),
        (content_of([["a", 0], ["a/b", 0]]), "a name is that of a file and of a folder"),
    ],
)
def test_it_says_what_is_wrong(content, said):
    with pytest.raises(ValueError) as caught:
        unpacked(content)
    assert str(caught.value) == said


def test_there_may_be_so_many_files(monkeypatch):
    monkeypatch.setattr(packed_folder, "MOST_FILES", 2)
    with pytest.raises(ValueError, match=r"^it holds 3 files, and may hold 2$"):
        unpacked(content_of([["a", 0], ["b", 0], ["c", 0]]))


@given(st.binary(max_size=100))
def test_garbage_is_a_value_error(content):
    with contextlib.suppress(ValueError):
        assert isinstance(unpacked(content), dict)
