"""A build that is made to be run at once: in a folder that is removed afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brainsmith.cli.live_line import LiveLine
from brainsmith.cli.terminal import Terminal, complain, note


@contextmanager
def built(model: str, blueprint: str, terminal: Terminal) -> Iterator[str]:
    """Give the folder of a build of a model; it is removed at the end, also by Ctrl-C and what ends as that does.

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
            say(str(event))

    if not terminal.colour:
        say(f"building {model} with {blueprint}")
    try:
        build(model, blueprint, folder, produce="rtl", report=False, progress=show, strict=False)
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(
            f"interrupted while {model} was built; the steps done are in the build cache"
        ) from error
