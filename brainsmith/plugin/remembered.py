"""What plugins have read from outside in this process: they may remember it, and not read it again.

A module may keep what it has read, in a global variable or a cache of its own. Whoever calls it later depends on that
too. So what is read counts for every module that took part in reading it, and later for each step that uses one of them.
"""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.mounted_folders import FOLDER_PREFIX
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.store.code_dependencies import sources_of
from brainsmith.store.files import working_folder
from brainsmith.store.reads import WORKING_FOLDER, Reads, working_folder_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CHANGED = "read more than once, and changed between"
_ALONE: dict[str, Reads] = {}
"""What was read while plugins ran by themselves, by the modules that took part; of a plugin folder all are one."""
_IN_FRAMEWORKS: dict[str, Reads] = {}
"""The same of plugins that a framework's step has called."""


def remember(step_module: str, read: Mapping[str, Reads]) -> None:
    """Note what was read while a step ran, by the names of the modules that took part."""
    known = _IN_FRAMEWORKS if top_name(step_module) in FRAMEWORKS else _ALONE
    for module, reads in read.items():
        _add(known.setdefault(_holder(module), Reads()), reads)


def add_remembered(reads: Reads, step_module: str, is_plugin: bool) -> None:
    """Count what the modules that a step is made of may remember, beside what it read itself.

    Args:
        reads: What it read.
        step_module: Where the step is defined.
        is_plugin: Whether it is a plugin. What a function that is none finds in its own module is a part of its key.
    """
    own = {os.path.abspath(path) for path in (*reads.files, *reads.folders)}
    remembered = _remembered_by(step_module, is_plugin)
    for table in (remembered.files, remembered.folders):
        for path in own & set(table):
            del table[path]
    reads.add(remembered)
    if _are_below_working_folder((*remembered.files, *remembered.folders)):
        reads.variables.setdefault(WORKING_FOLDER, working_folder_digest())


def _remembered_by(step_module: str, is_plugin: bool) -> Reads:
    """Return what modules may remember; of two contents one that nothing has."""
    found = Reads()
    if top_name(step_module) in FRAMEWORKS:
        for reads in _IN_FRAMEWORKS.values():
            _add(found, reads)
    elif _ALONE or _IN_FRAMEWORKS:
        modules = {step_module, *sources_of([step_module], without=FRAMEWORKS).digests}
        holders = {_holder(module) for module in modules if is_plugin or module != step_module}
        for known in _TABLES:
            for holder in holders & set(known):
                _add(found, known[holder])
    return found


def _are_below_working_folder(paths: Iterable[str]) -> bool:
    here = working_folder()
    return bool(here) and any(path.startswith(os.path.join(here, "")) for path in paths)


def remembers_what_changed(folder_module: str) -> bool:
    """Tell whether the modules of a plugin folder may remember what is no longer as it was."""
    return any(known[folder_module].has_changed() for known in _TABLES if folder_module in known)


def forget(folder_module: str) -> None:
    """Note that all modules of a plugin folder are loaded anew; what others have read with them they may remember."""
    for known in _TABLES:
        forgotten = known.pop(folder_module, None)
        if forgotten is not None and known:
            kept = Reads()
            for others in known.values():
                _add(kept, others)
            _keep(forgotten, kept)
            known[folder_module] = forgotten


def top_name(module_name: str) -> str:
    """Return the name of the package that a module lies in."""
    return module_name.partition(".")[0]


def _holder(module_name: str) -> str:
    """Return under which name a module's reads are noted: those of a plugin folder come and go together."""
    return top_name(module_name) if module_name.startswith(FOLDER_PREFIX) else module_name


def _keep(reads: Reads, names: Reads) -> None:
    for mine, theirs in zip(reads.tables(), names.tables(), strict=True):
        for name in set(mine) - set(theirs):
            del mine[name]


def _add(known: Reads, reads: Reads) -> None:
    for mine, theirs in zip(known.tables(), reads.tables(), strict=True):
        for name, digest in theirs.items():
            if mine.setdefault(name, digest) != digest:
                mine[name] = _CHANGED


_TABLES = (_ALONE, _IN_FRAMEWORKS)
