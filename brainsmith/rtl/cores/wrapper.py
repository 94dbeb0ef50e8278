"""The Verilog module of a layer: its core behind AXI streams with FINN's names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BYTE = 8
WORD = 32
"""Bits of a Verilog number that states no size; a parameter that is a vector of such numbers has more."""


@dataclass(frozen=True)
class CoreStream:
    """One stream of a core, or a vector of equal ones.

    Attributes:
        name: The core's ports are `<name>_data`, `<name>_valid` and `<name>_ready`.
        ends: The layer's streams, such as `in0_V`; where there are several, the first is the core's lowest.
        bits: Of data of one end, without the padding to whole bytes that the layer's streams have.
        fed: Whether it is an input.
        ports: What the core's ports are called, data, valid and ready, where they are not named after the stream.
        each: The bits of every end, where they differ; `bits` is then not read.
    """

    name: str
    ends: tuple[str, ...]
    bits: int
    fed: bool
    ports: tuple[str, str, str] | None = None
    each: tuple[int, ...] = ()

    @property
    def pins(self) -> tuple[str, str, str]:
        """The core's ports: data, valid and ready."""
        return self.ports or (f"{self.name}_data", f"{self.name}_valid", f"{self.name}_ready")

    @property
    def padded(self) -> int:
        """The width of the layer's stream, which is that of the first where there are several."""
        return self.widths[0][2]

    @property
    def widths(self) -> tuple[tuple[str, int, int], ...]:
        """Each end with the bits of its data, and those of the layer's stream."""
        bits = self.each or (self.bits,) * len(self.ends)
        return tuple(
            (end, width, -(-width // BYTE) * BYTE) for end, width in zip(self.ends, bits, strict=True)
        )


@dataclass(frozen=True)
class CorePins:
    """The ports of a core that are no streams.

    Attributes:
        clocks: All get the one clock.
        reset: Synchronous; empty if there is none.
        reset_low: Whether it is active low.
        held: Inputs with a constant value.
    """

    clocks: tuple[str, ...] = ("clk",)
    reset: str = "rst"
    reset_low: bool = False
    held: Mapping[str, int] = field(default_factory=dict)

    def connected(self) -> list[str]:
        """Return the connections of these ports."""
        nets = [f".{clock}(ap_clk)" for clock in self.clocks]
        nets += [f".{self.reset}({'' if self.reset_low else '!'}ap_rst_n)"] if self.reset else []
        return nets + [f".{port}({value})" for port, value in self.held.items()]


def wrap_core(
    module: str,
    core: str,
    parameters: Mapping[str, int | str],
    streams: Sequence[CoreStream],
    pins: CorePins | None = None,
) -> str:
    """Return the Verilog of a layer: reset is active low, `TDATA` is padded to whole bytes with zeros.

    Args:
        module: The layer's name.
        core: The core's; it has `clk`, `rst` (synchronous, active high) and its streams.
        parameters: Of the core; a text becomes a Verilog string.
        streams: All of them.
        pins: The core's other ports, where they are not those.
    """
    buses = ":".join(end for stream in streams for end in stream.ends)
    ports = [
        f'(* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF {buses}, ASSOCIATED_RESET ap_rst_n" *)\n    input ap_clk',
        "input ap_rst_n",
        *(port for stream in streams for port in _ports(stream)),
    ]
    other = (pins or CorePins()).connected()
    connected = [*other, *(pin for stream in streams for pin in _connected(stream))]
    stated = [f".{name}({_literal(value)})" for name, value in parameters.items()]
    padding = [line for stream in streams if not stream.fed for line in _padding(stream)]
    parts = [
        "// SPDX-License-Identifier: MIT",
        f"module {module} (\n    " + ",\n    ".join(ports) + "\n);",
        *padding,
        f"{core} #(\n    " + ",\n    ".join(stated) + "\n) core (\n    " + ",\n    ".join(connected) + "\n);",
        "endmodule",
    ]
    return "\n".join(parts) + "\n"


def _ports(stream: CoreStream) -> list[str]:
    way, back = ("input", "output") if stream.fed else ("output", "input")
    return [
        port
        for end, _, padded in stream.widths
        for port in (
            f"{way} [{padded - 1}:0] {end}_TDATA", f"{way} {end}_TVALID", f"{back} {end}_TREADY"
        )
    ]  # fmt: skip


def _connected(stream: CoreStream) -> list[str]:
    data = _joined([f"{end}_TDATA[{bits - 1}:0]" for end, bits, _ in stream.widths])
    valid = _joined([f"{end}_TVALID" for end in stream.ends])
    ready = _joined([f"{end}_TREADY" for end in stream.ends])
    return [f".{port}({net})" for port, net in zip(stream.pins, (data, valid, ready), strict=True)]


def _joined(nets: list[str]) -> str:
    return nets[0] if len(nets) == 1 else "{" + ", ".join(reversed(nets)) + "}"


def _padding(stream: CoreStream) -> list[str]:
    return [
        f"assign {end}_TDATA[{padded - 1}:{bits}] = {padded - bits}'d0;"
        for end, bits, padded in stream.widths
        if padded > bits
    ]


def _literal(value: int | str) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    number = int(value)
    words = -(-number.bit_length() // WORD)
    return f"{WORD * words}'d{number}" if number >> WORD - 1 > 0 else str(number)
