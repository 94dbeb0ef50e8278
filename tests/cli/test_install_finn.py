"""`brainsmith install-finn`: the list that the wheel carries, and the command."""

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from brainsmith.cli import install_finn
from brainsmith.cli.main import main
from brainsmith.plugin.finn_install import REQUIREMENTS
from tests.cli.command import ROOT

LEFT_OUT = {"brevitas", "cbcbox", "cmake"}
"""What FINN's distributions declare, and no build here imports."""


def pins(path):
    lines = [
        line for line in Path(path).read_text().splitlines() if "==" in line and not line.startswith("#")
    ]
    return {canonicalize_name(line.partition("==")[0]): line for line in lines}


def needed(requirements):
    """Return what some requirements take, all that these take included, as the installed distributions declare it."""
    found, waiting = set(), [Requirement(text) for text in requirements]
    while waiting:
        need = waiting.pop()
        name = canonicalize_name(need.name)
        for extra in need.extras or {""}:
            if name in LEFT_OUT or (name, extra) in found:
                continue
            found.add((name, extra))
            try:
                declared = map(Requirement, distribution(name).requires or ())
            except PackageNotFoundError as error:
                raise AssertionError(f"{name} is needed and not in the lock") from error
            waiting.extend(one for one in declared if not one.marker or one.marker.evaluate({"extra": extra}))
    return {name for name, _ in found}


@pytest.mark.slow
def test_the_wheels_list_is_what_finn_needs_at_the_locked_versions():
    """All of it, what BrainSmith needs too: FINN limits some of that, and fails with bitstring 5, which qonnx takes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = needed(project["optional-dependencies"]["finn"])
    locked = pins(ROOT / "requirements" / "lock.txt")
    assert pins(REQUIREMENTS) == {name: locked[name] for name in wanted}


def test_the_wheel_carries_the_list():
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    assert "finn_requirements.txt" in data["brainsmith"]


def test_the_command_is_shown(capsys):
    assert main(["install-finn", "--dry-run"]) == 0
    assert capsys.readouterr().out == f"{sys.executable} -m pip install --no-deps -r {REQUIREMENTS}\n"


def test_without_pip_other_ways_are_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pip", None)
    assert main(["install-finn"]) == 1
    assert capsys.readouterr().err == (
        f"error: {sys.executable} has no pip\n"
        f"  with uv: uv pip install --python {sys.executable} --no-deps -r {REQUIREMENTS}\n"
        f"  or first: {sys.executable} -m ensurepip\n"
    )


def test_what_pip_says_last_is_shown(monkeypatch, capsys, tmp_path):
    """All of the list is installed here, so pip has nothing to fetch."""
    listed = tmp_path / "list.txt"
    listed.write_text(f"psutil=={distribution('psutil').version}\n")
    monkeypatch.setattr(install_finn, "REQUIREMENTS", str(listed))
    assert main(["install-finn"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{sys.executable} -m pip install --no-deps -r {listed}"
    assert lines[1].startswith("Requirement already satisfied: psutil==")
    assert lines[2:] == ["what works now: brainsmith health"]
