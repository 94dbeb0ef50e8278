"""The law of every cache: deleting it changes no result.

A network is built again and again between edits of all that its result depends on. Each time it is as if it were
built with no cache, and as what the edits say.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainsmith.build import build
from brainsmith.plugin import reset_plugin_system
from brainsmith.plugin.mounted_folders import plugin_mounts, unmount
from tests.build import graphs

PLUGIN = """import os
from pathlib import Path
import law_package
from qonnx.transformation.base import Transformation
from brainsmith.plugin.core import step, transform
from .constants import KERNEL

PLUGIN = 0
EARLY = os.environ.get("LAW_EARLY", "0")


def digits(model, *more):
    known = model.get_metadata_prop("digits") or ""
    model.set_metadata_prop("digits", known + "".join(map(str, more)))
    return model


@transform(stage="topology_opt")
class Early(Transformation):
    def apply(self, model):
        return digits(model, PLUGIN, KERNEL, EARLY), False


@step
def late(model, cfg, argument=0):
    data = Path(__file__).with_name("data.txt").read_text()
    return digits(model, data, os.environ.get("LAW_LATE", "0"), argument, law_package.VERSION)
"""
BLUEPRINT = """
hw_compiler:
  steps:
    - {transform: Early}
    - {step: late, args: {argument: 0}}
"""
PARTS = ("plugin", "kernel", "early", "data", "late", "blueprint", "package")
"""What the digits that the steps write depend on, in their order."""


class Project:
    """A project, and what its next build must give.

    Attributes:
        digits: What each part is set to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plugins = folder / "plugins"
        self.site = folder / "site-packages"
        self.digits = dict.fromkeys(PARTS, "0")
        (folder / ".brainsmith").mkdir()
        self.plugins.mkdir()
        graphs.quant_mlp().save(str(folder / "m.onnx"))
        for part in PARTS:
            self.edit(part, "0")

    def edit(self, part: str, digit: str) -> None:
        """Set a part; all files keep their size, and edits may lie within a tick of the file system's clock."""
        self.digits[part] = digit
        if part in ("early", "late"):
            os.environ[f"LAW_{part.upper()}"] = digit
        elif part == "package":
            self.install(digit)
        else:
            name, text = {
                "plugin": ("plugins/law.py", PLUGIN.replace("PLUGIN = 0", f"PLUGIN = {digit}")),
                "kernel": ("plugins/constants.py", f"KERNEL = {digit}\n"),
                "data": ("plugins/data.txt", digit),
                "blueprint": ("b.yaml", BLUEPRINT.replace("argument: 0", f"argument: {digit}")),
            }[part]
            (self.folder / name).write_text(text)

    def install(self, version: str) -> None:
        """Install a version of a package in place of another one, as pip does.

        It removes the compiled files of the old one, too: Python itself takes them for those of the new one if both
        sources have one size and were written within one second.
        """
        shutil.rmtree(self.site / "law_package", ignore_errors=True)
        (self.site / "law_package").mkdir(parents=True)
        (self.site / "law_package" / "__init__.py").write_text(f"VERSION = {version}\n")
        for old in self.site.glob("*.dist-info"):
            for file in old.iterdir():
                file.unlink()
            old.rmdir()
        info = self.site / f"law_package-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: law-package\nVersion: {version}\n")
        (info / "top_level.txt").write_text("law_package\n")
        (info / "RECORD").write_text(f"law_package/__init__.py,sha256={version},\n{info.name}/RECORD,,\n")

    @property
    def expected(self) -> str:
        """What the steps must write."""
        return "".join(self.digits.values())


def built(folder, use_cache=True):
    """Build in this process; return the digits."""
    from qonnx.core.modelwrapper import ModelWrapper

    result = build(
        folder / "m.onnx", folder / "b.yaml", folder / "out", verify=False, report=False, use_cache=use_cache
    )
    return ModelWrapper(str(result.model)).get_metadata_prop("digits")


CHILD = """
import json, sys
from pathlib import Path
from tests.build.test_cache_law import built
print(json.dumps(built(Path(sys.argv[1]), sys.argv[2] == "True")))
"""


def built_elsewhere(folder, use_cache=True):
    """Build in a process of its own; return the digits."""
    paths = os.pathsep.join([str(Path(__file__).parents[2]), str(folder / "site-packages")])
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-c", CHILD, str(folder), str(use_cache)]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def forget():
    """Forget all that was imported of the last project."""
    reset_plugin_system()
    for name in plugin_mounts():
        unmount(name)
    sys.modules.pop("law_package", None)


@pytest.fixture
def project_at(tmp_path_factory, monkeypatch):
    """Make a project in a folder of its own, and stand in it."""

    def make():
        forget()
        folder = tmp_path_factory.mktemp("law")
        monkeypatch.chdir(folder)
        project = Project(folder)
        monkeypatch.syspath_prepend(str(project.site))
        return project

    for name in ("LAW_EARLY", "LAW_LATE"):
        monkeypatch.setenv(name, "0")
    yield make
    forget()


def edits_of(parts):
    return st.lists(
        st.lists(st.tuples(st.sampled_from(parts), st.sampled_from("012")), max_size=3), max_size=6
    )


SETTINGS = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


@pytest.mark.builds
@given(rounds=edits_of([part for part in PARTS if part != "package"]))
@settings(max_examples=12, **SETTINGS)
def test_in_one_process_every_build_gives_what_the_sources_say(project_at, rounds):
    project = project_at()
    for edits in [[], *rounds]:
        for part, digit in edits:
            project.edit(part, digit)
        assert built(project.folder) == project.expected
    assert built(project.folder, use_cache=False) == project.expected


@pytest.mark.slow
@given(rounds=edits_of(PARTS))
@settings(max_examples=4, **SETTINGS)
def test_in_processes_of_their_own_too(project_at, rounds):
    project = project_at()
    for edits in [[], *rounds]:
        for part, digit in edits:
            project.edit(part, digit)
        assert built_elsewhere(project.folder) == project.expected
    assert built_elsewhere(project.folder, use_cache=False) == project.expected


def each_part_edited(project):
    """Edit each part but the package, and build after each edit in this process."""
    assert built(project.folder) == "0000000"
    for part in PARTS[:-1]:
        project.edit(part, "1")
        assert built(project.folder) == project.expected


@pytest.mark.parametrize("no_bytecode", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_each_part_by_itself(project_at, monkeypatch, no_bytecode):
    """Bytecode that Python writes when it imports a plugin is nothing that the plugin read."""
    monkeypatch.setattr(sys, "dont_write_bytecode", no_bytecode)
    each_part_edited(project_at())


@pytest.mark.slow
def test_a_process_that_comes_after_another_believes_nothing_wrong(project_at):
    project = project_at()
    each_part_edited(project)
    assert built_elsewhere(project.folder) == "1111110"
    project.edit("package", "1")
    assert built_elsewhere(project.folder) == "1111111"


def test_an_upgrade_of_a_package_that_a_plugin_imports_says_to_restart(project_at):
    from brainsmith.errors import PluginLoadError

    project = project_at()
    built(project.folder)
    before = project.site / "law_package-0.dist-info" / "RECORD"
    project.edit("package", "1")
    with pytest.raises(PluginLoadError) as caught:
        built(project.folder)
    assert str(caught.value) == (
        f"{before} no longer exists since this process imported plugins that use it: restart Python"
    )
