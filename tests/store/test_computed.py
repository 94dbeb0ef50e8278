"""Values that code computed: believed as long as the code is the same."""

import importlib
import sys
import time
from types import ModuleType

import pytest

from brainsmith.store.code_dependencies import sources_of
from brainsmith.store.computed import Computed, each_source_looked_at_once, kept_sources
from brainsmith.store.imported_sources import note_imports
from brainsmith.store.values import Kept


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    root = tmp_path / "site" / "computing"
    root.mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "roots": "from . import constant\n",
        "constant": "value = 1\n",
        "operators": "",
    }.items():
        (root / f"{name}.py").write_text(text)
    note_imports()
    time.sleep(0.06)  # what changed just now may change again without a trace
    yield root
    for name in [name for name in sys.modules if name.startswith(("computing", "mounted_folder"))]:
        del sys.modules[name]


def computed(tmp_path, key="key"):
    return Computed(str(tmp_path / "cache"), "things", key, ["computing.roots"])


def test_a_value_is_kept_as_long_as_the_code_is_the_same(package, tmp_path):
    assert computed(tmp_path).load() is None
    assert computed(tmp_path).save([1, 2], ["computing.operators"])
    assert computed(tmp_path).load() == [1, 2]
    assert computed(tmp_path, "another").load() is None


@pytest.mark.parametrize("name", ["roots", "constant", "operators", "__init__"])
def test_an_edit_of_any_module_that_counts_makes_it_another(package, tmp_path, name):
    computed(tmp_path).save(1, ["computing.operators"])
    (package / f"{name}.py").write_text((package / f"{name}.py").read_text() + "more = 2\n")
    assert computed(tmp_path).load() is None


def test_an_edit_of_what_is_imported_counts_once_it_is_imported_again(package, tmp_path):
    importlib.import_module("computing.roots")
    computed(tmp_path).save(1, [])
    (package / "constant.py").write_text("value = 2\n")
    assert computed(tmp_path).load() == 1  # the old code is what this process runs
    importlib.reload(sys.modules["computing.constant"])
    assert computed(tmp_path).load() is None


def test_a_result_of_the_old_code_is_not_kept_for_the_new(package, tmp_path):
    importlib.import_module("computing.roots")
    (package / "constant.py").write_text("value = 2\n")
    computed(tmp_path).save(1, [])
    for name in [name for name in sys.modules if name.startswith("computing")]:
        del sys.modules[name]  # as in the next process
    assert computed(tmp_path).load() is None


def test_modules_of_python_itself_need_no_source(package, tmp_path):
    assert computed(tmp_path).save(1, ["typing", "sys", "computing.operators"])
    assert computed(tmp_path).load() == 1


def test_what_is_computed_by_code_without_a_source_is_not_kept(package, tmp_path):
    sys.modules["mounted_folder_typed"] = ModuleType("mounted_folder_typed")
    assert not computed(tmp_path).save(1, ["mounted_folder_typed"])


def test_a_plugins_folder_need_not_be_mounted_to_find_what_was_kept(package, tmp_path):
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "operator.py").write_text("value = 1\n")
    mounted = sys.modules["mounted_folder"] = ModuleType("mounted_folder")
    mounted.__path__ = [str(plugins)]
    importlib.import_module("mounted_folder.operator")
    assert computed(tmp_path).save(1, ["mounted_folder.operator"])
    del sys.modules["mounted_folder"], sys.modules["mounted_folder.operator"]
    assert computed(tmp_path).load() == 1
    (plugins / "operator.py").write_text("value = 2\n")
    assert computed(tmp_path).load() is None


def kept_is_true(tmp_path, roots):
    found, fresh = kept_sources(roots, str(tmp_path / "cache")), sources_of(roots)
    return (found.digests, found.files, found.unknown) == (fresh.digests, fresh.files, fresh.unknown)


@pytest.mark.slow
def test_what_is_kept_of_sources_is_what_would_be_found(package, tmp_path):
    def is_true():
        return [kept_is_true(tmp_path, roots) for roots in (["computing.roots"], ["computing.*"])]

    def edits():
        yield lambda: None
        yield lambda: (package / "constant.py").write_text("value = 2\n")
        yield lambda: (package / "constant.py").write_text("value = 3\n")
        yield lambda: (package / "added.py").write_text("")
        yield lambda: (package / "roots.py").write_text("from . import added\n")
        yield (package / "constant.py").unlink
        yield lambda: importlib.import_module("computing.added")
        yield lambda: (package / "added.py").write_text("import computing.operators\n")

    for edit in edits():
        edit()
        assert is_true() == is_true() == [True, True]
        time.sleep(0.06)
        assert is_true() == is_true() == [True, True]


def test_sources_are_read_once(package, tmp_path, monkeypatch):
    kept_sources(["computing.*"], str(tmp_path / "cache"))
    monkeypatch.setattr("brainsmith.store.computed.sources_of", None)
    assert "computing.constant" in kept_sources(["computing.*"], str(tmp_path / "cache")).digests


def test_a_source_that_changes_while_sources_are_read_is_not_kept_as_it_was(package, tmp_path, monkeypatch):
    def read_and_change(*arguments):
        found = sources_of(*arguments)
        (package / "constant.py").write_text("value = 2\n")  # of the same size
        time.sleep(0.06)
        return found

    with monkeypatch.context() as patched:
        patched.setattr("brainsmith.store.computed.sources_of", read_and_change)
        kept_sources(["computing.*"], str(tmp_path / "cache"))
    assert kept_is_true(tmp_path, ["computing.*"])


def test_a_build_looks_at_each_source_once(package, tmp_path):
    computed(tmp_path).save(1, [])
    with each_source_looked_at_once():
        assert computed(tmp_path).load() == 1
        (package / "constant.py").write_text("value = 2\n")
        assert computed(tmp_path).load() == 1  # as when the build began
        importlib.import_module("computing.constant")
        assert computed(tmp_path).load() is None
        assert computed(tmp_path).save(2, []) and computed(tmp_path).load() == 2
    assert computed(tmp_path).load() == 2
    with each_source_looked_at_once():
        (package / "constant.py").write_text("value = 3\n")
    del sys.modules["computing.constant"]
    assert computed(tmp_path).load() is None


def test_another_values_file_in_its_place_is_not_believed(tmp_path):
    one, other = (Kept(str(tmp_path), "things", name) for name in ("one", "other"))
    one.save(None, 1)
    other.save(None, 2)
    with open(one.path, "rb") as file, open(other.path, "wb") as copy:
        copy.write(file.read())
    assert (one.load(None), other.load(None)) == (1, None)
