"""Read the interface of a SystemVerilog module: its parameters and ports, with the widths that parameters give."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import FrameworkUnavailableError, RtlSourceError, ToolError
from brainsmith.rtl.library.rules import RULES, SYNTHESIS_RULES
from brainsmith.rtl.library.sources import Library, find_library

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


READER = "pyslang==12.1.0"
"""What backends state in `requires` whose cores are read when a layer is generated."""

READER_MISSING = f"reading SystemVerilog needs pyslang, which is not installed\n  pip install {READER}"


@dataclass(frozen=True)
class ModuleParameter:
    """One parameter of a module, not a localparam.

    Attributes:
        name: Of the parameter.
        value: A number, a text, or another value as slang writes it.
        plain: Whether it is a number or a text, which an attribute of a node can hold.
    """

    name: str
    value: int | str
    plain: bool


@dataclass(frozen=True)
class ModulePort:
    """One port of a module.

    Attributes:
        name: Of the port.
        is_input: Whether it is one; else it is an output.
        bits: Its width with these parameters.
    """

    name: str
    is_input: bool
    bits: int


@dataclass(frozen=True)
class ModuleInterface:
    """What a module shows.

    Attributes:
        name: Of the module.
        parameters: In their order.
        ports: In their order.
    """

    name: str
    parameters: tuple[ModuleParameter, ...]
    ports: tuple[ModulePort, ...]


def read_module(files: Sequence[Path], top: str, parameters: Mapping[str, int | str]) -> ModuleInterface:
    """Read a module with some parameters.

    Unchanged copies of files of FINN's RTL library are read as this project simulates them, altered by its rules.

    Args:
        files: The file that defines it, and those of all that it instantiates.
        top: Its name.
        parameters: In place of their defaults.

    Raises:
        RtlSourceError: A file cannot be read or has errors, no file defines the module, a parameter has no value, or a
            port is no plain vector of bits.
        ToolError: pyslang is not installed.
    """
    driver = _driver()
    library = _library()
    with tempfile.TemporaryDirectory() as folder:
        places = [_readable(file, Path(folder), library) for file in files]
        compilation = _compile(driver, places, top, parameters)
        tops = [one for one in compilation.getRoot().topInstances if one.name == top]
        if not tops:
            raise _not_there(driver, compilation, files, top)
        problems = _problems(driver, compilation.getAllDiagnostics())
        if problems:
            raise RtlSourceError(
                f"module {top!r} cannot be read:\n{problems}\n"
                "  name the files of all modules that it instantiates (--files), and give its parameters values that fit "
                "(--set)"
            )
        return ModuleInterface(top, _parameters(tops[0], parameters), _ports(tops[0]))


def _driver() -> Any:
    try:
        from pyslang.driver import Driver
    except ImportError as error:
        raise ToolError(READER_MISSING) from error
    driver = Driver()
    driver.addStandardArgs()
    return driver


def _library() -> Library | None:
    try:
        found = find_library()
    except FrameworkUnavailableError:
        return None
    return Library(found.folder, found.version, (*RULES, *SYNTHESIS_RULES))


def _readable(file: Path, folder: Path, library: Library | None) -> Path:
    """Return where a file can be read as it is meant; altered ones are written to a folder."""
    if not file.is_file():
        what = "this is a folder; name the file" if file.is_dir() else "there is no such file"
        raise RtlSourceError(f"{file}: {what}")
    if library is None:
        return file
    source = library.read(file.resolve())
    if not source.rules:
        return file
    place = folder / source.name
    place.write_text(source.text, encoding="utf-8")
    return place


def _compile(driver: Any, files: list[Path], top: str, parameters: Mapping[str, int | str]) -> Any:
    stated = [f"-G{name}={_literal(value)}" for name, value in parameters.items()]
    words = ["slang", "--allow-use-before-declare", "--top", top, *stated, *map(str, files)]
    ready = driver.parseCommandLine(" ".join(f'"{_escaped(word)}"' for word in words))
    if not (ready and driver.processOptions() and driver.parseAllSources()):
        raise RtlSourceError(f"{', '.join(map(str, files))}: slang cannot read these files")
    return driver.createCompilation()


def _literal(value: int | str) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace('"', '\\"')


def _problems(driver: Any, diagnostics: Any) -> str:
    """Return the errors as lines of text, each with its file and line."""
    from pyslang import DiagnosticEngine, TextDiagnosticClient

    errors = [one for one in diagnostics if one.isError()]
    if not errors:
        return ""
    client = TextDiagnosticClient()
    client.showColors(False)
    engine = DiagnosticEngine(driver.sourceManager)
    engine.addClient(client)
    for one in errors[:5]:
        engine.issue(one)
    more = [f"and {len(errors) - 5} more"] if len(errors) > 5 else []
    return "\n".join(f"  {line}" for line in [*client.getString().rstrip().splitlines(), *more])


def _not_there(driver: Any, compilation: Any, files: Sequence[Path], top: str) -> RtlSourceError:
    """Say why a module cannot be the top: it is defined nowhere, with the errors there, or lacks values of parameters."""
    import pyslang.syntax as syntax

    listed = ", ".join(map(str, files))
    defined: dict[str, list[str]] = {}
    for tree in driver.syntaxTrees:
        members = getattr(tree.root, "members", [tree.root])
        for module in members:
            if isinstance(module, syntax.ModuleDeclarationSyntax) and module.header.name.valueText:
                defined[module.header.name.valueText] = _without_default(module)
    if top not in defined:
        names = f", only {', '.join(sorted(defined))}" if defined else ", nor any other"
        errors = _problems(driver, compilation.getParseDiagnostics())
        return RtlSourceError(
            f"{listed}: no module {top!r} is defined there{names}" + (errors and f"\n{errors}")
        )
    missing = ", ".join(defined[top]) or "some of its parameters"
    return RtlSourceError(
        f"module {top!r} has no default for {missing}: give them values, --set "
        f"{','.join(f'{name}=...' for name in defined[top]) or 'NAME=VALUE'}"
    )


def _without_default(module: Any) -> list[str]:
    parameters = module.header.parameters
    if parameters is None:
        return []
    declared = [
        name
        for one in parameters.declarations
        if getattr(one, "keyword", None) is not None and one.keyword.valueText != "localparam"
        for name in getattr(one, "declarators", [])
    ]
    return [one.name.valueText for one in declared if getattr(one, "initializer", None) is None]


def _parameters(top: Any, stated: Mapping[str, int | str]) -> tuple[ModuleParameter, ...]:
    found = []
    for one in top.body.parameters:
        if one.isLocalParam or not one.isPortParam:
            continue
        value = getattr(one, "value", None)
        number, text = _number(value), _text(one)
        if isinstance(stated.get(one.name), str):
            found.append(ModuleParameter(one.name, stated[one.name], True))
        elif text is not None and one.name not in stated:
            found.append(ModuleParameter(one.name, text, True))
        elif number is not None and "shortreal" not in str(getattr(one, "type", "")):
            found.append(ModuleParameter(one.name, number, True))
        else:
            found.append(ModuleParameter(one.name, str(value), False))
    return tuple(found)


def _text(parameter: Any) -> str | None:
    """Return the text that a parameter has by default; to slang it is the number of its characters' bits."""
    expression: Any = getattr(parameter, "initializer", None)
    while hasattr(expression, "operand"):
        expression = expression.operand
    found = (
        getattr(expression, "value", None)
        if "StringLiteral" in str(getattr(expression, "kind", ""))
        else None
    )
    return found if isinstance(found, str) else None


def _number(value: Any) -> int | None:
    inner = getattr(value, "value", None)
    try:
        return int(inner) if inner is not None and not isinstance(inner, (str, float, list)) else None
    except (TypeError, ValueError):
        return None


def _ports(top: Any) -> tuple[ModulePort, ...]:
    found = []
    for port in top.body.portList:
        direction = str(getattr(port, "direction", "")).rpartition(".")[2]
        kind = getattr(port, "type", None)
        if direction not in ("In", "Out") or kind is None or not kind.isIntegral:
            raise RtlSourceError(
                f"port {port.name!r} of {top.name!r} is neither an input nor an output of bits "
                f"({direction or 'an interface'}, {kind}), and such ports cannot be connected"
            )
        found.append(ModulePort(port.name, direction == "In", int(kind.bitWidth)))
    return tuple(found)
