"""The build cache: the result of each step, under a key of everything that it depends on.

An entry is a folder of the store: `model.onnx`, the step's side files, and `meta.json`. Beside the key there is
what the step read of `cfg` and from outside, which is known only after it ran: one key may hold several entries,
one for each set of values read. One that is damaged, or lies under another key than its own, is dropped.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.build.artifact import Artifact
from brainsmith.build.config import current
from brainsmith.build.explain import first_difference, reused
from brainsmith.build.keys import key_of
from brainsmith.build.messages import Said
from brainsmith.build.side_files import SideChanges
from brainsmith.errors import OutputError
from brainsmith.progress import Task, tick
from brainsmith.store.files import read_json_table
from brainsmith.store.fingerprint import digest
from brainsmith.store.folders import KeptFolders
from brainsmith.store.quota import quota_of
from brainsmith.store.reads import Reads
from brainsmith.store.values import Kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from brainsmith.store.about import About

LEASE = 1800.0
"""Seconds that a build waits at most for another one that runs the same step."""

_PAUSE = 0.02
_FORMAT = 6
DAMAGED = "its cache entry was damaged, and dropped"


@dataclass(frozen=True)
class CacheAnswer:
    """What a look into the cache gave.

    Attributes:
        model: The step's result; None where the step has to run.
        reason: Why it was reused, or why it was not.
        folder: The entry.
        side: What the step changed in the output folder, as `SideChanges.described` gave it.
        said: What the step logged and printed.
        seconds: What the step took when it ran; None where it was not measured.
    """

    model: Artifact | None
    reason: str
    folder: Path | None = None
    side: Mapping[str, Any] = field(default_factory=dict)
    said: Said = field(default_factory=Said)
    seconds: float | None = None
    outside: Reads = field(default_factory=Reads)


@dataclass(frozen=True)
class Outcome:
    """What a step made.

    Attributes:
        model: Its result.
        reads: What it read of `cfg`, by name.
        outside: What it read beside that: files, folders and variables.
        side: What it changed in the output folder.
        said: What it logged and printed.
        made: Which build made it: its `model`, `blueprint` and `output`.
        seconds: What the step took.
    """

    model: Artifact
    reads: Mapping[str, str]
    outside: Reads = field(default_factory=Reads)
    side: SideChanges = field(default_factory=SideChanges)
    said: Said = field(default_factory=Said)
    made: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None


class BuildCache:
    """Results of steps in a folder, shared by all builds of a user.

    Args:
        folder: Made when something is stored.
        limit: Bytes that `trim` leaves at most; the entries used longest ago go first.
    """

    def __init__(self, folder: Path, limit: int | None = None) -> None:
        self.folder = folder
        limit = quota_of("builds") if limit is None else limit
        self._entries = KeptFolders(folder / "entries", limit, failure=OutputError)

    def find(self, parts: Mapping[str, str], config: Any) -> CacheAnswer:
        """Look a step up.

        Args:
            parts: As `keys.step_parts` gives them.
            config: The step's `cfg`; an entry counts if all that its step read of it is as it was.
        """
        reason = ""
        for key in self._entries.keys(key_of(dict(parts))):
            try:
                entry = self._entries.find(key)
            except OutputError as error:  # another user may have written it
                return CacheAnswer(None, f"the build cache is not used: {error}".partition("\n")[0])
            meta = None if entry is None else _read_meta(entry)
            if entry is None or meta is None:
                self._entries.drop(key)
                reason = DAMAGED
                continue
            outside = Reads.from_plain(meta["outside"])
            changed = _changed_reads(meta["reads"], config) or ", ".join(outside.changes())
            if changed:
                reason = reason or changed
                continue
            return _load(entry, meta, outside)
        return CacheAnswer(None, reason or first_difference(self._latest(parts["step"]).load(None), parts))

    @contextmanager
    def running(self, parts: Mapping[str, str]) -> Iterator[None]:
        """Let one build at a time run a step on the same input. Another one may have run it meanwhile: look it up again.

        A build that ends, however it ends, lets the next one run; one that hangs keeps it waiting for `LEASE` seconds.
        """
        began = time.monotonic()
        with ExitStack() as held:
            waiting = ExitStack()
            waited = False

            def wait() -> bool:
                nonlocal waited
                if not waited:
                    waiting.enter_context(Task(f"waiting for another build, which runs {parts['step']}"))
                waited = True
                tick()
                time.sleep(_PAUSE)
                return time.monotonic() - began < LEASE

            with waiting:
                held.enter_context(self._entries.working(key_of(dict(parts)), wait))
            yield

    def store(self, parts: Mapping[str, str], outcome: Outcome) -> None:
        """Keep what a step made.

        Args:
            parts: As `keys.step_parts` gives them.
            outcome: It.

        Raises:
            OSError: The folder cannot be written.
        """
        read = [dict(outcome.reads), outcome.outside.plain()]
        meta = {
            "format": _FORMAT,
            "parts": dict(parts),
            "reads": read[0],
            "outside": read[1],
            "side": outcome.side.described(),
            "printed": outcome.said.texts,
            "made": dict(outcome.made),
            "seconds": outcome.seconds,
            "time": time.time(),
        }

        def fill(work: Path) -> None:
            (work / "model.onnx").write_bytes(outcome.model.data)
            for name, data in outcome.side.files.items():
                (work / "files" / name).parent.mkdir(parents=True, exist_ok=True)
                (work / "files" / name).write_bytes(data)
            (work / "meta.json").write_text(json.dumps(meta, indent=1, sort_keys=True))

        name = digest(json.dumps(read, sort_keys=True))
        about: About = {"of": f"step {parts['step']}", "parts": dict(parts), "files": outcome.outside.files}
        self._entries.store(f"{key_of(dict(parts))}/{name}", fill, about)
        self._latest(parts["step"]).save(None, dict(parts), {"of": f"step {parts['step']}"})

    def trim(self) -> None:
        """Remove what killed builds left, and the entries used longest ago until the limit holds."""
        self._entries.trim()

    def _latest(self, step: str) -> Kept:
        """Return the parts of a step's latest result, to say what changed."""
        return Kept(str(self.folder), "latest", step)


def _read_meta(entry: Path) -> dict[str, Any] | None:
    """Return what an entry states about itself, whose digest agreed; None if another version wrote it, or it is gone."""
    meta = read_json_table(entry / "meta.json")
    return meta if meta.get("format") == _FORMAT else None


def _changed_reads(reads: Mapping[str, str], config: Any) -> str:
    for name, then in sorted(reads.items()):
        now = current(config, name)
        if now != then:
            return f"cfg.{name} was {then}, and is {now} now"
    return ""


def _load(entry: Path, meta: Mapping[str, Any], outside: Reads) -> CacheAnswer:
    return CacheAnswer(
        Artifact((entry / "model.onnx").read_bytes()),
        reused(key_of(meta["parts"]), time.time() - meta["time"], meta["made"]),
        entry,
        meta["side"],
        Said([(stream, text) for stream, text in meta["printed"]]),
        meta["seconds"],
        outside,
    )
