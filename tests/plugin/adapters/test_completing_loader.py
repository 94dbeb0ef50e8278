"""Finders that complete modules: they wait for no lock of imports while they hold their own."""

from threading import Thread

from brainsmith.plugin.adapters import completing_loader
from brainsmith.plugin.adapters.completing_loader import CompletingFinder


def test_another_thread_can_begin_while_a_package_is_looked_for(monkeypatch):
    """Looking for a package takes the lock of imports, and whoever holds that may wait for the finders' lock."""
    waited = []

    def found(name):
        if name == "first":
            other = Thread(target=CompletingFinder({}).begin, args=("second",), daemon=True)
            other.start()
            other.join(10)
            waited.append(other.is_alive())

    monkeypatch.setattr(completing_loader, "find_spec", found)
    assert CompletingFinder({}).begin("first") is None
    assert waited == [False]
