"""What a discovery does with what the adapters found."""

from itertools import permutations

import pytest

from brainsmith.errors import DuplicatePluginError, SettingsError
from tests.plugin.installed import step_file


@pytest.mark.parametrize("order", list(permutations("abx")))
def test_pitfall_14_what_says_override_wins_over_all_whatever_the_order(order, project, manager):
    """Files are read in the order of their names."""
    for place, which in enumerate(order):
        text = step_file("twice", ord(which))
        if which == "x":
            text = text.replace("@step", "@step(override=True)")
        project.write(f"plugins/file{place}.py", text)
    [record] = manager.discover_plugins(frameworks=["project"])
    assert record.file == str(project / "plugins" / f"file{order.index('x')}.py")
    assert manager.problems == ()
    assert manager.registry.get("step", "twice")(None, None) == ord("x")


def test_two_that_say_override_clash(project, manager):
    for name in ("a", "b", "c"):
        text = step_file("twice", 1)
        project.write(
            f"plugins/{name}.py", text if name == "a" else text.replace("@step", "@step(override=True)")
        )
    manager.discover_plugins(frameworks=["project"])
    [problem] = manager.problems
    places = "".join(f"\n  {project / 'plugins' / name}.py:{problem.line}" for name in ("b", "c"))
    assert problem.text == f"step 'twice' is defined twice in framework 'project':{places}"
    with pytest.raises(DuplicatePluginError):
        manager.registry.get("step", "twice")


def test_a_framework_that_nothing_has_is_an_error_and_changes_nothing(project, manager):
    project.write("plugins/one.py", step_file("one"))
    manager.discover_plugins(frameworks=["project"])
    with pytest.raises(SettingsError) as caught:
        manager.discover_plugins(frameworks=["nope", "project"])
    assert str(caught.value) == (
        "frameworks=['nope', 'project']: no plugin has the framework 'nope'\n"
        "  the frameworks are brainsmith, finn, project, qonnx"
    )
    assert [info.qualified for info in manager.registry.records()] == ["project:one"]


def test_a_framework_may_have_no_plugin_of_the_types_that_are_asked_for(site, manager):
    site.install("acme", "1.0", {"all": "acme_steps"}, acme_steps=step_file("look"))
    assert len(manager.discover_plugins(frameworks=["acme"], types=["kernel"])) == 0
    with pytest.raises(SettingsError) as caught:
        manager.discover_plugins(frameworks=["acne"], types=["kernel"])
    assert str(caught.value) == (
        "frameworks=['acne']: no plugin has the framework 'acne'. Did you mean 'acme'?\n"
        "  the frameworks are acme, brainsmith, finn, project, qonnx"
    )


def test_a_distribution_that_offers_plugins_is_a_framework_though_none_can_be_used(site, manager):
    site.install(
        "acme", "1.0", {"all": "acme_one"}, acme_one="from brainsmith import step\n@step\nis no Python\n"
    )
    assert len(manager.discover_plugins(frameworks=["acme"])) == 0
    (problem,) = manager.problems
    assert (
        str(problem)
        == f"{site}/acme_one.py:3:1: the file is not Python, so its plugins are not found: invalid syntax"
    )
