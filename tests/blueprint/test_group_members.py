"""A group means those of its members whose framework is here, and says which it goes without."""

import sys

import pytest

from brainsmith.blueprint.resolve import check_blueprint
from brainsmith.plugin import load_blueprint_plugins
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.snapshot import Snapshot
from tests.blueprint.test_docs import S4

CONFIG = """\
plugin_system:
  cache_ttl: 300
  discovery_mode: full
  frameworks: [brainsmith, qonnx]
  performance_tracking: true
"""


@pytest.fixture
def here():
    """A registry without FINN."""
    records = [
        PluginInfo(type="transform", name=name, framework=framework, reference=f"m:{name}")
        for framework, name in (("brainsmith", "A"), ("brainsmith", "B"), ("qonnx", "C"))
    ]
    steps = ("cleanup", "integer", "hardware_inference", "specialize", "fold", "estimate")
    records += [PluginInfo(type="step", name=n, framework="brainsmith", reference=f"m:{n}") for n in steps]
    groups = {
        "some": ("A", "finn:X", "qonnx:C", "finn:Y", "finn:X"),
        "outer": ("B", "all_theirs", "some"),
        "all_theirs": ("finn:X", "acme:Z"),
        "misspelt": ("A", "finnn:X", "brainsmth:A"),
        "missing": ("A", "qonnx:Gone"),
    }
    registry = Registry()
    registry.replace_discovered(Snapshot(records, groups, [], [], [], [], (), 0.0))
    return registry


def shown(files, selection):
    return [note.replace(str(files.folder) + "/", "") for note in selection.skipped if "here (" in note]


def test_members_of_a_framework_that_is_not_here_are_left_out_and_told(files, here):
    selection = files.resolve("transforms: [some]", here)
    assert [use.record.qualified for use in selection.transforms] == ["brainsmith:A", "qonnx:C"]
    assert shown(files, selection) == [
        "x.yaml:2:16: group 'some' goes without finn:X, finn:Y: "
        "there are no plugins of 'finn' here (brainsmith health says why)"
    ]


def test_a_group_in_a_group_may_be_left_out_as_a_whole(files, here):
    selection = files.resolve("transforms: [outer]", here)
    assert [use.record.qualified for use in selection.transforms] == [
        "brainsmith:B",
        "brainsmith:A",
        "qonnx:C",
    ]
    assert shown(files, selection) == [
        "x.yaml:2:16: group 'all_theirs' goes without finn:X, acme:Z: "
        "there are no plugins of 'finn' and 'acme' here (brainsmith health says why)",
        "x.yaml:2:16: group 'some' goes without finn:X, finn:Y: "
        "there are no plugins of 'finn' here (brainsmith health says why)",
    ]


def test_a_group_of_which_nothing_is_here_is_an_error_unless_it_is_optional(files, here):
    text = (
        "group 'all_theirs' is empty without finn:X, acme:Z: there are no plugins of 'finn' and 'acme' here"
    )
    assert files.resolve_errors("transforms: [all_theirs]", here) == [
        f"x.yaml:2:16: {text} (brainsmith health says why)"
    ]
    assert shown(files, files.resolve("transforms: ['~all_theirs']", here)) == [
        f"x.yaml:2:16: optional transform 'all_theirs' is left out: {text} (brainsmith health says why)"
    ]


def test_what_is_misspelt_is_an_error_as_ever(files, here):
    assert files.resolve_errors("transforms: [misspelt, missing]", here) == [
        "x.yaml:2:16: in group 'misspelt': no plugin of framework 'finnn' is registered. There are brainsmith, qonnx.",
        "  what each framework's discovery found: brainsmith health",
        "x.yaml:2:16: in group 'misspelt': no plugin of framework 'brainsmth' is registered. Did you mean 'brainsmith'?",
        "  what each framework's discovery found: brainsmith health",
        "x.yaml:2:26: in group 'missing': no transform named 'Gone' in 'qonnx'.",
        "  1 is registered: brainsmith plugins list --type transform",
    ]


@pytest.mark.parametrize("absent", ["not enabled", "not installed"])
def test_the_first_configuration_and_blueprint_work_together(tmp_path, monkeypatch, absent):
    """Also where FINN is not installed at all."""
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "production_model.yaml").write_text(S4)
    monkeypatch.chdir(tmp_path)
    if absent == "not enabled":
        (tmp_path / ".brainsmith" / "config.yaml").write_text(CONFIG)
    else:
        for name in [name for name in sys.modules if name.partition(".")[0] == "finn"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "finn", None)  # what Python knows of a package that is not installed
    _, selection = check_blueprint("production_model.yaml", get_registry())
    assert {info.framework for info in selection.records} == {"brainsmith", "qonnx"}
    assert list(selection.skipped) == [
        "production_model.yaml:6:7: group 'quantization' goes without finn:InferMissingGemmBias, finn:FoldQuantWeights: "
        "there are no plugins of 'finn' here (brainsmith health says why)",
        "production_model.yaml:10:15: group 'optimization_transforms' goes without finn:MinimizeWeightBitWidth, "
        "finn:MinimizeAccumulatorWidth, finn:RoundAndClipThresholds: "
        "there are no plugins of 'finn' here (brainsmith health says why)",
    ]
    plugins = load_blueprint_plugins("production_model.yaml")
    assert {"FoldConstants", "QCDQToQuant"} <= set(plugins["transforms"].list_plugins().names())
    assert plugins["kernels"].list_plugins().names() == ["MatMul", "Softmax"]
    assert plugins["skipped"] == list(selection.skipped)
