"""`brainsmith cache push` and `cache pull`: what is copied, what is left, and why nothing can be."""

import json
import os
import re
import shutil

import pytest
import yaml

from brainsmith.plugin.health_check import describe_settings
from brainsmith.plugin.manager import reset_plugin_system
from brainsmith.setting_checks import checked
from brainsmith.settings import load_settings
from tests.cli.command import ROOT, in_this_process
from tests.plugin.installed import step_file
from tests.store.shared.redis_servers import free_port

pytestmark = pytest.mark.finds_anew


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a step, whose shared cache is a folder."""
    folder = tmp_path / "project"
    (folder / ".brainsmith").mkdir(parents=True)
    (folder / "plugins").mkdir()
    (folder / "plugins" / "first.py").write_text(step_file("first"))
    (folder / ".brainsmith" / "config.yaml").write_text("plugin_system: {frameworks: []}\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", f"file://{tmp_path}/shared")
    return folder


@pytest.fixture
def another_home(tmp_path, monkeypatch):
    """Go on with an empty cache, as another user would."""

    def go():
        reset_plugin_system()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))

    return go


def run(capsys, *words):
    done = in_this_process(capsys, "cache", *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(capsys, *words):
    done = in_this_process(capsys, "cache", *words)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def test_a_discovery_is_copied_there_and_back(project, tmp_path, monkeypatch, capsys, another_home):
    url = f"file://{tmp_path}/shared"
    monkeypatch.delenv("BRAINSMITH_SHARED_CACHE")
    assert in_this_process(capsys, "plugins", "list").returncode == 0
    reset_plugin_system()
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", url)
    assert run(capsys, "push") == f"discovery: pushed 1 entry to {url}\nbuilds: pushed 0 entries to {url}\n"
    assert run(capsys, "push", "discovery") == (
        f"discovery: pushed 0 entries to {url}\n  left 1 entry: already there\n"
    )
    another_home()
    assert run(capsys, "pull", "discovery") == f"discovery: pulled 1 entry from {url}\n"
    reset_plugin_system()
    assert json.loads(run(capsys, "pull", "--json")) == {
        "shared_cache": url,
        "kinds": [
            {"kind": "discovery", "pulled": 0, "left": [{"reason": "already here", "entries": 1}]},
            {"kind": "builds", "pulled": 0, "left": []},
        ],
    }
    assert json.loads(in_this_process(capsys, "stats", "--json").stdout)["discovery_source"] == "disk"


def test_what_is_of_other_files_is_left(project, tmp_path, capsys, another_home):
    run(capsys, "push")
    (project / "plugins" / "first.py").write_text(step_file("other"))
    another_home()
    assert run(capsys, "pull", "discovery") == (
        f"discovery: pulled 0 entries from file://{tmp_path}/shared\n"
        "  left 1 entry: files here are not those that it is of\n"
    )


def test_a_discovery_with_problems_is_left(project, tmp_path, capsys):
    (project / "plugins" / "broken.py").write_text("from brainsmith.plugin.core import step\n@step\ndef x(\n")
    assert run(capsys, "push", "discovery") == (
        f"discovery: pushed 0 entries to file://{tmp_path}/shared\n"
        "  left 1 entry: it has problems, or plugins that lie where machines have nothing in common\n"
    )


def test_an_empty_one_has_nothing(project, tmp_path, capsys):
    url = f"file://{tmp_path}/shared"
    assert (
        run(capsys, "pull")
        == f"discovery: pulled 0 entries from {url}\nbuilds: pulled 0 entries from {url}\n"
    )


def test_a_server_that_is_gone_is_an_error(project, monkeypatch, capsys):
    port = free_port()
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", f"redis://me:secret@127.0.0.1:{port}")
    for verb in ("push", "pull"):
        assert refused(capsys, verb) == (
            f"error: the shared cache redis://127.0.0.1:{port} cannot be used: it cannot be reached: Connection refused\n"
        )


def test_a_folder_that_cannot_be_made_is_an_error(project, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", f"file://{tmp_path}/file/x")
    for kind in (["discovery"], ["builds"], []):
        assert refused(capsys, "push", *kind) == (
            f"error: the shared cache file://{tmp_path}/file/x cannot be used: Not a directory\n"
        )


def test_where_it_is_only_read_nothing_is_pushed(project, monkeypatch, capsys):
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE_MODE", "read-only")
    assert refused(capsys, "push") == (
        "error: nothing can be pushed: shared_cache_mode is read-only (from BRAINSMITH_SHARED_CACHE_MODE)\n"
    )


def test_without_one_it_says_what_to_set(project, monkeypatch, capsys):
    monkeypatch.delenv("BRAINSMITH_SHARED_CACHE")
    for verb in ("push", "pull"):
        assert refused(capsys, verb) == (
            "error: no shared cache is named\n  set shared_cache in .brainsmith/config.yaml, or BRAINSMITH_SHARED_CACHE, "
            "to an address such as redis://HOST:PORT or file:///FOLDER\n"
        )


def test_only_kinds_that_are_shared_are_copied(project, capsys):
    done = in_this_process(capsys, "cache", "push", "simulations")
    assert done.returncode == 2
    assert done.stderr == (
        "error: KIND must be builds or discovery, not 'simulations'\n  brainsmith cache push --help shows its options\n"
    )


def test_health_shows_its_address_without_the_password(project, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", "redis://me:secret@127.0.0.1:1")
    assert describe_settings(load_settings())["shared_cache"] == {
        "value": "redis://127.0.0.1:1",
        "source": "BRAINSMITH_SHARED_CACHE",
    }


def test_a_copy_of_the_project_elsewhere_pulls_what_was_pushed(
    project, tmp_path, monkeypatch, capsys, another_home
):
    run(capsys, "push")
    copy = tmp_path / "deep" / "a copy"
    shutil.copytree(project, copy, copy_function=shutil.copyfile)
    monkeypatch.chdir(copy)
    another_home()
    assert run(capsys, "pull", "discovery") == f"discovery: pulled 1 entry from file://{tmp_path}/shared\n"
    assert os.path.isdir(tmp_path / "another" / "brainsmith" / "discovery")


def test_the_page_shows_settings_that_hold_and_what_a_command_prints(project, tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "shared_caches.md").read_text()
    (settings,) = re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)
    for name, value in yaml.safe_load(settings)["plugin_system"].items():
        assert checked(name, value, "/") == value
    ((address, words, printed),) = re.findall(
        r"^\$ BRAINSMITH_SHARED_CACHE=(\S+) brainsmith cache (.+)\n(.+\n)```", page, re.M
    )
    own = f"file://{tmp_path}/shared"
    monkeypatch.delenv("BRAINSMITH_SHARED_CACHE")
    assert in_this_process(capsys, "plugins", "list").returncode == 0
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", own)
    assert run(capsys, *words.split()) == printed.replace(address, own)
