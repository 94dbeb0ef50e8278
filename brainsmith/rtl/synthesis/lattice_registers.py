"""Registers beside an ECP5's block RAMs and multipliers become those that these cells have inside.

Yosys leaves them outside, where they cost flip-flops and wires; Lattice's own tools move them, as AMD's do.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from brainsmith.rtl.synthesis.lattice_circuit import (
    ADDED,
    ADDER,
    FLIP_FLOP,
    MULTIPLIER,
    ONE,
    RAM,
    ZERO,
    Cell,
    Circuit,
    Control,
)

_OUTPUTS = {RAM: re.compile(r"DO[AB]\d+"), MULTIPLIER: re.compile(r"P\d+")}
_FACTOR = re.compile(r"[AB]\d+")
_SUM = {
    "INIT0": "1001011010101010", "INIT1": "1001011010101010", "INJECT1_0": "NO", "INJECT1_1": "NO",
}  # fmt: skip
"""Of an adder as Yosys writes it: A + B + CIN, where C is 0."""


_SIDES = "AB"


def absorb_registers(module: dict[str, Any]) -> None:
    """Move registers into block RAMs and multipliers; what the circuit computes, and when, is the same.

    It is done where all registers of a RAM's or multiplier's outputs, or of a factor, are clocked and enabled alike, have
    no reset and begin with 0, as the cells' own do, and where an output goes nowhere else. A product of more bits
    is the sum of several multipliers: where two registers follow one another behind it, the first is moved before the sum.

    Args:
        module: Of a netlist that Yosys wrote as JSON; it is changed.
    """
    circuit = Circuit(module)
    for name in circuit.of(MULTIPLIER):
        _move_before_sum(circuit, name)
    for kind in (RAM, MULTIPLIER):
        for name in circuit.of(kind):
            _absorb_behind(circuit, circuit.cells[name])
    for name in circuit.of(MULTIPLIER):
        _absorb_before(circuit, name)


def _move_before_sum(circuit: Circuit, multiplier: str) -> None:
    """Move the registers behind a sum of multipliers' outputs to these, where other registers follow them."""
    found = _sum_of(circuit, multiplier)
    control = circuit.control(list(found.registers)) if found and found.adders else None
    if found is None or control is None or not all(_is_followed(circuit, name) for name in found.registers):
        return
    for name in found.multipliers:
        for net in circuit.outputs(name):
            added = [reader for reader in circuit.readers[net] if reader[1] != "DI"]
            if added:
                at_once = [reader for reader, port in circuit.readers[net] if port == "DI"]
                late = circuit.output_of(at_once[0]) if at_once else circuit.add_register(net, control)
                circuit.reconnect(net, late, added)
    for name in found.registers:
        (net,) = circuit.cells[name]["connections"]["DI"]
        if circuit.drivers[net] in found.adders:
            out = circuit.output_of(name)
            circuit.remove(name)
            circuit.give(circuit.drivers[net], net, out)


class _Sum(NamedTuple):
    """What adds up the outputs of multipliers, and the registers that these and the sum go to."""

    multipliers: dict[str, None]
    adders: dict[str, None]
    registers: dict[str, None]


def _sum_of(circuit: Circuit, multiplier: str) -> _Sum | None:
    """Return the sum that a multiplier has a part in; None if it goes elsewhere too, or adds something else."""
    found, left = _Sum({}, {}, {}), [multiplier]
    while left:
        name = left.pop()
        kind = circuit.kind(name)
        if kind == FLIP_FLOP:
            found.registers[name] = None
        elif kind == MULTIPLIER:
            found.multipliers[name] = None
        elif kind == ADDER and _only_adds(circuit.cells[name]):
            found.adders[name] = None
            before = [circuit.drivers.get(net, "") for net in circuit.inputs(name)]
            if any(circuit.kind(one) not in (MULTIPLIER, ADDER) for one in before):
                return None
            left += [one for one in before if one not in found.multipliers and one not in found.adders]
        else:
            return None
        if kind == FLIP_FLOP:
            continue
        for net in circuit.outputs(name):
            readers = circuit.readers[net]
            if any(
                circuit.kind(one) == FLIP_FLOP and (port != "DI" or (kind == ADDER and len(readers) > 1))
                for one, port in readers
            ):
                return None
            left += [one for one, _ in readers if one not in found.adders and one not in found.registers]
    return found


def _only_adds(cell: Cell) -> bool:
    """Tell whether an adder gives 0 where its other inputs are 0."""
    pins, parameters = cell["connections"], cell["parameters"]
    return all(parameters.get(name) == value for name, value in _SUM.items()) and all(
        pins[port] == [ZERO] if port in ("C0", "C1") else pins[port] != [ONE] for port in ADDED
    )


def _is_followed(circuit: Circuit, register: str) -> bool:
    """Tell whether nothing but registers reads a register."""
    readers = circuit.readers[circuit.output_of(register)]
    return all(circuit.kind(name) == FLIP_FLOP and port == "DI" for name, port in readers)


def _absorb_behind(circuit: Circuit, cell: Cell) -> None:
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


def _ram_takes(cell: Cell, control: Control) -> bool:
    """Let a block RAM use its output registers, if it reads with that clock and has no reset."""
    pins, parameters = cell["connections"], cell["parameters"]
    clocks = {pins[f"CLK{side}"][0] for side in _SIDES} - {ZERO, ONE, "x"}
    resets = {pins[f"RST{side}"][0] for side in _SIDES}
    plain = all(
        parameters[f"REGMODE_{side}"] == "NOREG" and parameters[f"CLK{side}MUX"] == f"CLK{side}"
        for side in _SIDES
    )
    if clocks != {control.clock} or resets - {ZERO, "x"} or not plain:
        return False
    for side in _SIDES:
        parameters[f"REGMODE_{side}"] = "OUTREG"
        pins[f"OCE{side}"] = [control.enable]
    return True


def _product_takes(cell: Cell, control: Control, *registers: str) -> bool:
    """Let a multiplier use registers, if its others are controlled alike: they share a clock and an enable here."""
    pins, wanted = cell["connections"], {"CLK0": [control.clock], "CE0": [control.enable], "RST0": [ZERO]}
    if any(pins.get(name, bits) != bits for name, bits in wanted.items()):
        return False
    pins |= wanted
    cell["port_directions"] |= dict.fromkeys(wanted, "input")
    for register in registers:
        for signal in ("CLK", "CE", "RST"):
            cell["parameters"][f"REG_{register}_{signal}"] = f"{signal}0"
    return True


def _absorb_before(circuit: Circuit, name: str) -> None:
    """Move the registers of both factors into a multiplier; a register that others read too stays for them.

    nextpnr knows no delays of a multiplier with a register at one factor alone.
    """
    cell = circuit.cells[name]
    pins = {
        port: bits[0]
        for port, bits in cell["connections"].items()
        if _FACTOR.fullmatch(port) and bits[0] not in (ZERO, "x")
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
