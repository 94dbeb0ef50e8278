"""What each port of a module is for, by the conventions of its name: clock, reset, AXI-Stream, AXI-Lite."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.errors import RtlSourceError
from brainsmith.figures import plural
from brainsmith.rtl.cores.wrapper import CorePins

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.rtl.importing.module_reader import ModuleInterface, ModulePort

_CLOCK = re.compile(r"((?:ap_|s_|m_)?a?(?:clk|clock))(?:_?2x)?", re.I)
_RESET = re.compile(r"(?:ap_|s_|m_)?[as]?(?:rst|reset)(_?n)?", re.I)
_ENABLE = re.compile(r"(?:.*_)?a?(?:clk_?)?(?:ce|cen|en|ena|enable)", re.I)
_ROLES = (
    ("data", re.compile(r"(.*?)_?(?:tdata|data|dat)", re.I)),
    ("valid", re.compile(r"(.*?)_?(?:tvalid|valid|vld)", re.I)),
    ("ready", re.compile(r"(.*?)_?(?:tready|ready|rdy)", re.I)),
)
_LAST = re.compile(r"(.*?)_?(?:tlast|last|tkeep|keep|tstrb|strb)", re.I)
_LITE = re.compile(r"(.*)_(?:AW|W|B|AR|R)(?:VALID|READY|ADDR|DATA|STRB|RESP|PROT)", re.I)

CONVENTIONS = (
    "a stream is <name>_tdata, _tvalid, _tready, or _data, _valid, _ready, or <name>dat, vld, rdy; a clock clk, ap_clk or "
    "aclk; a reset rst, ap_rst_n or aresetn; AXI-Lite <name>_awvalid and so on"
)


@dataclass(frozen=True)
class PortStream:
    """An AXI stream of a module, or a vector of them.

    Attributes:
        name: What its ports have in common.
        ports: Data, valid and ready.
        fed: Whether it is an input.
        bits: Of the data of one stream.
        count: How many streams the ports hold.
    """

    name: str
    ports: tuple[str, str, str]
    fed: bool
    bits: int
    count: int


@dataclass(frozen=True)
class PortRoles:
    """What the ports of a module are for.

    Attributes:
        pins: Clocks, reset, and inputs that get a constant.
        streams: In the order of the ports.
        open: Outputs that nothing reads.
    """

    pins: CorePins
    streams: tuple[PortStream, ...]
    open: tuple[str, ...]


def place_ports(
    module: ModuleInterface, held: Mapping[str, int] | None = None, left_open: Sequence[str] = ()
) -> PortRoles:
    """Find out what each port is for.

    AXI-Lite, of which nothing here is a master, is tied off: its inputs are 0.

    Args:
        module: The interface.
        held: Inputs that get a constant, by their names.
        left_open: Outputs that nothing shall read.

    Raises:
        RtlSourceError: A port fits no convention; all that are so. Or the clocks are of several domains.
    """
    held = dict(held or {})
    _check_named(module, held, left_open)
    rest = [port for port in module.ports if port.name not in held and port.name not in left_open]
    clocks = tuple(port.name for port in rest if _is_single_input(port) and _CLOCK.fullmatch(port.name))
    _check_one_clock(module, clocks)
    resets = [port.name for port in rest if _is_single_input(port) and _RESET.fullmatch(port.name)]
    rest = [port for port in rest if port.name not in (*clocks, *resets[:1])]
    lite = _axi_lite(rest)
    held |= {port.name: 0 for port in lite if port.is_input}
    rest = [port for port in rest if port not in lite]
    streams, rest = _streams(rest)
    spare = [port for port in rest if _ends_a_stream(port, streams)]
    unplaced = [port for port in rest if port not in spare]
    if unplaced or not streams or not clocks:
        raise _not_placed(module, unplaced, streams, clocks)
    reset = resets[0] if resets else ""
    low = bool(reset and _RESET.fullmatch(reset).group(1))  # type: ignore[union-attr]
    outputs = [port.name for port in (*lite, *spare) if not port.is_input]
    return PortRoles(CorePins(clocks, reset, low, held), streams, (*left_open, *outputs))


def _is_single_input(port: ModulePort) -> bool:
    return port.is_input and port.bits == 1


def _check_named(module: ModuleInterface, held: Mapping[str, int], left_open: Sequence[str]) -> None:
    ports = {port.name: port for port in module.ports}
    for option, kind, names in (("--tie", "input", held), ("--open", "output", left_open)):
        for name in names:
            if name not in ports:
                listed = ", ".join(ports)
                raise RtlSourceError(
                    f"{option}: module {module.name!r} has no port {name!r}; it has {listed}"
                )
            if ports[name].is_input != (kind == "input"):
                raise RtlSourceError(f"{option}: port {name!r} of {module.name!r} is not an {kind}")


def _check_one_clock(module: ModuleInterface, clocks: tuple[str, ...]) -> None:
    """Refuse clocks that may differ; the doubled one of a clock is of its domain."""
    domains: dict[str, str] = {}
    for clock in clocks:
        match = _CLOCK.fullmatch(clock)
        domains.setdefault(match.group(1).lower() if match else clock, clock)
    if len(domains) > 1:
        raise RtlSourceError(
            f"module {module.name!r} has the clocks {', '.join(domains.values())}, and a layer has one clock domain\n"
            "  import a module around it that has one clock, and crosses domains inside if it must"
        )


def _axi_lite(ports: list[ModulePort]) -> list[ModulePort]:
    """Return the ports of AXI-Lite interfaces: those that have both address channels, or one of them."""
    prefixes = {
        match.group(1).lower()
        for port in ports
        if (match := re.fullmatch(r"(.*)_(?:AW|AR)ADDR", port.name, re.I))
    }
    return [
        port for port in ports if (match := _LITE.fullmatch(port.name)) and match.group(1).lower() in prefixes
    ]


def _streams(ports: list[ModulePort]) -> tuple[tuple[PortStream, ...], list[ModulePort]]:
    """Group ports to streams; what is left over comes second."""
    groups: dict[str, dict[str, ModulePort]] = {}
    for port in ports:
        for role, pattern in _ROLES:
            match = pattern.fullmatch(port.name)
            if match and role not in groups.setdefault(match.group(1), {}):
                groups[match.group(1)][role] = port
                break
    streams, taken = [], []
    for name, group in groups.items():
        stream = _stream(name, group)
        if stream:
            streams.append(stream)
            taken += list(group.values())
    return tuple(streams), [port for port in ports if port not in taken]


def _stream(name: str, group: Mapping[str, ModulePort]) -> PortStream | None:
    if len(group) != len(_ROLES):
        return None
    data, valid, ready = (group[role] for role, _ in _ROLES)
    count = valid.bits
    fits = ready.bits == count and data.bits % count == 0
    if not fits or data.is_input != valid.is_input or ready.is_input == valid.is_input:
        return None
    ports = (data.name, valid.name, ready.name)
    return PortStream(name or data.name, ports, data.is_input, data.bits // count, count)


def _ends_a_stream(port: ModulePort, streams: tuple[PortStream, ...]) -> bool:
    """Tell whether a port is an output beside a stream that nothing here needs, such as tlast."""
    match = _LAST.fullmatch(port.name)
    return bool(match and not port.is_input and match.group(1) in {stream.name for stream in streams})


def _not_placed(
    module: ModuleInterface,
    unplaced: list[ModulePort],
    streams: tuple[PortStream, ...],
    clocks: tuple[str, ...],
) -> RtlSourceError:
    if unplaced:
        lines = "".join(f"\n  {_described(port)}" for port in unplaced)
        return RtlSourceError(
            f"these ports of module {module.name!r} fit no convention:{lines}\n  {CONVENTIONS}\n"
            "  give an input a constant with --tie PORT=VALUE, leave an output open with --open PORT, or rename the port"
        )
    what = "stream" if not streams else "clock"
    return RtlSourceError(f"module {module.name!r} has no {what}\n  {CONVENTIONS}")


def _described(port: ModulePort) -> str:
    way = "input" if port.is_input else "output"
    # A clock enable that is held at 0 would stop the core.
    value = int(port.bits == 1 and bool(_ENABLE.fullmatch(port.name)))
    advice = f"--tie {port.name}={value}" if port.is_input else f"--open {port.name}"
    return f"{way} {port.name!r} of {plural(port.bits, 'bit')}: {advice}, if that is right"
