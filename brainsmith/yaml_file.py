"""From a file to YAML nodes: what can be wrong before a single key is read."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode
from yaml.reader import ReaderError

from brainsmith.close_names import did_you_mean
from brainsmith.errors import Problem

#: Bounds far above any blueprint or settings, so that a wrong file or a chain of aliases cannot hang or crash the reader.
MAX_BYTES = 1_000_000
MAX_NODES = 20_000
MAX_DEPTH = 30

#: What YAML counts as the end of a line.
_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")

#: What to do about PyYAML's less helpful messages.
_HINTS = {
    "found character '\\t'": "indent with spaces, not with tabs",
    "mapping values are not allowed here": "put a string that contains ': ' in quotes, and align the keys",
    "that cannot start any token": "put a string that begins with this character in quotes",
    "found unexpected end of stream": "a quotation mark is not closed",
    "expected ',' or '}', but got '{'": 'put a variable in quotes inside { } and [ ]: "${name}"',
    "expected ',' or ']', but got '{'": 'put a variable in quotes inside { } and [ ]: "${name}"',
    "found undefined alias": "put a string that begins with * in quotes",
    "but found another document": "a file holds one document; remove the line ---",
}


def read_root(path: str | os.PathLike[str], what: str) -> Node | Problem | None:
    """Read a YAML file as a node; None of an empty one.

    Args:
        path: The file.
        what: What it is, for messages: `a blueprint`.

    Returns:
        The problem instead if it cannot be read or is no YAML.
    """
    data = read_document(path, what)
    return data if isinstance(data, Problem) else root_of(os.fspath(path), data)


def root_of(file: str, data: bytes) -> Node | Problem | None:
    """Return a document as a node, None of an empty one, or the problem if it is no YAML.

    Args:
        file: Where it comes from: the marks of its nodes have this name.
        data: What the file holds.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        return _at_offset(file, before, len(before), f"not UTF-8 text: byte 0x{data[error.start]:02x}")
    return _compose(file, text)


def read_document(path: str | os.PathLike[str], what: str) -> bytes | Problem:
    """Read a file whole, or say why it cannot be what it is to be."""
    file, path = os.fspath(path), Path(path)
    try:
        if path.is_dir():
            return Problem(file, 0, 0, f"this is a folder; {what} is a YAML file")
        size = path.stat().st_size
        if size > MAX_BYTES:
            return Problem(file, 0, 0, f"not {what}: it has {size} bytes, more than {MAX_BYTES}")
        return path.read_bytes()
    except FileNotFoundError:
        return Problem(file, 0, 0, f"there is no such file{_similar_file(path)}")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Problem(file, 0, 0, f"cannot be read: {reason}")


def packaged_table(text: str) -> Any:
    """Return what a YAML text of this package holds, read by libyaml where there is one: it is ten times as fast."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _similar_file(path: Path) -> str:
    """Suggest a YAML file of the same folder with nearly this name."""
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix in (".yaml", ".yml")]
    except OSError:
        return "."
    return did_you_mean(path.name, names) or "."


def _compose(file: str, text: str) -> Node | Problem | None:
    """Parse the text to nodes; no object is constructed."""
    try:
        loader = yaml.SafeLoader(text)
        loader.name = file  # which marks carry
        root: Node | None = loader.get_single_node()
    except ReaderError as error:
        code = ord(error.character) if isinstance(error.character, str) else error.character
        return _at_offset(
            file, text, error.position, f"not a text file: it has control character #x{code:02x}"
        )
    except yaml.MarkedYAMLError as error:
        return _syntax_problem(file, error)
    except RecursionError:
        return Problem(file, 0, 0, f"nested more than {MAX_DEPTH} levels deep")
    return root and (oversized(root) or root)


def _syntax_problem(file: str, error: yaml.MarkedYAMLError) -> Problem:
    """Turn a syntax error of PyYAML into a problem with a hint."""
    what = f"{error.problem or error.context}"
    hint = next((hint for part, hint in _HINTS.items() if part in what), "")
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    return Problem(file, line, column, f"not valid YAML: {what}{'; ' + hint if hint else ''}")


def _at_offset(file: str, text: str, offset: int, what: str) -> Problem:
    """Give a problem at a character offset of the text."""
    ends = [match.end() for match in _LINE_BREAK.finditer(text, 0, offset)]
    return Problem(file, len(ends) + 1, offset - (ends[-1] if ends else 0) + 1, what)


def oversized(root: Node) -> Problem | None:
    """Find a structure that contains itself or multiplies through aliases; what passes is safe to walk."""
    stack = [(root, 1)]
    count = 0
    while stack:
        node, depth = stack.pop()
        count += 1
        if count > MAX_NODES or depth > MAX_DEPTH:
            deep = depth > MAX_DEPTH
            what = f"nested more than {MAX_DEPTH} levels deep" if deep else f"more than {MAX_NODES} values"
            mark = node.start_mark
            text = f"{what}, perhaps through an alias (*name)"
            return Problem(mark.name, mark.line + 1, mark.column + 1, text)
        if isinstance(node, SequenceNode):
            stack += [(item, depth + 1) for item in node.value]
        elif isinstance(node, MappingNode):
            stack += [(item, depth + 1) for pair in node.value for item in pair]
    return None
