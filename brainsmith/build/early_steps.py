"""Run what decides which circuit a network becomes before the build begins, so that it is refused before the first step."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

from brainsmith.build.artifact import Artifact
from brainsmith.build.side_files import HIDDEN, SideFiles, made_executable, restore
from brainsmith.build.workspace import checkpoint_name
from brainsmith.errors import BrainsmithError, BuildError, ToolError
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.progress import Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.build.runner import StepRunner
    from brainsmith.build.side_files import SideChanges

_OWN = "brainsmith"
_FRONT_END = f"{_OWN}:integer"
_LAST = "rtl_codegen"
_MODEL, _FILES = "model.onnx", "files"


def early_steps(steps: Sequence[BuildStep]) -> Sequence[BuildStep]:
    """Return the steps from the first on that find out what cannot become a circuit, up to the RTL of each layer.

    These are this project's, and transforms of the frameworks. What a step of anybody else makes of a network is known only
    after it ran in its turn: these begin the rest, and there are none if that is in front of `integer`.
    """
    found: list[BuildStep] = []
    for step in steps:
        if not _is_known(step):
            break
        found.append(step)
    return tuple(found) if any(step.plugin == _FRONT_END for step in found) else ()


def _is_known(step: BuildStep) -> bool:
    if step.kind == "step":
        return step.framework == _OWN and step.rtl_step in ("", _LAST)
    return step.kind == "transform" and step.record is not None and step.framework in FRAMEWORKS


class _HeldChanges(NamedTuple):
    """What a step changed in the folder.

    Attributes:
        changes: As `SideChanges.described` gives it.
        moved: The files that were moved out of it.
    """

    changes: Mapping[str, Any]
    moved: frozenset[str]


class EarlySteps:
    """Runs the early steps of a build once, and holds their results until it is their turn.

    So nothing is computed twice, and verification of what they made begins when all of them are known to succeed. What they
    wrote is held, too: whoever looks into the output folder, as verification does, finds what the steps so far left there.
    A file that stays as its step wrote it is moved out of the folder and back; only of one that a later step changed there
    is a copy.

    Args:
        runner: Runs them.
        staging: Where the build works; what is held lies beside its checkpoints meanwhile.
        steps: Of the build.
    """

    def __init__(self, runner: StepRunner, staging: Path, steps: Sequence[BuildStep]) -> None:
        self._runner = runner
        self._staging = staging
        self._steps = early_steps(steps)
        self._files = SideFiles(staging, _as_it_is)
        self._held: dict[int, _HeldChanges] = {}
        self._last: tuple[int, Artifact] | None = None  # its facts are known to the runner
        self._failure: tuple[int, BuildError] | None = None

    def run(self, model: Artifact) -> None:
        """Run them.

        Args:
            model: The input model.

        Raises:
            BrainsmithError: What a step refuses the model for, in the step's own words. A failure that is no refusal is
                held until it is the step's turn, because it needs the log and the model before it.
        """
        if not self._steps:
            return
        there = {entry.name for entry in self._staging.iterdir()}
        before, made = self._files.state(), []
        with Task("finding out which circuit it becomes", len(self._steps), "steps") as task:
            for number, step in enumerate(self._steps, 1):
                try:
                    model = self._runner.apply(step, model)
                except BuildError as error:
                    self._failure = number, error
                    _raise_refusal(error)
                    before = {}  # it may have changed any file
                    break
                after = self._files.state()
                made.append((self._files.changes(before, after), after))
                self._hold(number, model)
                before = after
                task.add()
        for number, (changes, after) in enumerate(made, 1):
            last = {name for name in changes.files if before.get(name) == after[name]}
            self._hold_files(number, changes, {name for name in last if name.partition("/")[0] not in there})
        for entry in self._staging.iterdir():
            if entry.name not in (*there, *HIDDEN):
                self._aside.mkdir(parents=True, exist_ok=True)
                entry.rename(self._aside / entry.name)

    def result(self, number: int) -> Artifact | None:
        """Return the result of a step, by its number from 1, and put what it wrote in place; None where it has not run.

        Each is given once.

        Raises:
            BuildError: The step failed.
        """
        if self._failure is not None and self._failure[0] == number:
            raise self._failure[1]
        held = self._held.pop(number, None)
        if held is None:
            return None
        folder = self._folder(number)
        data = (folder / _MODEL).read_bytes()
        moved = {name: f"{self._aside}/{name}" for name in held.moved}
        wrote = restore(folder / _FILES, held.changes, self._staging, _as_it_is, moved)
        self._runner.restored(wrote or {})
        shutil.rmtree(folder)
        self._remove_aside()
        return self._last[1] if self._last is not None and self._last[0] == number else Artifact(data)

    def discard(self) -> None:
        """Remove the results that nobody asked for: those behind a step that made something wrong."""
        for number in self._held:
            shutil.rmtree(self._folder(number))
        self._held.clear()
        self._remove_aside()

    def _hold(self, number: int, model: Artifact) -> None:
        folder = self._folder(number)
        folder.mkdir(parents=True)
        (folder / _MODEL).write_bytes(model.data)
        self._last = number, model

    def _hold_files(self, number: int, changes: SideChanges, last: set[str]) -> None:
        """Hold what a step wrote, of which some files are still as it did; one of an unusual mode is written again, too."""
        folder = self._folder(number)
        plain = (folder / _MODEL).stat().st_mode
        moved = {name for name in last if _is_alone(f"{self._staging}/{name}", plain)}
        for name in changes.files.keys() - moved:
            file = folder / _FILES / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(changes.files[name])
        self._held[number] = _HeldChanges(changes.described(), frozenset(moved))

    def _remove_aside(self) -> None:
        if not self._held:
            shutil.rmtree(self._aside, ignore_errors=True)

    @property
    def _aside(self) -> Path:
        """Where the files are that are moved out of the output folder."""
        return self._staging / "checkpoints" / "early"

    def _folder(self, number: int) -> Path:
        return self._staging / (checkpoint_name(number, self._steps[number - 1].name) + ".early")


def _is_alone(file: str, plain: int) -> bool:
    """Tell whether a file has one name, and the mode of one that is just written, or that and may be executed."""
    status = os.stat(file)  # noqa: PTH116  (there are hundreds)
    return status.st_nlink == 1 and status.st_mode in (plain, made_executable(plain))


def _as_it_is(name: str, data: bytes) -> bytes:
    """Return a file's content: it goes back to where it was written."""
    return data


def _raise_refusal(error: BuildError) -> None:
    """Raise what a step refuses a model for; nothing where it failed otherwise."""
    cause = error.__cause__
    if isinstance(cause, BrainsmithError) and not isinstance(cause, ToolError):
        raise cause from cause.__cause__
