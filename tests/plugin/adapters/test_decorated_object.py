"""Entry points that name a decorated class or function: that is the plugin, and nothing is run to see it."""

import sys

import pytest

from brainsmith.plugin.core import get_registry
from tests.plugin.installed import step_file, transform_file


@pytest.fixture(autouse=True)
def small(project):
    """A project that reads no framework, so that a discovery costs little."""
    project.write(".brainsmith/config.yaml", "plugin_system: {frameworks: []}\n")


@pytest.fixture
def found(manager):
    """Discover, and return what distributions offer: reference, origin and entry point by qualified name."""

    def discover():
        before = set(sys.modules)
        records = manager.discover_plugins(modes=["full"])
        assert not [name for name in set(sys.modules) - before if name.startswith("acme")]
        ours = [info for info in records if info.framework not in ("brainsmith", "project")]
        return {info.qualified: (info.reference, info.origin, info["entry_point"]) for info in ours}

    return discover


def messages(manager):
    return [str(problem) for problem in manager.problems]


def test_a_decorated_class_is_the_plugin_and_others_of_its_file_are_not(site, found, manager):
    text = transform_file("Tidy") + transform_file("Other")
    site.install("acme", "1.0", {"tidy": "acme_one:Tidy"}, acme_one=text)
    assert found() == {"acme:Tidy": ("acme_one:Tidy", f"{site}/acme_one.py:6", "tidy")}
    assert messages(manager) == []
    assert manager.adapters[2]["detail"] == "distributions: acme"
    tidy = get_registry().get("transform", "Tidy")
    assert tidy is sys.modules["acme_one"].Tidy
    assert get_registry().resolve("transform", "Tidy").framework == "acme"


def test_a_decorated_function_is_the_plugin(site, found, manager):
    site.install("acme", "1.0", {"one": "acme_one:one"}, acme_one=step_file("one", 7))
    assert found() == {"acme:one": ("acme_one:one", f"{site}/acme_one.py:4", "one")}
    assert messages(manager) == []
    assert get_registry().get("step", "one")(None, None) == 7


def test_it_may_be_imported_from_elsewhere_and_under_another_name(site, found, manager):
    site.install("acme", "1.0", {"tidy": "acme_pack:Public"}, acme_pack__impl=transform_file("Tidy"))
    site.write("acme_pack/__init__.py", "from .middle import Tidied as Public\n")
    middle = site.write("acme_pack/middle.py", "from acme_pack import impl\nTidied = impl.Tidy\n")
    middle.write_text("from acme_pack.impl import Tidy as Tidied\n")
    assert found() == {"acme:Tidy": ("acme_pack.impl:Tidy", f"{site}/acme_pack/impl.py:6", "tidy")}
    assert messages(manager) == []


def test_a_change_of_its_file_is_seen(site, found, manager):
    site.install("acme", "1.0", {"tidy": "acme_pack:Tidy"}, acme_pack__impl=transform_file("Tidy"))
    site.write("acme_pack/__init__.py", "from .impl import Tidy\n")
    assert list(found()) == ["acme:Tidy"]
    site.write("acme_pack/impl.py", transform_file("Tidy", 'stage="late", name="Tidier"'))
    assert list(found()) == ["acme:Tidier"]
    site.write("acme_pack/__init__.py", "def Tidy():\n    return {}\n")
    assert found() == {}
    assert messages(manager) == []


@pytest.mark.parametrize(
    "others", ["", transform_file("Other", "stage=STAGE")], ids=["alone", "beside a wrong decorator"]
)
def test_a_class_without_a_decorator_is_a_problem(site, found, manager, others):
    site.install("acme", "1.0", {"tidy": "acme_one:Tidy"}, acme_one=f"{others}class Tidy:\n    pass\n")
    assert found() == {}
    assert messages(manager) == [
        "acme 1.0, entry point 'tidy': acme_one:Tidy is a class that no decorator makes a plugin: decorate it, "
        "or name a module, or a function that returns a table"
    ]


def test_a_decorator_that_is_wrong_is_told_with_its_place(site, found, manager):
    text = "STAGE = 'x'\n" + transform_file("Tidy", "stage=STAGE")
    site.install("acme", "1.0", {"tidy": "acme_one:Tidy"}, acme_one=text)
    assert found() == {}
    assert messages(manager) == [
        f"{site}/acme_one.py:7: stage= of @transform must be a literal, because discovery does not run plugin code; "
        "found STAGE"
    ]


def test_imports_in_a_circle_end(site, found, manager):
    site.install(
        "acme", "1.0", {"x": "acme_a:x"}, acme_a="from acme_b import x\n", acme_b="from acme_a import x\n"
    )
    assert found() == {}
    (message,) = messages(manager)
    assert message.startswith("acme 1.0, entry point 'x': acme_a:x failed with exit code 1: ImportError: ")
