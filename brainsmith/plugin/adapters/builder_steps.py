"""Read which functions of a framework are build steps: module-level functions `(model, cfg)`.

Further parameters must have defaults.
"""

from __future__ import annotations

import re

from brainsmith.plugin.source import Definition, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MORE = rb"(?:,\s*\w+[^(),=]*=[^(),]*)*,?\s*(?:#[^\n]*\s*)*\)"
_STEP = re.compile(
    rb"\ndef[ \t]+(?!_)(\w+)\(\s*model\b[^(),]*,\s*cfg\b[^(),]*(?:,\s*\w+[^(),=]*=[^(),]*)*,?\s*(?:#[^\n]*\s*)*\)"
)
_LOOKUP = re.compile(rb"\n(\w*step_lookup)\b")
_DECORATED = re.compile(rb"\n@([\w.]+)\(([^()\n]*)\)\ndef[ \t]+(\w+)\(")
_CALLED = re.compile(rb"\n(\w+)\(([^()\n]*)\)\(\s*([\w.]+)\s*\)")
_ROW = re.compile(rb"[\"'](\w+)[\"']\s*:\s*([\w.]+)\s*[,}\n]")


def steps_of(source: Source) -> Iterator[Definition]:
    """Yield the steps that a file defines."""
    yield from source.functions(_STEP)


def may_hold_steps(source: Source) -> bool:
    """Tell whether a file can define or list steps: a look at its bytes."""
    return b"cfg" in source.data


def step_tables(sources: list[Source]) -> dict[str, str]:
    """Return the functions that a framework enters in its table of steps: the name there, by `module.function`.

    Upstream FINN writes the table as a dict, FINN+ fills it by a function of the same module, used as decorator or
    called.
    """
    entered: dict[str, str] = {}
    for source in sources:
        data = source.data
        if b"step_lookup" not in data or not _LOOKUP.search(data):
            continue
        rows = [*_DECORATED.findall(data), *_CALLED.findall(data)]
        fillers = {name for name in {row[0] for row in rows} if _fills_table(data, name)}
        for name, arguments, function in rows:
            if name in fillers:
                key = arguments.split(b"=")[-1].strip().strip(b"\"'") or function
                entered[_full_name(source, function.decode())] = key.rpartition(b".")[2].decode()
        for match in _LOOKUP.finditer(data):
            opening = data.find(b"{", match.end(), data.find(b"\n\n", match.end()) + 1 or len(data))
            if opening >= 0:
                for key, function in _ROW.findall(data, opening, data.find(b"\n}", opening) + 2 or len(data)):
                    entered.setdefault(_full_name(source, function.decode()), key.decode())
    return entered


def _fills_table(data: bytes, name: bytes) -> bool:
    start = data.find(b"\ndef " + name + b"(")
    if start < 0:
        return False
    following = re.compile(rb"\n[^\s)]").search(data, start + 1)
    return b"step_lookup[" in data[start : following.start() if following else len(data)]


def _full_name(source: Source, function: str) -> str:
    if b"\ndef " + function.encode() + b"(" in source.data:
        return f"{source.file.module}.{function}"
    head, dot, rest = function.partition(".")
    target = source.binding(head)
    return f"{target}{dot}{rest}" if target else f"{source.file.module}.{function}"
