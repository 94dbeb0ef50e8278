"""Work out, over many files, which classes descend from a given one, without importing any."""

from __future__ import annotations

import builtins
import re

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.questions import question

if TYPE_CHECKING:
    from collections.abc import Iterable


class ClassNode:
    """A class in the table.

    Attributes:
        source: The file that defines it.
        index: Which of the file's classes it is.
        name: The class's name.
        written: The dotted names of its bases as written.
        open_methods: The abstract methods that it or an ancestor declares and none of them defines, once they have been
            asked for.
    """

    __slots__ = ("_bases", "index", "name", "open_methods", "source", "table", "written")

    def __init__(
        self, table: ClassTable, source: PythonSource, index: int, name: str, written: tuple[str, ...]
    ) -> None:
        self.table = table
        self.source = source
        self.index = index
        self.name = name
        self.written = written
        self._bases: tuple[ClassNode | str, ...] | None = None
        self.open_methods: tuple[str, ...] | None = None

    @property
    def full_name(self) -> str:
        """`module.Class`."""
        return f"{self.source.file.module}.{self.name}"

    @property
    def bases(self) -> tuple[ClassNode | str, ...]:
        """The direct bases, in order."""
        if self._bases is None:
            self._bases = ()  # a class that is its own base must not recurse
            self._bases = tuple(self.table.resolve(self.source, base, self) for base in self.written)
        return self._bases

    def ancestors(self) -> Iterable[ClassNode | str]:
        """Yield every base, direct or not, nearest first and left to right; each once."""
        seen: set[int | str] = set()
        waiting: list[ClassNode | str] = list(self.bases)
        while waiting:
            base = waiting.pop(0)
            key = base if isinstance(base, str) else id(base)
            if key in seen:
                continue
            seen.add(key)
            yield base
            if isinstance(base, ClassNode):
                waiting.extend(base.bases)

    @property
    def line(self) -> int:
        """The 1-based line of the class."""
        line: int = self.source.ask("class_lines")[self.index]
        return line

    def defines(self, name: str) -> bool:
        """Tell whether a method or attribute of this name is defined in the class."""
        found: bool = self.source.ask("defines", self.index, name)
        return found

    def __repr__(self) -> str:
        return f"<class {self.full_name}>"


class ClassTable:
    """The classes of a set of files, by name."""

    def __init__(self) -> None:
        self.nodes: list[ClassNode] = []
        self._by_name: dict[str, list[ClassNode]] = {}
        self._by_full_name: dict[str, ClassNode] = {}
        self._sources: dict[str, PythonSource] = {}
        self._children: dict[str, list[ClassNode]] | None = None

    def add(self, source: PythonSource) -> None:
        """Add the classes of one file."""
        module = source.file.module
        self._sources[module] = source
        self._children = None
        for index, (name, bases) in enumerate(source.ask("class_headers")):
            node = ClassNode(self, source, index, name, bases)
            self.nodes.append(node)
            self._by_name.setdefault(name, []).append(node)
            self._by_full_name[f"{module}.{name}"] = node

    def get(self, full_name: str) -> ClassNode | None:
        """Return the class of a dotted name, following what packages import from their modules."""
        for _ in range(16):  # cyclic re-exports end here
            node = self._by_full_name.get(full_name)
            if node is not None:
                return node
            module, _, name = full_name.rpartition(".")
            source = self._sources.get(module)
            target = source.binding(name) if source else None
            if target is None or target == full_name:
                return self._from_stars(source, name) if source else None
            full_name = target
        return None

    def only(self, name: str) -> ClassNode | None:
        """Return the class of a bare name if the table has one class of that name."""
        nodes = self._by_name.get(name, ())
        return nodes[0] if len(nodes) == 1 else None

    def _from_stars(self, source: PythonSource, name: str) -> ClassNode | None:
        for module in source.stars():
            node = self._by_full_name.get(f"{module}.{name}")
            if node is not None:
                return node
        return None

    def resolve(self, source: PythonSource, name: str, asking: ClassNode | None = None) -> ClassNode | str:
        """Return what a name in a file means: a class of the table, or its dotted name where it is not in it."""
        head, dot, rest = name.partition(".")
        if not dot:
            own = self._by_full_name.get(f"{source.file.module}.{name}")
            if own is not None and own is not asking:
                return own
        target = source.binding(head)
        if target is None and not dot and hasattr(builtins, name):
            return f"builtins.{name}"
        if target is None:
            node = self._from_stars(source, name) if not dot else None
            return node or f"{source.file.module}.{name}"
        full = target + dot + rest
        return self.get(full) or full

    def descendants(self, roots: Iterable[str]) -> list[ClassNode]:
        """Return every class that descends from one of the roots, in the order of the files.

        The names alone give few candidates, and only those are resolved through their files' imports.

        Args:
            roots: Dotted names; a root need not be in the table, and is not in the result.
        """
        root_names = set(roots)
        members: dict[int, bool] = {}
        candidates = self._by_simple_name({name.rpartition(".")[2] for name in root_names})
        return [node for node in candidates if self._descends(node, root_names, members)]

    def _by_simple_name(self, names: set[str]) -> list[ClassNode]:
        children = self._children_by_name()
        found: set[int] = set()
        waiting = list(names)
        while waiting:
            for node in children.get(waiting.pop(), ()):
                if id(node) not in found:
                    found.add(id(node))
                    waiting.append(node.name)
        return [node for node in self.nodes if id(node) in found]

    def _children_by_name(self) -> dict[str, list[ClassNode]]:
        """Return the classes by the last part of each base's name, that of the class after an alias included."""
        if self._children is None:
            children: dict[str, list[ClassNode]] = {}
            self._children = children
            for node in self.nodes:
                for base in node.written:
                    simple = base.rpartition(".")[2]
                    children.setdefault(simple, []).append(node)
                    if simple not in self._by_name and node.source.ask("may_be_alias", node.index, simple):
                        for target in node.bases:
                            name = target if isinstance(target, str) else target.name
                            children.setdefault(name.rpartition(".")[2], []).append(node)
        return self._children

    def _descends(self, node: ClassNode, roots: set[str], members: dict[int, bool]) -> bool:
        known = members.get(id(node))
        if known is not None:
            return known
        members[id(node)] = False  # a circle does not descend from anything
        answer = any(
            base in roots
            if isinstance(base, str)
            else base.full_name in roots or self._descends(base, roots, members)
            for base in node.bases
        )
        members[id(node)] = answer
        return answer


_BINDS = (b"=", b"(", b":")
_ABSTRACT = re.compile(rb"@(?:abc\.)?abstract\w+\s*(?:\n\s*@[^\n]*)*\n\s*(?:async\s+)?def\s+(\w+)")


@question(nothing=False)
def may_be_alias(source: PythonSource, index: int, name: str) -> bool:
    """Tell whether a base's name may stand for a class of another name: `import X as Name` or `Name = X`."""
    data, end, encoded = source.data, source.classes[index].start, name.encode()
    return data.find(b" as " + encoded, 0, end) >= 0 or data.find(b"\n" + encoded, 0, end) >= 0


@question(nothing=False)
def defines(source: PythonSource, index: int, name: str) -> bool:
    """Tell whether a method or attribute of a name is defined in one of the file's classes."""
    data, start, end = _span(source, index)
    encoded = name.encode()
    if data.find(b"def " + encoded + b"(", start, end) >= 0:
        return True
    position = data.find(encoded, start, end)
    while position >= 0:
        before = data[data.rfind(b"\n", 0, position) + 1 : position]
        after = data[position + len(encoded) : position + len(encoded) + 40].lstrip(b" \t")
        if before[:1].isspace() and before.strip() in (b"", b"def", b"async def") and after[:1] in _BINDS:
            return True
        position = data.find(encoded, position + 1, end)
    return False


@question(nothing=())
def abstract_methods(source: PythonSource, index: int) -> tuple[str, ...]:
    """Return the abstract methods that one of the file's classes declares."""
    data, start, end = _span(source, index)
    if data.find(b"abstract", start, end) < 0:
        return ()
    return tuple(name.decode() for name in _ABSTRACT.findall(data, start, end))


def _span(source: PythonSource, index: int) -> tuple[bytes, int, int]:
    """Return the file's text, and where a class begins and ends in it (at the next class, or the file's end)."""
    definition = source.classes[index]
    end = definition.end if definition.end >= 0 else len(source.data)
    return source.data, definition.start, end


def is_abstract(node: ClassNode) -> bool:
    """Tell whether a class declares an abstract method, or inherits one that none on the way defines."""
    if declared_abstract(node):
        return True
    if len(node.bases) == 1 and isinstance(node.bases[0], ClassNode):
        return any(not node.defines(name) for name in _open_methods(node.bases[0]))
    return any(not node.defines(name) for name in _open_methods(node))


def _open_methods(node: ClassNode) -> tuple[str, ...]:
    """Return the methods that a class and its ancestors declare abstract, and none of them defines."""
    if node.open_methods is None:
        family = [node, *(base for base in node.ancestors() if isinstance(base, ClassNode))]
        names = dict.fromkeys(name for member in family for name in declared_abstract(member))
        node.open_methods = tuple(
            name
            for name in names
            if not any(name not in declared_abstract(member) and member.defines(name) for member in family)
        )
    return node.open_methods


def declared_abstract(node: ClassNode) -> tuple[str, ...]:
    """Return the abstract methods that a class declares of its own."""
    names: tuple[str, ...] = node.source.ask("abstract_methods", node.index)
    return names
