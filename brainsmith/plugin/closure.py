"""Work out, over many files, which classes descend from a given one, without importing any."""

from __future__ import annotations

import builtins
import re

from brainsmith.plugin.source import Definition, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class ClassNode:
    """A class in the table.

    Attributes:
        source: The file that defines it.
        definition: Its header.
        abstract: The abstract methods that it declares, once they have been read.
        open_methods: Those that it or an ancestor declares and none of them defines, once they have been asked for.
    """

    __slots__ = ("_bases", "abstract", "definition", "open_methods", "source", "table")

    def __init__(self, table: ClassTable, source: Source, definition: Definition) -> None:
        self.table = table
        self.source = source
        self.definition = definition
        self._bases: tuple[ClassNode | str, ...] | None = None
        self.abstract: tuple[str, ...] | None = None
        self.open_methods: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The class's name."""
        return self.definition.name

    @property
    def full_name(self) -> str:
        """`module.Class`."""
        return f"{self.source.file.module}.{self.definition.name}"

    @property
    def bases(self) -> tuple[ClassNode | str, ...]:
        """The direct bases, in order."""
        if self._bases is None:
            self._bases = ()  # a class that is its own base must not recurse
            self._bases = tuple(self.table.resolve(self.source, base, self) for base in self.definition.bases)
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
    def span(self) -> tuple[bytes, int, int]:
        """The file's text, and where the class begins and ends in it (at the next class, or the file's end)."""
        data = self.source.data
        end = self.definition.end
        return data, self.definition.start, end if end >= 0 else len(data)

    def defines(self, name: str) -> bool:
        """Tell whether a method or attribute of this name is defined in the class."""
        data, start, end = self.span
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

    def __repr__(self) -> str:
        return f"<class {self.full_name}>"


class ClassTable:
    """The classes of a set of files, by name."""

    def __init__(self) -> None:
        self.nodes: list[ClassNode] = []
        self._by_name: dict[str, list[ClassNode]] = {}
        self._by_full_name: dict[str, ClassNode] = {}
        self._sources: dict[str, Source] = {}
        self._children: dict[str, list[ClassNode]] | None = None

    def add(self, source: Source) -> None:
        """Add the classes of one file.

        Raises:
            SyntaxError: The file had to be parsed, and is not Python.
        """
        module = source.file.module
        self._sources[module] = source
        self._children = None
        for definition in source.classes():
            node = ClassNode(self, source, definition)
            self.nodes.append(node)
            self._by_name.setdefault(definition.name, []).append(node)
            self._by_full_name[f"{module}.{definition.name}"] = node

    def get(self, full_name: str) -> ClassNode | None:
        """Return the class of a dotted name, following what packages import from their modules."""
        for _ in range(16):  # re-exports in a circle end here
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

    def _from_stars(self, source: Source, name: str) -> ClassNode | None:
        for module in source.stars():
            node = self._by_full_name.get(f"{module}.{name}")
            if node is not None:
                return node
        return None

    def resolve(self, source: Source, name: str, asking: ClassNode | None = None) -> ClassNode | str:
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
        """Return the classes by the last part of each base's name, that of the class behind an alias included."""
        if self._children is None:
            children: dict[str, list[ClassNode]] = {}
            self._children = children
            for node in self.nodes:
                for base in node.definition.bases:
                    simple = base.rpartition(".")[2]
                    children.setdefault(simple, []).append(node)
                    if simple not in self._by_name and _may_be_alias(node, simple):
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


def _may_be_alias(node: ClassNode, name: str) -> bool:
    """Tell whether a base's name may stand for a class of another name: `import X as Name` or `Name = X`."""
    data, end, encoded = node.source.data, node.definition.start, name.encode()
    return data.find(b" as " + encoded, 0, end) >= 0 or data.find(b"\n" + encoded, 0, end) >= 0


_BINDS = (b"=", b"(", b":")
_ABSTRACT = re.compile(rb"@(?:abc\.)?abstract\w+\s*(?:\n\s*@[^\n]*)*\n\s*(?:async\s+)?def\s+(\w+)")


def is_abstract(node: ClassNode) -> bool:
    """Tell whether a class declares an abstract method, or inherits one that none on the way defines."""
    if _declared(node):
        return True
    if len(node.bases) == 1 and isinstance(node.bases[0], ClassNode):
        return any(not node.defines(name) for name in _open_methods(node.bases[0]))
    return any(not node.defines(name) for name in _open_methods(node))


def _open_methods(node: ClassNode) -> tuple[str, ...]:
    """Return the methods that a class and its ancestors declare abstract, and none of them defines."""
    if node.open_methods is None:
        family = [node, *(base for base in node.ancestors() if isinstance(base, ClassNode))]
        names = dict.fromkeys(name for member in family for name in _declared(member))
        node.open_methods = tuple(
            name
            for name in names
            if not any(name not in _declared(member) and member.defines(name) for member in family)
        )
    return node.open_methods


def declares_abstract(node: ClassNode) -> bool:
    """Tell whether a class declares an abstract method of its own."""
    return bool(_declared(node))


def _declared(node: ClassNode) -> tuple[str, ...]:
    if node.abstract is None:
        data, start, end = node.span
        has_any = data.find(b"abstract", start, end) >= 0
        node.abstract = (
            tuple(name.decode() for name in _ABSTRACT.findall(data, start, end)) if has_any else ()
        )
    return node.abstract
