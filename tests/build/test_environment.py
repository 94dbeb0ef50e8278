"""What points are built with, compared between machines: by content, wherever it lies."""

import shutil

from brainsmith.build.environment import differences, environment, fingerprint
from brainsmith.plugin.manager import reset_plugin_system
from tests.cli.command import TRANSFORM


def test_two_machines_with_the_same_are_the_same_and_what_differs_is_named(tmp_path, monkeypatch):
    found, prints = [], []
    for name in ("here", "there"):
        (tmp_path / name / ".brainsmith").mkdir(parents=True)
        plugins = tmp_path / name / "plugins"
        plugins.mkdir()
        (plugins / "keep.py").write_text(TRANSFORM)
        (plugins / "table.csv").write_text("1, 2")
        monkeypatch.chdir(tmp_path / name)
        reset_plugin_system()
        found.append(environment())
        prints.append(fingerprint())
    here, there = found
    assert differences(here, there) == []
    assert {"python", "brainsmith", "qonnx", "onnx", "distributed"} <= set(here["package"])
    assert here["plugin"].keys() == {"transform:project:KeepAll"}
    assert here["plugin file"].keys() == {"plugins/keep.py", "plugins/table.csv"}
    assert "vivado" not in here["tool"] and here["tool"]["g++"]
    (tmp_path / "there" / "plugins" / "table.csv").write_text("1, 3")
    reset_plugin_system()
    assert differences(here, environment()) == ["plugin file plugins/table.csv has other content there"]
    assert fingerprint() != prints[1]
    shutil.rmtree(tmp_path / "there" / "plugins")
    reset_plugin_system()
    assert differences(here, environment()) == [
        "plugin transform:project:KeepAll is missing there",
        "plugin file plugins/keep.py is missing there",
        "plugin file plugins/table.csv is missing there",
    ]


def test_versions_are_named_and_of_many_differences_the_first():
    here = {"package": {"onnx": "1.21.0", **{f"p{at}": "1" for at in range(9)}}, "tool": {"make": "4.3"}}
    there = {"package": {"onnx": "1.20.0"}, "tool": {"make": "4.3", "g++": "12"}}
    assert differences(here, there) == [
        "package onnx is 1.21.0 here and 1.20.0 there",
        *(f"package p{at} is missing there" for at in range(5)),
        "... 5 more",
    ]
