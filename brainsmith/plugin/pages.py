"""Records and graphs as a notebook shows them."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.figures import plural
from brainsmith.markup import tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

_MOST = 100
"""The records of a list, or nodes of a graph, that are shown."""


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
    count = plural(len(records), "plugin") + (f", of which {_MOST} are shown" if len(records) > _MOST else "")
    return str(tag("table", tag("caption", count), head, rows))


def show_graphs(module: ModuleType) -> None:
    """Let a ModelWrapper be a table in a notebook.

    Args:
        module: QONNX's module of that class.
    """
    if hasattr(module, "ModelWrapper"):  # not so while another thread imports it
        module.ModelWrapper._repr_html_ = graph_page


def graph_page(model: Any) -> str:
    """Return a table of a graph's nodes: type, name, and the shape and datatype of what each gives.

    Args:
        model: A ModelWrapper.
    """
    nodes = list(model.graph.node)
    ends = [(kind, value.name) for kind in ("input", "output") for value in getattr(model.graph, kind)]
    counted = ", ".join(f"{kind} {name} {_tensor(model, name)}" for kind, name in ends)
    more = f", of which {_MOST} are shown" if len(nodes) > _MOST else ""
    head = tag("tr", [tag("th", field) for field in ("type", "name", "domain", "gives")])
    rows = [
        tag(
            "tr",
            [tag("td", text) for text in (node.op_type, node.name, node.domain)],
            tag("td", _given(model, node)),
        )
        for node in nodes[:_MOST]
    ]
    return str(tag("table", tag("caption", f"{plural(len(nodes), 'node')}{more}; {counted}"), head, rows))


def _given(model: Any, node: Any) -> str:
    return "; ".join(f"{name} {_tensor(model, name)}" for name in node.output if name)


def _tensor(model: Any, name: str) -> str:
    shape = model.get_tensor_shape(name)
    return f"({', '.join(map(str, shape or ()))}) {model.get_tensor_datatype(name).name}"


def _text(value: object) -> str:
    values: Iterable[object] = value if isinstance(value, tuple) else (value,)
    return ", ".join(map(str, values))
