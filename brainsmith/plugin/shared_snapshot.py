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
from brainsmith.plugin.shared_files import Known, UnfitError, code_of_hub, described, place_of
from brainsmith.plugin.snapshot import Snapshot
from brainsmith.store.shared.envelope import read_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from brainsmith.plugin.shared_places import Places

_TYPE, _REFERENCE, _ORIGIN = map(FIELDS.index, ("type", "reference", "origin"))
_OTHERS = tuple(at for at in range(len(FIELDS)) if at not in (_REFERENCE, _ORIGIN))
_TYPES = frozenset(PLUGIN_TYPES)
_PLAIN = (str, int, float, bool, type(None))
_ESCAPES = ("\\u001b", "\\u001B", "\\u009b", "\\u009B", "\x9b")
"""How JSON may write the characters with which commands for terminals begin."""
_TUPLE, _PATH = "()", "/"
"""What marks in a table of JSON that it stands for a tuple, or for a path in one of the places."""
_SUMMARY = {"name": str, "status": str, "version": str, "plugins": int, "detail": str, "milliseconds": float}


def to_text(snapshot: Snapshot, places: Places) -> str | None:
    """Return a snapshot as it is shared; None of one that is not.

    That is one with problems, which name places in words; one with plugins that no Python file of the places defines under
    its own module; and one that read files elsewhere.
    """
    import json  # a discovery that has read everything has the time

    if snapshot.problems or not snapshot.complete:
        return None
    try:
        files = described(snapshot.paths, snapshot.racy, places)
        order = {
            path: at for at, path in enumerate(path for one in files for path in Known(one, places).paths)
        }
        plain = {
            "files": files,
            "code": described(code_of_hub(places), (), places),
            **_columns([_portable_record(info, order, places) for info in snapshot.records]),
            "groups": {name: list(members) for name, members in snapshot.groups.items()},
            "adapters": [_portable_summary(summary, places) for summary in snapshot.adapters],
        }
        text = json.dumps(plain)
        if any(json.dumps(folder)[1:-1] in text for folder in places.folders.values()):
            return None  # a path of this machine in a text: a source may say it, or it may be made of where that lies
        again = of_text(text, places, snapshot.environment)
    except (OSError, ValueError):
        return None
    same = again is not None and again.records == snapshot.records and again.groups == snapshot.groups
    return text if same else None


def of_text(text: str, places: Places, environment: tuple[tuple[str, ...], ...]) -> Snapshot | None:
    """Return the snapshot of a text; None if files here are not those that it is of.

    Args:
        text: As `to_text` gave it.
        places: Where its folders lie here.
        environment: The distributions that are installed here.

    Raises:
        ValueError: It is not what snapshots are; the text says why.
    """
    begin = time.time()
    if any(escape in text for escape in _ESCAPES):
        raise UnfitError("it holds characters that control a terminal")
    plain = read_json(text)
    try:
        files = [Known(one, places) for one in plain["files"]]
        code = [Known(one, places) for one in plain["code"]]
        records = _records(plain, files, places)
        groups = {_text(name): tuple(map(_text, members)) for name, members in plain["groups"].items()}
        adapters = [_summary(summary, places) for summary in plain["adapters"]]
    except (LookupError, TypeError, AttributeError) as error:
        raise UnfitError(f"it has another form ({type(error).__name__})") from None
    if not all(one.agree() for one in (*files, *code)):
        return None
    paths = [path for one in files for path in one.paths]
    found = [stamp for one in files for stamp in one.stamps]
    racy = {path: digest for one in files for path, digest in one.racy.items()}
    return Snapshot(records, groups, [], adapters, paths, found, environment, begin, racy=racy)


def _portable_record(info: PluginInfo, order: dict[str, int], places: Places) -> list[Any]:
    """Return the values of a record, with the number of a file, a line and a name for where it is."""
    values = list(info.to_plain())
    path, _, line = values[_ORIGIN].rpartition(":")
    module, _, name = values[_REFERENCE].partition(":")
    if path not in order or module != places.module_of(*place_of(path, places)) or not line.isdecimal():
        raise UnfitError(f"{info.key} is not defined by a file")
    values[-1] = {field: _portable_extra(value, places) for field, value in values[-1].items()}
    return [*(values[at] for at in _OTHERS), order[path], int(line), name]


def _portable_extra(value: Any, places: Places) -> Any:
    if isinstance(value, tuple):
        return {_TUPLE: list(value)}
    if isinstance(value, str) and value.startswith(os.sep):
        return {_PATH: list(place_of(value, places))}
    return value


def _portable_summary(summary: dict[str, Any], places: Places) -> dict[str, Any]:
    """Return the summary of an adapter; its detail may name folders."""
    detail = summary["detail"]
    for name, folder in sorted(places.folders.items(), key=lambda item: len(item[1]), reverse=True):
        detail = detail.replace(f"{folder}{os.sep}", f"\0{name}\0{os.sep}").replace(
            f"{folder},", f"\0{name}\0,"
        )
        if detail.endswith(folder):
            detail = f"{detail.removesuffix(folder)}\0{name}\0"
    return {**{name: summary[name] for name in _SUMMARY}, "detail": detail}


def _summary(plain: dict[str, Any], places: Places) -> dict[str, Any]:
    for name, form in _SUMMARY.items():
        if type(plain[name]) is not form:
            raise UnfitError(f"an adapter's {name} has another form")
    detail = plain["detail"]
    for name, folder in places.folders.items():
        detail = detail.replace(f"\0{name}\0", folder)
    return {**{name: plain[name] for name in _SUMMARY}, "detail": detail, "problems": 0, "messages": []}


def _columns(records: list[list[Any]]) -> dict[str, Any]:
    """Return records by their fields, which are read at once, and the lists and tables in them, each once."""
    tables: list[Any] = []
    places: dict[str, int] = {}
    for values in records:
        for at, value in enumerate(values):
            if isinstance(value, tuple | dict):
                known = repr(value)
                if known not in places:
                    places[known] = len(tables)
                    tables.append(value)
                values[at] = places[known]
    return {"fields": list(map(list, zip(*records, strict=True))), "tables": tables}


def _records(plain: dict[str, Any], files: Sequence[Known], places: Places) -> list[PluginInfo]:
    tables = [tuple(map(_text, one)) if type(one) is list else _table(one, places) for one in plain["tables"]]
    *others, numbers, lines, names = plain["fields"] or [[] for _ in range(len(FIELDS) + 1)]
    columns: dict[int, Any] = dict(zip(_OTHERS, others, strict=True))
    for at, column in columns.items():
        columns[at] = _column(column, type(_EMPTY[at]), tables)
    if not _TYPES.issuperset(columns[_TYPE]):
        raise UnfitError("a record is of a type that plugins do not have")
    if (
        not all(map(str.isidentifier, names))
        or not {*map(type, lines)} <= {int}
        or min(numbers, default=0) < 0
    ):
        raise UnfitError("a record names what cannot be a plugin")
    paths = [path for one in files for path in one.paths]
    inner = [(one.place, path) for one in files for path in one.inner]
    modules = {number: places.module_of(*inner[number]) for number in {*numbers}}
    if not all(modules.values()):
        raise UnfitError("a record lies in a file that cannot be imported")
    columns[_REFERENCE] = [f"{modules[at]}:{name}" for at, name in zip(numbers, names, strict=True)]
    columns[_ORIGIN] = [f"{paths[at]}:{line}" for at, line in zip(numbers, lines, strict=True)]
    return list(map(PluginInfo.from_plain, zip(*(columns[at] for at in range(len(FIELDS))), strict=True)))


_EMPTY = PluginInfo().to_plain()


def _column(values: list[Any], form: type, tables: list[Any]) -> list[Any]:
    """Return the values of one field, which have its form; of a field that may be None, texts and None."""
    found = {*map(type, values)}
    if form in (tuple, dict):
        used = {*values} if found <= {int} else {-1}
        if min(used, default=0) < 0 or any(type(tables[at]) is not form for at in used):
            raise UnfitError("a record has another form")
        return [tables[at] for at in values] if form is tuple else [{**tables[at]} for at in values]
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
    if mark == _TUPLE:
        return tuple(map(_single, inner))
    place, path = map(_text, inner)
    folder = places.folders[place]
    return f"{folder}{os.sep}{path}" if path else folder


def _single(value: Any) -> Any:
    if type(value) not in _PLAIN:
        raise UnfitError("a record has another form")
    return value
