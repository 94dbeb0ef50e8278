"""From the name of a part, or of a board that carries it, to its device, and what that holds."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.close_names import close_names, one_of
from brainsmith.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).with_name("devices.csv")
"""What each device holds, with its sources; entered by hand."""

BOARDS = Path(__file__).with_name("boards.csv")
"""Which part each board carries; entered by hand."""

RESOURCES = ("lut", "ff", "bram18", "uram", "dsp")
"""What is counted, as reports call it."""
_AMD_REST = re.compile(r"[il]?([a-z]{2,4}\d{2,4}[a-z]?)?(-[a-z0-9]+)+")
"""What follows a device of AMD's: low voltage, the package, the speed grade; the package may come with the grade."""
_LATTICE_REST = re.compile(r"-\d[a-z]{1,3}\d{3}[a-z]*")
_GRADES = re.compile(r"^x[aq]r?(?=[7zkv])")
"""Automotive (xa), defence (xq) and radiation-tolerant (xqr) devices, which are the commercial ones in another grade."""
_PACKAGE_7 = re.compile(r"(x[caq]7[a-z]+\d+[a-z]?)(?:[il]?[a-z]{3}\d{3,4})")


@dataclass(frozen=True)
class FpgaDevice:
    """What a device holds.

    Attributes:
        name: Without package and speed grade.
        lut: Look-up tables: of 6 inputs in AMD's devices, of 4 in Lattice's.
        ff: Flip-flops.
        bram18: Block RAMs of 18 Kbit.
        uram: UltraRAMs of 288 Kbit.
        dsp: DSP slices; in an ECP5, multipliers of 18 by 18 bits.
        declared: Whether somebody states the figures, in place of the table.
    """

    name: str
    lut: int
    ff: int
    bram18: int
    uram: int
    dsp: int
    declared: bool = field(default=False, kw_only=True)


def part_of(name: str) -> str:
    """Return the part that a board such as `pynq-z2` carries; any other name as it is."""
    return boards().get(board_name(name), name)


def board_name(name: str) -> str:
    """Return how a board is spelt here: `Pynq_Z2` is `pynq-z2`."""
    return re.sub(r"[\s_]+", "-", name.strip().lower())


@cache
def boards() -> dict[str, str]:
    """Return the part of each board."""
    return {name: part for names, part in _rows(BOARDS) for name in names.split()}


def device_of(part: str) -> FpgaDevice | None:
    """Return the device of a part such as `xczu7ev-ffvc1156-2-e`; None if none is known that its name begins with.

    Package and speed grade are looked at by their form: which of them a device comes in is not known here.
    """
    name = _GRADES.sub("xc", part.strip().lower())
    for known, device in _devices().items():
        rest = _LATTICE_REST if known.startswith("lfe") else _AMD_REST
        if name.startswith(known) and rest.fullmatch(name, len(known)):
            return device
    return None


def require_device(part: str) -> FpgaDevice:
    """Return the device of a part.

    Raises:
        BuildError: There is none; the message names those that are spelt alike.
    """
    found = device_of(part)
    if found is None:
        raise BuildError(unknown_device(part))
    return found


def unknown_device(part: str) -> str:
    """Return the message of a part whose device is not known."""
    asked = device_name(part)
    if _GRADES.sub("xc", asked) in known_devices():
        return (
            f"the part {part!r} has no package and speed grade, or one of another form\n"
            "  write all of its name, such as xczu7ev-ffvc1156-2-e, xc7z020clg400-1 or LFE5U-85F-6BG381C, or a board's"
        )
    close = close_names(_GRADES.sub("xc", asked), known_devices(), cutoff=0.75, nearly=1)
    hint = one_of(close or close_names(board_name(part), boards(), cutoff=0.8)) or "."
    return (
        f"no device {asked!r} is known, for the part {part!r}{hint}\n"
        "  one that is not listed is declared beside it: target: {part: ..., device: {lut: 117120, ff: 234240, "
        "bram18: 288, uram: 64, dsp: 1248}}"
    )


def device_name(part: str) -> str:
    """Return what is the name of the device in that of a part, by the rules of the vendors."""
    name = part.strip().lower()
    if name.startswith("lfe5"):
        return "-".join(name.split("-")[:2])
    packaged = _PACKAGE_7.match(name)
    return packaged[1] if packaged else name.partition("-")[0]


def known_devices() -> tuple[str, ...]:
    """Return the names of all devices."""
    return tuple(_devices())


def all_devices() -> tuple[FpgaDevice, ...]:
    """Return all devices."""
    return tuple(_devices().values())


@cache
def _devices() -> dict[str, FpgaDevice]:
    """Return all devices by their names, longer names first: the name of one may begin with that of another."""
    found = [
        FpgaDevice(name, *map(int, figures)) for names, *figures in _rows(TABLE) for name in names.split()
    ]
    return {device.name: device for device in sorted(found, key=lambda device: -len(device.name))}


def _rows(table: Path) -> Iterator[list[str]]:
    """Return the rows of a table, without its heading and its comments."""
    lines = [line for line in table.read_text("utf-8").splitlines() if not line.startswith("#")]
    return iter(csv.reader(lines[1:]))
