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
from brainsmith.build.shared_results import FILES, META, MODEL
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

    from brainsmith.build.shared_results import SharedResults
    from brainsmith.store.about import About

LEASE = 1800.0
"""Seconds that a build waits at most for another one that runs the same step."""

LONGEST_SHARING = 2.0
"""Seconds after which no further result is written to the shared cache, at the end of a build."""

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
        shared: Where other machines' results are, which are asked for where there is none here.
    """

    def __init__(self, folder: Path, limit: int | None = None, shared: SharedResults | None = None) -> None:
        self.folder = folder
        self._shared = shared
        self._unshared: list[str] = []
        self._fetched = False
        limit = quota_of("builds") if limit is None else limit
        self._entries = KeptFolders(folder / "entries", limit, failure=OutputError)

    def find(self, parts: Mapping[str, str], config: Any) -> CacheAnswer:
        """Look a step up.

        Args:
            parts: As `keys.step_parts` gives them.
            config: The step's `cfg`; an entry counts if all that its step read of it is as it was.
        """
        reason = ""
        for key in self._keys(parts, config):
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

    def _keys(self, parts: Mapping[str, str], config: Any) -> Iterator[str]:
        """Yield the keys of the entries here, and then that of one from another machine, which is here by then."""
        yield from self._entries.keys(key_of(dict(parts)))
        if self._shared is not None:
            key = self._fetch(self._shared, parts, config)
            if key:
                yield key

    def _fetch(self, shared: SharedResults, parts: Mapping[str, str], config: Any) -> str:
        """Take an entry from another machine; return its key here, empty if there is none."""
        files = shared.find(
            parts, lambda reads, outside: not (_changed_reads(reads, config) or outside.has_changed())
        )
        if files is None:
            return ""
        try:
            self._fetched = True
            return self.install(parts, files, shared)
        except (OSError, OutputError):  # it cannot be kept here
            return ""

    def install(self, parts: Mapping[str, str], files: Mapping[str, bytes], shared: SharedResults) -> str:
        """Keep an entry of another machine, as if it had been made here; return its key.

        Args:
            parts: Of its key, on this machine.
            files: As `SharedResults.entry` gives them.
            shared: Where it is from.

        Raises:
            OSError: The folder cannot be written.
        """
        theirs = json.loads(files[META])
        outside = shared.portable.local_reads(theirs["outside"])
        meta = {**theirs, "parts": dict(parts), "outside": outside.plain()}
        return self._write(parts, meta, {**files, META: _text_of(meta)})

    def share(self) -> None:
        """Let other machines have what was made since, as far as that takes no longer than it may."""
        if self._fetched:  # a build that reused everything has not trimmed what it took from there
            self.trim()
        end = time.monotonic() + LONGEST_SHARING
        unshared, self._unshared = self._unshared, []
        for key in unshared:
            if self._shared is None or self._shared.cache.is_resting or time.monotonic() > end:
                return
            self.offer(key, self._shared)

    def entry_keys(self) -> list[str]:
        """Return the keys of all entries, whole or not."""
        return [key for key, _, _ in self._entries.sizes()]

    def offer(self, key: str, shared: SharedResults, there: frozenset[str] = frozenset()) -> str:
        """Write an entry to a shared cache.

        Args:
            key: Its key here.
            shared: Where it is written.
            there: What is there already, and is not written again.

        Returns:
            Why it was not written; empty if it was.
        """
        try:
            entry = self._entries.find(key)
        except OutputError as error:
            return str(error).partition("\n")[0]
        meta = None if entry is None else _read_meta(entry)
        if entry is None or meta is None:
            return "it is damaged, or of another version"
        names = (MODEL, META, *(f"{FILES}{name}" for name in meta["side"]["files"]))
        try:
            files = {name: (entry / name).read_bytes() for name in names}
        except OSError as error:
            return f"it cannot be read: {error.strerror}"
        return shared.offer(meta["parts"], files, Reads.from_plain(meta["outside"]), there)

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
        meta = {
            "format": _FORMAT,
            "parts": dict(parts),
            "reads": dict(outcome.reads),
            "outside": outcome.outside.plain(),
            "side": outcome.side.described(),
            "printed": outcome.said.texts,
            "made": dict(outcome.made),
            "seconds": outcome.seconds,
            "time": time.time(),
        }
        side = {f"{FILES}{name}": data for name, data in outcome.side.files.items()}
        key = self._write(parts, meta, {MODEL: outcome.model.data, META: _text_of(meta), **side})
        if self._shared is not None:
            self._unshared.append(key)
        self._latest(parts["step"]).save(None, dict(parts), {"of": f"step {parts['step']}"})

    def _write(self, parts: Mapping[str, str], meta: Mapping[str, Any], files: Mapping[str, bytes]) -> str:
        """Keep the files of an entry; return its key."""

        def fill(work: Path) -> None:
            for name, data in files.items():
                (work / name).parent.mkdir(parents=True, exist_ok=True)
                (work / name).write_bytes(data)

        read = [meta["reads"], meta["outside"]]
        key = f"{key_of(dict(parts))}/{digest(json.dumps(read, sort_keys=True))}"
        about: About = {
            "of": f"step {parts['step']}",
            "parts": dict(parts),
            "files": meta["outside"]["files"],
        }
        self._entries.store(key, fill, about)
        return key

    def trim(self) -> None:
        """Remove what killed builds left, and the entries used longest ago until the limit holds."""
        self._entries.trim()

    def _latest(self, step: str) -> Kept:
        """Return the parts of a step's latest result, to say what changed."""
        return Kept(str(self.folder), "latest", step)


def _text_of(meta: Mapping[str, Any]) -> bytes:
    return json.dumps(meta, indent=1, sort_keys=True).encode()


def _read_meta(entry: Path) -> dict[str, Any] | None:
    """Return what an entry states about itself, whose digest agreed; None if another version wrote it, or it is gone."""
    meta = read_json_table(entry / META)
    return meta if meta.get("format") == _FORMAT else None


def _changed_reads(reads: Mapping[str, str], config: Any) -> str:
    for name, then in sorted(reads.items()):
        now = current(config, name)
        if now != then:
            return f"cfg.{name} was {then}, and is {now} now"
    return ""


def _load(entry: Path, meta: Mapping[str, Any], outside: Reads) -> CacheAnswer:
    return CacheAnswer(
        Artifact((entry / MODEL).read_bytes()),
        reused(key_of(meta["parts"]), time.time() - meta["time"], meta["made"]),
        entry,
        meta["side"],
        Said([(stream, text) for stream, text in meta["printed"]]),
        meta["seconds"],
        outside,
    )
