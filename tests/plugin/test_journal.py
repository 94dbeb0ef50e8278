"""What a thread changes in a registry is noted while it is recorded, and can be undone and done again."""

import threading

import pytest

from brainsmith.errors import DuplicatePluginError
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.journal import Journal
from brainsmith.plugin.plugin_registry import Registry


def step(name, framework="project", reference=None):
    return PluginInfo(name=name, type="step", framework=framework, reference=reference or f"m:{name}")


def held(registry):
    """Return what a registry holds, to compare."""
    registered = {key: dict(providers) for key, providers in registry._registered.items()}
    return registered, dict(registry._objects)


def test_undoing_puts_back_what_was_there_and_can_be_undone():
    registry, journal = Registry(), Journal()
    registry.register(step("kept"), "kept")
    registry.register(step("gone"), "gone")
    before = held(registry)
    with registry.recording(journal):
        registry.register(step("new"), "new")
        registry.unregister("step", "gone")
        registry.register(step("kept"), "other object")
    after = held(registry)
    assert journal.entered() == [step("new")]
    generation = registry.generation
    back = registry.undo(journal)
    assert held(registry) == before
    assert registry.generation > generation
    assert journal.changes == {}
    registry.undo(back)
    assert held(registry) == after


def test_only_the_net_change_counts():
    registry, journal = Registry(), Journal()
    before = held(registry)
    with registry.recording(journal):
        registry.register(step("x"), 1)
        registry.unregister("step", "x")
    assert journal.entered() == []
    registry.undo(journal)
    assert held(registry) == before


def test_what_others_have_changed_since_is_left_alone():
    registry, journal = Registry(), Journal()
    with registry.recording(journal):
        registry.register(step("x"), "ours")
    registry.register(step("x", reference="m:theirs"), "theirs", override=True)
    registry.undo(journal)
    assert registry.get("step", "x") == "theirs"


def test_recordings_nest_and_undoing_is_not_recorded():
    registry, outer, inner = Registry(), Journal(), Journal()
    with registry.recording(outer):
        registry.register(step("a"), 1)
        with registry.recording(inner):
            registry.register(step("b"), 2)
        registry.register(step("c"), 3)
        registry.undo(inner)
    registry.register(step("d"), 4)
    assert [info.name for info in outer.entered()] == ["a", "c"]
    assert [info.name for info in registry.records()] == ["a", "c", "d"]


def test_another_thread_is_not_recorded():
    registry, journal = Registry(), Journal()
    with registry.recording(journal):
        thread = threading.Thread(target=registry.register, args=(step("theirs"), 1))
        thread.start()
        thread.join()
        registry.register(step("ours"), 2)
    registry.undo(journal)
    assert [info.name for info in registry.records()] == ["theirs"]


def test_a_failed_registration_notes_nothing():
    registry, journal = Registry(), Journal()
    registry.register(step("x"), 1)
    with registry.recording(journal), pytest.raises(DuplicatePluginError):
        registry.register(step("x", reference="m:other"), 2)
    assert journal.changes == {}
