"""What a module cannot state about itself: shapes, datatypes, what makes it faster, what it computes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import Problem, RtlSourceError
from brainsmith.yaml_file import read_root
from brainsmith.yaml_nodes import YamlDocument

if TYPE_CHECKING:
    from yaml.nodes import Node

_KINDS: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "description": (str,),
    "files": (list,),
    "set": (dict,),
    "tie": (dict,),
    "open": (list,),
    "streams": (dict,),
    "parallel": (dict,),
    "cycles": (int, str),
    "early": (bool,),
    "golden": (str,),
}
KEYS = tuple(_KINDS)
"""What a description file may say."""


@dataclass(frozen=True)
class StreamText:
    """The description of a stream, as it is written: numbers or expressions of the core's parameters.

    Attributes:
        shape: Of a frame.
        datatype: QONNX's name, with expressions in braces.
        lanes: Values in a beat.
    """

    shape: tuple[int | str, ...]
    datatype: str
    lanes: int | str = 1


@dataclass(frozen=True)
class CoreDescription:
    """What the user says of a core.

    Attributes:
        name: Of the kernel; made of the module's by default.
        description: One line for listings.
        files: Of what the core instantiates.
        parameters: In place of their defaults.
        held: Inputs that get a constant.
        left_open: Outputs that nothing reads.
        streams: By their names.
        parallel: Parameters that make it faster, each with what it must divide.
        cycles: From frame to frame, an expression; the most beats of any stream by default.
        early: Whether it may begin a frame before its first input beat.
        golden: `file.py:function`.
    """

    name: str = ""
    description: str = ""
    files: tuple[str, ...] = ()
    parameters: dict[str, int | str] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)
    left_open: tuple[str, ...] = ()
    streams: dict[str, StreamText] = field(default_factory=dict)
    parallel: dict[str, int | str] = field(default_factory=dict)
    cycles: int | str = ""
    early: bool = False
    golden: str = ""

    def over(self, other: CoreDescription) -> CoreDescription:
        """Return this description, completed by another where it says nothing."""
        changes: dict[str, Any] = {}
        for name, mine in vars(self).items():
            theirs = getattr(other, name)
            changes[name] = {**theirs, **mine} if isinstance(mine, dict) else mine or theirs
        return CoreDescription(**changes)


def number_or_text(text: str) -> int | str:
    """Return a number where a text is one."""
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def parse_table(option: str, text: str | None) -> dict[str, int | str]:
    """Read `A=1,B=text`.

    Raises:
        RtlSourceError: An entry is no such pair, or a name stands twice.
    """
    found: dict[str, int | str] = {}
    for entry in parse_list(text):
        name, equals, value = entry.partition("=")
        if not equals or not name.isidentifier() or not value:
            raise RtlSourceError(f"{option} takes NAME=VALUE, with commas between several, not {entry!r}")
        if name in found:
            raise RtlSourceError(f"{option} gives {name} twice")
        found[name] = number_or_text(value)
    return found


def parse_list(text: str | None) -> tuple[str, ...]:
    """Read `A,B`."""
    return tuple(entry.strip() for entry in (text or "").split(",") if entry.strip())


def parse_streams(text: str | None) -> dict[str, StreamText]:
    """Read `in=1,CHANNELS:INT8:PE out=1,CHANNELS:INT{BITS}:PE`: shape, datatype and lanes of each stream.

    Raises:
        RtlSourceError: An entry has another form.
    """
    found = {}
    for entry in (text or "").split():
        match = re.fullmatch(r"(\w+)=([^:]+):([^:]+)(?::([^:]+))?", entry)
        if not match:
            raise RtlSourceError(
                f"--streams takes NAME=SHAPE:DATATYPE:LANES, with spaces between several, such as in=1,CHANNELS:INT8:PE, "
                f"not {entry!r}"
            )
        name, shape, datatype, lanes = match.groups()
        sizes = tuple(number_or_text(size) for size in shape.split(","))
        found[name] = StreamText(sizes, datatype, number_or_text(lanes or "1"))
    return found


def read_description(file: Path) -> CoreDescription:
    """Read a description file: a YAML table of `KEYS`.

    Raises:
        RtlSourceError: It cannot be read, or what it says is of another form; with file, line and column.
    """
    root, document = read_root(file, "a description"), YamlDocument(str(file))
    if root is None or isinstance(root, Problem):
        raise RtlSourceError(str(root or f"{file}: the file is empty; its keys are {', '.join(KEYS)}"))
    said: dict[str, Any] = {}
    for key, (mark, node) in document.mapping(root, "a description", KEYS).items():
        said[key] = document.plain(node, key)
        if not isinstance(said[key], _KINDS[key]):
            names = " or ".join(kind.__name__ for kind in _KINDS[key])
            document.report(mark, f"{key} must be {names}, not {said[key]!r}")
        elif key == "streams":
            said[key] = {name: _stream(document, mark, name, stream) for name, stream in said[key].items()}
    if document.problems:
        raise RtlSourceError("\n".join(map(str, document.problems)))
    files, golden = said.pop("files", []), said.pop("golden", "")
    return CoreDescription(
        files=tuple(str((file.parent / one).resolve()) for one in files),
        parameters=said.pop("set", {}),
        held=said.pop("tie", {}),
        left_open=tuple(said.pop("open", [])),
        golden=str(file.parent / golden) if golden else "",
        **said,
    )


def golden_function(text: str) -> tuple[Path, str]:
    """Return the file and the name of the golden function.

    Raises:
        RtlSourceError: There is none, or no such file or function.
    """
    path, colon, name = text.rpartition(":")
    if not text or not colon or not name.isidentifier():
        raise RtlSourceError(
            "the golden function must be given, --golden FILE.py:FUNCTION: it takes one int64 array for each input and "
            f"returns what the core must give{f'; found {text!r}' if text else ''}"
        )
    file = Path(path)
    try:
        body = ast.parse(file.read_text("utf-8"), filename=path).body
    except (OSError, UnicodeDecodeError) as error:
        raise RtlSourceError(f"{path}: cannot be read: {error}") from error
    except SyntaxError as error:
        raise RtlSourceError(f"{path}:{error.lineno}: {error.msg}") from error
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    if name not in functions:
        raise RtlSourceError(f"{path} has no function {name!r}; it has {', '.join(functions) or 'none'}")
    return file, name


def _stream(document: YamlDocument, mark: Node, name: str, said: Any) -> StreamText | None:
    known = isinstance(said, dict) and {"shape", "datatype"} <= set(said) <= {"shape", "datatype", "lanes"}
    if not known or not isinstance(said["shape"], list):
        text = f"stream {name!r} must be a table of shape (a list), datatype and lanes, not {said!r}"
        document.report(mark, text)
        return None
    return StreamText(tuple(said["shape"]), str(said["datatype"]), said.get("lanes", 1))
