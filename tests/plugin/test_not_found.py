"""A name that is not found says why it may be missing that somebody believes to be there."""

import sys

import pytest

from brainsmith.errors import PluginLoadError, PluginNotFoundError
from brainsmith.plugin.manager import PluginManager
from brainsmith.plugin.not_found import INSTALL
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugins import kernels, transforms
from brainsmith.settings import load_settings


def message(use):
    with pytest.raises(PluginNotFoundError) as caught:
        use()
    return str(caught.value)


@pytest.fixture
def without_finn(monkeypatch, tmp_path):
    """A manager of a machine on which Python finds no FINN."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setitem(sys.modules, "finn", None)
    return PluginManager(Registry(), load_settings())


def test_without_finn_a_kernel_of_finn_names_finn(without_finn):
    registry = without_finn.registry
    count = len(registry.records("kernel"))
    assert message(lambda: registry.resolve("kernel", "MVAU")) == (
        f"no kernel named 'MVAU'{hint(registry, 'MVAU')}\n"
        "  FINN is not installed, so none of its kernels is found: brainsmith install-finn\n"
        f"  {count} are registered: brainsmith plugins list --type kernel"
    )
    assert "FINN is not installed" in message(lambda: registry.resolve("step", "finn:step_x"))
    assert "FINN is not installed" not in message(lambda: registry.resolve("transform", "qonnx:FoldConstnts"))
    assert "FINN is not installed" not in message(lambda: registry.resolve("target", "nowhere"))


def hint(registry, name):
    from difflib import get_close_matches

    names = {info.name.lower(): info.name for info in registry.records("kernel")}
    close = [names[one] for one in get_close_matches(name.lower(), names, n=3, cutoff=0.6)]
    return f". Did you mean {' or '.join(map(repr, close))}?" if close else ""


def test_without_finn_its_collection_and_health_say_how_to_install_it(without_finn):
    from brainsmith.plugin.collections import Collection

    found = Collection("kernel", lambda: without_finn.registry)
    assert message(lambda: found.finn) == (
        "framework 'finn' offers no kernels here: FINN is not installed: brainsmith install-finn"
    )


def test_a_framework_that_the_settings_leave_out_is_said():
    from brainsmith.plugin.collections import Collection

    registry = PluginManager(Registry(), load_settings(frameworks=["brainsmith", "qonnx"])).registry
    assert message(lambda: Collection("kernel", lambda: registry).finn) == (
        "framework 'finn' offers no kernels here: FINN is left out by the setting frameworks: "
        "add finn to plugin_system: frameworks in .brainsmith/config.yaml"
    )
    assert message(lambda: Collection("kernel", lambda: registry).qonnx) == (
        "framework 'qonnx' offers no kernels here: it has none"
    )


@pytest.mark.parametrize("plugin_type", ["kernl", "kernels"])
def test_a_type_that_there_is_not_is_said(manager, plugin_type):
    text = f"there is no plugin type '{plugin_type}'; the types are transform, kernel, backend, step, op, target, bundle"
    assert message(lambda: manager.registry.resolve(plugin_type, "LayerNorm")) == text
    assert message(lambda: manager.get_instance(plugin_type, "LayerNorm")) == text


def test_after_a_restricted_discovery_it_is_said(manager):
    manager.discover_plugins(types=["kernel"])
    text = message(lambda: transforms.ExpandNorms)
    assert text == (
        "no transform named 'ExpandNorms'\n"
        "  discovery was restricted to types=['kernel']: discover_plugins(modes=['full']) finds all\n"
        "  0 are registered: brainsmith plugins list --type transform"
    )
    manager.discover_plugins(frameworks=["qonnx"], types=["transform"])
    restricted = (
        "  discovery was restricted to frameworks=['qonnx'] and types=['transform']: discover_plugins(modes=['full']) "
        "finds all\n"
    )
    assert message(lambda: kernels.MatMul) == (
        f"no kernel named 'MatMul'\n{restricted}  0 are registered: brainsmith plugins list --type kernel"
    )
    assert message(lambda: kernels.finn) == (
        "framework 'finn' offers no kernels here: discovery was restricted to frameworks=['qonnx'] and "
        "types=['transform']: discover_plugins(modes=['full']) finds all"
    )
    manager.discover_plugins(modes=["full"])
    count = len(transforms)
    assert message(lambda: transforms.ExpandNrms) == (
        "no transform named 'ExpandNrms'. Did you mean 'ExpandNorms'?\n"
        f"  {count} are registered: brainsmith plugins list --type transform"
    )


def test_in_blueprint_mode_it_is_said(project, manager):
    from brainsmith.blueprint.blueprint_plugins import load_blueprint_plugins

    path = project.write("my.yaml", "hw_compiler:\n  steps: [cleanup]\n")
    load_blueprint_plugins(path)
    manager.discover_plugins(modes=["blueprint"])
    assert message(lambda: transforms.ExpandNorms) == (
        "no transform named 'ExpandNorms'\n"
        "  discovery was restricted to what the loaded blueprint names: discover_plugins(modes=['full']) finds all\n"
        "  0 are registered: brainsmith plugins list --type transform"
    )


def test_a_name_of_another_framework_is_suggested_with_its_framework(manager):
    count = len(manager.registry.records("transform", "qonnx"))
    assert message(lambda: transforms["qonnx:ApplyConfig"]) == (
        "no transform named 'ApplyConfig' in 'qonnx'. Did you mean 'finn:ApplyConfig'?\n"
        f"  {count} are registered: brainsmith plugins list --type transform"
    )
    assert message(lambda: transforms["qonnx:FoldConstnts"]) == (
        "no transform named 'FoldConstnts' in 'qonnx'. Did you mean 'qonnx:FoldConstants'?\n"
        f"  {count} are registered: brainsmith plugins list --type transform"
    )


def test_a_plugin_that_imports_a_framework_that_is_not_there_says_how_to_install_it(
    project, manager, monkeypatch
):
    path = project.write(
        "plugins/own.py",
        "from finnish import x\nfrom brainsmith import step\n@step\ndef own(model, cfg): ...\n",
    )
    monkeypatch.setitem(INSTALL, "finnish", "brainsmith install-finn")
    with pytest.raises(PluginLoadError) as caught:
        manager.registry.get("step", "own")
    module = manager.registry.resolve("step", "own").module
    assert str(caught.value) == (
        f"step 'project:own' ({path}:3) cannot be loaded: importing {module!r} raised ModuleNotFoundError: No module named "
        f"'finnish' ({path}:1)\n"
        "  FINNISH is not installed: brainsmith install-finn"
    )
