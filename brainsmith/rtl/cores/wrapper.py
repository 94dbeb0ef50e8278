"""The Verilog module of a layer: its core behind AXI streams with FINN's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BYTE = 8


@dataclass(frozen=True)
class CoreStream:
    """One stream of a core, or a vector of equal ones.

    Attributes:
        name: The core's ports are `<name>_data`, `<name>_valid` and `<name>_ready`.
        ends: The layer's streams, such as `in0_V`; where there are several, the first is the core's lowest.
        bits: Of data of one end, without the padding to whole bytes that the layer's streams have.
        fed: Whether it is an input.
    """

    name: str
    ends: tuple[str, ...]
    bits: int
    fed: bool

    @property
    def padded(self) -> int:
        """The width of the layer's stream."""
        return -(-self.bits // BYTE) * BYTE


def wrap_core(
    module: str, core: str, parameters: Mapping[str, int | str], streams: Sequence[CoreStream]
) -> str:
    """Return the Verilog of a layer: reset is active low, `TDATA` is padded to whole bytes with zeros.

    Args:
        module: The layer's name.
        core: The core's; it has `clk`, `rst` (synchronous, active high) and its streams.
        parameters: Of the core; a text becomes a Verilog string.
        streams: All of them.
    """
    ends = [(end, stream) for stream in streams for end in stream.ends]
    buses = ":".join(end for end, _ in ends)
    ports = [
        f'(* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF {buses}, ASSOCIATED_RESET ap_rst_n" *)\n    input ap_clk',
        "input ap_rst_n",
        *(port for end, stream in ends for port in _ports(end, stream)),
    ]
    connected = [
        ".clk(ap_clk)",
        ".rst(!ap_rst_n)",
        *(pin for stream in streams for pin in _pins(stream)),
    ]
    stated = [f".{name}({_literal(value)})" for name, value in parameters.items()]
    padding = [line for end, stream in ends if not stream.fed for line in _padding(end, stream)]
    parts = [
        f"module {module} (\n    " + ",\n    ".join(ports) + "\n);",
        *padding,
        f"{core} #(\n    " + ",\n    ".join(stated) + "\n) core (\n    " + ",\n    ".join(connected) + "\n);",
        "endmodule",
    ]
    return "\n".join(parts) + "\n"


def _ports(end: str, stream: CoreStream) -> list[str]:
    way, back = ("input", "output") if stream.fed else ("output", "input")
    return [
        f"{way} [{stream.padded - 1}:0] {end}_TDATA", f"{way} {end}_TVALID", f"{back} {end}_TREADY"
    ]  # fmt: skip


def _pins(stream: CoreStream) -> list[str]:
    data = _joined([f"{end}_TDATA[{stream.bits - 1}:0]" for end in stream.ends])
    valid = _joined([f"{end}_TVALID" for end in stream.ends])
    ready = _joined([f"{end}_TREADY" for end in stream.ends])
    return [
        f".{stream.name}_data({data})",
        f".{stream.name}_valid({valid})",
        f".{stream.name}_ready({ready})",
    ]


def _joined(nets: list[str]) -> str:
    return nets[0] if len(nets) == 1 else "{" + ", ".join(reversed(nets)) + "}"


def _padding(end: str, stream: CoreStream) -> list[str]:
    spare = stream.padded - stream.bits
    return [f"assign {end}_TDATA[{stream.padded - 1}:{stream.bits}] = {spare}'d0;"] if spare else []


def _literal(value: int | str) -> str:
    return f'"{value}"' if isinstance(value, str) else str(int(value))
