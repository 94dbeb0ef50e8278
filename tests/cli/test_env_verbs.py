"""`brainsmith env list` and `env create`."""

import json

from brainsmith.cli.main import main
from tests.plugin.environments.other_pythons import PLUGINS, name_environments, virtual_environment


def test_environments_are_listed_with_what_is_wrong(tmp_path, monkeypatch, capsys):
    (tmp_path / ".brainsmith").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    good = virtual_environment(tmp_path / "good", plugins=PLUGINS)
    old = virtual_environment(tmp_path / "old", "3.8.18")
    name_environments(tmp_path, good=good, old=old, made="[numpy==1.26.4]")
    assert main(["env", "list"]) == 0
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.split("\t") == ["good", f"{good}/bin/python", "3.11.7", "5 plugins"]
    assert second.split("\t")[3].endswith(" is not made yet: brainsmith env create made")
    assert third.split("\t") == [
        "old", str(old), "", f"environment 'old' ({old}): its Python 3.8.18 is too old: 3.9 or newer is needed",
    ]  # fmt: skip
    assert main(["env", "list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["plugins"], one["version"]) for one in document["environments"]] == [
        ("good", 5, "3.11.7"), ("made", 0, None), ("old", 0, None),
    ]  # fmt: skip
    assert main(["env", "create", "good"]) == 1
    assert capsys.readouterr().err == (
        f"error: environment 'good' is {good}, which is used as it is; one that states requirements can be made\n"
    )


def test_where_there_are_none_it_is_said_how_to_name_one(project, capsys):
    assert main(["env", "list"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == (
        "the settings name no other environments; name one in `environments` of .brainsmith/config.yaml or of your "
        "own settings:\n"
        "  plugin_system:\n"
        "    environments:\n"
        "      acme: {python: ../acme-venv}\n"
    )
    assert main(["env", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"environments": [], "error": None}
