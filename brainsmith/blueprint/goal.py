"""The ``target`` of a blueprint: part, clock and rate, with their units."""

from __future__ import annotations

import re

from yaml.nodes import Node

from brainsmith.blueprint.fit_goal import read_fit
from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import KEYS, Goal
from brainsmith.close_names import did_you_mean
from brainsmith.yaml_nodes import describe, is_text

#: AMD device names: family and size, package, speed grade; xa is automotive, xq defence, xc everything else.
#: Examples: xczu7ev-ffvc1156-2-e, xc7z020clg400-1, xcvc1902-vsva2197-2MP-e-S. Lattice's ECP5: LFE5U-85F-6BG381C.
_PART = re.compile(
    r"x[acq][a-z]{0,3}\d+[a-z0-9]*(-[a-z0-9]+)+|lfe5u(m|m5g)?-\d+f-\d[a-z]{1,3}\d+[a-z]*", re.IGNORECASE
)
CLOCK = re.compile(r"(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>ps|ns|us|khz|mhz|ghz)", re.IGNORECASE)
_NS_PER_PERIOD = {"ps": 1e-3, "ns": 1.0, "us": 1e3}
_NS_PER_CYCLE_OF = {"khz": 1e6, "mhz": 1e3, "ghz": 1.0}
#: 2 GHz and 1 MHz: outside, the unit is wrong rather than the wish.
CLOCK_RANGE_NS = (0.5, 1000.0)
MOST_OF_A_RESOURCE = 1_000_000_000
MOST_FPS = 2_000_000_000
#: A number without unit is in ns; from here on, MHz was meant.
SURELY_MHZ = 50


def read_goal(doc: Document, node: Node) -> Goal:
    """Read ``target``; every key is optional."""
    pairs = doc.mapping(node, "target", KEYS["target"])
    values = {key: value for key, (_, value) in pairs.items()}
    declared = _declared(doc, pairs["device"]) if "device" in pairs else {}
    if "device" in pairs and "part" not in pairs:
        text = "target.device says what the part holds, and needs target.part: its name"
        doc.report(pairs["device"][0], text)
    if "fps" in pairs and "fit" in pairs:
        text = "target.fit and target.fps both choose the foldings: leave fps out, or write fit: {at_least: {fps: ...}}"
        doc.report(pairs["fps"][0], text)
    return Goal(
        part=_part(doc, values["part"], "device" in pairs) if "part" in values else None,
        device=declared,
        clock_ns=_clock(doc, values["clock"]) if "clock" in values else None,
        fps=read_fps(doc, values["fps"], "target.fps") if "fps" in values else None,
        fit=read_fit(doc, values["fit"], read_fps) if "fit" in values else None,
        position=doc.position(node),
    )


def _part(doc: Document, node: Node, declared: bool) -> str | None:
    """Check the form of a part's name, and that there is such a device unless the blueprint declares it."""
    from brainsmith.rtl.devices.device import board_name, boards, device_of, part_of, unknown_device

    what = "a device name with package and speed grade, such as xczu7ev-ffvc1156-2-e, or a board, such as pynq-z2"
    text = doc.text(node, "target.part", what)
    if text is None:
        return None
    part = part_of(text)
    if not _PART.fullmatch(part):
        hint = did_you_mean(board_name(text), boards())
        doc.report(node, f"target.part must be {what}, not {text!r}{hint}")
        return None
    if not declared and device_of(part) is None:
        doc.report(node, f"target.part: {unknown_device(part)}")
        return None
    return part


def _declared(doc: Document, pair: tuple[Node, Node]) -> dict[str, int]:
    """Read what a device holds; only UltraRAM can be left out, which few devices have."""
    before = len(doc.problems)
    pairs = doc.mapping(pair[1], "target.device", KEYS["device"])
    what = f"a whole number from 0 to {MOST_OF_A_RESOURCE:,}"
    found = {
        key: doc.number_in(node, f"target.device.{key}", what, 0, MOST_OF_A_RESOURCE, whole=True)
        for key, (_, node) in pairs.items()
    }
    missing = [key for key in KEYS["device"] if key not in pairs and key != "uram"]
    if missing and len(doc.problems) == before:
        doc.report(pair[0], f"target.device does not say how many it has: {', '.join(missing)}")
    return {"uram": 0, **{key: int(number) for key, number in found.items() if number is not None}}


def _clock(doc: Document, node: Node) -> float | None:
    """Read a period or a frequency as a period in ns."""
    number = doc.number(node)
    if number is not None and number >= SURELY_MHZ:
        doc.report(node, f"target.clock without a unit is in ns: write '{number:g} MHz' or '{number:g} ns'")
        return None
    period = number if number is not None else _period(str(node.value)) if is_text(node) else None
    if period is None:
        form = "'5 ns', '200 MHz' or a number of ns"
        doc.report(node, f"target.clock must be {form}, not {describe(node)}")
        return None
    least, most = CLOCK_RANGE_NS
    if not least <= period <= most:
        span = f"from {least:g} to {most:g} ns (2 GHz to 1 MHz)"
        doc.report(node, f"target.clock must be {span}, not {period:g} ns")
        return None
    return float(period)


def _period(text: str) -> float | None:
    """Convert '5 ns' or '200 MHz' to ns."""
    match = CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    number, unit = float(match["number"]), match["unit"].lower()
    if unit in _NS_PER_PERIOD:
        return number * _NS_PER_PERIOD[unit]
    return _NS_PER_CYCLE_OF[unit] / number if number else 0.0


def read_fps(doc: Document, node: Node, key: str) -> int | None:
    """Read a positive whole number of inferences per second; there can be one in each cycle."""
    number = doc.number_in(node, key, "a positive whole number", 1, whole=True)
    if number is not None and number > MOST_FPS:
        what = f"at most {MOST_FPS:,}, one in each cycle at 2 GHz"
        number = doc.number_in(node, key, what, 1, MOST_FPS)
    return None if number is None else int(number)
