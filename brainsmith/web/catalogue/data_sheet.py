"""Data sheets: what a backend's layer needs over its parallelism, and how its streams move, as data beside its source.

A plugin's sheet is `data_sheets/NAME.json` in the folder of its file. Sheets are read as data: nothing of them is run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.store.files import read_bytes

if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo

SCHEMA = "brainsmith.data_sheet/1"
FOLDER = "data_sheets"
FIGURES = ("cycles", "lut", "ff", "bram18", "dsp", "uram")
"""What a point of a sheet states besides its attributes: cycles of a frame, then resources."""
MOST_BYTES, MOST_POINTS, MOST_ATTRIBUTES = 1_000_000, 500, 4


@dataclass(frozen=True)
class DataSheet:
    """What is known of a backend's layer.

    Attributes:
        case: Which layer it is.
        attributes: What makes it faster, such as PE; the one that curves are drawn over first.
        points: The attributes and `FIGURES` of each choice.
        timing: The content of an SVG file, the timing diagram; empty where there is none.
    """

    case: str
    attributes: tuple[str, ...]
    points: tuple[dict[str, int], ...]
    timing: str


def read_data_sheet(info: PluginInfo) -> tuple[DataSheet | None, str]:
    """Return a plugin's data sheet, or None; and what is wrong with it, if it has one that cannot be used."""
    folder = Path(info.file).parent / FOLDER
    path = folder / f"{info.name}.json"
    if not info.file or not info.name.isidentifier() or not path.exists():
        return None, ""
    try:
        return _sheet(json.loads(_content(path)), folder), ""
    except (OSError, ValueError, RecursionError) as error:
        return None, f"{path}: the data sheet cannot be used: {error}"


def _content(path: Path) -> str:
    data = read_bytes(str(path))
    if len(data) > MOST_BYTES:
        raise ValueError(f"{path.name} has more than {MOST_BYTES:,} bytes")
    return data.decode("utf-8")


def _sheet(stated: Any, folder: Path) -> DataSheet:
    """Return a sheet of what its file states.

    Raises:
        ValueError: It states something else than a sheet does.
        OSError: Its timing diagram cannot be read.
    """
    if not isinstance(stated, dict) or stated.get("schema") != SCHEMA:
        raise ValueError(f"its schema is not {SCHEMA!r}")
    case, timing = stated.get("case", ""), stated.get("timing", "")
    attributes, points = stated.get("attributes", []), stated.get("points", [])
    if not all(isinstance(text, str) for text in (case, timing)):
        raise ValueError("case and timing must be texts")
    if timing and (Path(timing).name != timing or not timing.endswith(".svg")):
        raise ValueError("timing must name an SVG file in the same folder")
    if not isinstance(attributes, list) or not all(isinstance(name, str) for name in attributes):
        raise ValueError("attributes must be a list of names")
    if len(attributes) > MOST_ATTRIBUTES or set(attributes) & set(FIGURES):
        raise ValueError(f"attributes must be up to {MOST_ATTRIBUTES} names other than {', '.join(FIGURES)}")
    if not isinstance(points, list) or len(points) > MOST_POINTS:
        raise ValueError(f"points must be a list of up to {MOST_POINTS}")
    picture = _content(folder / timing) if timing else ""
    return DataSheet(case, tuple(attributes), tuple(_point(point, attributes) for point in points), picture)


def _point(stated: Any, attributes: list[str]) -> dict[str, int]:
    wanted = (*attributes, *FIGURES)
    if not isinstance(stated, dict) or set(stated) != set(wanted):
        raise ValueError(f"each point must state {', '.join(wanted)}")
    for name in wanted:
        value = stated[name]
        least = 1 if name in attributes else 0
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 10**15:
            raise ValueError(f"{name} of a point must be a whole number, {least} or more")
    return {name: stated[name] for name in wanted}
