"""Write a design's files so that any tool can read them: all paths are relative to the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import OutputError
from brainsmith.rtl.simulation.plan import DATA_FOLDER
from brainsmith.rtl.stitching.top_module import plan_design

if TYPE_CHECKING:
    from pathlib import Path

    from brainsmith.rtl.stitching.design import Design

SOURCES = "hdl"
MEMORIES = "memory"
FILE_LIST = "filelist.f"


def write_design(design: Design, folder: Path) -> list[Path]:
    """Write sources, memory contents and `filelist.f`, which names the sources in the order of compilation.

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
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{folder}: the design cannot be written: {error.strerror}") from error
    return [folder / name for name in names]
