"""The log as JSON Lines (https://jsonlines.org): one object a line, for programs that collect logs."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime
from typing import Any

from brainsmith.cli.terminal import complain
from brainsmith.monitoring.current import BUILD, STEP


class JsonLines(logging.Handler):
    """Writes each record as a line of JSON, at once, so that a file whose writer was killed ends with a whole line.

    A line has `time` (UTC, ISO 8601), `level`, `logger`, `message`, `build` (the build's id, or null) and `step` (or null);
    `exception` if one was logged; and `trace_id` and `span_id` where OpenTelemetry has a span.

    Args:
        name: The file; what was in it is gone.
        build: The id of the build that the command makes, for records of threads that do not know it; or nothing.

    Raises:
        OSError: The file cannot be written.
    """

    def __init__(self, name: str, build: str = "") -> None:
        # Before logging knows of it, which closes all handlers at the end, this one too if there is no file.
        self._file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o666)
        super().__init__()
        self._name, self._build = name, build
        self._errors = (
            sys.stderr
        )  # another one stands there while a step runs, which keeps what it gets with the result

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; a file that takes no more ends the log, with one warning, and not the command."""
        if self._file < 0:
            return
        data = memoryview(json_line(record, BUILD.get() or self._build, STEP.get()).encode("ascii"))
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.close()
            reason = f"warning: --log-json: {self._name} cannot be written any more: {error.strerror}"
            complain(reason, self._errors)

    def close(self) -> None:
        """Close the file."""
        self.acquire()
        try:
            file, self._file = self._file, -1
            if file >= 0:
                os.close(file)
        finally:
            self.release()
        super().close()


def json_line(record: logging.LogRecord, build: str, step: str) -> str:
    """Return a record as a line of JSON, in ASCII, with the line break."""
    fields: dict[str, Any] = {
        "time": f"{datetime.fromtimestamp(record.created, UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
        "level": record.levelname,
        "logger": record.name,
        "message": _message(record),
        "build": build or None,
        "step": step or None,
    }
    if record.exc_info:
        fields["exception"] = logging.Formatter().formatException(record.exc_info)
    if "opentelemetry.trace" in sys.modules:
        from brainsmith.monitoring.tracing import ids_now  # where somebody may want traces

        fields |= ids_now()
    whole = {name: _text(value) if isinstance(value, str) else value for name, value in fields.items()}
    return json.dumps(whole) + "\n"


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:  # noqa: BLE001  (whoever logs may give arguments that do not fit, or objects that raise)
        if isinstance(record.msg, str):
            return f"{record.msg} (its arguments do not fit: {type(error).__name__})"
        return f"an object of class {type(record.msg).__name__}, which has no text: {type(error).__name__}"


def _text(value: str) -> str:
    """Return a text without halves of characters, which readers of JSON refuse."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
