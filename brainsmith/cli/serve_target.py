"""`brainsmith serve-target`: let programs elsewhere execute models on a target of this machine."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainsmith.cli.arguments import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.runtime.serving.limits import Limits


def run(options: Options, terminal: Terminal) -> int:
    """Serve until SIGINT or SIGTERM."""
    from brainsmith.runtime.serving.server import HOST, PORT, TargetServer
    from brainsmith.runtime.serving.service import Service
    from brainsmith.runtime.serving.token import find_token

    limits = _limits(options)
    port = _whole(options, "--port", PORT)
    token, source = find_token(options.text("--token-file"))
    with _ended_by_signals() as end:
        service = Service(options.required("TARGET"), limits, _folders(options))
        server = TargetServer(service, options.text("--host") or HOST, port, token).start()
        terminal.write(
            f"serving {service.info.name} at {server.url}, {f'with the token of {source}' if token else 'without a token'}"
        )
        terminal.flush()
        end.wait()
        ended = server.close()
    if ended:
        service.close()
    terminal.write("stopped" if ended else "stopped, with requests that were not done")
    return 0


@contextmanager
def _ended_by_signals() -> Iterator[threading.Event]:
    """Give an event that Ctrl-C and SIGTERM set."""
    end = threading.Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(one, lambda *_: end.set()) for one in signals]
    try:
        yield end
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)


def _limits(options: Options) -> Limits:
    from brainsmith.runtime.serving.limits import Limits

    return Limits(
        megabytes=_number(options, "--limit-mb", Limits.megabytes),
        seconds=_number(options, "--timeout", Limits.seconds),
        requests=_whole(options, "--requests", Limits.requests),
    )


def _folders(options: Options) -> tuple[str, ...]:
    folder = options.text("--build")
    if folder is None:
        return ()
    if not Path(folder).is_dir():
        raise UsageError(f"--build must be a folder, and {folder} is none")
    return (folder,)


def _number(options: Options, name: str, default: float) -> float:
    text = options.text(name)
    try:
        value = default if text is None else float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise UsageError(f"{name} must be a number above 0, not {text!r}")
    return value


def _whole(options: Options, name: str, default: int) -> int:
    text = options.text(name)
    if text is None:
        return default
    if not text.isdecimal() or not text.isascii() or int(text[:9]) > 65535:
        raise UsageError(f"{name} must be a whole number up to 65535, not {text!r}")
    return int(text)
