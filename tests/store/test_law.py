"""The law of everything that is kept: whatever happens to the disk, it is what was saved under that key, or nothing."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.errors import OutputError
from brainsmith.store import entry_locks, quota
from brainsmith.store.folders import KeptFolders
from brainsmith.store.values import Kept

KEYS = ["a", "b", "c"]
KEY = st.sampled_from(KEYS)
WHICH = st.integers(0, 1000)
VALUE = st.one_of(
    st.none(), st.integers(), st.text(max_size=5), st.binary(max_size=50), st.lists(st.integers(), max_size=3)
)
HARM = st.one_of(
    st.tuples(st.just("flip"), WHICH, WHICH),
    st.tuples(st.just("cut"), WHICH, WHICH),
    st.tuples(st.just("append"), WHICH, st.binary(min_size=1, max_size=9)),
    st.tuples(st.just("copy"), WHICH, WHICH),
    st.tuples(st.just("graft"), KEY, KEY),
    st.tuples(st.just("remove"), WHICH, st.none()),
    st.tuples(st.just("open"), WHICH, st.none()),
    st.tuples(st.just("trim"), WHICH, st.none()),
)


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock")


def harm(folder, what, which, more):
    """Do to a file below a folder, or to a whole one, what disks, people and programs do."""
    if what == "graft":
        one, other = folder / which, folder / more
        if one.is_dir() and one != other:
            shutil.rmtree(other, ignore_errors=True)
            shutil.copytree(one, other)
        return
    files = files_of(folder)
    if not files:
        return
    file = files[which % len(files)]
    data = bytearray(file.read_bytes())
    if what == "flip" and data:
        data[more % len(data)] ^= 1 + more % 255
        file.write_bytes(data)
    elif what == "cut":
        file.write_bytes(data[: more % (len(data) + 1)])
    elif what == "append":
        file.write_bytes(bytes(data) + more)
    elif what == "copy":
        shutil.copyfile(file, files[more % len(files)]) if file != files[more % len(files)] else None
    elif what == "remove":
        file.unlink()
    elif what == "open":
        file.chmod(0o666)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("save"), KEY, st.tuples(st.sampled_from([None, "s", "t"]), VALUE)),
            st.tuples(st.just("load"), KEY, st.sampled_from([None, "s", "t"])),
            HARM,
        ),
        max_size=30,
    )
)
def test_a_value_is_the_one_that_was_saved_under_its_key_and_stamp_or_none(events):
    saved = {}
    with tempfile.TemporaryDirectory() as folder:
        for what, which, more in events:
            if what == "save":
                stamp, value = more
                assert Kept(folder, "things", which).save(stamp, value)
                saved.setdefault(which, []).append((stamp, value))
            elif what == "load":
                found = Kept(folder, "things", which).load(more)
                wanted = [value for stamp, value in saved.get(which, []) if more in (None, stamp)]
                assert found is None or found in wanted
            elif what == "trim":
                quota.trim_files(os.path.join(folder, "things"), which, "")
            else:
                harm(Path(folder), what, which, more)
        for key, values in saved.items():  # and once it is saved again, it is there
            stamp, value = values[-1]
            assert Kept(folder, "things", key).save(stamp, value)
            assert Kept(folder, "things", key).load(stamp) == value


@given(st.lists(st.one_of(st.tuples(st.just("obtain"), KEY, st.none()), HARM), max_size=20))
def test_a_folder_is_the_one_that_was_made_for_its_key(events):
    with tempfile.TemporaryDirectory() as place:
        store = KeptFolders(Path(place) / "things", failure=OutputError)
        for what, which, more in [*events, *(("obtain", key, None) for key in KEYS)]:
            if what == "obtain":
                entry = store.obtain(which, lambda work, key=which: fill(work, key))
                assert {path.name: path.read_text() for path in entry.rglob("*.txt")} == contents(which)
            elif what == "trim":
                store.limit = which
                store.trim()
            else:
                harm(store.folder, what, which, more)
        os.close(
            entry_locks._PROCESS.by_folder.pop(store._locks.path)._descriptor
        )  # of a folder that no longer exists


def contents(key):
    return {"one.txt": f"one of {key}", "two.txt": f"two of {key}"}


def fill(work, key):
    (work / "inner").mkdir()
    (work / "one.txt").write_text(contents(key)["one.txt"])
    (work / "inner" / "two.txt").write_text(contents(key)["two.txt"])
