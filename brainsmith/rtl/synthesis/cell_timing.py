"""How long a signal takes through a cell of an AMD part: the arcs of a static timing analysis."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Delays:
    """What a family's cells and wires take, in nanoseconds; typical values of routed designs, not limits.

    Attributes:
        register: From the clock to a flip-flop's output.
        setup: Before the clock, at a flip-flop's input.
        lut: Through a LUT, or to read a memory made of LUTs.
        mux: Through a multiplexer behind LUTs.
        carry_in: From the LUT before a carry chain to the carry of its bit.
        carry: From bit to bit of a carry chain.
        carry_out: From a carry to the sum of its bit.
        shift: From the clock to the output of a shift register or memory made of LUTs.
        block: From the clock to the output of a block RAM without an output register, or of an UltraRAM.
        block_register: The same, with an output register.
        multiply: Through the multiplier of a DSP slice.
        add: Through its adder.
        wire: Along a wire to one input.
        wire_doubling: What a wire takes longer if it goes to twice as many.
    """

    register: float
    setup: float
    lut: float
    mux: float
    carry_in: float
    carry: float
    carry_out: float
    shift: float
    block: float
    block_register: float
    multiply: float
    add: float
    wire: float
    wire_doubling: float


class Arc(NamedTuple):
    """A way through a cell, from an input pin to an output pin."""

    source: tuple[str, int]
    target: tuple[str, int]
    ns: float
    counts: bool = True
    """Whether it is a level of logic: not where a carry goes on in its chain."""


@dataclass(frozen=True)
class CellTiming:
    """What a cell does to the signals at its pins.

    Attributes:
        arcs: The ways through it.
        launches: Its output ports that change after the clock, and how long after.
        captures: Its input ports that must be there before the clock, and how long before.
        inside: The longest way from one of its own registers to the next.
    """

    arcs: Sequence[Arc] = ()
    launches: Mapping[str, float] = ()  # type: ignore[assignment]
    captures: Mapping[str, float] = ()  # type: ignore[assignment]
    inside: float = 0.0


CONTROLS = frozenset({"CE", "R", "S", "CLR", "PRE"})
"""Inputs of a flip-flop that it shares with the others of its slice."""

_HUB = "through"
"""A node inside of a DSP slice where all ways through it meet: its outputs depend on all inputs alike."""

_CLOCKS = re.compile(r"W?CLK(?:AR|BW)?(?:D?CLK)?|C|CLK[AB]?|WCLK|CLKARDCLK|CLKBWRCLK")
_FLIP_FLOP = re.compile(r"FD[RSCP]E(?:_1)?|LD[CP]E")


def timing_of(
    kind: str, pins: Mapping[str, int], inputs: Sequence[str], values: Fields, ns: Delays
) -> CellTiming:
    """Return the timing of a cell.

    Args:
        kind: Its type.
        pins: The width of each port.
        inputs: Those of them that are inputs.
        values: Its parameters.
        ns: Of the family.
    """
    ports = [port for port in inputs if not _CLOCKS.fullmatch(port)]
    outputs = [port for port in pins if port not in inputs]
    for pattern, make in _KINDS:
        if re.fullmatch(pattern, kind):
            return make(_Cell(pins, ports, outputs, values), ns)
    return CellTiming()


@dataclass(frozen=True)
class _Cell:
    pins: Mapping[str, int]
    inputs: list[str]
    outputs: list[str]
    values: Fields

    def has(self, register: str) -> bool:
        """Tell whether a register that can be left out is there."""
        return _number(self.values.get(register, 1)) != 0

    def text(self, name: str) -> str:
        """Return a parameter that is a text; empty if the cell has none of that name."""
        return str(self.values.get(name, "")).strip()

    def through(self, sources: Sequence[str], targets: Sequence[str], ns: float) -> Iterator[Arc]:
        """Yield the ways from all pins of some ports to all of others."""
        for source in sources:
            for target in targets:
                for a in range(self.pins.get(source, 0)):
                    for b in range(self.pins[target]):
                        yield Arc((source, a), (target, b), ns)


def _number(value: Any) -> int:
    """Return a parameter's value; Yosys writes numbers as bits."""
    if isinstance(value, str):
        return int(value, 2) if re.fullmatch("[01]+", value) else 1
    return int(value)


def _logic(cell: _Cell, ns: Delays) -> CellTiming:
    return CellTiming(tuple(cell.through(cell.inputs, cell.outputs, ns.lut)))


def _multiplexer(cell: _Cell, ns: Delays) -> CellTiming:
    return CellTiming(tuple(cell.through(cell.inputs, cell.outputs, ns.mux)))


def _carry_chain(cell: _Cell, ns: Delays) -> CellTiming:
    """Follow the carry bit by bit, whichever of the outputs are used."""
    arcs = []
    for at in range(cell.pins["S"]):
        before = [("CO", at - 1)] if at else [("CI", 0), ("CYINIT", 0)]
        for pin in (pin for pin in before if pin[0] in cell.pins):
            arcs.append(Arc(pin, ("CO", at), ns.carry, counts=False))
            arcs.append(Arc(pin, ("O", at), ns.carry_out, counts=False))
        arcs += [Arc((port, at), ("CO", at), ns.carry_in) for port in ("S", "DI")]
        arcs.append(Arc(("S", at), ("O", at), ns.carry_in))
    return CellTiming(tuple(arcs))


def _flip_flop(cell: _Cell, ns: Delays) -> CellTiming:
    return CellTiming((), {"Q": ns.register}, dict.fromkeys(cell.inputs, ns.setup))


def _shift_register(cell: _Cell, ns: Delays) -> CellTiming:
    taps = [port for port in cell.inputs if re.fullmatch(r"A\d?", port)]
    captures = {port: ns.setup for port in cell.inputs if port not in taps}
    arcs = tuple(cell.through(taps, [port for port in cell.outputs if port == "Q"], ns.lut))
    return CellTiming(arcs, dict.fromkeys(cell.outputs, ns.shift), captures)


def _lut_memory(cell: _Cell, ns: Delays) -> CellTiming:
    """Return that of a memory that is read at once: each read port has its own address."""
    arcs = [
        arc for output in cell.outputs for arc in cell.through(_addresses(cell, output), [output], ns.lut)
    ]
    return CellTiming(
        tuple(arcs), dict.fromkeys(cell.outputs, ns.shift), dict.fromkeys(cell.inputs, ns.setup)
    )


def _addresses(cell: _Cell, output: str) -> list[str]:
    """Return the address ports that an output is read by."""
    if output.startswith("DPO"):
        pattern = r"DPRA\d?"
    elif re.fullmatch(r"DO[A-H]", output):
        pattern = f"ADDR{output[-1]}"
    else:
        pattern = r"A\d?"
    return [port for port in cell.inputs if re.fullmatch(pattern, port)]


def _block_memory(cell: _Cell, ns: Delays) -> CellTiming:
    registered = _number(cell.values.get("DOA_REG", 0)) and _number(cell.values.get("DOB_REG", 0))
    launch = ns.block_register if registered else ns.block
    return CellTiming((), dict.fromkeys(cell.outputs, launch), dict.fromkeys(cell.inputs, ns.setup))


def _slice(cell: _Cell, ns: Delays) -> CellTiming:
    """Follow each operand of a DSP slice through adder, multiplier and adder, from register to register.

    Inputs that choose what it computes are taken for registered: they are constants, or come no later than operands.
    """
    multiply = 0.0 if cell.text("USE_MULT") == "NONE" else ns.multiply
    added = "AD" in {cell.text("AMULTSEL"), cell.text("BMULTSEL")} or cell.text("USE_DPORT") == "TRUE"
    before = [(ns.add, "ADREG")] if added else []
    product, total = (multiply, "MREG"), (ns.add, "PREG")
    ways = {
        "A": [(0.0, "AREG"), *before, product, total],
        "B": [(0.0, "BREG"), product, total],
        "C": [(0.0, "CREG"), total],
        "D": [(0.0, "DREG"), *before, product, total],
        "PCIN": [total],
    }
    outputs = [port for port in cell.outputs if port in {"P", "PCOUT", "CARRYOUT"}]
    captures = {port: ns.setup for port in cell.inputs if port not in ways}
    arcs = [
        Arc((_HUB, 0), (port, at), 0.0, counts=False) for port in outputs for at in range(cell.pins[port])
    ]
    launch = inside = 0.0
    for port in [port for port in ways if port in cell.inputs]:
        passed, elapsed = False, 0.0
        for delay, register in ways[port]:
            elapsed += delay
            if cell.has(register):
                if passed:
                    inside = max(inside, ns.register + elapsed + ns.setup)
                else:
                    captures[port] = elapsed + ns.setup
                passed, elapsed = True, 0.0
        if passed:
            launch = max(launch, ns.register + elapsed)
        else:
            arcs += [Arc((port, at), (_HUB, 0), elapsed) for at in range(cell.pins[port])]
    return CellTiming(tuple(arcs), dict.fromkeys(outputs, launch or ns.register), captures, inside)


_Make = Callable[[_Cell, Delays], CellTiming]
_KINDS: tuple[tuple[str, _Make], ...] = (
    (r"LUT[1-6]|LUT6_2|INV", _logic),
    (r"MUXF[789]", _multiplexer),
    (r"CARRY[48]", _carry_chain),
    (_FLIP_FLOP.pattern, _flip_flop),
    (r"SRLC?(?:16|32)E", _shift_register),
    (r"RAM\d+(?:X\d+\w*|M\d*)", _lut_memory),
    (r"RAMB\d+E\d|URAM288(?:_BASE)?", _block_memory),
    (r"DSP48E[12]|DSP58|DSPFP32", _slice),
)
