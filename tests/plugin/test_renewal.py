"""What changed since it was imported is loaded anew, or the error says to restart."""

import pytest

from brainsmith.errors import PluginLoadError
from brainsmith.plugin.mounted_folders import folder_module, plugin_mounts
from brainsmith.plugin.renewal import refuse_changed, renew
from brainsmith.plugins import steps
from tests.plugin.installed import step_file

pytestmark = pytest.mark.usefixtures("no_frameworks")


def test_an_edit_of_the_same_size_gives_the_new_object_and_an_unchanged_one_stays(project, manager):
    project.write("plugins/first.py", step_file("first", 1))
    assert manager.registry.get("step", "first")(None, None) == 1
    for result in (2, 3):
        project.write("plugins/first.py", step_file("first", result))
        manager.discover_plugins(modes=["full"])
        found = manager.registry.get("step", "first")
        assert found(None, None) == result
        manager.discover_plugins(modes=["full"])
        assert manager.registry.get("step", "first") is steps.first is found


def test_a_module_beside_a_plugin_counts_for_it(project, manager):
    project.write("plugins/first.py", "from .beside import X\n" + step_file("first").replace("model", "X", 0))
    project.write("plugins/beside.py", "X = 1\n")
    old = manager.registry.get("step", "first")
    project.write("plugins/beside.py", "X = 2\n")
    renew()
    new = manager.registry.get("step", "first")
    assert (old.__globals__["X"], new.__globals__["X"]) == (1, 2)


def test_a_folder_in_which_nothing_changed_is_not_loaded_anew(project, manager):
    project.write("plugins/first.py", step_file("first", 1))
    found = manager.registry.get("step", "first")
    project.write("plugins/second.py", step_file("second", 1))
    manager.discover_plugins(modes=["full"])
    assert manager.registry.get("step", "first") is found
    assert folder_module(str(project / "plugins")) in plugin_mounts()


def test_a_plugin_of_a_package_says_to_restart(site, manager):
    site.install(
        "acme", entry_points={"all": "acme.norms"}, acme__init__="", acme__norms=step_file("norm", 1)
    )
    (site / "acme" / "init__.py").rename(site / "acme" / "__init__.py")
    file = site / "acme" / "norms.py"
    assert manager.registry.get("step", "norm")(None, None) == 1
    file.write_text(file.read_text().replace("1", "2"))
    manager.discover_plugins(modes=["full"])
    message = f"{file} changed since this process imported it, and may be in use: restart Python"
    with pytest.raises(PluginLoadError) as caught:
        manager.registry.get("step", "norm")
    assert str(caught.value) == message
    file.write_text(file.read_text().replace("2", "1"))
    assert manager.registry.get("step", "norm")(None, None) == 1
    refuse_changed()
