"""What all tests share: each has folders of its own for caches and settings, and begins with a fresh hub.

What compilers make is the same for all of them and is kept from run to run (`keeping`); what is found in files is kept
for one run. How many examples a law tries is its profile's to say (`laws`).
"""

import gc
import os
import signal

import pytest

from brainsmith import progress
from brainsmith.plugin.manager import reset_plugin_system
from tests.homes import Homes
from tests.keeping import MAKERS, kept_folders
from tests.laws import COMPILED, load_profile, scale

FOUND = ("discovery", "details", "health", "sources")
"""What is found in files and packages, and kept for one run: what kinds of plugins there are, and what works."""

SHARED = (*MAKERS, *FOUND)
"""The parts of a cache that all tests share."""

SHARED_BUT_FOUND = (*MAKERS, "health")
"""The parts that a test shares which is marked `finds_anew`."""

PROFILE = load_profile()

# What a shell starts in the background ignores Ctrl-C, as do its children, which tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items):
    """Let each law try as many examples as the profile says."""
    laws = {
        getattr(item.obj, "__func__", item.obj): {
            "compiles": next(
                (mark.kwargs.get("tried", COMPILED) for mark in item.iter_markers("compiles")), 0
            ),
            "builds": item.get_closest_marker("builds") is not None,
        }
        for item in items
    }
    for law, kinds in laws.items():
        scale(law, PROFILE, **kinds)


def pytest_collection_finish():
    """Leave what was collected out of all later collections of garbage: it lives to the end, and it is much."""
    gc.freeze()


@pytest.fixture(scope="session")
def kept_builds(tmp_path_factory):
    """The folders of the parts of a cache that tests share."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    found = {part: folder / "found" / part for part in FOUND}
    for path in found.values():
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {**kept_folders(), **found}


@pytest.fixture
def heard(monkeypatch):
    """A listener that hears everything at once; what it hears, as texts without the seconds."""
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    lines = []
    with progress.Listening(
        lambda works: lines.append("; ".join(str(work).rpartition(",")[0] for work in works))
    ):
        yield lines


@pytest.fixture(scope="session")
def cache_at(kept_builds):
    """Make a folder a cache of its own but for the parts that are shared; return it as XDG_CACHE_HOME."""

    def make(folder, parts=SHARED):
        (folder / "brainsmith").mkdir(parents=True)
        for part in parts:
            (folder / "brainsmith" / part).symlink_to(kept_builds[part])
        return str(folder)

    return make


@pytest.fixture(scope="session")
def simulations(kept_builds, cache_at, tmp_path_factory):
    """Where simulations are kept: by tests, and by fixtures that are made before a test has folders of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", cache_at(tmp_path_factory.mktemp("simulations")))
        yield kept_builds["rtl"]


@pytest.fixture(scope="session")
def homes(tmp_path_factory, cache_at):
    """Homes to lend to tests."""
    return Homes(tmp_path_factory.mktemp("homes"), cache_at)


@pytest.fixture(autouse=True)
def isolated_hub(homes, request, monkeypatch):
    """Keep the user's settings and caches out of a test, and what a test registers out of the next one."""
    alone = request.node.get_closest_marker("finds_anew") is not None
    with homes.lend(SHARED_BUT_FOUND if alone else SHARED) as home:
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        for name in [name for name in os.environ if name.startswith("BRAINSMITH_")]:
            monkeypatch.delenv(name)
        reset_plugin_system()
        yield
        reset_plugin_system()
