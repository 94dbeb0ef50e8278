"""Environments are made of the requirements that the settings state."""

import os
import subprocess
import sys
import threading
import time

import pytest

from brainsmith.errors import PluginEnvironmentError
from brainsmith.plugin.environments.creation import create
from brainsmith.plugin.environments.place import READY, read_environment, root_of
from brainsmith.settings import environments_folder, load_settings
from brainsmith.store.file_lock import FileLock
from tests.plugin.environments.other_pythons import name_environments
from tests.plugin.installed import ROOT


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


def test_only_environments_of_requirements_are_made(project, tmp_path, data_folder):
    name_environments(project, acme=tmp_path)
    assert environments_folder() == f"{data_folder}/brainsmith/environments"
    with pytest.raises(PluginEnvironmentError) as caught:
        create("acme", load_settings())
    assert str(caught.value) == (
        f"environment 'acme' is {tmp_path}, which is used as it is; one that states requirements can be made"
    )
    with pytest.raises(PluginEnvironmentError) as caught:
        create("acne", load_settings())
    assert str(caught.value) == "the settings name no environment 'acne'. Did you mean 'acme'?"


def test_a_folder_that_cannot_be_written_is_named(project, data_folder):
    name_environments(project, tools="[]")
    data_folder.write_text("")
    with pytest.raises(PluginEnvironmentError) as caught:
        create("tools", load_settings())
    assert str(caught.value) == (
        f"environment 'tools' cannot be made: {data_folder}/brainsmith cannot be written: Not a directory"
    )


@pytest.mark.slow
def test_one_that_another_process_makes_is_waited_for(project, data_folder):
    name_environments(project, tools="[]")
    command = [sys.executable, "-m", "brainsmith", "env", "create", "tools"]
    environment = {**os.environ, "PYTHONPATH": ROOT}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as first:
        root = root_of("tools", load_settings().environments["tools"])
        while not os.path.exists(root):
            time.sleep(0.01)
        assert create("tools", load_settings()) == (root, False)
        assert first.communicate()[0] == f"environment tools is made: {root}\n"


@pytest.mark.slow
def test_one_is_made_once_and_what_cannot_be_installed_leaves_nothing(project, data_folder):
    name_environments(project, acme="[toposort==1.10]", bad="[./no-such-folder]")
    settings = load_settings()
    root, made = create("acme", settings)
    assert (made, create("acme", settings)) == (True, (root, False))
    python = read_environment("acme", settings).python
    said = subprocess.run(
        [python, "-I", "-c", "import toposort"], capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stderr) == (0, "")
    with pytest.raises(PluginEnvironmentError, match=r"^environment 'bad' cannot be made: ") as caught:
        create("bad", settings)
    assert str(caught.value).endswith("\n  its requirements: ./no-such-folder")
    assert not os.path.exists(root_of("bad", settings.environments["bad"]))


def test_two_that_make_one_at_once_do_not_remove_each_others_files(project, data_folder):
    name_environments(project, acme="[toposort==1.10]")
    settings = load_settings()
    root = root_of("acme", settings.environments["acme"])
    os.makedirs(f"{root}/bin")
    given = []
    with FileLock(f"{root}.lock", 1.0):  # as the other one holds it while it installs
        second = threading.Thread(target=lambda: given.append(create("acme", settings)))
        second.start()
        second.join(0.3)
        assert os.path.isdir(f"{root}/bin")
        with open(f"{root}/{READY}", "w"):
            pass
    second.join(10)
    assert given == [(root, False)]


def test_one_that_another_process_makes_for_too_long(project, data_folder, monkeypatch):
    name_environments(project, acme="[toposort==1.10]")
    settings = load_settings()
    lock = f"{root_of('acme', settings.environments['acme'])}.lock"
    monkeypatch.setattr("brainsmith.plugin.environments.creation._SECONDS", 0.05)
    with FileLock(lock, 1.0), pytest.raises(PluginEnvironmentError) as caught:
        create("acme", settings)
    assert str(caught.value) == (
        f"environment 'acme' cannot be made: another process has held {lock} for 0.05 s: end that one"
    )


def test_what_is_no_requirement_is_refused_before_anything_is_installed(project, data_folder):
    name_environments(
        project,
        acme="['numpy~=9', numpy=1.2, 'numpy => 1', './no =here', ., .., a=1.whl, 'x; python_version>3']",
    )
    with pytest.raises(PluginEnvironmentError) as caught:
        create("acme", load_settings())
    none = "which is not a PEP 508 requirement"
    assert str(caught.value) == (
        f"environment 'acme' cannot be made: it requires 'numpy~=9', {none}; '~=' needs two numbers or more (PEP 440): "
        "'~=9.0' is '>=9.0,<10'\n"
        f"  and 'numpy=1.2', {none}; equal is written '=='\n"
        f"  and 'numpy => 1', {none}; '=>' is written '>='\n"
        f"  and 'x; python_version>3', {none}"
    )
    assert not data_folder.exists()
