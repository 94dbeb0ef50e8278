"""Bundles loaded, reloaded and unloaded at run time: from Python files, folders and `plugin.json`, with their needs."""

import hashlib
import logging
import sys

import numpy as np
import pytest

from brainsmith import ops
from brainsmith import plugins as door
from brainsmith.bundles.bundle_registry import BundleRegistry
from brainsmith.cli.command_line import Options
from brainsmith.cli.main import main
from brainsmith.errors import (
    BundleClashError,
    BundleDefinitionError,
    BundleDependencyError,
    BundleError,
    BundleVersionError,
    PluginNotFoundError,
)
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.manager import reset_plugin_system
from tests.bundles.making import source, state
from tests.plugin.installed import run_python


def refused(error, call, *arguments, **keywords):
    """Call; it must fail and leave everything as it was. Returns the message."""
    before, listed = state(), door.list_plugins()
    modules = {name for name in sys.modules if name.startswith("brainsmith_folder_") and "." in name}
    with pytest.raises(error) as caught:
        call(*arguments, **keywords)
    assert state() == before
    assert door.list_plugins() == listed
    after = {name for name in sys.modules if name.startswith("brainsmith_folder_") and "." in name}
    assert after == modules
    return str(caught.value)


def run(name, value=3.0):
    return float(ops.execute_custom_op(name, [np.float32(value)]))


def calls_of(name):
    return BundleRegistry().get_plugin(name).module.calls


def test_a_python_file_is_loaded_used_and_unloaded(write):
    before = state()
    path = write(source())
    bundle = door.load_plugin(path)
    assert str(bundle) == "acme v1.0.0"
    assert door.is_plugin_loaded("acme")
    assert not door.is_plugin_loaded("acm")
    info = door.get_plugin_info("acme")
    assert door.list_plugins().items() == [("acme", info)]
    assert (info.name, info.version, info.extra) == ("acme", "1.0.0", {"ops": ("acme_op",), "path": path})
    assert run("acme_op") == 6.0
    assert ops.get_custom_op("acme_op").bundle == "acme"
    calls = calls_of("acme")
    door.unload_plugin("acme")
    assert calls == ["initialise", "clean-up"]
    assert not door.is_plugin_loaded("acme")
    assert not ops.is_custom_op_registered("acme_op")
    assert state() == before
    door.load_plugin(path)
    assert run("acme_op") == 6.0


def test_a_folder_a_plugin_json_and_the_file_itself_mean_the_same(put, project):
    path = put("acme", ops=["acme_op"])
    for way in (path, project / "plugins" / "acme", project / "plugins" / "acme" / "acme.py"):
        door.load_plugin(way)
        assert door.get_plugin_info("acme").qualified == "project:acme"
        assert door.get_plugin_info("acme").extra["path"] == path
        assert get_registry().get("bundle", "acme") is BundleRegistry().get_plugin("acme")
        assert [info.name for info in get_registry().records("bundle")] == ["acme"]
        door.unload_plugin("acme")
    assert [info.name for info in get_registry().records("bundle")] == ["acme"]


def test_create_bundle_makes_one_too(write):
    text = source(more="made_bundle, bundle = bundle, None\ndef create_bundle():\n    return made_bundle\n")
    assert door.load_plugin(write(text)).info.name == "acme"


def test_what_decorators_in_the_file_register_is_the_bundles(write):
    more = (
        "from brainsmith.plugin.core import op, step\n"
        "@step\ndef acme_step(model, cfg):\n    return model\n"
        "@op(name='acme_class')\nclass AcmeClass(ops.Op):\n    def forward(self, x):\n        return x\n"
    )
    before = state()
    door.load_plugin(write(source(more=more)))
    assert get_registry().resolve("step", "acme_step").framework == "acme"
    assert ops.get_custom_op("acme_class").bundle == "acme"
    door.unload_plugin("acme")
    assert state() == before


def test_a_file_may_import_what_lies_beside_it(write):
    write("factor = 5\n", "acme_factor.py")
    door.load_plugin(
        write(
            source(factor="factor", more="").replace(
                "calls = []", "from .acme_factor import factor\ncalls = []"
            )
        )
    )
    assert run("acme_op") == 15.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "{path}: it must define `bundle` or `create_bundle()`, and has neither"),
        ("bundle = 3", "{path}: bundle must be a Bundle, such as BundleBuilder()....build(), not 3"),
        (
            "def create_bundle():\n    return None\n",
            "{path}: what create_bundle() returns must be a Bundle, such as BundleBuilder()....build(), not None",
        ),
        (
            "def create_bundle():\n    raise KeyError('x')\n",
            "{path}: create_bundle() raised KeyError: 'x' ({path}:2)",
        ),
        ("1 / 0", "{path} cannot be loaded: it raised ZeroDivisionError: division by zero ({path}:1)"),
        ("raise SystemExit(3)", "{path} cannot be loaded: it raised SystemExit: 3 ({path}:1)"),
        ("def (", "{path} cannot be loaded: it raised SyntaxError: invalid syntax (acme.py, line 1)"),
        (
            "from brainsmith.plugin.core import step\n@step\ndef s(model, cfg): pass\nbundle = 3",
            "{path}: bundle must be a Bundle, such as BundleBuilder()....build(), not 3",
        ),
    ],
)
def test_a_file_that_is_no_bundle(write, text, message):
    path = write(text)
    assert refused(BundleError, door.load_plugin, path) == message.replace("{path}", path)


def test_paths_that_lead_to_no_bundle(tmp_path):
    gone = tmp_path / "gone.py"
    assert refused(BundleError, door.load_plugin, gone) == f"{gone}: there is no such file or folder"
    assert refused(BundleError, door.load_plugin, tmp_path) == (
        f"{tmp_path}: the folder has no plugin.json, so it is not a bundle"
    )
    (tmp_path / "plugin.json").write_text("{")
    (tmp_path / "a.py").write_text(source())
    for path in (tmp_path, tmp_path / "plugin.json", tmp_path / "a.py"):
        assert refused(BundleDefinitionError, door.load_plugin, path).startswith(
            f"{tmp_path}/plugin.json:1:2: the file is not JSON: "
        )


def test_a_plugin_json_must_be_true(put, project):
    path = put("acme", text=source(version="1.0.1"))
    file = project / "plugins" / "acme" / "acme.py"
    assert refused(BundleDefinitionError, door.load_plugin, path) == (
        f"{path}:2: it describes 'acme v1.0.0', and {file} is 'acme v1.0.1'"
    )
    path = put("acme", ops=["acme_op", "acme_other"])
    assert refused(BundleDefinitionError, door.load_plugin, path) == (
        f"{path}: the bundle 'acme v1.0.0' does not bring the op 'acme_other', which is among its ops; "
        "it brings acme_op"
    )
    path = put("acme", sha256="0" * 64)
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    assert refused(BundleError, door.load_plugin, path) == (
        f"{file}: its sha256 must be {'0' * 64}, and is {found}"
    )
    assert door.load_plugin(put("acme", sha256=found.upper())).info.name == "acme"


def test_a_host_that_will_not_do_is_seen_before_anything_runs(put):
    path = put("acme", text="raise SystemExit", min_brainsmith_version="999.0.0")
    assert refused(BundleVersionError, door.load_plugin, path) == (
        "bundle 'acme v1.0.0' needs brainsmith 999.0.0 or newer, and this is brainsmith 0.1.0: "
        "update brainsmith, or take an older version of the bundle"
    )
    path = put("acme", text=source(least="999.0.0"))
    assert refused(BundleVersionError, door.load_plugin, path).startswith(
        "bundle 'acme v1.0.0' needs brainsmith 999"
    )


def test_arguments_for_native_libraries_are_refused_for_python(write):
    path = write(source())
    for what, value in (("isolation", "process"), ("time_limit", 1.0)):
        assert refused(BundleError, door.load_plugin, path, **{what: value}) == (
            f"{path}: {what} is for native libraries; a Python file runs in this process"
        )


def test_a_bundle_is_loaded_once(put):
    path = put("acme")
    door.load_plugin(path)
    assert refused(BundleClashError, door.load_plugin, path) == (
        "bundle 'acme v1.0.0' cannot be registered: 'acme v1.0.0' is registered already; remove it first"
    )
    assert run("acme_op") == 6.0


def test_a_missing_bundle_is_named():
    for call in (door.unload_plugin, door.get_plugin_info, door.reload_plugin):
        assert refused(PluginNotFoundError, call, "acme") == (
            "no bundle named 'acme' is registered\n  registered are: none"
        )


def test_what_a_bundle_needs_is_loaded_first_in_order(put):
    put("base")
    put("middle", needs={"base": ">=1.0"})
    path = put("top", needs={"middle": "", "base": "<2"})
    door.load_plugin(path)
    assert door.list_plugins().names() == ["base", "middle", "top"]
    assert refused(BundleDependencyError, door.unload_plugin, "base") == (
        "bundle 'base v1.0.0' cannot be removed: 'middle v1.0.0' and 'top v1.0.0' need it; remove what needs it first"
    )
    for name in ("top", "middle", "base"):
        door.unload_plugin(name)


@pytest.mark.slow
def test_needs_that_the_python_file_states_are_loaded_too(put, write):
    put("base")
    door.load_plugin(write(source("top", needs=[("base", ">=1.0")])))
    assert door.list_plugins().names() == ["base", "top"]


def test_a_need_that_is_not_found_or_has_another_version(put):
    put("other")
    path = put("top", needs={"base": ">=1.0"})
    assert refused(BundleDependencyError, door.load_plugin, path) == (
        "bundle 'top v1.0.0' needs the bundle 'base >=1.0.0', which is neither loaded nor found; "
        "found are: other, top\n  bundles are found by their plugin.json in the project's plugins folder"
    )
    found = put("base", version="0.9.0")
    assert refused(BundleVersionError, door.load_plugin, path) == (
        f"bundle 'top v1.0.0' needs the bundle 'base >=1.0.0', and {found} is 0.9.0"
    )
    door.load_plugin(found)
    assert refused(BundleVersionError, door.load_plugin, path) == (
        "bundle 'top v1.0.0' needs the bundle 'base >=1.0.0', and 'base v0.9.0' is registered"
    )


def test_bundles_that_need_each_other_are_named_in_their_circle(put, write):
    put("a", needs={"b": ""})
    put("b", needs={"c": ""})
    path = put("c", needs={"a": ""})
    assert refused(BundleDependencyError, door.load_plugin, path) == (
        "bundles depend on each other in a cycle: c -> a -> b -> c"
    )
    top = put("top", needs={"c": ""})
    assert refused(BundleDependencyError, door.load_plugin, top) == (
        "bundles depend on each other in a cycle: c -> a -> b -> c"
    )


@pytest.mark.slow
def test_a_failure_unloads_only_what_the_call_brought(put):
    there = put("there")
    put("base")
    put("middle", needs={"base": "", "there": ""})
    broken = source("broken").replace('calls.append("initialise")', "1 / 0")
    path = put("broken", needs={"middle": ""}, text=broken)
    door.load_plugin(there)
    assert "its initialise function raised ZeroDivisionError" in refused(BundleError, door.load_plugin, path)
    assert door.list_plugins().names() == ["there"]
    assert run("there_op") == 6.0


@pytest.mark.slow
def test_a_clean_up_that_fails_on_the_way_back_is_said(put):
    base = source("base").replace('calls.append("clean-up")', "1 / 0")
    put("base", text=base)
    path = put("top", needs={"base": ""}, text="bundle = 3")
    lines = refused(BundleError, door.load_plugin, path).splitlines()
    assert lines[0].endswith("top.py: bundle must be a Bundle, such as BundleBuilder()....build(), not 3")
    assert lines[1].startswith(
        "  bundle 'base v1.0.0' is removed, but its clean-up function raised ZeroDivisionError: division by zero"
    )


@pytest.mark.parametrize("call", [door.load_plugin, door.unload_plugin, door.reload_plugin])
def test_loading_can_be_turned_off(project, monkeypatch, call, capsys):
    import brainsmith.cli.verbs

    project.write(".brainsmith/config.yaml", "plugin_system:\n  dynamic_loading: false\n")
    how = (
        "\n  to turn it on: BRAINSMITH_DYNAMIC_LOADING=1, or dynamic_loading: true under plugin_system in "
        ".brainsmith/config.yaml"
    )
    what = "bundles cannot be loaded or unloaded at run time: dynamic_loading is off (from "
    config = project / ".brainsmith" / "config.yaml"
    assert refused(NotImplementedError, call, "acme") == f"{what}{config}){how}"
    monkeypatch.setenv("BRAINSMITH_DYNAMIC_LOADING", "off")
    assert refused(NotImplementedError, call, "acme") == f"{what}BRAINSMITH_DYNAMIC_LOADING){how}"
    assert (door.list_plugins(), door.is_plugin_loaded("acme")) == ((), False)

    class Verb:
        words, options, positional = ("load",), (), ()
        module = "acme_verb"

        @staticmethod
        def run(options, terminal):
            call("acme")

    monkeypatch.setattr(brainsmith.cli.verbs, "VERBS", (Verb,))
    monkeypatch.setattr("brainsmith.cli.command_line.parse", lambda verb, words: Options())
    monkeypatch.setitem(sys.modules, "acme_verb", Verb)
    assert main(["load"]) == 1
    assert capsys.readouterr().err == f"error: {what}BRAINSMITH_DYNAMIC_LOADING){how}\n"
    monkeypatch.setenv("BRAINSMITH_DYNAMIC_LOADING", "on")
    with pytest.raises((BundleError, PluginNotFoundError)) as caught:
        call("acme")
    assert not isinstance(caught.value, NotImplementedError)


def test_each_step_of_a_load_is_logged(put, project, caplog):
    put("base")
    file = project / "plugins" / "top" / "top.py"
    put("top")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    path = put("top", needs={"base": ">=1"}, sha256=digest)
    get_registry()
    with caplog.at_level(logging.DEBUG, "brainsmith.plugin"):
        door.load_plugin(path)
        door.unload_plugin("top")
    base = project / "plugins" / "base" / "base.py"

    def steps(name, of):
        return [
            f"{of}: running the Python file",
            f"bundle {name} v1.0.0: checking versions and dependencies",
            f"bundle {name} v1.0.0: calling its initialise function",
            f"bundle {name} v1.0.0: calling its custom operations function",
            f"bundle {name} v1.0.0: registered with 1 plugin",
        ]

    discovery = ("scanning: ", "updating: ", "adapter ", "kept on disk: ")
    told = [m for m in caplog.messages if not m.startswith(discovery) and "is defined twice" not in m]
    assert told == [
        f"loading {path}",
        "top v1.0.0 needs base >=1.0.0: loading it first",
        *steps("base", base),
        f"{file}: its sha256 is as stated",
        *steps("top", file),
        "unloading top",
        "bundle top v1.0.0: calling its clean-up function",
        "bundle top v1.0.0: removed",
    ]


def test_a_reset_unloads_bundles_and_cleans_up(write):
    door.load_plugin(write(source()))
    calls = calls_of("acme")
    reset_plugin_system()
    assert calls == ["initialise", "clean-up"]
    assert door.list_plugins() == ()
    assert not ops.is_custom_op_registered("acme_op")


@pytest.mark.slow
def test_the_names_of_bundles_are_in_the_door_and_cost_nothing_until_used(tmp_path):
    code = """
    import json, sys
    import brainsmith.plugins as door
    names = ("numpy", "dataclasses", "json.decoder", "brainsmith.bundles", "brainsmith.plugin.version", "hashlib")
    before = [name for name in names if name in sys.modules and name != "json.decoder"]
    from brainsmith.plugins import Bundle, BundleBuilder, BundleRegistry, CustomLayer, Version
    from brainsmith.plugins import get_plugin_info, is_plugin_loaded, list_plugins
    from brainsmith.plugins import load_plugin, reload_plugin, unload_plugin
    wanted = {"Version", "BundleBuilder", "BundleRegistry", "CustomLayer", "load_plugin"}
    missing = sorted(wanted - set(dir(door)))
    print(json.dumps([before, missing, CustomLayer.__name__, list_plugins()]))
    """
    assert run_python(code, cwd=tmp_path) == [[], [], "CustomLayer", []]
