"""Snapshots as machines share them: the same records from other folders, and nothing that a hostile text could add."""

import json
import os
import shutil

import pytest

from brainsmith.plugin.distributions import environment
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.precedence import ADAPTED
from brainsmith.plugin.shared_places import Places
from brainsmith.plugin.shared_snapshot import of_text
from brainsmith.plugin.shared_writing import to_text
from brainsmith.settings import load_settings
from tests.plugin.installed import step_file, transform_file

pytestmark = pytest.mark.finds_anew


@pytest.fixture
def found(project, no_frameworks):
    """What a discovery of a project with two plugins finds, as text."""
    project.write(
        "plugins/tidy.py", transform_file("KeepAll", 'stage="tidy", tags=["a", "b"], description="Keep all"')
    )
    project.write("plugins/inner/__init__.py", "")
    project.write("plugins/inner/first.py", step_file("first"))
    return text_here()


def text_here():
    return to_text(get_plugin_manager().everything(), Places(load_settings()))


def here(text):
    return of_text(text, Places(load_settings()), environment(ADAPTED))


def copied(project, folder, monkeypatch):
    """Work in a copy of a project in another folder, whose files have other times."""
    shutil.copytree(project.folder, folder, copy_function=shutil.copyfile)
    monkeypatch.chdir(folder)
    get_plugin_manager().reset()


def test_the_text_holds_no_path_of_this_machine(found, project, tmp_path):
    assert str(tmp_path) not in found
    assert os.sep + "brainsmith" + os.sep not in found


def test_another_checkout_has_the_records_that_a_discovery_there_finds(found, project, tmp_path, monkeypatch):
    copied(project, tmp_path / "elsewhere" / "a copy", monkeypatch)
    shared = here(found)
    own = get_plugin_manager().everything()
    assert shared.records == own.records
    assert (shared.groups, shared.problems) == (own.groups, own.problems)
    assert sorted(shared.paths) == sorted(own.paths)
    details = [[one["detail"] for one in snapshot.adapters] for snapshot in (shared, own)]
    assert details[0] == details[1]
    assert text_here() is not None


def test_bytecode_and_notes_of_editors_count_for_nothing(found, project):
    project.write("plugins/__pycache__/tidy.cpython-311.pyc", "")
    project.write("plugins/.tidy.py.swp", "")
    project.write("plugins/notes.txt", "")
    assert here(found) is not None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("plugins/inner/first.py", step_file("second")),
        ("plugins/added.py", step_file("added")),
        ("plugins/inner/plugin.json", "{}"),
        ("plugins/more/__init__.py", ""),
    ],
)
def test_other_files_have_another_discovery(found, project, path, text):
    project.write(path, text)
    assert here(found) is None


def test_a_removed_file_has_another_discovery(found, project):
    os.unlink(os.path.join(str(project.folder), "plugins", "tidy.py"))
    assert here(found) is None


def test_an_edit_is_noticed_after_a_shared_discovery_too(found, project, tmp_path, monkeypatch):
    copied(project, tmp_path / "copy", monkeypatch)
    shared = here(found)
    assert shared.stamps == [tuple(one) for one in shared.stamps]
    (tmp_path / "copy" / "plugins" / "tidy.py").write_text(transform_file("Another"))
    names = [info.name for info in get_plugin_manager().everything().records if info.framework == "project"]
    assert sorted(names) == ["Another", "first"]


def test_what_has_problems_is_not_shared(project, no_frameworks):
    project.write(
        "plugins/broken.py", "from brainsmith.plugin.core import step\n\n@step\ndef broken(model, cfg)\n"
    )
    assert text_here() is None


def test_a_description_with_the_name_of_the_folder_is_not_shared(project, no_frameworks):
    description = f'stage="tidy", description="As in {project.folder}"'
    project.write("plugins/tidy.py", transform_file("KeepAll", description))
    assert text_here() is None


def test_a_folder_with_a_link_to_another_one_is_not_shared(project, no_frameworks, tmp_path):
    project.write("plugins/tidy.py", transform_file("KeepAll"))
    (tmp_path / "more").mkdir()
    (project.folder / "plugins" / "more").symlink_to(tmp_path / "more")
    assert text_here() is None


def changed(text, change):
    plain = json.loads(text)
    change(plain)
    return json.dumps(plain)


def name(plain, value):
    column(plain, -1, value)


def into_file(plain, place, path):
    plain["files"][0][0] = place
    plain["files"][0][1] = "//".join([path, *plain["files"][0][1].split("//")[1:]])


def column(plain, at, value, table="records"):
    plain[table][at][0] = value


def kind(plain, at, value):
    column(plain, at, value, "kinds")


HOSTILE = {
    "a name that is an expression": lambda plain: name(plain, "system('x')"),
    "a name in another module": lambda plain: name(plain, "os.system"),
    "a name that is a number": lambda plain: name(plain, 7),
    "a file by its whole path": lambda plain: into_file(plain, "own", "/etc/passwd"),
    "a file above": lambda plain: into_file(plain, "own", "../../x.py"),
    "a file in no place": lambda plain: into_file(plain, "nowhere", "x.py"),
    "a file above, behind others": lambda plain: into_file(plain, "own", "a/../../x.py"),
    "the folder above": lambda plain: into_file(plain, "own", ".."),
    "a file in a name that ends it": lambda plain: into_file(plain, "own", "x.py\0"),
    "a file without a name": lambda plain: into_file(plain, "own", ""),
    "two files in one name": lambda plain: into_file(plain, "own", "a.py//etc/passwd"),
    "a file behind the last": lambda plain: column(plain, -3, 1 << 40),
    "a file before the first": lambda plain: column(plain, -3, -1),
    "a line that is a text": lambda plain: column(plain, -2, "1"),
    "another type": lambda plain: kind(plain, 0, "shell"),
    "a record's name that is a list": lambda plain: column(plain, 1, ["x"]),
    "tags that are not there": lambda plain: kind(plain, -2, 1 << 40),
    "tags before the first": lambda plain: kind(plain, -2, -1),
    "a kind that is not there": lambda plain: column(plain, 0, 1 << 40),
    "a kind before the first": lambda plain: column(plain, 0, -1),
    "a kind that is a text": lambda plain: column(plain, 0, "0"),
    "a column too few": lambda plain: plain["records"].pop(),
    "a column too few in the kinds": lambda plain: plain["kinds"].pop(),
    "a record too few": lambda plain: plain["records"][0].pop(),
    "a name too few": lambda plain: plain["records"][1].pop(),
    "a kernel that is a number": lambda plain: column(plain, 3, 1),
    "tables that hold objects": lambda plain: plain["tables"].append({"x": {"y": {"z": 1}}}),
    "tables that hold numbers": lambda plain: plain["tables"].append([1]),
    "groups that are numbers": lambda plain: plain["groups"].update(x=7),
    "adapters that are texts": lambda plain: plain.update(adapters=["x"]),
    "a description that controls a terminal": lambda plain: column(plain, 2, "\x1b[2J"),
    "no files": lambda plain: plain.pop("files"),
    "files that are numbers": lambda plain: plain.update(files=[1]),
    "no code": lambda plain: plain.update(code=None),
    "a young file behind the last": lambda plain: plain["files"][0].__setitem__(4, [1 << 40]),
    "a young file that is a text": lambda plain: plain["files"][0].__setitem__(4, ["x"]),
    "young files that are a number": lambda plain: plain["code"][0].__setitem__(4, 7),
    "digests that are missing": lambda plain: plain["files"][0].__setitem__(3, ""),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_refused(found, change):
    with pytest.raises(ValueError):
        here(changed(found, change))


@pytest.mark.parametrize("written", [r"\u001b", r"\u001B", r"\u009b", r"\u009B", r"\\\u001b", "\x9b"])
def test_what_controls_a_terminal_is_refused_however_it_is_written(found, written):
    with pytest.raises(ValueError, match=r"^it holds characters that control a terminal$"):
        here(found.replace("Keep all", f"Keep {written}[2J"))


@pytest.mark.parametrize("text", ["", "[]", "7", "{}", "null", '"x"', "[" * 50_000, '{"files": []'])
def test_what_is_no_snapshot_is_refused(project, no_frameworks, text):
    with pytest.raises(ValueError):
        here(text)


def test_a_record_of_a_file_that_cannot_be_imported_is_refused(found):
    def change(plain):
        flat = [path for one in plain["files"] for path in one[1].split("//")]
        column(plain, -3, next(at for at, path in enumerate(flat) if not path.endswith(".py")))

    with pytest.raises(ValueError, match=r"^a record lies in a file that cannot be imported$"):
        here(changed(found, change))


def test_other_code_of_the_hub_has_another_discovery(found):
    def change(plain):
        sort = plain["code"][0]
        sort[2], sort[3] = "0" * 16, "0" * len(sort[3])

    assert here(changed(found, change)) is None
