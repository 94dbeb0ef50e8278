"""`brainsmith watch`: build, and build again whenever something is saved that the build depends on."""

from __future__ import annotations

import os
import time

from brainsmith import TYPE_CHECKING
from brainsmith.cli.build import arguments_of, model_folder
from brainsmith.cli.live_line import LiveLine
from brainsmith.cli.terminal import complain
from brainsmith.errors import BrainsmithError, NotProvenError
from brainsmith.figures import plural
from brainsmith.plugin.last_good import STALE

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from brainsmith.build.build_watch import BuildWatch
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.plugin.info import PluginInfo

_GIVEN = ("--verify-inputs", "--verify-labels", "--verify-expected")


def run(options: Options, terminal: Terminal) -> NoReturn:
    """Build until Ctrl-C, which is raised."""
    from brainsmith.build.build_watch import BuildWatch

    model, blueprint = options.required("MODEL"), options.required("BLUEPRINT")
    output = options.text("--output") or model_folder(model)
    given = [path for name in _GIVEN if (path := options.text(name)) is not None]
    with BuildWatch(model, [blueprint], options.texts("--set"), given, output) as watch:
        rebuilds = _Rebuilds(options, terminal, watch, output)
        changed: list[str] = []
        while True:
            rebuilds.build(changed)
            changed = watch.wait()


class _Rebuilds:
    """Builds one after the other, and prints a block for each."""

    def __init__(self, options: Options, terminal: Terminal, watch: BuildWatch, output: str) -> None:
        self._options = options
        self._terminal = terminal
        self._watch = watch
        self._output = output
        self._warned: set[str] = set()

    def build(self, changed: list[str]) -> None:
        """Build; an error is printed, and does not end the watch.

        Args:
            changed: The files that are the reason; none for the first build.
        """
        from brainsmith.build import build

        begin = time.time()
        self._terminal.write(f"{', '.join(map(_shown, changed))} changed" if changed else "first build")
        line = LiveLine(self._terminal, self._say)
        result: Any = None
        error: BrainsmithError | None = None
        try:
            result = build(
                self._options.required("MODEL"),
                [self._options.required("BLUEPRINT")],
                self._output,
                progress=lambda event: self._tell(line, event),
                **arguments_of(self._options),
            )
        except NotProvenError as failure:
            result, error = failure.result, failure
        except BrainsmithError as failure:
            error = failure
        finally:
            line.clear()
        self._watch.follow(result, error, begin)
        self._end(result, error, changed, time.time() - begin)

    def _say(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()

    def _tell(self, line: LiveLine, event: Any) -> None:
        if event.kind == "work":
            line.works(event.works, str(event).removesuffix("; ".join(map(str, event.works))))
            return
        line.clear()
        if event.kind == "start":
            self._terminal.write_over(f"{event} ...")

    def _end(self, result: Any, error: BrainsmithError | None, changed: list[str], seconds: float) -> None:
        if result is not None:
            for text in _block(result, changed, seconds):
                self._terminal.write(f"  {text}")
            self._warn(result)
        if error is not None:
            complain(f"error: {error}")
        for info in self._watch.stale():
            complain(_stale_line(info))
        if self._watch.trouble and self._watch.trouble not in self._warned:
            self._warned.add(self._watch.trouble)
            complain(f"warning: {self._watch.trouble}")
        self._terminal.write("waiting for changes; Ctrl-C ends")
        self._terminal.flush()

    def _warn(self, result: Any) -> None:
        """Print what is not proven, and the warnings that the build before did not have."""
        from brainsmith.build.report import warning_lines

        lines = warning_lines(result.report)
        for text in lines:
            if text not in self._warned or text.startswith("shortfall: "):
                complain(text)
        self._warned = {*lines, *({self._watch.trouble} & self._warned)}


def _block(result: Any, changed: list[str], seconds: float) -> list[str]:
    """Return what a build did, as lines."""
    from brainsmith.build.build_watch import saved_at
    from brainsmith.build.report import summary_pairs

    ran = [step.name for step in result.steps if not step.reused]
    reused = [step.name for step in result.steps if step.reused]
    kept = ("rate", "accuracy", "proven")
    facts = [f"{name} {value}" for name, value in summary_pairs(result.report, result.output) if name in kept]
    first = _time_to_first(saved_at(changed), result.first_run)
    return [
        f"ran     {', '.join(ran) or 'nothing: all steps are reused'}",
        *([f"reused  {', '.join(reused)}"] if reused and ran else []),
        f"result  {'; '.join(facts)}",
        f"time    {first}{seconds:.2f} s in all, {plural(len(ran), 'step')} of {len(result.steps)} ran",
    ]


def _shown(path: str) -> str:
    """Return a path as seen from the working folder, where it lies below it."""
    try:
        near = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return path if near.startswith("..") else near


def _time_to_first(saved: float | None, began: float | None) -> str:
    """Return how long after a save the first step began; nothing where none did, or nothing was saved."""
    if saved is None or began is None or began < saved:
        return ""
    return f"{round((began - saved) * 1000)} ms from save to the first step, "


def _stale_line(info: PluginInfo) -> str:
    """Return the line for a plugin whose file is broken."""
    problem = str(info[STALE]).partition("\n")[0]
    return f"stale: {info.type} {info.qualified}, until this is mended: {problem}"
