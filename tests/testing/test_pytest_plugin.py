"""The pytest plugin that ships: it is loaded everywhere, costs next to nothing, and installs distributions for one test."""

import importlib.metadata
import json
import subprocess
import sys

import pytest

from brainsmith.plugins import steps, transforms
from tests.plugin.installed import step_file, transform_file
from tests.test_docs import ROOT, blocks, run

PRINTS = """
import json
import sys


def test_prints():
    names = {name.partition(".")[0] for name in sys.modules}
    ours = sorted(name for name in sys.modules if name.partition(".")[0] == "brainsmith")
    heavy = names & {"numpy", "onnx", "qonnx", "finn", "yaml", "onnxruntime", "stevedore"}
    print("LOADED", json.dumps([ours, sorted(heavy)]))
"""


def pytest_in(folder, *words):
    """Run pytest there as a user does; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_it_is_an_entry_point_of_pytest():
    found = importlib.metadata.entry_points(group="pytest11", name="brainsmith")
    assert {point.value for point in found} == {"brainsmith.testing.pytest_plugin"}


@pytest.mark.slow
def test_pytest_loads_nothing_but_this_module_and_what_names_it(tmp_path):
    (tmp_path / "test_prints.py").write_text(PRINTS)
    printed = pytest_in(tmp_path, "-s")
    (line,) = [line for line in printed.splitlines() if "LOADED" in line]
    ours, heavy = json.loads(line.partition("LOADED ")[2])
    assert ours == [
        "brainsmith",
        "brainsmith.lazy_names",
        "brainsmith.testing",
        "brainsmith.testing.pytest_plugin",
    ]
    assert heavy == []


@pytest.mark.slow
def test_the_fixture_is_listed_with_what_it_does(tmp_path):
    (tmp_path / "test_prints.py").write_text(PRINTS)
    assert "Install distributions for one test" in pytest_in(tmp_path, "--fixtures")


def test_a_distribution_is_there_for_one_test(installed_plugin):
    folder = installed_plugin(
        "acme-steps", {"acme/__init__.py": "", "acme/one.py": step_file("acme_look", 5)}, {"acme": "acme.one"}, "2.1"
    )  # fmt: skip
    info = steps.get_info("acme_look")
    assert (info.framework, info.version or "2.1") == ("acme-steps", "2.1")
    assert importlib.metadata.version("acme-steps") == "2.1"
    assert steps.acme_look(None, None) == 5
    assert (folder / "acme" / "one.py").is_file()
    assert "acme.one" in sys.modules


def test_and_is_gone_in_the_next():
    assert "acme.one" not in sys.modules
    assert not hasattr(steps, "acme_look")
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("acme-steps")


@pytest.mark.parametrize(("value", "beside"), [(1, {}), (2, {"acme_folder/__init__.py": ""}), (3, {})])
def test_a_package_that_is_a_mere_folder_is_gone_too(installed_plugin, value, beside):
    files = {**beside, "acme_folder/one.py": step_file("acme_look", value)}
    installed_plugin("acme", files, {"acme": "acme_folder.one"})
    assert steps.acme_look(None, None) == value


def test_several_distributions_in_one_test(installed_plugin):
    installed_plugin("acme", {"acme_a.py": step_file("look_a")}, {"a": "acme_a"})
    assert hasattr(steps, "look_a")
    installed_plugin("other", {"other_b.py": transform_file("LookB")}, {"b": "other_b"})
    assert hasattr(steps, "look_a")
    assert transforms.get_info("LookB").framework == "other"
    with pytest.raises(FileExistsError):
        installed_plugin("acme", {}, {})


@pytest.mark.parametrize(("place", "name"), [("", "acme-here"), ("src/", "Acme_Here")])
def test_a_project_is_installed_from_its_folder(installed_plugin, tmp_path, place, name):
    root = tmp_path / "work"
    (root / place).mkdir(parents=True)
    (root / f"{place}acme_here.py").write_text(step_file("here", 7))
    (root / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nversion = "3.0"\n'
        '[project.entry-points."brainsmith.plugins"]\nacme = "acme_here"\n'
    )
    assert installed_plugin.project(root) == "acme-here"
    assert steps["acme-here:here"](None, None) == 7
    there = {path.name for path in root.iterdir()} - {"__pycache__"}
    assert there == {"pyproject.toml", place[:-1] or "acme_here.py"}


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path):
    program, test = blocks("docs/testing.md", "python")
    run([sys.executable, "-c", program], tmp_path)
    (tmp_path / "test_page.py").write_text(test)
    assert "1 passed" in pytest_in(tmp_path)
    assert (ROOT / "docs" / "testing.md").read_text().count("```python") == 2
