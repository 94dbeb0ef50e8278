"""Where environments are: read from their files, and refused by name."""

import os
import sys
from pathlib import Path

import pytest

from brainsmith.errors import PluginEnvironmentError
from brainsmith.plugin.environments.place import READY, installed_state, read_environment, root_of
from brainsmith.plugin.not_found import perhaps_because
from brainsmith.settings import environments_folder, load_settings
from tests.plugin.environments.other_pythons import name_environments, virtual_environment


def read(project, **places):
    name_environments(project, **places)
    return read_environment(next(iter(places)), load_settings())


@pytest.mark.parametrize("named", ["", "bin/python"])
def test_a_virtual_environment_is_read_and_not_run(project, tmp_path, named):
    root = virtual_environment(tmp_path / "venv", "3.9.18")
    (root / "bin" / "python").unlink()
    (root / "bin" / "python").write_text("#!/bin/false\n")
    place = tmp_path / "elsewhere_installed"
    place.mkdir()
    packages = root / "lib" / "python3.9" / "site-packages"
    (packages / "in_place.pth").write_text(f"# a comment\n{place}\nimport sys\n/does/not/exist\n")
    found = read(project, acme=root / named)
    assert (found.root, found.python, found.version) == (str(root), str(root / "bin" / "python"), "3.9.18")
    assert found.folders == [str(packages), str(place)]


def test_an_older_python_is_refused_by_name(project, tmp_path):
    root = virtual_environment(tmp_path / "venv", "3.8.18")
    with pytest.raises(PluginEnvironmentError) as caught:
        read(project, acme=root)
    assert (
        str(caught.value)
        == f"environment 'acme' ({root}): its Python 3.8.18 is too old: 3.9 or newer is needed"
    )


def test_an_environment_that_is_missing_or_not_made_says_what_to_do(project, tmp_path):
    with pytest.raises(PluginEnvironmentError) as caught:
        read(project, acme=tmp_path / "gone")
    assert str(caught.value) == (
        f"environment 'acme' ({tmp_path}/gone): {tmp_path}/gone/bin/python does not exist; `python` names a virtual "
        "environment or a Python"
    )
    with pytest.raises(PluginEnvironmentError) as caught:
        read(project, acme="[numpy==1.26.4]")
    root = root_of("acme", load_settings().environments["acme"])
    assert os.path.dirname(root) == environments_folder()
    assert str(caught.value) == f"environment 'acme' ({root}) is not made yet: brainsmith env create acme"
    virtual_environment(root)
    with pytest.raises(PluginEnvironmentError, match="is not made yet"):
        read(project, acme="[numpy==1.26.4]")
    Path(root, READY).touch()
    assert read(project, acme="[numpy==1.26.4]").root == root
    with pytest.raises(PluginEnvironmentError, match="is not made yet"):
        read(project, acme="[numpy==2.0.0]")


def test_a_name_of_an_environment_without_plugins_says_why_it_has_none(project, manager, tmp_path):
    places = {
        "gone": tmp_path / "gone",
        "lost": tmp_path / "lost",
        "bare": virtual_environment(tmp_path / "venv", "3.9.18"),
    }
    name_environments(project, **places)
    source = project.folder / ".brainsmith" / "config.yaml"
    manager.discover_plugins(modes=["full"])
    for name in ("gone", "lost"):
        root = tmp_path / name
        assert perhaps_because(manager.registry, ["transform"], f"{name}:Tidy") == (
            f"\n  {source}: environment {name!r} ({root}): {root}/bin/python does not exist; `python` names a virtual "
            "environment or a Python"
        )
    assert perhaps_because(manager.registry, ["transform"], "bare") == (
        "\n  environment 'bare' offers no plugins: brainsmith env list"
    )


def test_a_python_outside_of_virtual_environments_is_asked_where_it_is(project, tmp_path):
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "site").mkdir()
    python = prefix / "bin" / "python"
    python.write_text(
        f"#!/bin/sh\necho 3.10.1\necho {prefix}/site\necho {prefix}/site\necho asked >> {prefix}/asked\n"
    )
    python.chmod(0o755)
    for _ in range(2):
        found = read(project, acme=python)
        assert (found.version, found.folders) == ("3.10.1", [str(prefix / "site")])
    assert (prefix / "asked").read_text() == "asked\n"


def test_a_python_that_is_not_trusted_is_not_asked(project, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_TRUST", "listed")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    with pytest.raises(PluginEnvironmentError) as caught:
        read(project, acme=tmp_path / "bin" / "python")
    assert str(caught.value) == (
        f"environment 'acme' ({tmp_path}) is not trusted: {tmp_path} is not in the list of what is trusted: "
        f"brainsmith trust add {tmp_path}"
    )


def test_what_is_installed_changes_the_state_and_what_imports_write_does_not(tmp_path):
    packages = virtual_environment(tmp_path / "venv") / "lib" / "python3.11" / "site-packages"
    before = installed_state([str(packages)])
    (packages / "__pycache__").mkdir()
    assert installed_state([str(packages)]) == before
    (packages / "numpy-2.0.0.dist-info").mkdir()
    assert installed_state([str(packages)]) != before
