"""The ports of a design as Verilator resolved them, and the AXI streams among them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.errors import SimulationError

if TYPE_CHECKING:
    from collections.abc import Sequence

_PORT = re.compile(r"\bVL_(IN|OUT)(?:8|16|64|W)?\(\(?&?(\w+)\)?,(\d+),(\d+)")
_DATA = re.compile(r"(.*)_(tdata|TDATA)$")


@dataclass(frozen=True)
class Port:
    """One port of the top module.

    Attributes:
        name: As in the source.
        member: What Verilator calls it.
        bits: Its width.
        is_input: Its direction.
    """

    name: str
    member: str
    bits: int
    is_input: bool


@dataclass(frozen=True)
class Stream:
    """Three ports that are one stream with a handshake: a beat moves in a cycle with both valid and ready.

    Attributes:
        name: What callers and messages call it.
        data: The port of the beats.
        valid: The port that offers one.
        ready: The port that takes one.
    """

    name: str
    data: str
    valid: str
    ready: str

    @property
    def ports(self) -> tuple[str, str, str]:
        """The names of its three ports."""
        return self.data, self.valid, self.ready


@dataclass(frozen=True)
class Interface:
    """How a design is driven.

    Attributes:
        streams: Its streams; those whose data are an input of the design are fed, the others collected.
        clock: The clock; everything happens at its rising edge.
        double_clock: A clock of twice the rate, if the design has one; empty otherwise.
        reset: The reset; empty if there is none.
        reset_is_low: Whether 0 resets.
        doubled: Whether the second clock really runs at twice the rate, which is slower. Otherwise it is
            the same as the first, which is right for a design that has the port and does not use it.
        held: Inputs outside of streams that keep a value in every run, each with that.
    """

    streams: tuple[Stream, ...]
    clock: str = "ap_clk"
    double_clock: str = ""
    reset: str = "ap_rst_n"
    reset_is_low: bool = True
    doubled: bool = False
    held: tuple[tuple[str, int], ...] = ()


def read_ports(header: str) -> tuple[Port, ...]:
    """Read the ports from the C++ header of a model that Verilator made."""
    return tuple(
        Port(member.replace("___05F", "__"), member, abs(int(high) - int(low)) + 1, direction == "IN")
        for direction, member, high, low in _PORT.findall(header)
    )


def axi_streams(ports: Sequence[Port]) -> tuple[Stream, ...]:
    """Find the AXI streams: a port `x_tdata` with `x_tvalid` and `x_tready` beside it, in either case."""
    names = {port.name for port in ports}
    found = []
    for port in ports:
        match = _DATA.match(port.name)
        if match:
            name, data = match.groups()
            valid, ready = ("_TVALID", "_TREADY") if data.isupper() else ("_tvalid", "_tready")
            if name + valid in names and name + ready in names:
                found.append(Stream(name, port.name, name + valid, name + ready))
    return tuple(found)


def find_interface(top: str, ports: Sequence[Port]) -> Interface:
    """Tell how a design with FINN's names of clocks, reset and streams is driven.

    Raises:
        SimulationError: It has no clock `ap_clk`, or no streams.
    """
    names = {port.name for port in ports}
    streams = axi_streams(ports)
    if "ap_clk" not in names or not streams:
        raise SimulationError(
            f"the ports of {top!r} are not those of a FINN layer (ap_clk, and x_TDATA, x_TVALID, x_TREADY for each "
            f"stream): {', '.join(sorted(names)) or 'there are none'}\n"
            "  say how it is driven: build_simulator(plan, interface=Interface(...))"
        )
    double = "ap_clk2x" if "ap_clk2x" in names else ""
    return Interface(streams, double_clock=double, reset="ap_rst_n" if "ap_rst_n" in names else "")


def port_table(ports: Sequence[Port]) -> str:
    """Return the C++ that tells the driver where the ports are: how many, and one macro in their order."""
    rows = " \\\n".join(f"    {{&(top).{port.member}, sizeof((top).{port.member})}}," for port in ports)
    return f"#define BRAINSMITH_PORT_COUNT {len(ports)}\n#define BRAINSMITH_PORTS(top) \\\n{rows}\n"
