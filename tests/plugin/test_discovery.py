"""What a discovery does with what the adapters found."""

from itertools import permutations

import pytest

from brainsmith.errors import DuplicatePluginError
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


def test_a_framework_that_nothing_has_is_told(manager):
    assert len(manager.discover_plugins(frameworks=["nope", "project"])) == 0
    assert list(map(str, manager.problems)) == [
        "frameworks=['nope', 'project']: no plugin has the framework 'nope': it is neither one of project, brainsmith, "
        "qonnx, finn nor an installed distribution that offers plugins"
    ]
