"""The builds of a folder and of those below it: done, failed or running. Only looked at, never changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brainsmith.build.workspace import FAILED, running_builds
from brainsmith.errors import BuildError
from brainsmith.steps.step_reports import read_report

REPORT, PAGE = "report.json", "report.html"
SCHEMA = "brainsmith.report/"
DEEPEST, MOST, MOST_FOLDERS = 8, 2000, 20_000
"""How far below the folder builds are found, how many, and in how many folders: they are looked at every few seconds."""

_PARTS = frozenset(
    ("report", "checkpoints", "rtl", "accelerator", "intermediate_models", "__pycache__", "node_modules")
)
"""What lies in folders of builds, or never has any."""


@dataclass(frozen=True)
class FoundBuild:
    """One build.

    Attributes:
        path: Of its folder, relative to the tree; `.` for the tree itself.
        state: `done`, `failed`, `running` or `unreadable`.
        report: What its report states; empty while it runs.
        time: When it ended or, while it runs, began: seconds since 1970.
        steps: While it runs: the steps that are done, as its checkpoints are called.
        reason: Why its report cannot be read.
    """

    path: str
    state: str
    report: dict[str, Any]
    time: float
    steps: tuple[str, ...] = ()
    reason: str = ""


class BuildTree:
    """A folder whose builds are looked up again at each call; reports that have not changed are kept.

    Attributes:
        root: The folder.
        is_cut: Whether there may be more builds than were found at the last look.
    """

    def __init__(self, root: Path) -> None:
        self.is_cut = False
        self.root = root.resolve()
        self._kept: dict[Path, tuple[tuple[int, int], FoundBuild]] = {}

    def builds(self) -> list[FoundBuild]:
        """Return all builds: those that run first, then the one that ended last."""
        found: list[FoundBuild] = []
        cut = False
        for number, folder in enumerate(_folders(self.root, 0)):
            cut = len(found) >= MOST or number >= MOST_FOLDERS
            if cut:
                break
            found += self._in(folder)
        self.is_cut = cut
        there = {self.root / one.path for one in found}
        self._kept = {folder: known for folder, known in self._kept.items() if folder in there}
        return sorted(found, key=lambda one: (one.state != "running", -one.time, one.path))

    def build(self, path: str) -> FoundBuild | None:
        """Return the build that is done in a folder of the tree; None if there is none."""
        if "\0" in path or any(part in ("", "..") for part in path.split("/")):
            return None
        folder = (self.root / path).resolve()
        if not folder.is_relative_to(self.root):
            return None
        return self._ended(folder)

    def _in(self, folder: Path) -> Iterator[FoundBuild]:
        ended = (self._ended(folder), self._ended(folder / FAILED))
        yield from (one for one in ended if one is not None)
        for staging in running_builds(folder):
            try:
                steps = tuple(sorted(path.stem for path in (staging / "checkpoints").glob("*.onnx")))
                began = _began(staging)
            except OSError:  # it has just ended
                continue
            yield FoundBuild(self._name(folder), "running", {}, began, steps)

    def _ended(self, folder: Path) -> FoundBuild | None:
        file = folder / REPORT
        try:
            facts = file.stat()
        except OSError:
            return None
        stamp = (facts.st_mtime_ns, facts.st_size)
        kept = self._kept.get(folder)
        if kept is None or kept[0] != stamp:
            found = self._read(folder, file, facts.st_mtime)
            if found is None:
                return None
            kept = self._kept[folder] = (stamp, found)
        return kept[1]

    def _read(self, folder: Path, file: Path, time: float) -> FoundBuild | None:
        name = self._name(folder)
        try:
            report = read_report(file)
        except BuildError as error:
            return FoundBuild(name, "unreadable", {}, time, reason=str(error).partition("\n")[0])
        if report is None or not str(report.get("schema", "")).startswith(SCHEMA):
            return None
        return FoundBuild(name, "failed" if report.get("error") else "done", report, time)

    def _name(self, folder: Path) -> str:
        return folder.relative_to(self.root).as_posix()


def _began(staging: Path) -> float:
    """Return when the first checkpoint of a running build was written, which is soon after it began; or its folder."""
    written = [path.stat().st_mtime for path in (staging / "checkpoints").glob("*")]
    return min(written, default=staging.stat().st_ctime)


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    """Yield a folder and those below it that may hold builds; no links are followed."""
    yield folder
    if depth == DEEPEST:
        return
    try:
        with os.scandir(folder) as entries:
            inner = sorted(
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and not entry.name.startswith(".")
                and entry.name not in _PARTS
                and entry.name != FAILED
            )
    except OSError:
        return
    for name in inner:
        yield from _folders(folder / name, depth + 1)
