"""Records as a notebook shows them."""

from __future__ import annotations

from brainsmith.markup import tag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brainsmith.plugin.info import PluginInfo

_MOST = 100
"""The records of a list that are shown."""


def record_page(info: PluginInfo) -> str:
    """Return a table of what a record states."""
    values = {name: info[name] for name in info} | {"license": info.license}
    rows = [(name, _text(value)) for name, value in values.items() if value not in ("", None)]
    return str(tag("table", [tag("tr", tag("th", name), tag("td", text)) for name, text in rows]))


def records_page(records: Sequence[PluginInfo]) -> str:
    """Return a table of records, one in a row."""
    fields = ("name", "type", "framework", "description")
    head = tag("tr", [tag("th", field) for field in fields])
    rows = [tag("tr", [tag("td", str(info[field])) for field in fields]) for info in records[:_MOST]]
    count = f"{len(records)} plugins" + (f", of which {_MOST} are shown" if len(records) > _MOST else "")
    return str(tag("table", tag("caption", count), head, rows))


def _text(value: object) -> str:
    values: Iterable[object] = value if isinstance(value, tuple) else (value,)
    return ", ".join(map(str, values))
