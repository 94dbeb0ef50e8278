"""Of which source an imported module was made, whatever its file holds by now."""

import importlib
import os
import subprocess
import sys
import time
import zipfile

import pytest

from brainsmith.store import imported_sources
from brainsmith.store.fingerprint import digest
from brainsmith.store.imported_sources import has_changed, imported_source, note_imports


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    before = set(sys.modules)
    note_imports()
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("noted_"):
            del sys.modules[name]


def written(folder, name, text, age=10.0):
    """Write a module whose file is some seconds old, as far as the content's time goes."""
    path = folder / f"{name}.py"
    path.write_text(text)
    when = time.time() - age
    os.utime(path, (when, when))
    return path


def test_the_source_of_an_imported_module_is_known_after_its_file_changed(folder):
    path = written(folder, "noted_a", "VALUE = 1\n")
    module = importlib.import_module("noted_a")
    assert not has_changed("noted_a")
    path.write_text("VALUE = 2\n")
    assert (module.VALUE, imported_source("noted_a").data) == (1, b"VALUE = 1\n")
    assert imported_source("noted_a").digest == digest(b"VALUE = 1\n")
    assert has_changed("noted_a")


def test_a_module_imported_again_counts_with_its_new_source(folder):
    path = written(folder, "noted_b", "VALUE = 1\n")
    importlib.import_module("noted_b")
    path.write_text("VALUE = 2\n")
    assert importlib.reload(sys.modules["noted_b"]).VALUE == 2
    assert imported_source("noted_b").data == b"VALUE = 2\n"
    assert not has_changed("noted_b")


def test_a_file_that_is_gone_has_changed_and_one_that_was_touched_has_not(folder):
    path = written(folder, "noted_c", "VALUE = 1\n")
    importlib.import_module("noted_c")
    os.utime(path)
    assert not has_changed("noted_c")
    path.unlink()
    assert has_changed("noted_c")


def test_two_edits_of_the_same_size_and_second_are_both_seen(folder):
    path = folder / "noted_d.py"
    for number in (1, 2, 3):
        path.write_text(f"value = {number}\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))  # all that Python's own bytecode is compared with
        sys.modules.pop("noted_d", None)
        importlib.invalidate_caches()
        module = importlib.import_module("noted_d")
        assert module.value == number
        assert imported_source("noted_d").data == f"value = {number}\n".encode()


def test_bytecode_that_is_younger_than_the_source_is_used(folder, monkeypatch):
    path = written(folder, "noted_e", "VALUE = 1\n")
    importlib.import_module("noted_e")
    later = time.time() + 10
    os.utime(
        path.parent / "__pycache__" / os.path.basename(importlib.util.cache_from_source(str(path))),
        (later, later),
    )
    monkeypatch.setattr(
        imported_sources._NotingLoader, "source_to_code", None
    )  # it would be called to compile
    del sys.modules["noted_e"]
    assert importlib.import_module("noted_e").VALUE == 1
    assert imported_source("noted_e").data == b"VALUE = 1\n"


def test_who_only_looks_at_a_modules_code_notes_nothing(folder):
    path = written(folder, "noted_f", "VALUE = 1\n")
    module = importlib.import_module("noted_f")
    path.write_text("VALUE = 2\n")
    module.__loader__.get_code("noted_f")
    assert imported_source("noted_f").data == b"VALUE = 1\n"


def test_what_is_installed_is_left_to_pythons_own_import(folder):
    (folder / "site-packages").mkdir()
    written(folder / "site-packages", "noted_g", "VALUE = 1\n")
    sys.path.insert(0, str(folder / "site-packages"))
    module = importlib.import_module("noted_g")
    assert type(module.__loader__).__name__ == "SourceFileLoader"


@pytest.mark.slow
def test_a_module_in_an_archive_has_changed_if_the_archive_has(folder):
    code = (
        "import importlib, os, sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from brainsmith.store.imported_sources import has_changed, note_imports; note_imports()\n"
        "import packed; print(packed.VALUE, has_changed('packed')); time.sleep(0.1)\n"
        "os.utime(sys.argv[1]); print(has_changed('packed'))\n"
    )
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("packed.py", "VALUE = 1\n")
    time.sleep(0.1)  # the process must surely begin after the file was written
    command = [sys.executable, "-c", code, str(folder / "a.zip")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\nTrue\n"


def test_a_module_that_is_not_there_and_one_without_a_file_have_no_source(folder):
    assert imported_source("noted_absent") is None
    assert imported_source("sys") is None
    assert not has_changed("noted_absent")
    assert not has_changed("sys")


BEFORE = """
import noted_before
from brainsmith.store import imported_sources
from brainsmith.store.fingerprint import digest
from brainsmith.store.imported_sources import has_changed, imported_source
if {edit}:
    with open(noted_before.__file__, "w") as file:
        file.write("VALUE = 2\\n")
known = imported_source("noted_before")
print(known and known.data, has_changed("noted_before"))
"""


@pytest.mark.parametrize(
    ("edit", "told"), [(False, "b'VALUE = 1\\n' False"), (True, "None True")], ids=["untouched", "edited"]
)
def test_a_module_imported_before_counts_with_its_file_if_that_is_older_than_the_process(
    tmp_path, edit, told
):
    (tmp_path / "noted_before.py").write_text("VALUE = 1\n")
    time.sleep(0.1)  # the process must surely begin after the file was written
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + BEFORE.format(edit=edit)
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == told


@pytest.mark.slow
def test_what_a_shell_installed_before_it_became_python_has_not_changed(tmp_path):
    """`sh -c "make install && brainsmith build ..."`: the process is older than the files of what it imports."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "from brainsmith.store.imported_sources import has_changed\n"
        "import installed_late; print(has_changed('installed_late'))\n"
        f"open({str(folder / 'installed_late.py')!r}, 'w').write('VALUE = 22')\n"
        "print(has_changed('installed_late'))\n"
    )
    # Python may begin within the tick in which the file was written: it must surely be later.
    shell = 'sleep 0.1; echo "VALUE = 1" > "$1"; sleep 0.1; exec "$2" -c "$3"'
    command = ["sh", "-c", shell, "sh", str(folder / "installed_late.py"), sys.executable, code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\nTrue\n"
