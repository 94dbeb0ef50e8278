"""The choices in a tree of nodes: found, numbered, and made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import Position
from brainsmith.blueprint.space.forms import alternatives_of, space_form
from brainsmith.errors import Problem
from brainsmith.figures import plural
from brainsmith.yaml_nodes import is_null, is_text, scalar


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing that is left open.

    Attributes:
        name: That it states, its variable's, or the keys that lead to it: ``target.fps``, ``steps[2]``; within an
            alternative with its number, ``steps[2][0]``.
        values: What stands for its alternatives in conditions and tables: plain values, names of entries, or whether
            what is optional is there.
        within: The dimension, by its place in the list of all, and the alternative under which alone it matters; None
            if it always does.
        places: The keys that lead to it, from ``hw_compiler`` on, with an index in brackets for an item of a list; of a
            name or a variable that stands in several places, all of them.
        position: Where it is written.
    """

    name: str
    values: tuple[object, ...]
    within: tuple[int, int] | None
    places: tuple[tuple[str, ...], ...]
    position: Position = field(compare=False)


class Choices:
    """The dimensions of a tree of nodes, each found once however often it is used."""

    def __init__(self, doc: Document) -> None:
        self.dimensions: list[Dimension] = []
        self._doc = doc
        self._number: dict[str, int] = {}

    def find(self, node: Node, keys: tuple[str, ...] = (), within: tuple[int, int] | None = None) -> None:
        """Note the dimensions of a tree; what is wrong with them is left in the document's problems."""
        form = space_form(node)
        if form:
            self._note(node, form, keys, within)
            return
        if isinstance(node, MappingNode):
            for key, value in node.value:
                self.find(value, (*keys, str(key.value)), within)
        elif isinstance(node, SequenceNode):
            for at, item in enumerate(node.value):
                self.find(item, (*keys, f"[{at}]"), within)

    def _note(self, node: Node, form: str, keys: tuple[str, ...], within: tuple[int, int] | None) -> None:
        """Note one dimension, and those in its alternatives."""
        alternatives = alternatives_of(self._doc, node)
        if alternatives is None:
            return
        name = self._name_of(node) or _path(keys)
        labels = (True, False) if form == "optional" else self._labels(node, alternatives)
        known = self._number.get(name)
        if known is None:
            known = self._number[name] = len(self.dimensions)
            self.dimensions.append(Dimension(name, labels, within, (keys,), self._doc.position(node)))
        else:
            self._meet_again(known, labels, keys, within, node)
        for at, each in enumerate(alternatives):
            self.find(each, (*keys, f"[{at}]"), (known, at))

    def _labels(self, node: Node, alternatives: Sequence[Node]) -> tuple[object, ...]:
        """Return what stands for each alternative: its label where `labels` are stated."""
        given = [value for key, value in node.value if key.value == "labels"]
        if not given:
            found = [label_of(each) for each in alternatives]
            first = {each: at for at, each in reversed([*enumerate(found)])}
            return tuple(f"{each} ({at + 1})" if first[each] < at else each for at, each in enumerate(found))
        stated = [label_of(each) for each in given[0].value] if isinstance(given[0], SequenceNode) else []
        if len(stated) != len(alternatives) or len(set(map(repr, stated))) != len(stated):
            text = f"there must be a label for each of the {plural(len(alternatives), 'alternative')}, no two alike"
            self._doc.report(given[0], f"{text}: labels: [small, large]")
            return tuple(range(len(alternatives)))
        return tuple(stated)

    def _meet_again(
        self,
        known: int,
        labels: tuple[object, ...],
        keys: tuple[str, ...],
        within: tuple[int, int] | None,
        node: Node,
    ) -> None:
        """Check that a name means one dimension; where it stands under several alternatives it always matters."""
        first = self.dimensions[known]
        if len(labels) != len(first.values):
            text = f"{first.name} has {plural(len(labels), 'value')} here, and {len(first.values)} at {first.position}"
            self._doc.report(node, f"{text}: two choices of one name are one choice")
        elif keys not in first.places:
            always = None if within != first.within else within
            self.dimensions[known] = replace(first, within=always, places=(*first.places, keys))

    def _name_of(self, node: Node) -> str:
        given = [value for key, value in node.value if key.value == "name"]
        if not given:
            return ""
        name = self._doc.text(given[0], "name", "the name of a choice") or ""
        if name and not name.isidentifier():
            self._doc.report(given[0], f"a choice must be named by letters, digits and _, not {name!r}")
        return name

    def unmade(self) -> Iterator[Problem]:
        """Yield a problem for each choice, which a build finds unmade."""
        for each in self.dimensions:
            key = _path(each.places[0])
            given = "write one in its place" if "[" in key else f"--set {key}=VALUE"
            text = f"{each.name} is a choice of {plural(len(each.values), 'value')}, and a build needs one"
            yield each.position.problem(f"{text}: {given}; brainsmith explore tries them")

    def made(self, node: Node, point: Mapping[str, int], keys: tuple[str, ...] = ()) -> Node | None:
        """Return a tree with one alternative of each dimension.

        Args:
            node: A tree whose dimensions were found without a problem.
            point: The alternative of each dimension, by name; the first one of those that are not in it.
            keys: Those that lead to the node.

        Returns:
            None for what is optional and left out.
        """
        form = space_form(node)
        if form:
            name = self._name_of(node) or _path(keys)
            chosen = point.get(name, 0)
            alternatives = alternatives_of(self._doc, node) or []
            if chosen >= len(alternatives):
                return None
            return self.made(alternatives[chosen], point, (*keys, f"[{chosen}]"))
        if isinstance(node, MappingNode):
            pairs = [(key, self.made(value, point, (*keys, str(key.value)))) for key, value in node.value]
            kept = [(key, value) for key, value in pairs if value is not None]
            return MappingNode(node.tag, kept, node.start_mark, node.end_mark, node.flow_style)
        if isinstance(node, SequenceNode):
            items = [self.made(item, point, (*keys, f"[{at}]")) for at, item in enumerate(node.value)]
            here = [item for item in items if item is not None]
            return SequenceNode(node.tag, here, node.start_mark, node.end_mark, node.flow_style)
        return node


def label_of(node: Node) -> object:
    """Return what stands for an alternative: a plain value, the name of an entry, or its first words."""
    if isinstance(node, ScalarNode):
        if is_null(node):
            return None
        try:
            return scalar(node)
        except ValueError:
            return str(node.value)
    form = space_form(node)
    if form:
        return form
    return " ".join(_words(node))[:60]


def _words(node: Node) -> Iterator[str]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            named = key.value in ("step", "transform", "kernel")
            yield from _words(value) if named else (f"{key.value}:", *_words(value))
    elif isinstance(node, SequenceNode):
        for item in node.value:
            yield from _words(item)
    elif is_text(node) or isinstance(node, ScalarNode):
        yield str(node.value)


def _path(keys: tuple[str, ...]) -> str:
    return "".join(key if key.startswith("[") else f".{key}" for key in keys).removeprefix(".")
