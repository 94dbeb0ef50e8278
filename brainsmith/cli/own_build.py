"""A build that is made to be run at once: in a folder that is removed afterwards."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.cli.build import step_line
from brainsmith.cli.live import LiveLine
from brainsmith.cli.terminal import complain, note

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brainsmith.cli.terminal import Terminal


@contextmanager
def built(model: str, blueprint: str, terminal: Terminal) -> Iterator[str]:
    """Give the folder of a build of a model; it is removed at the end, also of Ctrl-C and SIGTERM.

    Its steps are in the build cache, so the next time it takes little. What a build leaves that failed is kept, since
    its message points there.

    Args:
        model: An .onnx file.
        blueprint: What it is built with.
        terminal: Shows the steps in one line; where it cannot, they go to standard error.

    Raises:
        BrainsmithError: The build failed.
    """
    made = Path(tempfile.mkdtemp(prefix="brainsmith-"))
    folder = made / "build"
    try:
        with _ended_by_sigterm():
            _build(model, blueprint, folder, terminal)
            yield str(folder)
    finally:
        terminal.write_over("")
        if (folder / "failed").is_dir():
            complain(f"what the failed build left is kept: {folder / 'failed'}")
        else:
            shutil.rmtree(made, ignore_errors=True)


def _build(model: str, blueprint: str, folder: Path, terminal: Terminal) -> None:
    from brainsmith.build import build

    say = note if terminal.quiet else complain
    line = LiveLine(terminal, say)

    def show(event: Any) -> None:
        if terminal.colour or event.kind == "work":
            line.show(f"building {model}: {event}{' ...' if event.kind == 'start' else ''}")
        elif event.kind != "start":
            line.clear()
            say(step_line(event) if event.step is not None else event.text)

    if not terminal.colour:
        say(f"building {model} with {blueprint}")
    try:
        build(model, blueprint, folder, produce="rtl", report=False, progress=show, strict=False)
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(
            f"interrupted while {model} was built; the steps done are in the build cache"
        ) from error


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end what runs as Ctrl-C does, so that the folder is removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise KeyboardInterrupt("ended by SIGTERM")

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
