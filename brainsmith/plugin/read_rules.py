"""What does not count of what plugins read from outside while they are imported, or run."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.settings import cache_dir
from brainsmith.store.uncounted import Rules

if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo

FRAMEWORKS = ("brainsmith", "qonnx", "finn")
"""Whose sources count by their versions."""
# Where things are, and not what they are, as far as the frameworks themselves ask.
_PLACES = frozenset(
    ("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    + ("FINN_ROOT", "FINN_BUILD_DIR", "FINN_HOST_BUILD_DIR", "NO_COLOR", "TERM", "COLUMNS", "LINES")
)


def is_of_framework(info: PluginInfo) -> bool:
    """Tell whether a plugin is of a framework itself, and not of a distribution or folder that only has its name."""
    return info.framework in FRAMEWORKS and not any(
        key in info.extra for key in ("entry_point", "folder", "path")
    )


def read_rules(
    own: tuple[str, ...] = (),
    sources: tuple[str, ...] = (),
    hidden: tuple[str, ...] = (),
    shown: tuple[str, ...] = (),
) -> Rules:
    """Return the rules.

    Args:
        own: Folders of what is made and kept, which counts otherwise.
        sources: Folders whose modules count by their sources.
        hidden: As of `Rules`.
        shown: As of `Rules`.
    """
    return Rules(
        folders=(*own, *map(os.path.realpath, own), *_cache_folders()),
        sources=sources,
        hidden=hidden,
        shown=shown,
        trusted=framework_folders(),
        places=_PLACES,
        silent=(os.path.dirname(os.path.abspath(__file__)),),
    )


def _cache_folders() -> tuple[str, ...]:
    """Return the cache folder, and where it is, and what links in it lead to: compilers name files by where they are."""
    folder = cache_dir()
    try:
        with os.scandir(folder) as entries:
            links = [os.path.realpath(entry.path) for entry in entries if entry.is_symlink()]
    except OSError:
        links = []
    return folder, os.path.realpath(folder), *links


def framework_folders() -> tuple[str, ...]:
    """Return the folders of the frameworks' packages; none is imported for that."""
    from importlib.util import find_spec  # listings look for no package

    specs = [find_spec(name) for name in FRAMEWORKS]
    return tuple(folder for spec in specs if spec for folder in spec.submodule_search_locations or ())
