"""Find the slowest path of a netlist, from register to register, with typical delays: a static timing analysis."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import log2
from typing import Any

from brainsmith.rtl.synthesis.cell_timing import CONTROLS, Delays, timing_of

Fields = Mapping[str, Any]

_TOGETHER = ("LUT", "MUXF", "CARRY", "INV")
"""What lies in one slice with the flip-flop or the next cell that it alone drives."""

_SHARED = 8
"""Flip-flops of a slice that share a control input."""


@dataclass(frozen=True)
class SlowestPath:
    """The slowest path of a circuit.

    Attributes:
        ns: What it takes, with the registers at its ends; 0 if there is none.
        levels: Of logic on it.
        cells: Their types, in order.
        start: Name of the register, memory or port where it starts.
        end: Where it ends.
    """

    ns: float
    levels: int
    cells: list[str]
    start: str
    end: str

    @property
    def fmax_mhz(self) -> float | None:
        """Return the clock that it allows; None if there is no path."""
        return round(1000 / self.ns, 1) if self.ns else None


@dataclass
class _Graph:
    """Pins as nodes: bits of nets by their numbers, carries inside of chains by cell and place.

    Attributes:
        into: The ways to a node: the node before, its delay, and whether it is a level of logic.
        starts: When a node changes after the clock.
        ends: Nodes that must be there before the clock: how long before, and the cell or port.
        inside: The longest way inside of a cell, and the cell.
    """

    into: dict[Any, list[tuple[Any, float, str]]] = field(default_factory=dict)
    starts: dict[Any, float] = field(default_factory=dict)
    ends: list[tuple[Any, float, str]] = field(default_factory=list)
    inside: tuple[float, str] = (0.0, "")


def slowest_path(netlist: Fields, delays: Delays) -> SlowestPath:
    """Return the slowest path of a flattened module.

    What lies outside of it is taken for registers: an input changes after the clock as a flip-flop does, an output
    must be there as at one.

    Args:
        netlist: Of one module, as Yosys' `write_json` gives it.
        delays: Of the family.
    """
    graph = _graph(netlist, delays)
    times: dict[Any, tuple[float, Any, str]] = {}
    best: tuple[float, Any, str] = (0.0, None, "")
    for node, before, name in graph.ends:
        total = _arrival(graph, times, node)
        if total is not None and total + before > best[0]:
            best = (total + before, node, name)
    if graph.inside[0] > best[0]:
        ns, name = graph.inside
        return SlowestPath(round(ns, 3), 1, [netlist["cells"][name]["type"]], name, name)
    cells, first = _way(times, best[1])
    names = _Names(netlist)
    counted = [kind for kind in cells if kind]
    ends = (names.of(first), names.end(best[2])) if counted or best[2] else ("", "")
    return SlowestPath(round(best[0], 3), len(counted), counted, *ends)


def _graph(netlist: Fields, delays: Delays) -> _Graph:
    cells = netlist["cells"]
    loads, drivers = _loads(netlist)
    graph = _Graph()

    def wire(node: Any, kind: str, port: str) -> float:
        count, driver = loads.get(node, 1.0), drivers.get(node, "")
        if port in {"CI", "PCIN"}:
            return 0.0
        if (
            count <= 1
            and driver.startswith(_TOGETHER)
            and kind.startswith(("FD", "CARRY", "MUXF"))
            and port not in CONTROLS
        ):
            return 0.0
        return delays.wire + delays.wire_doubling * log2(max(count, 1.0))

    for name, cell in cells.items():
        _add_cell(graph, name, cell, wire, delays)
    for name, port in netlist["ports"].items():
        for bit in port["bits"]:
            if not isinstance(bit, int):
                continue
            if port["direction"] == "input":
                graph.starts[bit] = delays.register
            else:
                graph.ends.append((bit, delays.wire + delays.setup, name))
    return graph


def _add_cell(graph: _Graph, name: str, cell: Fields, wire: Any, delays: Delays) -> None:
    bits = cell["connections"]
    directions = cell.get("port_directions", {})
    inputs = [port for port in bits if directions.get(port) != "output"]
    timing = timing_of(
        cell["type"], {port: len(at) for port, at in bits.items()}, inputs, cell.get("parameters", {}), delays
    )

    def node(pin: tuple[str, int]) -> Any:
        port, at = pin
        bit = bits[port][at] if port in bits and at < len(bits[port]) else None
        if isinstance(bit, int):
            return bit
        return None if port in inputs else (name, port, at)  # an output that nothing reads

    for arc in timing.arcs:
        source, target = node(arc.source), node(arc.target)
        if source is None or target is None:
            continue
        along = wire(source, cell["type"], arc.source[0]) if arc.source[0] in inputs else 0.0
        graph.into.setdefault(target, []).append((source, along + arc.ns, cell["type"] if arc.counts else ""))
    for port, after in dict(timing.launches).items():
        for bit in bits.get(port, ()):
            if isinstance(bit, int):
                graph.starts[bit] = after
    for port, before in dict(timing.captures).items():
        for bit in bits.get(port, ()):
            if isinstance(bit, int):
                graph.ends.append((bit, before + wire(bit, cell["type"], port), name))
    if timing.inside > graph.inside[0]:
        graph.inside = (timing.inside, name)


def _loads(netlist: Fields) -> tuple[Counter[int], dict[int, str]]:
    """Return how many inputs each bit goes to, and the type of the cell that drives it."""
    loads: Counter[int] = Counter()
    drivers: dict[int, str] = {}
    for cell in netlist["cells"].values():
        directions = cell.get("port_directions", {})
        for port, bits in cell["connections"].items():
            for bit in bits:
                if not isinstance(bit, int):
                    continue
                if directions.get(port) == "output":
                    drivers[bit] = cell["type"]
                else:
                    shared = cell["type"].startswith("FD") and port in CONTROLS
                    loads[bit] += 1 / _SHARED if shared else 1  # type: ignore[assignment]
    return loads, drivers


def _arrival(graph: _Graph, times: dict[Any, tuple[float, Any, str]], node: Any) -> float | None:
    """Return when a node is there at the latest; None if no register is before it.

    A loop without a register is followed once.
    """
    stack = [node]
    open_: set[Any] = set()
    while stack:
        at = stack[-1]
        if at in times:
            stack.pop()
            continue
        ways = graph.into.get(at, ())
        todo = [way[0] for way in ways if way[0] not in times and way[0] not in open_]
        if todo and at not in open_:
            open_.add(at)
            stack.extend(todo)
            continue
        found: tuple[float, Any, str] = (graph.starts.get(at, float("-inf")), None, "")
        for source, ns, kind in ways:
            if source in times and times[source][0] + ns > found[0]:
                found = (times[source][0] + ns, source, kind)
        times[at] = found
        open_.discard(at)
        stack.pop()
    total = times[node][0]
    return None if total == float("-inf") else total


def _way(times: Mapping[Any, tuple[float, Any, str]], node: Any) -> tuple[list[str], Any]:
    """Return the types of the cells on the way to a node, and where it starts."""
    cells: list[str] = []
    while node is not None and times[node][1] is not None:
        _, before, kind = times[node]
        cells.append(kind)
        node = before
    return cells[::-1], node


class _Names:
    """What registers are called: the names of their outputs, as the sources say them."""

    def __init__(self, netlist: Fields) -> None:
        self._cells = netlist["cells"]
        self._netlist = netlist
        self._driver = {bit: cell for cell in self._cells.values() for bit in self._outputs(cell)}
        self._files = dict(self._scopes())

    def of(self, bit: Any) -> str:
        """Return the name of what drives a bit: a register, or a port of the module."""
        if not isinstance(bit, int):
            return str(bit)
        cell = self._driver.get(bit)
        return self._best(bit, _file(cell) if cell else "")

    def end(self, name: str) -> str:
        """Return the name of a cell or port: that of the register's output, if it is one."""
        cell = self._cells.get(name)
        if cell is None:
            return name
        bit = next(self._outputs(cell), None)
        return name if bit is None or not cell["type"].startswith("FD") else self._best(bit, _file(cell))

    def _best(self, bit: int, file: str) -> str:
        """Return the name of a bit in the module whose source describes the register, or else the shortest."""
        found = [
            f"{name}[{entry['bits'].index(bit)}]" if len(entry["bits"]) > 1 else name
            for name, entry in self._netlist["netnames"].items()
            if not entry.get("hide_name") and bit in entry["bits"]
        ]
        found.sort(key=lambda name: (name.count("."), len(name), name))
        inside = [name for name in found if file and self._files.get(name.rpartition(".")[0]) == file]
        return next(iter([*inside, *found]), "a wire without a name")

    def _outputs(self, cell: Fields) -> Iterator[int]:
        for port, bits in cell["connections"].items():
            if cell.get("port_directions", {}).get(port) == "output":
                yield from (bit for bit in bits if isinstance(bit, int))

    def _scopes(self) -> Iterator[tuple[str, str]]:
        """Yield the instances by their places in the hierarchy, and the file of their module."""
        for name, cell in self._cells.items():
            if cell["type"] == "$scopeinfo":
                yield name, cell.get("attributes", {}).get("module_src", "").split(":")[0]


def _file(cell: Fields) -> str:
    return re.split("[:|]", cell.get("attributes", {}).get("src", ""))[0]
