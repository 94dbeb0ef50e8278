"""The release script: versions agree, the wheel holds the whole package and works without the checkout. And CI."""

import os
import re
import shutil
import subprocess
import sys
from zipfile import ZipFile

import pytest
import yaml

from tests.test_docs import ROOT, load

release = load("tools/release.py")


@pytest.fixture
def checkout(tmp_path):
    """The files of this checkout that state its version."""
    for name in ("pyproject.toml", *release.VERSIONS):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_this_checkout_states_one_version():
    assert release.disagreements(ROOT) == []


@pytest.mark.parametrize("name", release.VERSIONS)
def test_a_place_that_states_another_version_is_named(checkout, name):
    (version,) = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    text = (checkout / name).read_text()
    (checkout / name).write_text(text.replace(version, "9.9.9", 1))
    assert release.disagreements(checkout) == [f"{name} states 9.9.9; pyproject.toml states {version}"]
    (checkout / name).write_text("")
    assert release.disagreements(checkout) == [f"{name} states no version; pyproject.toml states {version}"]


def test_what_a_wheel_lacks_or_has_in_addition_is_named(tmp_path):
    wheel = tmp_path / "brainsmith-0.1.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        for name in ("brainsmith/__init__.py", "brainsmith/stale.py", "brainsmith-0.1.0.dist-info/METADATA"):
            archive.writestr(name, "")
    tracked = ["README.md", "brainsmith/__init__.py", "brainsmith/rtl/driver.cpp"]
    assert release.differences(wheel, tracked) == [
        "the wheel lacks brainsmith/rtl/driver.cpp",
        "the wheel has brainsmith/stale.py, which git does not have",
    ]


def test_the_example_is_the_readme_s_first_build():
    assert release.example_command((ROOT / "README.md").read_text()) == [
        *("brainsmith", "build", "examples/digits/mlp.onnx"),
        *("--blueprint", "blueprints/digits_mlp_rtl.yaml", "--output", "out/digits_mlp"),
    ]
    with pytest.raises(release.ReleaseError) as caught:
        release.example_command("# BrainSmith\n")
    assert str(caught.value) == "README.md has no line that starts with 'brainsmith build'"


def test_a_command_that_fails_is_shown_with_what_it_printed(tmp_path, capsys):
    with pytest.raises(release.ReleaseError) as caught:
        release.run([sys.executable, "-c", "print('half'); exit(3)"], tmp_path)
    shown = f"{sys.executable} -c 'print('\"'\"'half'\"'\"'); exit(3)'"
    assert str(caught.value) == f"{shown}: exit code 3\nhalf\n"
    assert capsys.readouterr().out == f"$ {shown}\n"


@pytest.mark.slow
def test_sdist_and_wheel_are_built_and_hold_all_of_the_package_and_the_wheel_builds_to_rtl(tmp_path):
    """In this environment's packages, but with the wheel's own files: `make release` has a new one."""
    _, wheel = release.build(ROOT, tmp_path)
    assert release.differences(wheel, release.tracked(ROOT)) == []
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    for name in ("examples", "blueprints"):
        shutil.copytree(ROOT / name, tmp_path / name)
    command = release.example_command((ROOT / "README.md").read_text())[1:]
    done = subprocess.run(
        [sys.executable, "-m", "brainsmith", *command, "--produce", "simulated"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "circuit    0 of 360 frames differ from the input model" in done.stdout, done.stdout + done.stderr
    report = (tmp_path / "out" / "digits_mlp" / "report.html").read_text()
    assert (ROOT / "brainsmith" / "web" / "report.css").read_text()[:200] in report


def test_ci_is_a_workflow_that_runs_what_a_checkout_has():
    """YAML reads the key `on` as true."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert workflow[True] == {"push": {"branches": ["main"]}, "pull_request": None}
    (job,) = workflow["jobs"].values()
    checkout, python, run = job["steps"]
    assert job["runs-on"].startswith("ubuntu-")
    assert (checkout["uses"].split("@")[0], python["uses"].split("@")[0]) == (
        "actions/checkout",
        "actions/setup-python",
    )
    assert python["with"] == {"python-version": "3.11"}
    assert run == {"run": ".ci/run"}
    assert os.access(ROOT / run["run"], os.X_OK)
