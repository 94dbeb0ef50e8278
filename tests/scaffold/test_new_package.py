"""A package that was begun: its wheel holds the sources of its circuits, and its plugin is found where it is installed."""

import os
import subprocess
import sys
import tomllib
from zipfile import ZipFile

import pytest
import yaml

from brainsmith import __version__
from brainsmith.errors import ProjectError, UsageError
from brainsmith.scaffold.new_package import new_package
from tests.plugin.installed import run_python
from tests.test_docs import run
from tests.testing.test_pytest_plugin import pytest_in

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


@pytest.fixture
def package(tmp_path):
    new_package("acme-plugins", tmp_path)
    return tmp_path / "acme-plugins"


def test_its_files_and_what_pyproject_states(package):
    files = sorted(str(path.relative_to(package)) for path in package.rglob("*") if path.is_file())
    assert files == [
        ".github/workflows/ci.yml",
        ".gitignore",
        "README.md",
        "pyproject.toml",
        "src/acme_plugins/__init__.py",
        "src/acme_plugins/acme_plugins_remove_identity.py",
        "tests/test_acme_plugins_remove_identity.py",
    ]
    stated = tomllib.loads((package / "pyproject.toml").read_text())
    assert stated["project"]["name"] == "acme-plugins"
    assert stated["project"]["dependencies"] == [f"brainsmith>={__version__}"]
    assert stated["project"]["entry-points"] == {"brainsmith.plugins": {"acme_plugins": "acme_plugins"}}
    assert "**/*.sv" in stated["tool"]["setuptools"]["package-data"]["acme_plugins"]


def test_its_workflow_installs_checks_and_tests(package):
    workflow = yaml.safe_load((package / ".github" / "workflows" / "ci.yml").read_text())
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [
        'python -m pip install ".[test]"',
        "brainsmith plugins check src --load",
        "python -m pytest",
    ]


def test_nothing_is_overwritten_and_a_bad_name_writes_nothing(package):
    with pytest.raises(ProjectError, match="exist, and are not overwritten; nothing was written"):
        new_package("acme-plugins", package.parent)
    with pytest.raises(UsageError, match="Did you mean 'acme-plugins'"):
        new_package("Acme Plugins", package.parent)
    assert [path.name for path in package.parent.iterdir()] == ["acme-plugins"]


def test_a_folder_of_its_name_may_be_there(tmp_path):
    (tmp_path / "acme" / ".git").mkdir(parents=True)
    assert len(new_package("acme", tmp_path)) == 7


@pytest.mark.slow
def test_its_test_passes_before_it_is_installed(package):
    assert "1 passed" in pytest_in(package)
    assert "1 passed" in pytest_in(package.parent, "acme-plugins")


@pytest.mark.slow
def test_its_wheel_is_built_and_installed_and_its_plugins_are_found(package, tmp_path):
    """With a core in it; into a folder of its own, as `pip install --target` does, and looked at by a fresh interpreter."""
    (package / "src" / "acme_plugins" / "rtl").mkdir()
    (package / "src" / "acme_plugins" / "rtl" / "acme_core.sv").write_text("module acme_core; endmodule\n")
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    run([*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), "."], package)
    (wheel,) = wheels.iterdir()
    with ZipFile(wheel) as archive:
        assert "acme_plugins/rtl/acme_core.sv" in archive.namelist()
    run([*PIP, "install", "--no-deps", "--no-index", "--target", str(site), str(wheel)], tmp_path)
    code = """
    import json, sys
    from brainsmith.plugins import transforms
    before = "acme_plugins" in sys.modules
    info = transforms.get_info("AcmePluginsRemoveIdentity")
    print(json.dumps([before, info.framework, transforms.AcmePluginsRemoveIdentity.__name__]))
    """
    found = run_python(code, path=[site], cwd=tmp_path)
    assert found == [False, "acme-plugins", "AcmePluginsRemoveIdentity"]
    listed = subprocess.run(
        [sys.executable, "-m", "brainsmith", "plugins", "list", "--framework", "acme-plugins"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert listed.stdout.startswith("transform\tacme-plugins\tAcmePluginsRemoveIdentity\tcleanup\t")
