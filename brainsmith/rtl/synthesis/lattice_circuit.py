"""The netlist of a circuit for an ECP5: its cells, which of them read a net, and which drives it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FLIP_FLOP, RAM, MULTIPLIER, ADDER = "TRELLIS_FF", "DP16KD", "MULT18X18D", "CCU2C"
ZERO, ONE = "0", "1"
ALWAYS = "1 "
"""The parameter CEMUX of a flip-flop without an enable: Yosys puts a space behind a text that could be a number."""

ADDED = ("A0", "B0", "C0", "A1", "B1", "C1", "CIN")
"""The inputs of an adder."""

_PLAIN = {"REGSET": "RESET", "CLKMUX": "CLK", "LSRMUX": "LSR"}

Cell = dict[str, Any]


class Control(NamedTuple):
    """What clocks and enables a register: nets, or the constant 1."""

    clock: Any
    enable: Any


class Circuit:
    """The cells of a netlist, which of them read a net, which drives it, and of these the flip-flops."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self.cells: dict[str, Cell] = module["cells"]
        self.readers: defaultdict[Any, list[tuple[str, str]]] = defaultdict(list)
        self.drivers: dict[Any, str] = {}
        self.registers: dict[Any, str] = {}
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                for bit in bits:
                    if cell["port_directions"][port] == "output":
                        self.drivers[bit] = name
                    else:
                        self.readers[bit].append((name, port))
            if cell["type"] == FLIP_FLOP:
                self.registers[cell["connections"]["Q"][0]] = name
        for port in module["ports"].values():
            for bit in port["bits"]:
                self.readers[bit].append(("", ""))

    def of(self, kind: str) -> list[str]:
        """Return the cells of a type."""
        return [name for name, cell in self.cells.items() if cell["type"] == kind]

    def control(self, names: Sequence[str]) -> Control | None:
        """Return what controls some flip-flops, if a hard cell's registers can stand for them."""
        controls = {_control(self.cells[name]) for name in names}
        return controls.pop() if len(controls) == 1 else None

    def kind(self, name: str) -> str:
        """Return a cell's type; the circuit's own ports have none."""
        return str(self.cells[name]["type"]) if name else ""

    def outputs(self, name: str) -> list[Any]:
        """Return the nets that a cell drives."""
        cell = self.cells[name]
        return [
            bits[0] for port, bits in cell["connections"].items() if cell["port_directions"][port] == "output"
        ]

    def output_of(self, register: str) -> Any:
        """Return the net that a flip-flop drives."""
        return self.cells[register]["connections"]["Q"][0]

    def inputs(self, adder: str) -> set[Any]:
        """Return the nets that an adder adds up."""
        pins = self.cells[adder]["connections"]
        return {pins[port][0] for port in ADDED} - {ZERO, "x"}

    def give(self, name: str, old: Any, new: Any) -> None:
        """Let a cell drive another net instead of one."""
        pins = self.cells[name]["connections"]
        for port in [port for port, bits in pins.items() if bits == [old]]:
            pins[port] = [new]
        self.drivers[new] = name

    def add_register(self, data: Any, control: Control) -> Any:
        """Put a flip-flop behind a net, and return the net that it drives."""
        out = max(net for net in (*self.drivers, *self.readers) if isinstance(net, int)) + 1
        pins = {"CLK": [control.clock], "CE": [control.enable], "DI": [data], "LSR": [ZERO], "Q": [out]}
        directions = {port: "output" if port == "Q" else "input" for port in pins}
        parameters = {**_PLAIN, "CEMUX": ALWAYS if control.enable == ONE else "CE"}
        name = f"$before_sum${out}"
        self.cells[name] = {
            "type": FLIP_FLOP, "parameters": parameters, "connections": pins, "port_directions": directions,
        }  # fmt: skip
        for port in ("CLK", "CE", "DI"):
            self.readers[pins[port][0]].append((name, port))
        self.registers[out] = self.drivers[out] = name
        return out

    def reconnect(self, old: Any, new: Any, readers: Sequence[tuple[str, str]]) -> None:
        """Let pins read another net."""
        for name, port in readers:
            self.cells[name]["connections"][port] = [new]
            self.readers[old].remove((name, port))
            self.readers[new].append((name, port))

    def remove(self, name: str) -> None:
        """Remove a flip-flop."""
        cell = self.cells.pop(name)
        del self.registers[cell["connections"]["Q"][0]]
        for port in ("DI", "CLK", "CE"):
            for bit in cell["connections"].get(port, []):
                self.readers[bit].remove((name, port))


def _control(cell: Cell) -> Control | None:
    pins, parameters = cell["connections"], cell["parameters"]
    if cell["type"] != FLIP_FLOP or any(
        parameters.get(name, value) != value for name, value in _PLAIN.items()
    ):
        return None
    kind = parameters.get("CEMUX", ALWAYS)
    if kind not in (ALWAYS, "CE") or pins.get("LSR", [ZERO]) != [ZERO]:
        return None
    return Control(pins["CLK"][0], pins["CE"][0] if kind == "CE" else ONE)
