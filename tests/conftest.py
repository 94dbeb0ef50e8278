"""What all tests share: each has folders of its own for caches and settings, and begins with a fresh hub.

What compilers make is the same for all of them and is kept from run to run (`keeping`); what is found in files is kept
for one run. How many examples a law tries is its profile's to say (`laws`).
"""

import gc
import os
import signal
from itertools import count

import pytest

from brainsmith import progress
from brainsmith.plugin.manager import reset_plugin_system
from tests.keeping import kept_folders
from tests.laws import load_profile, scale

SHARED = ("rtl", "hls", "synthesis", "ops", "discovery")
"""The parts of a cache that all tests share."""

PROFILE = load_profile()

# What a shell starts in the background ignores Ctrl-C, as do its children, which tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Let each law try as many examples as the profile says."""
    laws = {
        getattr(item.obj, "__func__", item.obj): {
            kind: item.get_closest_marker(kind) is not None for kind in ("compiles", "builds")
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
    discovery = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "discovery"
    discovery.mkdir(exist_ok=True)
    return {**kept_folders(), "discovery": discovery}


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
def simulations(kept_builds):
    """Where simulations are kept."""
    return kept_builds["rtl"]


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
def homes(tmp_path_factory):
    """Empty folders, one after the other."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(scope="session")
def shared_parts():
    """The parts of its cache that a test shares; those that test discovery share less."""
    return SHARED


@pytest.fixture(autouse=True)
def isolated_hub(homes, cache_at, shared_parts, monkeypatch):
    """Keep the user's settings and caches out of a test, and what a test registers out of the next one."""
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", cache_at(home / "cache", shared_parts))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    for name in [name for name in os.environ if name.startswith("BRAINSMITH_")]:
        monkeypatch.delenv(name)
    reset_plugin_system()
    yield
    reset_plugin_system()
