"""Read which operator classes a framework enters in which domain.

QONNX finds an operator by its node's domain, which is the name of a package. That package names its operators in
one of these ways, and all of them are read:

- a table: `custom_op["Name"] = Class`, or the whole dict as a literal;
- a decorator that the package defines: `@register_custom_op` above the class;
- `__all__`;
- `add_op_to_domain("the.domain", Class)`, in a package's `__init__` or in any module below a `custom_op` package.
"""

from __future__ import annotations

import ast
import re

from brainsmith.plugin.closure import ClassNode, ClassTable
from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.questions import question
from brainsmith.plugin.syntax import assigned, dotted_name

BACKEND_DOMAINS = ("hls", "rtl")
"""A domain whose last part is one of these holds implementations of the kernels in the domain above it."""

_ENTRY = re.compile(rb"\ncustom_op\[\s*[\"'](\w+)[\"']\s*\]\s*=\s*([\w.]+)")
_LITERAL = re.compile(rb"\ncustom_op\b[^\n=]*=\s*(?:\{\s*[^}\s]|dict\(\s*[^)\s])")
_LISTED = re.compile(rb"\n__all__[^\n=]*=\s*[\[(]([^\])]*)[\])]")
_QUOTED = re.compile(rb"[\"'](\w+)[\"']")
_ADDED = re.compile(rb"\nadd_op_to_domain\(\s*[\"']([\w.]+)[\"']\s*,\s*([\w.]+)\s*,?\s*\)")


class Operators:
    """The operators that packages enter in domains.

    Attributes:
        domains: The packages that are domains.
        entries: By class (`module.Class`): its domain and the name in the table.
    """

    def __init__(self, table: ClassTable, sources: list[PythonSource]) -> None:
        self.table = table
        self.domains: set[str] = set()
        self.entries: dict[str, tuple[str, str]] = {}
        holders = [source for source in sources if source.file.is_package and source.ask("is_domain")]
        self.domains.update(source.file.module for source in holders)
        for source in holders:
            for key, value in source.ask("table_entries"):
                self._enter(source, source.file.module, key, value)
        for source in sources:
            if source.file.is_package or ".custom_op." in source.file.module:
                for domain, value in source.ask("added_operators"):
                    self._enter(source, domain, value.rpartition(".")[2], value)

    def _enter(self, source: PythonSource, domain: str, key: str, value: str) -> None:
        node = self.table.only(value.rpartition(".")[2]) or self.table.resolve(source, value)
        if isinstance(node, ClassNode):
            self.entries.setdefault(node.full_name, (domain, key))

    def entry(self, node: ClassNode) -> tuple[str, str] | None:
        """Return the domain of a class and its name there; None if it is in none."""
        known = self.entries.get(node.full_name)
        if known is None:
            domain = self._decorated(node)
            if domain:
                known = self.entries[node.full_name] = (domain, node.name)
        return known

    def _decorated(self, node: ClassNode) -> str:
        """Return the domain whose decorator stands above a class."""
        for name in node.source.ask("names_above", node.index):
            head, dot, rest = name.partition(".")
            target = node.source.binding(head)
            domain = f"{target}{dot}{rest}".rpartition(".")[0] if target else node.source.file.module
            if domain in self.domains:
                return domain
        return ""

    def home(self, node: ClassNode) -> str:
        """Return the innermost domain below whose package a class is defined; empty if there is none."""
        module = node.source.file.module
        while module:
            if module in self.domains:
                return module
            module = module.rpartition(".")[0]
        return ""

    def kind(self, domain: str) -> str:
        """Return the plugin type of a domain's operators: `backend`, `kernel` or `op`."""
        above, _, last = domain.rpartition(".")
        if last in BACKEND_DOMAINS and above in self.domains:
            return "backend"
        if any(f"{domain}.{last}" in self.domains for last in BACKEND_DOMAINS):
            return "kernel"
        return "op"


@question(nothing=())
def names_above(source: PythonSource, index: int) -> tuple[str, ...]:
    """Return the dotted names of the decorators on one of the file's classes, the nearest first."""
    data, start = source.data, source.classes[index].start
    names: list[str] = []
    while True:
        begin = data.rfind(b"\n", 0, start - 1) + 1
        line = data[begin : max(start - 1, begin)].rstrip()
        if not line.startswith(b"@"):
            return tuple(names)
        names.append(line[1:].partition(b"(")[0].strip().decode("utf-8", "replace"))
        start = begin


@question(nothing=False)
def is_domain(source: PythonSource) -> bool:
    """Tell whether a package's file names operators."""
    data = source.data
    if b"\ncustom_op" in data:
        return True
    return b"\n__all__" in data and "custom_op" in source.file.module.split(".")


@question(nothing=())
def table_entries(source: PythonSource) -> tuple[tuple[str, str], ...]:
    """Return the operators that a domain's file names: the name, and the class as written."""
    entries = [(key.decode(), value.decode()) for key, value in _ENTRY.findall(source.data)]
    listed = _LISTED.search(source.data)
    if listed:
        names = [name.decode() for name in _QUOTED.findall(listed.group(1))]
        entries.extend((name, name) for name in names)
    if _LITERAL.search(source.data):
        entries.extend(_literal_entries(source))
    return tuple(entries)


@question(nothing=())
def added_operators(source: PythonSource) -> tuple[tuple[str, str], ...]:
    """Return what a file adds to domains: the domain, and the class as written."""
    if b"\nadd_op_to_domain(" not in source.data:
        return ()
    return tuple((domain.decode(), value.decode()) for domain, value in _ADDED.findall(source.data))


def _literal_entries(source: PythonSource) -> list[tuple[str, str]]:
    entries: list[tuple[str, str]] = []
    for node in source.tree.body:
        name, value = assigned(node)
        if name == "custom_op" and isinstance(value, ast.Dict):
            for key, item in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    entries.append((key.value, dotted_name(item)))
        elif name == "custom_op" and isinstance(value, ast.Call):
            entries.extend((word.arg, dotted_name(word.value)) for word in value.keywords if word.arg)
    return entries
