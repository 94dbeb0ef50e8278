"""The key ``change_steps``: changes to the order of the steps, in place of writing all of it again.

For example, ``change_steps: [{insert: my_pass, after: integer}, {remove: fold}]`` over the default order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.blueprint.names import parse_name
from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.outputs import RTL_STEPS
from brainsmith.blueprint.schema import CHANGES, DEFAULT_STEPS, KEYS, NOWHERE, PluginName
from brainsmith.close_names import did_you_mean
from brainsmith.yaml_nodes import describe, is_null, is_text

Pairs = Mapping[str, tuple[Node, Node]]

_ENDS = ("start", "end")
_PAIR = 2


def changed_steps(doc: Document, steps: Node | None, changes: Node) -> Node:
    """Return the order of steps after changes.

    Args:
        doc: Where problems are left.
        steps: A list of entries; None for the default order.
        changes: The list of changes, which are made one after the other.
    """
    if steps is None or is_null(steps):
        order: list[Node] = [ScalarNode("tag:yaml.org,2002:str", name) for name in DEFAULT_STEPS]
    elif isinstance(steps, SequenceNode):
        order = list(steps.value)
    else:
        return steps  # which is reported when it is read
    changing = _Changing(doc, order)
    for label, change in doc.items(changes, "change_steps"):
        changing.change(label, change)
    return SequenceNode("tag:yaml.org,2002:seq", changing.order, changes.start_mark, changes.end_mark)


@dataclass(slots=True)
class _Changing:
    """An order of steps that is being changed."""

    doc: Document
    order: list[Node]

    def change(self, label: str, node: Node) -> None:
        """Make one change, or report why it cannot be made."""
        before = len(self.doc.problems)
        pairs = self.doc.mapping(node, label, KEYS["change_steps"]) if isinstance(node, MappingNode) else {}
        given = [kind for kind in CHANGES if kind in pairs]
        if len(given) != 1:
            if len(self.doc.problems) == before:
                what = f"a mapping with one of the keys {', '.join(CHANGES)}"
                found = f"{' and '.join(given)} together" if given else describe(node)
                self.doc.report(node, f"{label} must be {what}, not {found}")
            return
        made: Callable[[str, Node, Pairs], None] = getattr(self, f"_{given[0]}")
        wanted = CHANGES[given[0]]
        extra = [key for key in pairs if key != given[0] and key not in wanted]
        missing = len([key for key in pairs if key in wanted]) != 1 if wanted else False
        if extra or missing:
            keys = f"needs {' or '.join(wanted)}, and nothing else" if wanted else "takes nothing else"
            self.doc.report(node, f"{label}: {given[0]} {keys}")
            return
        made(label, node, pairs)

    def _insert(self, label: str, _: Node, pairs: Pairs) -> None:
        entries = _entries(pairs["insert"][1])
        if "at" in pairs:
            where = self.doc.text(pairs["at"][1], f"{label}.at", " or ".join(_ENDS))
            if where in _ENDS:
                at = 0 if where == _ENDS[0] else len(self.order)
                self.order[at:at] = entries
            elif where is not None:
                self.doc.report(pairs["at"][1], f"{label}.at must be {' or '.join(_ENDS)}, not {where!r}")
            return
        key = "after" if "after" in pairs else "before"
        place = self._place(f"{label}.{key}", pairs[key][1])
        if place is not None:
            place += key == "after"
            self.order[place:place] = entries

    def _replace(self, label: str, _: Node, pairs: Pairs) -> None:
        at = self._place(f"{label}.replace", pairs["replace"][1])
        if at is not None:
            self.order[at : at + 1] = _entries(pairs["with"][1])

    def _remove(self, label: str, _: Node, pairs: Pairs) -> None:
        for node in _entries(pairs["remove"][1]):
            at = self._place(f"{label}.remove", node)
            if at is not None:
                del self.order[at]

    def _wrap(self, label: str, node: Node, pairs: Pairs) -> None:
        """Put entries before a step, or before the first of two, and after it, or after the last of two."""
        steps, around = _entries(pairs["wrap"][1]), _entries(pairs["with"][1])
        if not 1 <= len(steps) <= _PAIR or len(around) != _PAIR:
            what = "names a step, or the first and the last of several, and `with` lists what comes before and what after"
            self.doc.report(node, f"{label}: wrap {what}: {{wrap: fold, with: [open, close]}}")
            return
        places = [self._place(f"{label}.wrap", step) for step in steps]
        if None in places:
            return
        first, last = min(place for place in places if place is not None), places[-1] or 0
        if places[0] != first:
            self.doc.report(steps[-1], f"{label}.wrap names the last step before the first one")
            return
        self.order[last + 1 : last + 1] = _entries(around[1])
        self.order[first:first] = _entries(around[0])

    def _place(self, label: str, node: Node) -> int | None:
        """Return where the step stands that a node names; None if it does not, which is reported unless it is optional."""
        name = self.doc.name(node, label)
        if name is None:
            return None
        names = [_name_of(entry) for entry in self.order]
        found = [at for at, other in enumerate(names) if other and _means(name, other)]
        if not found and name.qualified in RTL_STEPS:
            return self._add_rtl_step(name.name, node, [other.name if other else "" for other in names])
        if len(found) == 1:
            return found[0]
        shown = list(dict.fromkeys(other.qualified for other in names if other))
        if found:
            text = f"stands {len(found)} times in the order: write steps instead"
            self.doc.report(node, f"{label}: {name.qualified!r} {text}")
        elif not name.optional:
            hint = did_you_mean(name.qualified, shown) or f". It is {', '.join(shown)}."
            self.doc.report(
                node, f"{label} names {name.qualified!r}, which is not in the order of steps{hint}"
            )
        return None

    def _add_rtl_step(self, name: str, node: Node, names: list[str]) -> int:
        """Name an RTL step in the order, which the output would add there."""
        later = RTL_STEPS[RTL_STEPS.index(name) + 1 :]
        at = next((at for at, other in enumerate(names) if other in later), len(names))
        self.order.insert(at, ScalarNode("tag:yaml.org,2002:str", name, node.start_mark, node.end_mark))
        return at


def _entries(node: Node) -> list[Node]:
    return list(node.value) if isinstance(node, SequenceNode) else [node]


def _name_of(entry: Node) -> PluginName | None:
    """Return what an entry of ``steps`` names; None if it has no name, which is reported when it is read."""
    if isinstance(entry, MappingNode):
        named = [value for key, value in entry.value if key.value in ("step", "transform")]
        entry = named[0] if named else entry
    return parse_name(entry.value, NOWHERE) if is_text(entry) else None


def _means(name: PluginName, other: PluginName) -> bool:
    """Tell whether a name means a step: case does not matter, nor the framework where none is written."""
    if name.framework and name.framework.lower() != other.framework.lower():
        return False
    return name.name.lower() == other.name.lower()
