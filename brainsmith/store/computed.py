"""Values on disk that code computed: believed as long as the modules that it is made of are the same."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import PathFinder
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from brainsmith.store.code_dependencies import Sources, sources_of
from brainsmith.store.imported_sources import facts_of, is_file_imported, is_older, note_imports
from brainsmith.store.values import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeVar

    from brainsmith.store.about import About

    T = TypeVar("T")


class _LookedAt:
    """What was looked up since a build began.

    Attributes:
        statuses: Of files and folders.
        found: Sources of which that shows that they are as they were, and the statuses of their files, by their key.
    """

    def __init__(self) -> None:
        self.statuses: dict[str, os.stat_result] = {}
        self.found: dict[str, tuple[Sources, dict[str, os.stat_result]]] = {}


_LOOKED_AT: ContextVar[_LookedAt | None] = ContextVar("brainsmith_looked_at", default=None)


@contextmanager
def each_source_looked_at_once() -> Iterator[None]:
    """Let what is looked up inside ask for each file's status once: a build uses the sources that it began with.

    What is imported meanwhile, of another source, is still noticed.
    """
    token = _LOOKED_AT.set(_LookedAt())
    try:
        yield
    finally:
        _LOOKED_AT.reset(token)


class Computed:
    """A value on disk, under a folder and a key.

    Args:
        cache_dir: The cache folder.
        kind: The folder in it.
        key: Stands for all that the value was computed from, except for the code.
        roots: The modules that compute it (`sources_of`).
    """

    def __init__(self, cache_dir: str, kind: str, key: str, roots: Iterable[str]) -> None:
        self._cache_dir = cache_dir
        self._roots = tuple(roots)
        self._kept = Kept(cache_dir, kind, key)
        note_imports()

    def load(self) -> Any | None:
        """Return the value, if all modules that computed it, and those that they import, are as they were."""
        plain = self._kept.load(None)
        if plain is None:
            return None
        modules, folders, fingerprint, value = plain
        return value if fingerprint == self._sources(modules, folders).fingerprint() else None

    def save(self, value: Any, modules: Iterable[str] = (), about: About | None = None) -> bool:
        """Keep a value.

        Args:
            value: A plain one.
            modules: Further ones that computed it, found while it was.
            about: What is known of it, for people.

        Returns:
            Whether it was kept: not if it is unknown which sources computed it.
        """
        modules = tuple(sorted(modules))
        folders = _mounted(modules)
        found = self._sources(modules, folders)
        fingerprint = found.fingerprint()
        sourceless = set(modules).difference(found.digests, sys.stdlib_module_names)
        if fingerprint is None or sourceless:
            return False
        known: About = {} if about is None else about
        files = {**found.of_files(), **known.get("files", {})}
        return self._kept.save(None, (modules, folders, fingerprint, value), {**known, "files": files})

    def obtain(
        self,
        read: Callable[[Any], T | None],
        make: Callable[[], tuple[T, Any, Iterable[str]]],
        about: Callable[[], About] | None = None,
    ) -> T:
        """Return what is kept, or make it and keep it.

        Args:
            read: Makes it of its plain form; None if that does not hold any more.
            make: Returns it, its plain form (None if it may not be kept), and the further modules that computed it. What
                it raises leaves nothing behind.
            about: Says what is known of it, for people.
        """
        plain = self.load()
        found = None if plain is None else read(plain)
        if found is None:
            found, plain, modules = make()
            if plain is not None:
                self.save(plain, modules, None if about is None else about())
        return found

    def _sources(self, modules: Iterable[str], folders: Mapping[str, str]) -> Sources:
        return kept_sources((*self._roots, *modules), self._cache_dir, folders)


def _mounted(modules: Iterable[str]) -> dict[str, str]:
    """Return the folders of packages that no path leads to: plugins' folders are mounted when they are needed."""
    folders = {}
    for top in {name.partition(".")[0] for name in modules}:
        places = list(getattr(sys.modules.get(top), "__path__", ()))
        if places and PathFinder.find_spec(top) is None:
            folders[top] = places[0]
    return folders


def kept_sources(
    roots: Iterable[str], cache_dir: str, folders: Mapping[str, str] = MappingProxyType({})
) -> Sources:
    """Return what `sources_of` does, whose result is kept as long as no file or folder changes.

    Args:
        roots: Names of modules; `package.*` is a package and everything below it.
        cache_dir: The cache folder.
        folders: Where packages lie that no path leads to, by their names.
    """
    roots = tuple(roots)
    looked_at = _LOOKED_AT.get() or _LookedAt()
    key = repr((roots, sorted(folders.items()), sys.path))
    kept = Kept(cache_dir, "sources", key)
    if key not in looked_at.found and (plain := kept.load(None)) is not None:
        _note_true(looked_at, key, *plain)
    if key in looked_at.found and _are_of_files(*looked_at.found[key]):
        return looked_at.found[key][0]
    looked_at.found.pop(key, None)
    before = time.time_ns()
    found = sources_of(roots, folders)
    statuses = _statuses(found.files, looked_at)
    are_of_before = statuses is not None and all(is_older(status, before) for status in statuses.values())
    if statuses is not None and are_of_before and _are_of_files(found, statuses):
        facts = {path: facts_of(status) for path, status in statuses.items()}
        about: About = {"of": ", ".join(roots), "files": found.of_files(), "origin": {}}
        kept.save(None, (found.digests, found.files, facts), about)
    return found


def _note_true(
    looked_at: _LookedAt,
    key: str,
    digests: dict[str, str],
    files: dict[str, str],
    facts: dict[str, tuple[int, ...]],
) -> None:
    """Note what was found, if it would be found again."""
    statuses = _statuses(files, looked_at)
    if statuses is not None and all(facts_of(status) == facts[path] for path, status in statuses.items()):
        looked_at.found[key] = Sources(digests, files), statuses


def _statuses(files: Mapping[str, str], looked_at: _LookedAt) -> dict[str, os.stat_result] | None:
    """Return the status of each file, and of the folders that they lie in: one that is added there may count too."""
    known = looked_at.statuses
    try:
        paths = (*files.values(), *{os.path.dirname(path) for path in files.values()})
        return {path: known.get(path) or known.setdefault(path, os.stat(path)) for path in paths}
    except OSError:
        return None


def _are_of_files(found: Sources, statuses: Mapping[str, os.stat_result]) -> bool:
    """Tell whether all modules that are imported were made of their files as these are now."""
    return not found.unknown and all(
        is_file_imported(name, path, statuses[path], found.digests[name])
        for name, path in found.files.items()
    )
