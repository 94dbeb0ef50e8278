"""Write snapshots as machines share them (`shared_snapshot` reads them): by who has read everything, and has the time."""

from __future__ import annotations

import json
import os

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.shared_files import Known, UnfitError, code_of_hub, described, place_of
from brainsmith.plugin.shared_snapshot import (
    COMMON,
    EXTRA,
    ORIGIN,
    OWN,
    PATH,
    REFERENCE,
    SUMMARY,
    TUPLE,
    of_text,
)

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.shared_places import Places
    from brainsmith.plugin.snapshot import Snapshot


def to_text(snapshot: Snapshot, places: Places) -> str | None:
    """Return a snapshot as it is shared; None of one that is not.

    That is one with problems, which name places in words; one with plugins that no Python file of the places defines under
    its own module; and one that read files elsewhere.
    """
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


def _portable_record(info: PluginInfo, order: dict[str, int], places: Places) -> list[Any]:
    """Return what a record has in common with others, what it has for itself, and the file, line and name of its place."""
    values = list(info.to_plain())
    path, _, line = values[ORIGIN].rpartition(":")
    module, _, name = values[REFERENCE].partition(":")
    if path not in order or module != places.module_of(*place_of(path, places)) or not line.isdecimal():
        raise UnfitError(f"{info.key} is not defined by a file")
    values[EXTRA] = {field: _portable_extra(value, places) for field, value in values[EXTRA].items()}
    own = [values[at] for at in OWN]
    place = [order[path], int(line), "" if name == info.name else name]
    return [[values[at] for at in COMMON], *own, *place]


def _portable_extra(value: Any, places: Places) -> Any:
    if isinstance(value, tuple):
        return {TUPLE: list(value)}
    if isinstance(value, str) and value.startswith(os.sep):
        return {PATH: list(place_of(value, places))}
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
    return {**{name: summary[name] for name in SUMMARY}, "detail": detail}


class _Once:
    """Values in the order in which they come, each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.values: list[Any] = []

    def number(self, value: Any) -> int:
        """Return the place of a value."""
        known = repr(value)  # tells True from 1, and takes lists and tables
        if known not in self._numbers:
            self._numbers[known] = len(self.values)
            self.values.append(value)
        return self._numbers[known]


def _columns(records: list[list[Any]]) -> dict[str, Any]:
    """Return records by their fields, which are read at once; their kinds, and the lists and tables in these, each once."""
    kinds, tables = _Once(), _Once()
    for record in records:
        common = [tables.number(one) if isinstance(one, tuple | dict) else one for one in record[0]]
        record[0] = kinds.number(common)
    columns = (list(zip(*rows, strict=True)) for rows in (records, kinds.values))
    return dict(zip(("records", "kinds"), columns, strict=True), tables=tables.values)
