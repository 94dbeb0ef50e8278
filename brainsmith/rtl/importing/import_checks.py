"""What must hold before an imported core is written: names that are free and usable, files that do not clash, Python."""

from __future__ import annotations

import ast
import warnings
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import RtlSourceError
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.node_claims import op_type_of
from brainsmith.rtl.importing.record import content_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def check_name(name: str, stem: str) -> None:
    """Refuse a kernel's name of which no plugin can be made.

    Args:
        name: Of the kernel.
        stem: How its files are called.

    Raises:
        RtlSourceError: With the reason.
    """
    if not name.isidentifier():
        raise RtlSourceError(f"--name must be a Python identifier such as MyCore, not {name!r}")
    reason = ""
    if iskeyword(name) or iskeyword(stem):
        reason = f"{(stem if iskeyword(stem) else name)!r} is a keyword of Python"
    elif "_v" in name:
        reason = "QONNX takes what follows '_v' in a type of node for its version"
    elif name.startswith("__"):
        reason = "a type of node cannot begin with '__'"
    elif name == "Stream":
        reason = "StreamKernel is the class that kernels are made of"
    if reason:
        raise RtlSourceError(
            f"the kernel cannot be called {name!r}: {reason}\n  give it another name with --name"
        )


def check_free(name: str, contents: Mapping[Path, bytes], *, update: bool = False) -> None:
    """Refuse a kernel whose names a plugin has that another import, or somebody, wrote.

    Args:
        name: Of the kernel.
        contents: What is to be written; a plugin of the same content is this import, done before.
        update: Whether a plugin in one of these places is an earlier import, too.

    Raises:
        RtlSourceError: With all such plugins and their places.
    """
    ours = {f"{name}Kernel", f"{name}RTL"}
    own = set(contents.values())
    places = {str(path.resolve()) for path in contents} if update else set()
    registry = get_plugin_manager().all_records()[0]
    rivals = [
        info
        for kind in ("kernel", "backend")
        for info in registry.records(kind)
        if (info.name in (name, f"{name}RTL") or op_type_of(info) in ours)
        and (not info.file or content_of(Path(info.file)) not in own)
        and info.file not in places
    ]
    if rivals:
        lines = "".join(f"\n  {one.type} {one.qualified} at {one.origin}" for one in rivals)
        raise RtlSourceError(
            f"the kernel cannot be called {name!r}: its names ({name}, {name}Kernel, {name}RTL) are taken:{lines}\n"
            "  give it another name with --name"
        )


def check_distinct(places: Iterable[tuple[Path, str]]) -> None:
    """Refuse files that would be written over each other.

    Args:
        places: Where each goes, and where it comes from.

    Raises:
        RtlSourceError: For the first two.
    """
    found: dict[Path, str] = {}
    for path, origin in places:
        if path in found:
            raise RtlSourceError(
                f"{found[path]} and {origin} would both be written to {path}: give one of them another file name"
            )
        found[path] = origin


def check_golden_file(file: Path, text: str) -> None:
    """Refuse a golden function's file that needs modules beside it, which the copy of it would not find.

    Args:
        file: Where it is.
        text: What it says; Python.

    Raises:
        RtlSourceError: For the first such import.
    """
    for node in ast.walk(ast.parse(text)):
        for name in _needed_beside(file.parent, node):
            raise RtlSourceError(
                f"{file}:{getattr(node, 'lineno', 0)}: it imports {name!r}, which lies beside it and is not copied\n"
                "  put all that the golden function needs in its one file"
            )


def _needed_beside(folder: Path, node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom) and node.level:
        return ["." * node.level + (node.module or node.names[0].name)]
    names = []
    if isinstance(node, ast.ImportFrom):
        names = [node.module or ""]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    return [name for name in names if _lies_in(folder, name.partition(".")[0])]


def _lies_in(folder: Path, name: str) -> bool:
    return (folder / f"{name}.py").is_file() or any((folder / name).glob("*.py"))


def check_python(path: Path, text: str) -> None:
    """Refuse text that is no Python.

    Raises:
        RtlSourceError: With the line.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, str(path), "exec")
    except (SyntaxError, ValueError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise RtlSourceError(f"{path}{line}: the file would not be valid Python: {error}") from error
