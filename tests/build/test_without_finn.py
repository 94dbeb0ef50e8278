"""Without FINN a blueprint that names what needs it is checked with a remark, and a build goes as far as it can."""

import os
import sys
from pathlib import Path

import pytest

from brainsmith.blueprint.resolve import check_blueprint
from brainsmith.build import build
from brainsmith.errors import BuildError, PluginUnavailableError
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.finn_install import INSTALL_FINN
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugins import steps
from tests.blueprint.test_docs import S4
from tests.build import graphs

pytestmark = pytest.mark.finds_anew

CONFIG = "plugin_system:\n  frameworks: [brainsmith, qonnx]\n"


@pytest.fixture
def without_finn(tmp_path, monkeypatch):
    """Work where neither FINN nor its distribution is installed: what else is, is linked from another folder."""
    links = tmp_path / "site"
    links.mkdir()
    for folder in filter(os.path.isdir, sys.path):
        for name in os.listdir(folder) if Path(folder).name == "site-packages" else ():
            if not name.startswith(("finn", "__pycache__")) and not (links / name).exists():
                (links / name).symlink_to(Path(folder) / name)
    others = [folder for folder in sys.path if Path(folder).name != "site-packages"]
    monkeypatch.setattr(sys, "path", [*others, str(links)])
    for name in [name for name in sys.modules if name.partition(".")[0] == "finn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "finn", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "production_model.yaml").write_text(S4)
    return tmp_path


@pytest.fixture
def not_enabled(tmp_path, monkeypatch):
    """Work where FINN is installed, and the project's settings leave it out."""
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / ".brainsmith" / "config.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("config", ["", CONFIG])
def test_the_first_blueprint_is_checked_and_says_where_a_build_ends(without_finn, config):
    (without_finn / ".brainsmith").mkdir()
    (without_finn / ".brainsmith" / "config.yaml").write_text(config)
    _, selection = check_blueprint("production_model.yaml", get_registry())
    assert selection.skipped[0] == (
        "production_model.yaml: FINN is not installed, so a build ends before step 'hardware_inference'; what needs it: "
        "kernel 'MatMul', kernel 'Softmax', step 'hardware_inference', step 'specialize', step 'fold', step 'estimate'. To "
        "install it: brainsmith install-finn"
    )
    with pytest.raises(PluginUnavailableError, match="requires finn-plus, which is not installed"):
        steps.qonnx_to_finn


def test_a_build_ends_before_the_first_step_that_needs_it(without_finn):
    (without_finn / "my.yaml").write_text("hw_compiler:\n  steps: [cleanup, qonnx_to_finn, streamline]\n")
    with pytest.raises(BuildError) as caught:
        build(graphs.quant_mlp(), "my.yaml", output="out", verify=False, report=False)
    assert str(caught.value).splitlines() == [
        "step 'qonnx_to_finn' cannot run: it needs FINN, which is not installed: brainsmith install-finn",
        "  steps before it: cleanup",
        f"  last good model: {without_finn}/out/failed/checkpoints/01_cleanup.onnx",
    ]


def test_an_import_of_a_part_of_finn_that_is_not_there_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "finn", None)

    def needs_finn(model, cfg):
        import finn.transformation.streamline

        return finn

    with pytest.raises(BuildError) as caught:
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[needs_finn], verify=False, report=False)
    line = needs_finn.__code__.co_firstlineno + 1
    assert str(caught.value).splitlines()[0] == (
        f"step 'needs_finn' failed: it needs FINN, which is not installed: {INSTALL_FINN} ({__file__}:{line})"
    )


def test_a_name_of_a_framework_that_the_settings_leave_out_says_so(not_enabled):
    registry = get_registry()
    with pytest.raises(LookupError) as caught:
        registry.resolve("kernel", "finn:MVAU")
    assert str(caught.value) == (
        "no kernel named 'MVAU' in 'finn'\n"
        "  FINN is left out by the setting frameworks: add finn to plugin_system: frameworks in .brainsmith/config.yaml\n"
        "  0 are registered: brainsmith plugins list --type kernel"
    )


def test_steps_are_made_of_finn_s_plugins_where_the_settings_leave_their_names_out(not_enabled):
    manager = get_plugin_manager()
    assert manager.registry_with_finn().resolve("kernel", "finn:MVAU").framework == "finn"
    assert {info.framework for info in manager.registry.records()} == {"brainsmith", "qonnx"}


@pytest.mark.slow
def test_the_first_configuration_builds_the_first_blueprint_to_its_end(not_enabled, tmp_path):
    (tmp_path / "production_model.yaml").write_text(S4)
    result = build(
        graphs.quant_mlp(), "production_model.yaml", output="out", part="xczu7ev-ffvc1156-2-e", report=False
    )
    assert [layer["op_type"] for layer in result.report["layers"]].count("MVAU_rtl") == 2
    assert all(step.verified.mismatches == 0 for step in result.steps if step.verified)
    assert [
        warning.partition(" goes without")[0] for warning in result.warnings if "goes without" in warning
    ] == [
        "production_model.yaml:6:7: group 'quantization'",
        "production_model.yaml:10:15: group 'optimization_transforms'",
    ]
