"""A design as a folder that any tool can read: all paths are relative to it."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError, OutputError
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.simulation_plan import DATA_FOLDER, Memory
from brainsmith.rtl.stitching.design import Design, DesignStream, End, Layer, Layout, Link
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.store.files import write_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SOURCES = "hdl"
MEMORIES = "memory"
FILE_LIST = "filelist.f"
PLAN = "design.json"
_FORMAT = 1

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_MOST = 1 << 40
_WIDEST = 1 << 16


def write_design(design: Design, folder: Path) -> list[Path]:
    """Write sources, memory contents, the plan, and `filelist.f`: the sources in the order of compilation.

    Tools must run in the folder, because memories are loaded from `memory/`.

    Args:
        design: What to write; its FIFOs have their depths.
        folder: Made if need be; files of the same names are replaced.

    Returns:
        The sources, in the order of compilation.

    Raises:
        OutputError: The folder cannot be written.
    """
    plan = plan_design(design)
    names = [f"{SOURCES}/{source.name}" for source in plan.sources]
    files = design_files(plan.sources, plan.memories)
    files[FILE_LIST] = "".join(f"{name}\n" for name in names)
    files[PLAN] = json.dumps(_plan_data(design), indent=1) + "\n"
    try:
        write_texts(folder, files)
    except OSError as error:
        raise OutputError(f"{folder}: the design cannot be written: {error.strerror}") from error
    return [folder / name for name in names]


def design_files(sources: Iterable[RtlSource], memories: Iterable[Memory]) -> dict[str, str]:
    """Return sources, and the memory contents that they load, by their paths in the folder that tools run in."""
    files = {f"{SOURCES}/{one.name}": one.text.replace(DATA_FOLDER, MEMORIES) for one in sources}
    return files | {f"{MEMORIES}/{memory.name}": memory.text for memory in memories}


def read_design(folder: Path) -> Design:
    """Read a design that `write_design` wrote, with its sources and memories as they are now.

    A folder may come from somebody else, and what is read becomes Verilog and names of files: names must be plain ones,
    numbers must be numbers, and no file may lie outside the folder.

    Raises:
        BuildError: There is none, a file of it is missing or lies elsewhere, or it is of another version.
    """
    with written_data(folder, PLAN, _FORMAT) as data:
        return Design(
            top=_name(data["top"]),
            layers=tuple(_layer(layer) for layer in data["layers"]),
            links=tuple(_link(link) for link in data["links"]),
            inputs=tuple(_stream(stream) for stream in data["inputs"]),
            outputs=tuple(_stream(stream) for stream in data["outputs"]),
            sources=tuple(
                RtlSource(
                    _file_name(source["name"]),
                    located(text_inside(folder, f"{SOURCES}/{source['name']}")),
                    tuple(str(rule) for rule in source["rules"]),
                )
                for source in data["sources"]
            ),
            memories=tuple(
                Memory(_file_name(name), text_inside(folder, f"{MEMORIES}/{name}"))
                for name in data["memories"]
            ),
        )


@contextmanager
def written_data(folder: Path, name: str, version: int) -> Iterator[dict[str, Any]]:
    """Yield what a JSON file of a folder holds; whatever the body cannot read of it is reported as that file's error.

    Args:
        folder: The folder of a design or package.
        name: Of the file, relative to it.
        version: The `format` that the file must have.

    Raises:
        BuildError: A file is missing or lies elsewhere, or this one is damaged or of another format.
    """
    path = folder / name
    try:
        data = json.loads(text_inside(folder, name))
        if data["format"] != version:
            raise BuildError(
                f"{path} has format {data['format']}, and this version reads {version}: build it again"
            )
        yield data
    except OSError as error:
        raise BuildError(
            f"{folder} holds no whole design: {error.filename}: {error.strerror}\n  build it again"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BuildError(
            f"{path} was not written by a build, or is damaged ({type(error).__name__}: {error})\n  build it again"
        ) from error


def text_inside(folder: Path, name: str) -> str:
    """Return the text of a file below a folder.

    Args:
        folder: The folder of a design.
        name: Relative to it.

    Raises:
        BuildError: As `path_inside`.
        OSError: It cannot be read.
        ValueError: It is not UTF-8.
    """
    return path_inside(folder, name).read_text(encoding="utf-8")


def path_inside(folder: Path, name: str) -> Path:
    """Return where a file below a folder lies; it need not be there.

    Raises:
        BuildError: The file is not a plain one, or lies outside the folder, by its name or by a link.
    """
    path = folder / name
    parts = name.split("/")
    outside = not all(_FILE_NAME.fullmatch(part) for part in parts)
    if outside or path.resolve() != folder.resolve().joinpath(*parts):
        raise BuildError(
            f"{folder} names the file {name!r:.200}, which is not a file of that folder: a link, or a name that leads "
            "elsewhere\n  build the accelerator again"
        )
    if path.exists() and not path.is_file():
        raise BuildError(f"{path} is not a file\n  build the accelerator again")
    return path


def located(text: str) -> str:
    """Let a source's paths to memory contents lead to those of the simulation."""
    return text.replace(f'"{MEMORIES}/', f'"{DATA_FOLDER}/')


def _plan_data(design: Design) -> dict[str, Any]:
    data = asdict(design)
    data["sources"] = [{"name": source.name, "rules": source.rules} for source in design.sources]
    data["memories"] = [memory.name for memory in design.memories]
    return {"format": _FORMAT, **data}


def _layer(data: dict[str, Any]) -> Layer:
    ports = tuple((_name(port), bool(is_input)) for port, is_input in data["ports"])
    names = {field: _name(data[field]) for field in ("name", "module", "kernel")}
    return Layer(**data | names | {"ports": ports, "cycles": _number(data["cycles"])})


def _link(data: dict[str, Any]) -> Link:
    ends = {
        end: End(*(_name(text) if text else "" for text in (data[end]["layer"], data[end]["stream"])))
        for end in ("source", "target")
    }
    numbers = {"bits": _number(data["bits"], 1, _WIDEST), "depth": _number(data["depth"])}
    return Link(**data | ends | numbers | {"name": _name(data["name"]), "layout": _layout(data["layout"])})


def _stream(data: dict[str, Any]) -> DesignStream:
    return DesignStream(_name(data["name"]), _number(data["bits"], 1, _WIDEST), _layout(data["layout"]))


def _layout(data: dict[str, Any] | None) -> Any:
    if data is None:
        return None
    numbers = {"lanes": _number(data["lanes"], 1), "lane_bits": _number(data["lane_bits"], 1, _WIDEST)}
    shape = tuple(_number(size, 1) for size in data["shape"])
    return Layout(**data | numbers | {"tensor": str(data["tensor"]), "shape": shape})


def _name(value: Any) -> str:
    """Return a name as Verilog has it, or raise."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(f"{value!r:.80} is not a name: letters, digits and _ only")
    return value


def _file_name(value: Any) -> str:
    if not isinstance(value, str) or not _FILE_NAME.fullmatch(value):
        raise ValueError(f"{value!r:.80} is not the name of a file: letters, digits and _.+- only")
    return value


def _number(value: Any, least: int = 0, most: int = _MOST) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{value!r:.80} is not a whole number from {least} to {most}")
    return value
