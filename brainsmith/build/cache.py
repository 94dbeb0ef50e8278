"""The build cache: the result of each step, under a key of everything that it depends on.

An entry is a folder: `model.onnx`, the step's side files, and `meta.json` with the digest of each. It is
written elsewhere and renamed into place, so that builds at the same time and a killed one leave only whole
entries; a damaged one is dropped, and so is one that lies under another key than its own. Beside the key there
is what the step read of `cfg` and from outside, which is known only after it ran: one key may hold several
entries, one for each set of values read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.build.artifact import Artifact
from brainsmith.build.config import current
from brainsmith.build.explain import first_difference, reused
from brainsmith.build.keys import key_of
from brainsmith.store.reads import Reads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

DEFAULT_LIMIT = 2 << 30
_FORMAT = 3
_KINDS: dict[str, type] = {
    "parts": dict, "reads": dict, "outside": dict, "made": dict, "time": float,
    "model": str, "files": dict, "messages": list, "printed": list,
}  # fmt: skip


@dataclass(frozen=True)
class Found:
    """What a look into the cache gave.

    Attributes:
        model: The step's result; None where the step has to run.
        reason: Why it was reused, or why it was not.
        folder: The entry.
        files: The side files of the step, relative to the output folder, with their digests.
        messages: What the step logged.
        printed: What it printed: pairs of a stream and a text.
    """

    model: Artifact | None
    reason: str
    folder: Path | None = None
    files: Mapping[str, str] | None = None
    messages: tuple[str, ...] = ()
    printed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a step made.

    Attributes:
        model: Its result.
        reads: What it read of `cfg`, by name.
        outside: What it read beside that: files, folders and variables.
        files: Content of its side files, by path relative to the output folder.
        messages: What it logged.
        printed: What it printed: pairs of a stream and a text.
        made: Which build made it: its `model`, `blueprint` and `output`.
    """

    model: Artifact
    reads: Mapping[str, str]
    outside: Reads = field(default_factory=Reads)
    files: Mapping[str, bytes] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    printed: tuple[tuple[str, str], ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)


class BuildCache:
    """Results of steps in a folder, shared by all builds of a user.

    Args:
        folder: Made when something is stored.
        limit: Bytes that `trim` leaves at most; the entries used longest ago go first.
    """

    def __init__(self, folder: Path, limit: int = DEFAULT_LIMIT) -> None:
        self.folder = folder
        self.limit = limit

    def find(self, parts: Mapping[str, str], config: Any) -> Found:
        """Look a step up.

        Args:
            parts: As `keys.step_parts` gives them.
            config: The step's `cfg`; an entry counts if all that its step read of it is as it was.
        """
        reason = ""
        for entry in self._entries(parts):
            meta = _read_meta(entry)
            if meta is None or not _is_of(entry, meta, parts):
                if entry.exists():
                    self._drop(entry)
                    reason = "its cache entry was damaged, and dropped"
                continue
            changed = _changed_reads(meta["reads"], config) or _changed_outside(meta["outside"])
            if changed:
                reason = reason or changed
                continue
            found = _load(entry, meta)
            if found is not None:
                return found
            self._drop(entry)
            reason = "its cache entry was damaged, and dropped"
        return Found(None, reason or first_difference(self._latest(parts["step"]), parts))

    def restore(self, found: Found, output: Path, localise: Callable[[str, bytes], bytes]) -> bool:
        """Put an entry's side files into the output folder; return False, and drop it, if one is damaged.

        Args:
            found: A hit.
            output: The folder.
            localise: Applied to each file's content: puts the output folder's name where the cache has none.
        """
        assert found.folder is not None and found.files is not None
        contents = {}
        for name, digest in found.files.items():
            try:
                contents[name] = (found.folder / "files" / name).read_bytes()
            except OSError:
                contents[name] = b""
            if _digest(contents[name]) != digest:
                self._drop(found.folder)
                return False
        for name, data in contents.items():
            (output / name).parent.mkdir(parents=True, exist_ok=True)
            (output / name).write_bytes(localise(name, data))
        return True

    def store(self, parts: Mapping[str, str], outcome: Outcome) -> None:
        """Keep what a step made.

        Args:
            parts: As `keys.step_parts` gives them.
            outcome: It.

        Raises:
            OSError: The folder cannot be written.
        """
        work = self.folder / "tmp" / f"{os.getpid()}-{secrets.token_hex(6)}"
        (work / "files").mkdir(parents=True)
        try:
            (work / "model.onnx").write_bytes(outcome.model.data)
            for name, data in outcome.files.items():
                (work / "files" / name).parent.mkdir(parents=True, exist_ok=True)
                (work / "files" / name).write_bytes(data)
            meta = {
                "format": _FORMAT,
                "parts": dict(parts),
                "reads": dict(outcome.reads),
                "outside": outcome.outside.plain(),
                "model": outcome.model.digest,
                "files": {name: _digest(data) for name, data in outcome.files.items()},
                "messages": outcome.messages,
                "printed": outcome.printed,
                "made": dict(outcome.made),
                "time": time.time(),
            }
            (work / "meta.json").write_text(json.dumps(meta, indent=1, sort_keys=True))
            target = self._key_folder(parts) / _name_of(meta)
            target.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(OSError):  # another build was first, with the same content
                work.rename(target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        self._write_latest(parts)

    def trim(self) -> None:
        """Remove what killed builds left, and the entries used longest ago until the limit holds."""
        for work in _children(self.folder / "tmp"):
            with contextlib.suppress(OSError):
                if time.time() - work.stat().st_mtime > 3600:
                    shutil.rmtree(work, ignore_errors=True)
        sized = []
        for key in _children(self.folder / "entries"):
            for entry in _children(key):
                with contextlib.suppress(OSError):
                    size = sum(path.stat().st_size for path in entry.rglob("*") if path.is_file())
                    sized.append((entry.stat().st_mtime, size, entry))
        total = sum(size for _, size, _ in sized)
        for _, size, entry in sorted(sized):
            if total <= self.limit:
                break
            self._drop(entry)
            total -= size

    def _key_folder(self, parts: Mapping[str, str]) -> Path:
        return self.folder / "entries" / key_of(dict(parts))

    def _entries(self, parts: Mapping[str, str]) -> list[Path]:
        """Return the entries of a key, the one that was used last first: what it read is what changed."""
        return sorted(_children(self._key_folder(parts)), key=_used, reverse=True)

    def _drop(self, entry: Path) -> None:
        """Remove an entry at once for all readers, then its files."""
        attic = self.folder / "tmp" / f"{os.getpid()}-{secrets.token_hex(6)}"
        with contextlib.suppress(OSError):
            attic.parent.mkdir(parents=True, exist_ok=True)
            entry.rename(attic)
            shutil.rmtree(attic, ignore_errors=True)
            entry.parent.rmdir()

    def _latest_file(self, step: str) -> Path:
        return self.folder / "latest" / f"{_digest(step.encode())}.json"

    def _latest(self, step: str) -> dict[str, str] | None:
        try:
            parts = json.loads(self._latest_file(step).read_text())
        except (OSError, ValueError):
            return None
        return parts if isinstance(parts, dict) else None

    def _write_latest(self, parts: Mapping[str, str]) -> None:
        file = self._latest_file(parts["step"])
        file.parent.mkdir(parents=True, exist_ok=True)
        work = file.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}")
        work.write_text(json.dumps(dict(parts)))
        work.replace(file)


def _read_meta(entry: Path) -> dict[str, Any] | None:
    try:
        meta = json.loads((entry / "meta.json").read_text())

        whole = meta["format"] == _FORMAT and all(isinstance(meta[key], kind) for key, kind in _KINDS.items())
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return meta if whole else None


def _is_of(entry: Path, meta: Mapping[str, Any], parts: Mapping[str, str]) -> bool:
    """Tell whether an entry is what its place says: one that was copied there from another key is not."""
    return meta["parts"] == dict(parts) and entry.name == _name_of(meta)


def _name_of(meta: Mapping[str, Any]) -> str:
    """Return the name of an entry below its key: what its step read."""
    return _digest(json.dumps([meta["reads"], meta["outside"]], sort_keys=True).encode())[:16]


def _changed_reads(reads: Mapping[str, str], config: Any) -> str:
    for name, then in sorted(reads.items()):
        now = current(config, name)
        if now != then:
            return f"cfg.{name} was {then}, and is {now} now"
    return ""


def _changed_outside(outside: Mapping[str, Mapping[str, str]]) -> str:
    return ", ".join(Reads.from_plain(outside).changes())


def _load(entry: Path, meta: Mapping[str, Any]) -> Found | None:
    try:
        model = Artifact((entry / "model.onnx").read_bytes())
        os.utime(entry)
    except OSError:
        return None
    if model.digest != meta["model"]:
        return None
    return Found(
        model,
        reused(key_of(meta["parts"]), time.time() - meta["time"], meta["made"]),
        entry,
        meta["files"],
        tuple(meta["messages"]),
        tuple((stream, text) for stream, text in meta["printed"]),
    )


def _used(entry: Path) -> tuple[int, str]:
    try:
        return entry.stat().st_mtime_ns, entry.name
    except OSError:
        return 0, entry.name


def _children(folder: Path) -> Iterable[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=20).hexdigest()
