"""`requires`: versions of plugins and of distributions, which choose among several, or are refused with all who ask."""

from importlib import metadata

import pytest

from brainsmith.blueprint.json_schema import json_schema
from brainsmith.blueprint.resolve import resolve_blueprint
from brainsmith.blueprint.schema import Requirement
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.snapshot import Snapshot

VERSIONS = "versions, such as '>=2,<3' or '~=1.6'"


def step(name, framework, version, *needs, type="step"):
    return PluginInfo(
        name=name, type=type, framework=framework, reference=f"{framework}:{name}", version=version,
        requires_plugins=needs, origin=f"{framework}.py:1",
    )  # fmt: skip


def registry_of(*records):
    registry = Registry()
    registry.replace_discovered(Snapshot(list(records), {}, [], [], [], [], (), 0.0))
    return registry


TIDY = step("tidy", "old", "1.9"), step("tidy", "new", "2.1")


def chosen(files, registry, text):
    return [record.qualified for record in files.resolve(text, registry).records]


def test_versions_are_read_and_stated(files):
    blueprint = files.body("requires:\n  finn-plus: '~=1.6'\n  'acme:FuseBias': '>=2,<3'")
    assert blueprint.requires == (Requirement("finn-plus", "~=1.6"), Requirement("acme:FuseBias", ">=2,<3"))
    assert str(blueprint.requires[1].position).endswith("x.yaml:4:5")


def test_what_is_wrong_with_them(files):
    text = "requires:\n  finn-plus: 1.6\n  numpy: '=2'\n  qonnx: ''\n  'a:b:c:d': '>=1'\n  'no name': '>=1'\n  onnx: [1]"
    assert files.body_errors(text) == [
        f"x.yaml:3:16: requires.finn-plus must be {VERSIONS}, not 1.6",
        f"x.yaml:4:12: requires.numpy must be {VERSIONS}, not '=2'; equal is written '=='",
        f"x.yaml:5:12: requires.qonnx must be {VERSIONS}, not ''",
        "x.yaml:6:5: requires: a key with a colon must be [type:][framework:]Name, and perhaps versions, such as"
        " 'kernel:acme:MatMul >=2,<3', not 'a:b:c:d'",
        "x.yaml:7:5: requires: 'no name' is no name of a distribution; a plugin has a colon, such as transform:FuseBias",
        f"x.yaml:8:11: requires.onnx must be {VERSIONS}, not a list",
    ]
    assert files.body_errors("requires: [finn-plus]") == [
        "x.yaml:2:13: requires must be a mapping, not a list"
    ]


def test_a_key_that_has_versions_itself_is_refused(files):
    assert files.body_errors("requires: {'transform:X >=0.1': '<2'}") == [
        "x.yaml:2:14: requires: write the versions after the colon: 'X': '>=0.1'"
    ]


def test_a_plugin_that_does_not_exist_is_named(files):
    selection = files.resolve("steps: [tidy]\nrequires: {'step:tidyy': '>=99'}", registry_of(*TIDY))
    assert [text.partition(": ")[2] for text in selection.skipped if "requires" in text] == [
        "requires names 'step:tidyy', and there is no such plugin. Did you mean 'tidy'?"
    ]


def test_without_one_the_highest_version_is_meant_and_with_one_what_it_accepts(files):
    registry = registry_of(*TIDY)
    assert chosen(files, registry, "steps: [tidy]") == ["new:tidy"]
    assert chosen(files, registry, "steps: [tidy]\nrequires: {'step:tidy': '<2'}") == ["old:tidy"]
    assert chosen(files, registry, "steps: [tidy]\nrequires: {'new:tidy': '>=3'}") == ["old:tidy"]
    assert chosen(files, registry, "steps: [tidy]\nrequires: {'kernel:tidy': '<2'}") == ["new:tidy"]


def test_a_conflict_names_all_who_ask(files):
    registry = registry_of(*TIDY, step("last", "acme", "1.0", "tidy >=2"))
    assert files.resolve_errors("requires: {'step:tidy': '<2'}\nsteps: [tidy, last]", registry) == [
        "x.yaml:3:17: step 'acme:last' (acme.py:1) cannot be used here: it requires step:tidy >=2: no version of the step"
        " 'tidy' meets what is asked of it. There are:",
        "  new:tidy 2.1 (new.py:1)",
        "  old:tidy 1.9 (old.py:1)",
        " and",
        "  x.yaml:2:14 asks for step:tidy <2",
        "  step acme:last asks for step:tidy >=2",
    ]


def test_plugins_that_ask_for_what_excludes_each_other_are_all_that_is_reported(files):
    registry = registry_of(
        *TIDY, step("one", "acme", "1.0", "tidy >=2"), step("two", "acme", "1.0", "tidy <2")
    )
    lines = files.resolve_errors("steps: [one, two]", registry)
    assert [line.partition(" (acme.py")[0] for line in lines if line.startswith("x.yaml")] == [
        "x.yaml:2:11: step 'acme:one'",
        "x.yaml:2:16: step 'acme:two'",
    ]
    assert lines[-2:] == ["  step acme:one asks for step:tidy >=2", "  step acme:two asks for step:tidy <2"]


def test_a_plugin_that_is_named_as_a_distribution_is_not_advised_to_be_installed_alone(files):
    assert files.resolve_errors("steps: [tidy]\nrequires: {tidy: '<2', '': '1'}", registry_of(*TIDY)) == [
        "x.yaml:3:26: a key in requires is empty"
    ]
    assert files.resolve_errors("steps: [tidy]\nrequires: {tidy: '<2'}", registry_of(*TIDY)) == [
        "x.yaml:3:14: the blueprint requires tidy<2, which is not installed: pip install 'tidy<2'",
        "  if the plugin is meant, its key has a colon: step:tidy",
    ]


def test_what_a_plugin_asks_counts_and_what_it_requires_is_needed_before_it(files):
    needing = step("last", "acme", "1.0", "tidy <2", "kernel:Deep")
    registry = registry_of(
        *TIDY,
        needing,
        step("Deep", "acme", "1", "target:far", type="kernel"),
        step("far", "acme", "1", type="target"),
    )
    assert chosen(files, registry, "steps: [tidy, last]") == [
        "old:tidy",
        "acme:far",
        "acme:Deep",
        "acme:last",
    ]
    missing = registry_of(needing, *TIDY)
    (first, *_) = files.resolve_errors("steps: [last]", missing)
    assert first == (
        "x.yaml:2:11: step 'acme:last' (acme.py:1) cannot be used here: it requires kernel:Deep: "
        "no kernel named 'Deep'"
    )
    optional = files.resolve("steps: [tidy, ~last]", missing)
    assert [record.qualified for record in optional.records] == ["new:tidy"]
    assert optional.skipped[-1].endswith("it requires kernel:Deep: no kernel named 'Deep'")


def test_what_plugins_ask_without_end_is_said(files):
    """The new one asks for the old one, and the old one for the new one: neither choice settles."""
    registry = registry_of(step("tidy", "old", "1.9", "other >=2"), step("tidy", "new", "2.1", "other <2"),
                           step("other", "old", "1", "tidy >=2"), step("other", "new", "2", "tidy <2"))  # fmt: skip
    (line, *_) = files.resolve_errors("steps: [tidy]", registry)
    assert "plugins require each other: step new:tidy > step old:other > step new:tidy" in line


def test_a_distribution_that_is_not_installed_or_is_another_version(files):
    numpy = metadata.version("numpy")
    lines = files.resolve_errors(
        "steps: [tidy]\nrequires: {nowhere: '>=1', numpy: '>=99'}", registry_of(*TIDY)
    )
    assert lines == [
        "x.yaml:3:14: the blueprint requires nowhere>=1, which is not installed: pip install 'nowhere>=1'",
        f"x.yaml:3:30: the blueprint requires numpy>=99, and {numpy} is installed: pip install 'numpy>=99'",
    ]
    assert files.resolve("steps: [tidy]\nrequires: {numpy: '>=2'}", registry_of(*TIDY)).steps


def test_backends_of_other_versions_are_left_out(files):
    kernel = step("MatMul", "acme", "1", type="kernel")
    backends = [
        PluginInfo(name=f"MatMul{framework.title()}RTL", type="backend", framework=framework, kernel="acme:MatMul",
                   reference=f"{framework}:B", version=version, backend_type="rtl", requires_plugins=needs)
        for framework, version, needs in (("acme", "1", ()), ("beta", "2", ()), ("gone", "2", ("kernel:Gone",)))
    ]  # fmt: skip
    registry = registry_of(kernel, *backends)
    selection = files.resolve(
        "kernels: [MatMul]\nsteps: [~x]\nrequires: {'backend:MatMulAcmeRTL': '>=2'}", registry
    )
    assert [backend.framework for backend in selection.kernels[0].backends] == ["beta"]
    assert any("backend 'gone:MatMulGoneRTL' is left out" in text for text in selection.skipped)


def test_an_overlay_adds_and_replaces_versions(files):
    files.write("hw_compiler: {requires: {numpy: '>=2', 'step:tidy': '<2'}, steps: [tidy]}", "base.yaml")
    blueprint = files.load("extends: base.yaml\nhw_compiler: {requires: {'step:tidy': ~, onnx: '>=1'}}")
    assert [f"{each.name} {each.versions}" for each in blueprint.requires] == ["numpy >=2", "onnx >=1"]
    assert resolve_blueprint(blueprint, registry_of(*TIDY)).records[0].qualified == "new:tidy"


@pytest.mark.parametrize(("text", "is_valid"), [("~=1.6", True), (">=2,<3", True), ("1.6", False)])
def test_the_schema_for_editors_has_them(text, is_valid):
    import jsonschema

    document = {"hw_compiler": {"requires": {"finn-plus": text}}}
    assert jsonschema.Draft7Validator(json_schema()).is_valid(document) is is_valid
