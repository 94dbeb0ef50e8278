"""`brainsmith front`: the cheapest circuit of each interval of a network, as a picture and as data."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.figures import plural, share

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

DEFAULT = "front.svg"
_STEPS = ("cleanup", "integer", "hardware_inference", "specialize")


def run(options: Options, terminal: Terminal) -> int:
    """Draw; the ends of the front go to standard output."""
    import json
    from pathlib import Path

    from brainsmith.rtl.drawing.front_svg import draw_front
    from brainsmith.rtl.drawing.wave_drawing import check_file, write_picture

    file = Path(options.text("--output") or DEFAULT)
    check_file(file)
    model = options.required("MODEL")
    found = _front_of(options, terminal)
    data = file.with_suffix(".json")
    write_picture(draw_front(found, Path(model).stem), file)
    write_picture(json.dumps(found, indent=2) + "\n", data)
    terminal.pairs([*ends_of(found), ("picture", str(file)), ("data", str(data))])
    return 0


def ends_of(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines on a front: how many circuits it has, and both of its ends."""
    points = found["points"]
    return [
        ("device", found["device"]),
        ("front", f"{plural(len(points), 'circuit')}, each the cheapest of its interval"),
        ("fastest", _said(points[0])),
        ("smallest", _said(points[-1])),
    ]


def _front_of(options: Options, terminal: Terminal) -> dict[str, Any]:
    """Return the front of a model; its steps are in the build cache, so the next time it takes little."""
    import json
    import tempfile
    from pathlib import Path

    from brainsmith.build import build
    from brainsmith.cli.live_line import shown

    listing = {"step": "rate_front", "args": {"synthesise": options.flag("--synthesise")}}
    with tempfile.TemporaryDirectory(prefix="brainsmith-") as made, shown(terminal):
        folder = Path(made) / "build"
        build(
            options.required("MODEL"),
            options.texts("--blueprint"),
            folder,
            overrides=options.texts("--set"),
            steps=[*_STEPS, listing],
            verify=False,
            report=False,
            strict=False,
            part=options.text("--part"),
            input_datatype=options.text("--input-datatype"),
        )
        found: dict[str, Any] = json.loads((folder / "report" / "front.json").read_text("utf-8"))
    return found


def _said(point: dict[str, Any]) -> str:
    return (
        f"{plural(point['interval_cycles'], 'cycle')} from frame to frame: {point['needs']['lut']:,} LUT, "
        f"{point['needs']['bram18']:,} BRAM18, {point['needs']['dsp']:,} DSP; a cost of {share(point['cost'], 1)}"
    )
