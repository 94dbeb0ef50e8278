"""Snapshots as machines share them: text without a path of this machine, used only as far as files here agree.

What was read is there with digests of its content, and whoever takes a snapshot compares its own files with them. So
another home, another checkout and another machine with the same files have the same snapshot, and no other has it.

A record says in which of these files it is defined, and under which name. The module follows from the file, so no text can
say what else to import.
"""

from __future__ import annotations

import os
import time

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.info import FIELDS, PLUGIN_TYPES, PluginInfo
from brainsmith.plugin.shared_files import Known, UnfitError
from brainsmith.plugin.snapshot import Snapshot
from brainsmith.store.shared.envelope import read_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from brainsmith.plugin.shared_places import Places

NAME, _TYPE, REFERENCE, ORIGIN, EXTRA = map(FIELDS.index, ("name", "type", "reference", "origin", "extra"))
OWN = (NAME, *map(FIELDS.index, ("description", "kernel")))
"""The fields that most records have for themselves. Where a record lies is written apart."""
COMMON = tuple(at for at in range(len(FIELDS)) if at not in (*OWN, REFERENCE, ORIGIN))
"""The fields that many records have alike: they are written once for each kind of record, and a record names its kind."""
_TYPES = frozenset(PLUGIN_TYPES)
_PLAIN = (str, int, float, bool, type(None))
_ESCAPES = frozenset(("u001b", "u001B", "u009b", "u009B"))
"""How JSON may write, behind a backslash, the characters with which commands for terminals begin."""
TUPLE, PATH = "()", "/"
"""What marks in a table of JSON that it stands for a tuple, or for a path in one of the places."""
SUMMARY = {"name": str, "status": str, "version": str, "plugins": int, "detail": str, "milliseconds": float}


def of_text(text: str, places: Places, environment: tuple[tuple[str, ...], ...]) -> Snapshot | None:
    """Return the snapshot of a text; None if files here are not those that it is of.

    Args:
        text: As `shared_writing.to_text` gave it.
        places: Where its folders lie here.
        environment: The distributions that are installed here.

    Raises:
        ValueError: It is not what snapshots are; the text says why.
    """
    begin = time.time()
    if "\x9b" in text or not _ESCAPES.isdisjoint(part[:5] for part in text.split("\\")):
        raise UnfitError("it holds characters that control a terminal")
    plain = read_json(text)
    try:
        files = [Known(one, places) for one in plain["files"]]
        code = [Known(one, places) for one in plain["code"]]
        records = _records(plain, files, places)
        groups = {_text(name): tuple(map(_text, members)) for name, members in plain["groups"].items()}
        adapters = [_summary(summary, places) for summary in plain["adapters"]]
        is_of_here = all(one.agree() for one in (*files, *code))
    except (LookupError, TypeError, AttributeError) as error:
        raise UnfitError(f"it has another form ({type(error).__name__})") from None
    if not is_of_here:
        return None
    paths = [path for one in files for path in one.paths]
    found = [stamp for one in files for stamp in one.stamps]
    racy = {path: digest for one in files for path, digest in one.racy.items()}
    return Snapshot(records, groups, [], adapters, paths, found, environment, begin, racy=racy)


def _summary(plain: dict[str, Any], places: Places) -> dict[str, Any]:
    for name, form in SUMMARY.items():
        if type(plain[name]) is not form:
            raise UnfitError(f"an adapter's {name} has another form")
    detail = plain["detail"]
    for name, folder in places.folders.items():
        detail = detail.replace(f"\0{name}\0", folder)
    return {**{name: plain[name] for name in SUMMARY}, "detail": detail, "problems": 0, "messages": []}


def _records(plain: dict[str, Any], files: Sequence[Known], places: Places) -> list[PluginInfo]:
    if not plain["records"]:
        return []
    kinds, *own, numbers, lines, named = plain["records"]
    tables = [tuple(map(_text, one)) if type(one) is list else _table(one, places) for one in plain["tables"]]
    common = {
        at: _column(column, type(_EMPTY[at]), tables)
        for at, column in zip(COMMON, plain["kinds"], strict=True)
    }
    if not _TYPES.issuperset(common[_TYPE]):
        raise UnfitError("a record is of a type that plugins do not have")
    columns = {at: [column[kind] for kind in kinds] for at, column in common.items()}
    columns[EXTRA] = [{**extra} for extra in columns[EXTRA]]
    for at, column in zip(OWN, own, strict=True):
        columns[at] = _column(column, type(_EMPTY[at]), tables)
    names = [name or own_name for name, own_name in zip(named, columns[NAME], strict=True)]
    if (
        not all(map(str.isidentifier, names))
        or not {*map(type, kinds), *map(type, numbers), *map(type, lines)} <= {int}
        or min(*kinds, *numbers) < 0
    ):
        raise UnfitError("a record names what cannot be a plugin")
    paths = [path for one in files for path in one.paths]
    inner = [(one.place, path) for one in files for path in one.inner]
    modules = {number: places.module_of(*inner[number]) for number in {*numbers}}
    if not all(modules.values()):
        raise UnfitError("a record lies in a file that cannot be imported")
    columns[REFERENCE] = [f"{modules[at]}:{name}" for at, name in zip(numbers, names, strict=True)]
    columns[ORIGIN] = [f"{paths[at]}:{line}" for at, line in zip(numbers, lines, strict=True)]
    return list(map(PluginInfo.from_plain, zip(*(columns[at] for at in range(len(FIELDS))), strict=True)))


_EMPTY = PluginInfo().to_plain()


def _column(values: list[Any], form: type, tables: list[Any]) -> list[Any]:
    """Return the values of one field, which have its form; of a field that may be None, texts and None."""
    found = {*map(type, values)}
    if form in (tuple, dict):
        used = {*values} if found <= {int} else {-1}
        if min(used, default=0) < 0 or any(type(tables[at]) is not form for at in used):
            raise UnfitError("a record has another form")
        return [tables[at] for at in values]
    if not found <= ({str, form} if form is type(None) else {form}):
        raise UnfitError("a record has another form")
    return values


def _text(value: Any) -> str:
    if type(value) is not str:
        raise UnfitError("a list holds something else than texts")
    return value


def _table(values: dict[str, Any], places: Places) -> dict[str, Any]:
    """Return what a record's `extra` holds: single values, tuples of them, and paths."""
    return {_text(name): _extra(value, places) for name, value in values.items()}


def _extra(value: Any, places: Places) -> Any:
    if type(value) is not dict:
        return _single(value)
    ((mark, inner),) = value.items()
    if mark == TUPLE:
        return tuple(map(_single, inner))
    place, path = map(_text, inner)
    folder = places.folders[place]
    return f"{folder}{os.sep}{path}" if path else folder


def _single(value: Any) -> Any:
    if type(value) not in _PLAIN:
        raise UnfitError("a record has another form")
    return value
