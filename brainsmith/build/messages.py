"""Keep what a step says: FINN prints and logs there that a layer cannot be as fast as asked, and much else."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brainsmith.forks import lock_of

LOG = "build.log"
"""The file of a build with all that its steps say."""

LOGGER = logging.getLogger(__name__)

_WARNING = "warning"
_REMARK = "remark"
"""What this project warns of itself, such as what was left out or lost: it counts for the whole build."""
_OWN = "brainsmith."


@dataclass
class Said:
    """What one thread said.

    Attributes:
        texts: All of it in its order: pairs of `stdout`, `stderr`, `warning` or `remark`, and a text. Remarks are this
            project's own warnings.
    """

    texts: list[tuple[str, str]] = field(default_factory=list)

    @property
    def warnings(self) -> list[str]:
        """What was logged as a warning or worse, and what Python warned of: each once, and in one line."""
        return [text for stream, text in self.texts if stream in (_WARNING, _REMARK)]

    @property
    def remarks(self) -> list[str]:
        """What this project warned of itself."""
        return [text for stream, text in self.texts if stream == _REMARK]

    def add(self, stream: str, text: str) -> None:
        """Note a text; what follows on one stream is one."""
        if self.texts and self.texts[-1][0] == stream and stream not in (_WARNING, _REMARK):
            text = self.texts.pop()[1] + text
        self.texts.append((stream, text))


class BuildLog:
    """Takes what one thread prints, logs and warns of, and writes it to a file, as it comes.

    Args:
        file: Written from the first word on: a build whose steps say nothing has no log.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    @contextmanager
    def taken(self, title: str, shown: bool = False) -> Iterator[Said]:
        """Collect what this thread says in the body.

        Args:
            title: Stands above it in the file.
            shown: Whether what is printed is shown as well.

        Yields:
            The messages, as they come.
        """
        collector = _Collector(self._file, title, shown)
        root = logging.getLogger()
        root.addHandler(collector)
        outer = _streams.send_to(collector)
        try:
            yield collector.said
        finally:
            collector.log("\n" if collector.line else "")
            _streams.send_to(outer)
            root.removeHandler(collector)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let what this thread says in the body go where it went before all steps: it is not what a step says."""
        collector = _streams.send_to(None)
        if collector is not None:
            collector.aside = True
        try:
            yield
        finally:
            if collector is not None:
                collector.aside = False
                _streams.send_to(collector)

    def repeat(self, title: str, said: Said, shown: bool = False) -> None:
        """Repeat what was reported when a step ran, in the same places."""
        with self.taken(title, shown):
            for stream, text in said.texts:
                if stream in (_WARNING, _REMARK):
                    _streams.keep(text, stream)
                else:
                    print(text, end="", file=sys.stdout if stream == "stdout" else sys.stderr)

    def note_failure(self, title: str, error: BaseException) -> None:
        """Write where an error comes from: for whoever wrote the step, not for the terminal."""
        trace = "".join(traceback.format_exception(error))
        _Collector(self._file, f"{title} failed", shown=False).append(trace)


class _Collector(logging.Handler):
    """Collects what one thread says."""

    def __init__(self, file: Path, title: str, shown: bool) -> None:
        super().__init__(logging.WARNING)
        self.said = Said()
        self.shown = shown
        self.aside = False
        self.line = ""
        self._file = file
        self._title = f"== {title}\n"
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record of the own thread; the hub's logger speaks of plugins, not of the model."""
        own = record.thread == self._thread and not self.aside
        if own and not record.name.startswith("brainsmith.plugin"):
            self.keep(record.getMessage(), _REMARK if record.name.startswith(_OWN) else _WARNING)

    def keep(self, message: str, kind: str = _WARNING) -> None:
        """Keep a warning: among the lines, and in the file."""
        line = " ".join(message.split())
        if line not in self.said.warnings:
            self.said.add(kind, line)
            self.append(f"warning: {line}\n")

    def log(self, text: str) -> None:
        """Log the lines that are whole, for who wants to follow what steps print."""
        *lines, self.line = (self.line + text).split("\n")
        for line in lines:
            LOGGER.debug("%s", line, extra={"shown": self.shown})

    def append(self, text: str) -> None:
        """Write to the file; a step's result does not depend on whether its words can be kept."""
        try:
            with self._file.open("a", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(self._title + text)
        except OSError:
            return
        self._title = ""


class _ThreadStream:
    """Stands for standard output or standard error while a step runs somewhere: each thread writes to its own."""

    def __init__(self, name: str, stream: Any, collectors: dict[int, _Collector]) -> None:
        self._name = name
        self._stream = stream
        self._collectors = collectors

    def write(self, text: str) -> int:
        """Write to the thread's collector; where it has none, as if nothing stood here."""
        collector = self._collectors.get(threading.get_ident())
        if collector is not None:
            collector.said.add(self._name, text)
            collector.append(text)
            collector.log(text)
        if self._stream is not None and (collector is None or collector.shown):
            self._stream.write(text)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write some texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Streams:
    """Puts the streams in their place for the first thread that wants them, and back after the last."""

    def __init__(self) -> None:
        self._collectors: dict[int, _Collector] = {}
        self._lock = lock_of()
        self._before: tuple[Any, Any, Callable[..., None]] | None = None

    def send_to(self, collector: _Collector | None) -> _Collector | None:
        """Send what this thread says to a collector, or where it went at first; return the one it had."""
        thread = threading.get_ident()
        with self._lock:
            if collector is not None and self._before is None:
                self._before = sys.stdout, sys.stderr, warnings.showwarning
                sys.stdout = _ThreadStream("stdout", sys.stdout, self._collectors)
                sys.stderr = _ThreadStream("stderr", sys.stderr, self._collectors)
                warnings.showwarning = self._warn
            outer = self._collectors.pop(thread, None)
            if collector is not None:
                self._collectors[thread] = collector
            if not self._collectors and self._before is not None:
                sys.stdout, sys.stderr, warnings.showwarning = self._before
                self._before = None
            return outer

    def keep(self, line: str, kind: str) -> None:
        """Keep a warning with what this thread's collector has."""
        self._collectors[threading.get_ident()].keep(line, kind)

    def _warn(self, message: Warning | str, *where: Any, **more: Any) -> None:
        collector = self._collectors.get(threading.get_ident())
        if collector is not None:
            collector.keep(str(message))
            LOGGER.debug("warning: %s", message)
        elif self._before is not None:
            self._before[2](message, *where, **more)


_streams = _Streams()
