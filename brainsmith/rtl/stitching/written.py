"""A design as a folder that any tool can read: all paths are relative to it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError, OutputError
from brainsmith.rtl.library.sources import Source
from brainsmith.rtl.simulation.plan import DATA_FOLDER, Memory
from brainsmith.rtl.stitching.design import Design, DesignStream, End, Layer, Layout, Link
from brainsmith.rtl.stitching.top_module import plan_design

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = "hdl"
MEMORIES = "memory"
FILE_LIST = "filelist.f"
PLAN = "design.json"
_FORMAT = 1


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
    files = {
        name: source.text.replace(DATA_FOLDER, MEMORIES)
        for name, source in zip(names, plan.sources, strict=True)
    }
    files |= {f"{MEMORIES}/{memory.name}": memory.text for memory in plan.memories}
    files[FILE_LIST] = "".join(f"{name}\n" for name in names)
    files[PLAN] = json.dumps(_plan_data(design), indent=1) + "\n"
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{folder}: the design cannot be written: {error.strerror}") from error
    return [folder / name for name in names]


def read_design(folder: Path) -> Design:
    """Read a design that `write_design` wrote, with its sources and memories as they are now.

    Raises:
        BuildError: There is none, a file of it is missing, or it is of another version.
    """
    try:
        data = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        if data["format"] != _FORMAT:
            raise BuildError(
                f"{folder / PLAN} has format {data['format']}, and this version reads {_FORMAT}: build it again"
            )
        return Design(
            top=data["top"],
            layers=tuple(
                Layer(**layer | {"ports": tuple((name, bool(is_input)) for name, is_input in layer["ports"])})
                for layer in data["layers"]
            ),
            links=tuple(_link(link) for link in data["links"]),
            inputs=tuple(_stream(stream) for stream in data["inputs"]),
            outputs=tuple(_stream(stream) for stream in data["outputs"]),
            sources=tuple(
                Source(
                    source["name"],
                    _text(folder / SOURCES / source["name"]).replace(f'"{MEMORIES}/', f'"{DATA_FOLDER}/'),
                    tuple(source["rules"]),
                )
                for source in data["sources"]
            ),
            memories=tuple(Memory(name, _text(folder / MEMORIES / name)) for name in data["memories"]),
        )
    except OSError as error:
        raise BuildError(
            f"{folder} holds no whole design: {error.filename}: {error.strerror}\n  build it again"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BuildError(
            f"{folder / PLAN} is not what a build wrote ({type(error).__name__}: {error})\n  build it again"
        ) from error


def _plan_data(design: Design) -> dict[str, Any]:
    data = asdict(design)
    data["sources"] = [{"name": source.name, "rules": source.rules} for source in design.sources]
    data["memories"] = [memory.name for memory in design.memories]
    return {"format": _FORMAT, **data}


def _link(data: dict[str, Any]) -> Link:
    ends = {name: End(**data[name]) for name in ("source", "target")}
    return Link(**data | ends | {"layout": _layout(data["layout"])})


def _stream(data: dict[str, Any]) -> DesignStream:
    return DesignStream(**data | {"layout": _layout(data["layout"])})


def _layout(data: dict[str, Any] | None) -> Any:
    return None if data is None else Layout(**data | {"shape": tuple(data["shape"])})


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
