"""`brainsmith wave`: a picture of one frame's handshakes in a packed accelerator."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.cli.terminal import complain
from brainsmith.errors import UsageError
from brainsmith.figures import plural

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

DEFAULT = "wave.svg"


def run(options: Options, terminal: Terminal) -> int:
    """Draw; what was drawn goes to standard output, what is odd about the package to standard error."""
    frame, links, window = options.whole("--frame", 0), _links(options), _window(options)
    from pathlib import Path

    from brainsmith.cli.live_line import shown
    from brainsmith.rtl.drawing.wave_drawing import check_file, draw_wave, write_picture

    file = Path(options.text("--output") or DEFAULT)
    check_file(file)
    with shown(terminal):
        wave = draw_wave(Path(options.required("DIR")), frame, links, window)
    write_picture(wave.svg, file)
    for change in wave.changed:
        complain(f"warning: {options.required('DIR')}: {change}; the picture shows the links of design.json")
    terminal.pairs([
        ("design", f"{wave.design}, {plural(len(wave.links), 'link')}"),
        ("frame", f"{wave.frame}, {plural(wave.cycles, 'cycle')} from its first beat in to its last beat out"),
        *([("interval", plural(wave.interval, 'cycle'))] if wave.interval else []),
        ("picture", str(file)),
    ])  # fmt: skip
    return 0


def _links(options: Options) -> list[str] | None:
    text = options.text("--links")
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(f"--links must name links or layers, with commas between them, not {text!r}")
    return names


def _window(options: Options) -> tuple[int, int] | None:
    text = options.text("--cycles")
    if text is None:
        return None
    begin, _, end = text.partition("-")
    numbers = text.isascii() and begin.isdigit() and end.isdigit()
    if not (numbers and int(begin) < int(end)):
        raise UsageError(f"--cycles must be two numbers, the smaller first, such as 100-200, not {text!r}")
    return int(begin), int(end)
