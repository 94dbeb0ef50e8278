"""The registry: which provider of a name wins, what is said when none does, and how records are listed."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import threading

import pytest

from brainsmith.errors import AmbiguousPluginError, DuplicatePluginError, PluginNotFoundError
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.precedence import framework_identifier, split_name
from brainsmith.plugin.snapshot import Snapshot


def info(name, framework="brainsmith", type="transform", **fields):
    fields.setdefault("reference", f"{framework}.{name}:{name}")
    fields.setdefault("origin", f"/{framework}/{name}.py:1")
    return PluginInfo(name=name, framework=framework, type=type, **fields)


def registry_of(*records, groups=None):
    registry = Registry()
    registry.replace_discovered(Snapshot(list(records), groups or {}, [], [], [], [], (), 0.0))
    return registry


ORDER = ["project", "brainsmith", "acme-plugins", "bravo", "qonnx"]


@pytest.mark.parametrize("absent", range(5))
def test_precedence_is_project_own_distributions_adapters(absent):
    providers = {
        "qonnx": info("X", "qonnx"),
        "bravo": info("X", "bravo", priority=40),
        "acme-plugins": info("X", "acme-plugins", priority=60),
        "brainsmith": info("X", "brainsmith"),
        "project": info("X", "project"),
    }
    for name in ORDER[:absent]:
        del providers[name]
    registry = registry_of(*providers.values())
    assert registry.resolve("transform", "X").framework == ORDER[absent]
    for name in providers:
        assert registry.resolve("transform", f"{name}:X").framework == name


def test_between_distributions_the_priority_decides_and_then_the_name():
    assert (
        registry_of(info("X", "a", priority=10), info("X", "b", priority=90))
        .resolve("transform", "X")
        .framework
        == "b"
    )
    assert registry_of(info("X", "b"), info("X", "a")).resolve("transform", "X").framework == "a"


def test_a_distribution_wins_over_a_framework_that_is_adapted_whatever_its_priority():
    registry = registry_of(info("X", "qonnx"), info("X", "finn"), info("X", "acme", priority=-5))
    assert registry.resolve("transform", "X").framework == "acme"


def test_a_name_that_several_frameworks_have_must_be_said():
    registry = registry_of(info("X", "qonnx"), info("X", "finn"))
    with pytest.raises(AmbiguousPluginError) as caught:
        registry.resolve("transform", "X")
    assert str(caught.value) == "transform 'X' exists in several frameworks; say which: finn:X, qonnx:X"
    assert registry.resolve("transform", "finn:X").framework == "finn"
    assert "transform:X" in registry


def test_a_framework_is_named_as_python_or_the_index_names_it():
    registry = registry_of(info("X", "acme-plugins"))
    for name in ("acme-plugins:X", "acme_plugins:X", "Acme_Plugins:X", "acme.plugins:X"):
        assert registry.resolve("transform", name).framework == "acme-plugins"
    assert framework_identifier("Acme-Plugins") == "acme_plugins"
    assert split_name("a:b") == ("a", "b")
    assert split_name("b") == (None, "b")


def test_pitfall_09_a_kernel_a_step_and_a_transform_of_one_name_stand_side_by_side():
    registry = registry_of(*(info("cleanup", type=t) for t in ("kernel", "step", "transform")))
    for plugin_type in ("kernel", "step", "transform"):
        assert registry.resolve(plugin_type, "cleanup").type == plugin_type
    assert sorted(registry) == ["kernel:cleanup", "step:cleanup", "transform:cleanup"]
    assert len(registry) == 3


def test_a_missing_name_is_told_with_close_ones():
    registry = registry_of(info("ExpandNorms"), info("LayerNorm", type="kernel"), info("Expand", "finn"))
    with pytest.raises(PluginNotFoundError) as caught:
        registry.resolve("transform", "expandNorm")
    assert str(caught.value) == (
        "no transform named 'expandNorm'. Did you mean 'ExpandNorms'?\n  2 are registered: brainsmith plugins list --type transform"
    )
    with pytest.raises(PluginNotFoundError) as caught:
        registry.resolve("transform", "LayerNorm")
    assert str(caught.value) == (
        "no transform named 'LayerNorm' (there is a kernel of that name)\n  2 are registered: brainsmith plugins list --type transform"
    )
    with pytest.raises(PluginNotFoundError) as caught:
        registry.resolve("transform", "finn:Zzz")
    assert (
        str(caught.value)
        == "no transform named 'Zzz' in 'finn'\n  1 is registered: brainsmith plugins list --type transform"
    )
    assert isinstance(caught.value, LookupError | AttributeError)
    with pytest.raises(PluginNotFoundError):
        registry["transform:Nope"]
    assert "transform:Nope" not in registry


def test_pitfall_14_two_objects_of_one_framework_and_name_are_refused_in_any_order():
    a, b = info("X", reference="m:a", origin="/p/a.py:1"), info("X", reference="m:b", origin="/p/b.py:2")
    for records in ([a, b], [b, a], [a, a, b], [a, b, a]):
        with pytest.raises(DuplicatePluginError) as caught:
            registry_of(*records).resolve("transform", "X")
        assert "/p/a.py:1" in str(caught.value)
        assert "/p/b.py:2" in str(caught.value)
    assert registry_of(a, a).resolve("transform", "X") == a


def test_a_duplicate_in_another_framework_does_not_hide_ours():
    twice = [info("X", "acme", reference="m:a"), info("X", "acme", reference="m:b")]
    registry = registry_of(info("X", "brainsmith"), *twice)
    assert registry.resolve("transform", "brainsmith:X").framework == "brainsmith"
    assert registry.resolve("transform", "X").framework == "brainsmith"
    with pytest.raises(DuplicatePluginError):
        registry.resolve("transform", "acme:X")


def test_what_a_decorator_registers_takes_the_place_of_what_was_discovered():
    registry = registry_of(info("X", "project"))
    made = info("X", "project", reference="shell:X")
    with pytest.raises(DuplicatePluginError):
        registry.register(made, object)
    registry.register(made, object, override=True)
    assert registry.resolve("transform", "X") is made
    assert registry.records("transform") == (made,)
    registry.unregister("transform", "X")
    assert registry.resolve("transform", "X").reference == "project.X:X"
    with pytest.raises(PluginNotFoundError, match="no transform named 'X' was registered at run time"):
        registry.unregister("transform", "X")


def test_a_plugin_that_discovery_finds_later_is_not_listed_twice():
    registry = Registry()
    registry.register(info("X"), object)
    registry.replace_discovered(Snapshot([info("X")], {}, [], [], [], [], (), 0.0))
    assert len(registry.records("transform")) == 1
    assert registry.get("transform", "X") is object


def test_what_a_decorator_that_says_override_made_stays_whichever_is_imported_first():
    """The file that overrides imports the one that it replaces: as a subclass does."""
    first, second = info("X", reference="m:a"), info("X", reference="m:b", extra={"override": True})
    registry = Registry()
    registry.register(first, int)
    registry.register(second, str, override=True)
    assert registry.get("transform", "X") is str
    registry = registry_of(second)
    registry.register(first, int)
    registry.register(second, str, override=True)
    assert registry.get("transform", "X") is str


def test_records_are_filtered_and_sorted():
    registry = registry_of(
        info("B", stage="s"), info("A", "acme-plugins", stage="s"), info("A"), info("K", type="kernel")
    )
    assert [i.qualified for i in registry.records()] == [
        "acme-plugins:A",
        "brainsmith:A",
        "brainsmith:B",
        "brainsmith:K",
    ]
    assert [i.name for i in registry.records("kernel")] == ["K"]
    assert [i.name for i in registry.records(framework="acme_plugins")] == ["A"]
    assert [i.qualified for i in registry.records(stage="s")] == ["acme-plugins:A", "brainsmith:B"]


def test_a_stage_is_a_group_unless_a_group_has_its_name():
    records = [
        info("B", stage="s"),
        info("A", stage="s"),
        info("C", "project", stage="s"),
        info("D", stage="other"),
    ]
    assert registry_of(*records).group("s") == ("project:C", "brainsmith:A", "brainsmith:B")
    registry = registry_of(*records, groups={"s": ("D",), "empty": ()})
    assert registry.group("s") == ("D",)
    assert registry.group("empty") == ()
    assert registry.group("nothing") is None
    assert registry.groups == {"s": ("D",), "empty": ()}


def test_the_registry_reads_as_a_mapping():
    registry = registry_of(info("X"), info("X", "finn"), info("K", type="kernel"))
    assert registry["transform:X"].framework == "brainsmith"
    assert registry["transform:finn:X"].framework == "finn"
    assert registry.keys() == ["transform:X", "transform:finn:X", "kernel:K"]


def test_reset_forgets_everything():
    registry = registry_of(info("X"), groups={"g": ("X",)})
    registry.register(info("Y"), object)
    registry.reset()
    assert registry.records() == ()
    assert registry.groups == {}


@pytest.mark.slow
def test_many_threads_register_and_read():
    registry = registry_of(*(info(f"D{i}") for i in range(50)))
    errors = []

    def work(number):
        try:
            for i in range(40):
                registry.register(info(f"T{number}_{i}"), object())
                assert registry.resolve("transform", f"T{number}_{i}")
                assert len(registry.records("transform")) >= 50
                registry.replace_discovered(
                    Snapshot([info(f"D{j}") for j in range(50)], {}, [], [], [], [], (), 0.0)
                )
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert errors == []
    assert len(registry.records()) == 210
