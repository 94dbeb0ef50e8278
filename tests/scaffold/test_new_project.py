"""A project that was begun: its files, its blueprint, its schema."""

import json

import pytest

from brainsmith.blueprint import load_blueprint
from brainsmith.blueprint.json_schema import json_schema
from brainsmith.errors import ProjectError
from brainsmith.scaffold.new_project import new_project, project_here
from brainsmith.settings import load_settings


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_files_of_a_project(tmp_path):
    root = tmp_path / "deep" / "work"
    assert [str(path.relative_to(root)) for path in new_project(root)] == [
        ".brainsmith/config.yaml",
        "plugins/README.md",
        "blueprints/my_model.yaml",
        "blueprints/blueprint.schema.json",
    ]
    settings = load_settings(str(root / "plugins"))
    assert (settings.project, settings.discovery_mode) == (str(root), "full")


def test_its_blueprint_is_one_and_names_the_schema_beside_it(tmp_path):
    new_project(tmp_path)
    file = tmp_path / "blueprints" / "my_model.yaml"
    assert load_blueprint(str(file)).output == "simulated"
    assert file.read_text().startswith("# yaml-language-server: $schema=blueprint.schema.json\n")
    assert json.loads((tmp_path / "blueprints" / "blueprint.schema.json").read_text()) == json_schema()


def test_a_project_is_not_begun_twice(tmp_path):
    new_project(tmp_path)
    before = names(tmp_path)
    (tmp_path / "plugins" / "README.md").write_text("mine")
    with pytest.raises(ProjectError) as caught:
        new_project(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} is a project already: it has .brainsmith in it\n  brainsmith new KIND NAME adds a plugin to it"
    )
    assert (names(tmp_path), (tmp_path / "plugins" / "README.md").read_text()) == (before, "mine")


def test_folders_that_are_there_are_used_and_files_stay(tmp_path):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "own.py").write_text("x = 1\n")
    new_project(tmp_path)
    assert "plugins/own.py" in names(tmp_path)
    other = tmp_path / "other"
    (other / "blueprints").mkdir(parents=True)
    (other / "blueprints" / "my_model.yaml").write_text("mine")
    with pytest.raises(ProjectError) as caught:
        new_project(other)
    assert str(caught.value) == (
        f"{other / 'blueprints' / 'my_model.yaml'} exists, and is not overwritten; nothing was written"
    )
    assert names(other) == ["blueprints/my_model.yaml"]


def test_the_project_of_a_folder_below_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProjectError) as caught:
        project_here()
    assert str(caught.value) == (
        "no project here: neither this folder nor one above it has .brainsmith in it\n"
        "  brainsmith init makes this folder a project"
    )
    new_project(tmp_path)
    monkeypatch.chdir(tmp_path / "plugins")
    assert project_here() == tmp_path
