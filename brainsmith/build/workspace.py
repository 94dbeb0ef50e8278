"""The output folder: a build works in a hidden folder inside it and swaps its files in when all is done."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from brainsmith.build.relocate import relocate_files
from brainsmith.errors import OutputError
from brainsmith.store.files import read_json_table

_STAGING = ".build-"
_MANIFEST = ".build.json"
FAILED = "failed"
# What every build writes; found in a folder that no build made, it is the user's.
_OURS = (
    "model.onnx", "report.json", "report.html", "report", "checkpoints", "build.log", "rtl", "accelerator",
    "intermediate_models", "provenance.json", FAILED,
)  # fmt: skip


class Workspace:
    """Where one build writes.

    An earlier good build in the same folder stays whole until this one has succeeded; files that no build
    made are never touched. Which ones a build made is in `.build.json`.

    Attributes:
        output: The folder that the user named; absolute.
        staging: Where this build's files are until `publish`.
        failed: Where `fail` keeps what there is.

    Raises:
        OutputError: The folder cannot be made or written, or holds files of the user's that a build would
            replace.
    """

    def __init__(self, output: str | Path) -> None:
        try:
            self.output = Path(output).absolute()
            is_file = self.output.is_file()
            is_root = self.output.exists() and self.output.samefile("/")
        except OSError as error:  # too long a name; a relative one while the current folder is gone
            raise OutputError(f"output folder {output} cannot be found: {error.strerror}") from error
        if is_file:
            raise OutputError(f"output {output} is a file; name a folder")
        if is_root:
            raise OutputError(f"output folder {output} is the root of the file system; name another folder")
        _refuse_no_text(self.output)
        _refuse_foreign(self.output, _OURS)
        self.failed = self.output / FAILED
        self._made = [folder for folder in (self.output, *self.output.parents) if not folder.exists()]
        self.staging = self.output / f"{_STAGING}{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            self.staging.mkdir(parents=True)
        except OSError as error:
            self._unmake()
            raise OutputError(f"output folder {output} cannot be written: {error.strerror}") from error
        _sweep(self.output)

    def publish(self, state: Callable[[Path], None] | None = None) -> None:
        """Swap the build's files into the output folder; the report comes last, so it never stands alone.

        Args:
            state: Writes a statement about the files, which are now as they stay, into the folder that it is given.
        """
        relocate_files(self.staging, str(self.staging), str(self.output))
        if state is not None:
            state(self.staging)
        names = sorted(
            (entry.name for entry in self.staging.iterdir()), key=lambda name: name == "report.json"
        )
        _refuse_foreign(self.output, names)
        earlier = _manifest(self.output)
        with _interrupts_held():
            # Both are listed meanwhile: a kill between two renames must not make our files the user's.
            self._write_manifest(earlier.union(names))
            for name in names:
                _swap(self.staging / name, self.output / name, self.staging)
            for name in earlier.difference(names):
                _remove(self.output / name)
            self._write_manifest(names)
            shutil.rmtree(self.staging)

    def fail(self) -> Path:
        """Keep what a failed build made under `failed/`, and return that folder."""
        folder = self.failed
        relocate_files(self.staging, str(self.staging), str(folder))
        with _interrupts_held():
            self._write_manifest(_manifest(self.output) | {FAILED})
            _remove(folder)
            self.staging.replace(folder)
        return folder

    def discard(self) -> None:
        """Remove all traces of this build."""
        with _interrupts_held():
            shutil.rmtree(self.staging, ignore_errors=True)
            self._unmake()

    def _write_manifest(self, names: Iterable[str]) -> None:
        manifest = self.staging / _MANIFEST
        manifest.write_text(json.dumps({"entries": sorted(names)}))
        manifest.replace(self.output / _MANIFEST)

    def _unmake(self) -> None:
        for folder in self._made:
            with contextlib.suppress(OSError):
                folder.rmdir()


def _refuse_no_text(output: Path) -> None:
    """Refuse a folder whose name no model can hold: FINN writes it into attributes of nodes, which are UTF-8."""
    try:
        str(output).encode()
    except UnicodeEncodeError as error:
        place = str(output)[error.start]
        raise OutputError(
            f"output folder {str(output)!r} cannot be used, because its name holds {place!r}, which is not UTF-8 in this "
            "locale, and models hold the names of their files\n  name another folder, or set LC_ALL=C.UTF-8 if the "
            "name is UTF-8"
        ) from None


def _refuse_foreign(output: Path, names: Iterable[str]) -> None:
    """Raise if the folder holds entries of these names that no build wrote."""
    known = _manifest(output)
    found = [name for name in names if name not in known and os.path.lexists(output / name)]
    if found:
        raise OutputError(
            f"output folder {output} holds {', '.join(found)}, which no build wrote and this one would replace; "
            "name another folder"
        )


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9.]", "_", os.uname().nodename)


def _swap(source: Path, target: Path, attic: Path) -> None:
    """Put a staged entry in its place; a folder that was there goes to the attic first."""
    if target.is_dir() and not target.is_symlink():
        target.replace(attic / f"{target.name}.old")
    source.replace(target)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _manifest(output: Path) -> set[str]:
    entries = read_json_table(output / _MANIFEST).get("entries")
    names = entries if isinstance(entries, list) else []
    return {name for name in names if isinstance(name, str) and name and Path(name).name == name}


def _sweep(output: Path) -> None:
    """Remove the staging folders of builds of this machine that were killed."""
    start = f"{_STAGING}{_host()}-"
    for folder in output.glob(f"{start}*-*"):
        pid = folder.name.removeprefix(start).partition("-")[0]
        if pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def running_builds(output: Path) -> list[Path]:
    """Return where the builds of this machine work that run in an output folder now."""
    start = f"{_STAGING}{_host()}-"
    found = []
    try:
        there = sorted(output.glob(f"{start}*-*"))
    except OSError:  # it has just been removed
        return []
    for folder in there:
        pid = folder.name.removeprefix(start).partition("-")[0]
        if pid.isdigit() and _alive(int(pid)) and folder.is_dir():
            found.append(folder)
    return found


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delay Ctrl-C for a few renames; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def checkpoint_name(count: int, step: str) -> str:
    """Return where the model after a step is kept: `checkpoints/03_finn_step_streamline.onnx`."""
    return f"checkpoints/{count:02d}_{re.sub(r'[^A-Za-z0-9_.-]+', '_', step).strip('_')}.onnx"
