"""The lines that end a build on a terminal about its circuit: what was simulated, measured and synthesised."""

from __future__ import annotations

from typing import Any

from brainsmith.figures import plural, share


def circuit_lines(rtl: dict[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of what is known of a circuit; `rtl` as in `report.json`."""
    lines = []
    if rtl["frames"] is not None:
        lines.append(("circuit", _verdict(rtl)))
    elif rtl.get("parts"):
        lines.append(("circuit", f"in parts: {rtl['parts']['text']}"))
    if rtl["interval_cycles"] is not None or rtl["latency_cycles"] is not None:
        lines.append(("measured", _measured(rtl)))
    if rtl["fifos"]:
        bits = sum(fifo["total_bits"] or 0 for fifo in rtl["fifos"])
        lines.append(("FIFOs", f"{len(rtl['fifos'])} with {plural(bits, 'bit')}"))
    return lines


def synthesis_lines(synthesis: dict[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of what a synthesis needs of the part, and of the clock; `synthesis` as in `report.json`."""
    lines = [("synthesis", _needs(synthesis))]
    if synthesis.get("clock") is not None:
        lines.append(("clock", _clock(synthesis["clock"])))
    return lines


def _needs(synthesis: dict[str, Any]) -> str:
    names = {"lut": "LUT", "ff": "FF", "bram18": "BRAM18", "dsp": "DSP"}
    if synthesis["uram"]:
        names["uram"] = "URAM"
    figures = ", ".join(f"{count(synthesis[key])} {name}" for key, name in names.items())
    made = " by ".join(part for part in (synthesis["family"], synthesis["tool"]) if part)
    return f"{figures} ({made})" if made else figures


def _clock(clock: dict[str, Any]) -> str:
    line = f"{count(clock['fmax_mhz'])} MHz estimated, {count(clock['target_mhz'])} asked for"
    if clock["to_mvau"] is not None:
        line += f"; {clock['to_mvau']:g} x FINN's matrix-vector unit"
    return line + (f"; slowest layer {clock['layer']}" if clock["layer"] else "")


def _verdict(rtl: dict[str, Any]) -> str:
    made_up = "random " if rtl["random"] else ""
    text = _outcome(rtl["frames"], rtl["mismatches"], made_up)
    if rtl["mismatches"] is not None and rtl.get("compared_with"):
        text += f" from {rtl['compared_with']}"
    if rtl["stalled_frames"]:
        text += f"; with stalls {_outcome(rtl['stalled_frames'], rtl['stalled_mismatches'])}"
        shares = [(end, rtl["stalled_shares"][end]) for end in ("input", "output")]
        known = [f"{end} {share(part, 0)}" for end, part in shares if part is not None]
        text += f" (stalled: {', '.join(known)} of the cycles)" if known else ""
    if rtl.get("generated_frames") and rtl["mismatches"] is not None:
        text += f"; 0 of {count(rtl['generated_frames'])} generated frames differ"
    return text


def _outcome(frames: float, mismatches: float | None, made_up: str = "") -> str:
    if mismatches is None:
        return f"{plural(frames, made_up + 'frame')}, not compared"
    return f"{count(mismatches)} of {count(frames)} {made_up}frames differ"


def _measured(rtl: dict[str, Any]) -> str:
    parts = [
        f"{cycles(rtl[f'{name}_cycles'])} {words} (estimated {count(rtl[f'{name}_estimate'])})"
        for name, words in (("interval", "per frame"), ("latency", "latency"))
    ]
    if rtl["interval_cycles"] is None:  # that needs two frames
        parts[0] = f"{count(rtl['interval_estimate'])} per frame (estimated; not measured)"
    return ", ".join(parts)


def cycles(value: float | None) -> str:
    """Write measured cycles: an average may have a fraction."""
    if value is None or value == round(value):
        return count(value)
    return f"{value:,.2f}"


def count(value: float | None) -> str:
    """Write a count with separators; `unknown` for None."""
    return "unknown" if value is None else f"{value:,.0f}"
