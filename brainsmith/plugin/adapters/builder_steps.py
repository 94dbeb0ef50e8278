"""Read which functions of a framework are build steps: module-level functions `(model, cfg)`.

Further parameters must have defaults.
"""

from __future__ import annotations

import ast
import re

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.questions import question
from brainsmith.plugin.syntax import parse
from brainsmith.plugin.top_level import Definition, functions, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_STEP = re.compile(rb"\ndef[ \t]+(?!_)(\w+)[ \t]*\(\s*(?:#[^\n]*\s*)*model\b(?s:(?=.{,300}?\bcfg\b))")
_PLAIN = re.compile(
    rb"def[ \t]+\w+\(\s*model\b[^(),*/]*,\s*cfg\b[^(),*/]*(?:,\s*\w+[^(),=]*=[^(),]*)*,?\s*(?:#[^\n]*\s*)*\)"
)
_HEADER_END = re.compile(rb"\)\s*(?:->[^:]*)?:")
_LOOKUP = re.compile(rb"\n(\w*step_lookup)\b")
_DECORATED = re.compile(rb"\n@([\w.]+)\(([^()\n]*)\)\ndef[ \t]+(\w+)\(")
_CALLED = re.compile(rb"\)\(\s*([\w.]+)\s*\)")
_CALL = re.compile(rb"(\w+)\(([^()\n]*)")
_FOLLOWING = re.compile(rb"\n[^\s)]")
_ROW = re.compile(rb"[\"'](\w+)[\"']\s*:\s*([\w.]+)\s*[,}\n]")


@question(nothing=())
def step_names(source: PythonSource) -> tuple[str, ...]:
    """Return the names of the steps that a file defines, in its order."""
    return tuple(item.name for item in _steps_of(source))


@question(nothing=(), place=True)
def step_lines(source: PythonSource) -> tuple[int, ...]:
    """Return the lines of the steps that a file defines, in its order."""
    return lines_of(source, _steps_of(source))


def _steps_of(source: PythonSource) -> list[Definition]:
    return [
        item
        for item in functions(source, _STEP)
        if _PLAIN.match(source.data, item.start) or _takes_model_and_cfg(source, item)
    ]


def _takes_model_and_cfg(source: PythonSource, definition: Definition) -> bool:
    """Tell whether a function can be called with `(model, cfg)`, by parsing its header alone."""
    data = source.data[definition.start : definition.start + 4000]
    for match in _HEADER_END.finditer(data):
        try:
            node = parse(data[: match.end()] + b" pass").body[0]
        except SyntaxError:
            continue
        return isinstance(node, ast.FunctionDef) and _fits(node.args)
    return False


def _fits(arguments: ast.arguments) -> bool:
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    needed = len(names) - len(arguments.defaults)
    return names[:2] == ["model", "cfg"] and needed <= 2 and None not in arguments.kw_defaults


def step_tables(sources: list[PythonSource], packages: set[str]) -> dict[str, str]:
    """Return the names under which a framework's table of steps lists functions, by `module.function`.

    Upstream FINN writes the table as a dict, FINN+ fills it by a function of the same module, used as decorator or
    called.

    Args:
        sources: The framework's files.
        packages: The packages whose modules define steps; a table stands beside them.
    """
    entered: dict[str, str] = {}
    for source in sources:
        if source.file.module.rpartition(".")[0] in packages:
            filled, written = source.ask("step_table")
            entered.update(filled)
            for function, key in written:
                entered.setdefault(function, key)
    return entered


@question(nothing=((), ()))
def step_table(source: PythonSource) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return what a file enters in a table of steps by a function, and what it writes into one: function and name."""
    data = source.data
    if not _LOOKUP.search(data):
        return (), ()
    rows = [*_DECORATED.findall(data), *_calls(data)]
    fillers = {name for name in {row[0] for row in rows} if _fills_table(data, name)}
    filled = []
    for name, arguments, function in rows:
        if name in fillers:
            key = arguments.split(b"=")[-1].strip().strip(b"\"'") or function
            filled.append((_full_name(source, function.decode()), key.rpartition(b".")[2].decode()))
    written: list[tuple[str, str]] = []
    for match in _LOOKUP.finditer(data):
        opening = data.find(b"{", match.end(), data.find(b"\n\n", match.end()) + 1 or len(data))
        if opening >= 0:
            rows_of = _ROW.findall(data, opening, data.find(b"\n}", opening) + 2 or len(data))
            written.extend((_full_name(source, function.decode()), key.decode()) for key, function in rows_of)
    return tuple(filled), tuple(written)


def _calls(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the parts of `register(arguments)(function)` at the start of a line: a search for its rare middle."""
    for match in _CALLED.finditer(data):
        call = _CALL.fullmatch(data, data.rfind(b"\n", 0, match.start()) + 1, match.start())
        if call is not None:
            yield call.group(1), call.group(2), match.group(1)


def _fills_table(data: bytes, name: bytes) -> bool:
    start = data.find(b"\ndef " + name + b"(")
    if start < 0:
        return False
    following = _FOLLOWING.search(data, start + 1)
    return b"step_lookup[" in data[start : following.start() if following else len(data)]


def _full_name(source: PythonSource, function: str) -> str:
    if b"\ndef " + function.encode() + b"(" in source.data:
        return f"{source.file.module}.{function}"
    head, dot, rest = function.partition(".")
    target = source.binding(head)
    return f"{target}{dot}{rest}" if target else f"{source.file.module}.{function}"
