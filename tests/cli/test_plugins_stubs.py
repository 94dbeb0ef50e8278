"""`brainsmith plugins stubs`."""

import brainsmith.plugins as door
from brainsmith.cli.main import main
from brainsmith.cli.plugins_stubs import door_names
from brainsmith.plugin.stubs import COLLECTIONS


def test_they_are_written_where_editors_look(elsewhere, capsys):
    assert main(["plugins", "stubs"]) == 0
    shown = capsys.readouterr()
    first, second = shown.out.splitlines()
    assert first.startswith("typings/brainsmith/plugins.pyi: ") and first.endswith(" plugins")
    assert second == "pyright and Pylance read it as it is; for mypy set mypy_path = typings"
    assert sorted(path.name for path in (elsewhere / "typings" / "brainsmith").iterdir()) == [
        "__init__.pyi",
        "plugins.pyi",
    ]


def test_another_folder_may_be_named(elsewhere, capsys):
    assert main(["plugins", "stubs", "--output", "stubs"]) == 0
    assert (
        capsys.readouterr().out.splitlines()[1]
        == "pyright: set stubPath to stubs; mypy: set mypy_path to stubs"
    )
    assert (elsewhere / "stubs" / "brainsmith" / "plugins.pyi").is_file()


def test_a_folder_that_is_a_file_is_an_error(elsewhere, capsys):
    (elsewhere / "taken").write_text("")
    assert main(["plugins", "stubs", "--output", "taken"]) == 1
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == (
        "",
        "error: taken/brainsmith/plugins.pyi: the stubs cannot be written: Not a directory\n",
    )


def test_all_of_the_door_is_in_them():
    assert {*door_names(), *COLLECTIONS} == set(dir(door))
    assert door_names()["load_blueprint_plugins"] == "brainsmith.blueprint.blueprint_plugins"
