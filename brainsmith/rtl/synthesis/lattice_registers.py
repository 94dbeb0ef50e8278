"""Registers beside an ECP5's block RAMs and multipliers become those that these cells have inside.

Yosys leaves them outside, where they cost flip-flops and wires; Lattice's own tools move them, as AMD's do.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FLIP_FLOP, RAM, MULTIPLIER = "TRELLIS_FF", "DP16KD", "MULT18X18D"
_OUTPUTS = {RAM: re.compile(r"DO[AB]\d+"), MULTIPLIER: re.compile(r"P\d+")}
_FACTOR = re.compile(r"[AB]\d+")
_PLAIN = {"REGSET": "RESET", "CLKMUX": "CLK", "LSRMUX": "LSR"}
_SIDES = "AB"
_ZERO, _ONE = "0", "1"

Cell = dict[str, Any]


class _Control(NamedTuple):
    """What clocks and enables a register: nets, or the constant 1."""

    clock: Any
    enable: Any


def absorb_registers(module: dict[str, Any]) -> None:
    """Move registers into block RAMs and multipliers; what the circuit computes, and when, is the same.

    It is done where all registers of a RAM's or multiplier's outputs, or of a factor, are clocked and enabled alike, have
    no reset and begin with 0, as the cells' own do, and where an output goes nowhere else.

    Args:
        module: Of a netlist that Yosys wrote as JSON; it is changed.
    """
    circuit = _Circuit(module)
    for kind in (RAM, MULTIPLIER):
        for name in circuit.of(kind):
            _absorb_behind(circuit, circuit.cells[name])
    for name in circuit.of(MULTIPLIER):
        _absorb_before(circuit, name)


class _Circuit:
    """The cells of a netlist, which of them read a net, and which flip-flop drives it."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self.cells: dict[str, Cell] = module["cells"]
        self.readers: defaultdict[Any, list[tuple[str, str]]] = defaultdict(list)
        self.registers: dict[Any, str] = {}
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] != "output":
                    for bit in bits:
                        self.readers[bit].append((name, port))
            if cell["type"] == FLIP_FLOP:
                self.registers[cell["connections"]["Q"][0]] = name
        for port in module["ports"].values():
            for bit in port["bits"]:
                self.readers[bit].append(("", ""))

    def of(self, kind: str) -> list[str]:
        """Return the cells of a type."""
        return [name for name, cell in self.cells.items() if cell["type"] == kind]

    def control(self, names: Sequence[str]) -> _Control | None:
        """Return what controls some flip-flops, if a hard cell's registers can stand for them."""
        controls = {_control(self.cells[name]) for name in names}
        return controls.pop() if len(controls) == 1 else None

    def remove(self, name: str) -> None:
        """Remove a flip-flop."""
        cell = self.cells.pop(name)
        del self.registers[cell["connections"]["Q"][0]]
        for port in ("DI", "CLK", "CE"):
            for bit in cell["connections"].get(port, []):
                self.readers[bit].remove((name, port))


def _control(cell: Cell) -> _Control | None:
    pins, parameters = cell["connections"], cell["parameters"]
    if cell["type"] != FLIP_FLOP or any(
        parameters.get(name, value) != value for name, value in _PLAIN.items()
    ):
        return None
    kind = parameters.get("CEMUX", _ONE)
    if kind not in (_ONE, "CE") or pins.get("LSR", [_ZERO]) != [_ZERO]:
        return None
    return _Control(pins["CLK"][0], pins["CE"][0] if kind == "CE" else _ONE)


def _absorb_behind(circuit: _Circuit, cell: Cell) -> None:
    """Move the registers of all outputs that are read into a cell."""
    read = [
        (port, circuit.readers[bits[0]])
        for port, bits in cell["connections"].items()
        if _OUTPUTS[cell["type"]].fullmatch(port) and circuit.readers[bits[0]]
    ]
    if any(len(readers) > 1 or readers[0][1] != "DI" for _, readers in read):
        return
    names = [readers[0][0] for _, readers in read]
    control = circuit.control(names)
    if control is None:
        return
    if not (_ram_takes(cell, control) if cell["type"] == RAM else _product_takes(cell, control, "OUTPUT")):
        return
    for (port, _), name in zip(read, names, strict=True):
        cell["connections"][port] = circuit.cells[name]["connections"]["Q"]
        circuit.remove(name)


def _ram_takes(cell: Cell, control: _Control) -> bool:
    """Let a block RAM use its output registers, if it reads with that clock and has no reset."""
    pins, parameters = cell["connections"], cell["parameters"]
    clocks = {pins[f"CLK{side}"][0] for side in _SIDES} - {_ZERO, _ONE, "x"}
    resets = {pins[f"RST{side}"][0] for side in _SIDES}
    plain = all(
        parameters[f"REGMODE_{side}"] == "NOREG" and parameters[f"CLK{side}MUX"] == f"CLK{side}"
        for side in _SIDES
    )
    if clocks != {control.clock} or resets - {_ZERO, "x"} or not plain:
        return False
    for side in _SIDES:
        parameters[f"REGMODE_{side}"] = "OUTREG"
        pins[f"OCE{side}"] = [control.enable]
    return True


def _product_takes(cell: Cell, control: _Control, *registers: str) -> bool:
    """Let a multiplier use registers, if its others are controlled alike: they share a clock and an enable here."""
    pins, wanted = cell["connections"], {"CLK0": [control.clock], "CE0": [control.enable], "RST0": [_ZERO]}
    if any(pins.get(name, bits) != bits for name, bits in wanted.items()):
        return False
    pins |= wanted
    cell["port_directions"] |= dict.fromkeys(wanted, "input")
    for register in registers:
        for signal in ("CLK", "CE", "RST"):
            cell["parameters"][f"REG_{register}_{signal}"] = f"{signal}0"
    return True


def _absorb_before(circuit: _Circuit, name: str) -> None:
    """Move the registers of both factors into a multiplier; a register that others read too stays for them.

    nextpnr knows no delays of a multiplier with a register at one factor alone.
    """
    cell = circuit.cells[name]
    pins = {
        port: bits[0]
        for port, bits in cell["connections"].items()
        if _FACTOR.fullmatch(port) and bits[0] not in (_ZERO, "x")
    }
    if any(net not in circuit.registers for net in pins.values()):
        return
    control = circuit.control([circuit.registers[net] for net in pins.values()])
    if control is None or not _product_takes(cell, control, "INPUTA", "INPUTB"):
        return
    for port, net in pins.items():
        (before,) = circuit.cells[circuit.registers[net]]["connections"]["DI"]
        cell["connections"][port] = [before]
        circuit.readers[before].append((name, port))
        circuit.readers[net].remove((name, port))
    for net in set(pins.values()):
        if not circuit.readers[net]:
            circuit.remove(circuit.registers[net])
