"""`brainsmith serve-target`: serve a target of this machine to other programs and machines."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from brainsmith.errors import TargetUnavailableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.runtime.serving.limits import Limits

MOST = 65535
"""The highest port; and the most requests at once."""


def run(options: Options, terminal: Terminal) -> int:
    """Serve until SIGINT or SIGTERM."""
    from brainsmith.runtime.serving.protocol import why_not_installed

    if reason := why_not_installed():
        raise TargetUnavailableError(f"no target can be served: {reason}")
    from brainsmith.runtime.serving.server import HOST, PORT, TargetServer
    from brainsmith.runtime.serving.service import Service
    from brainsmith.runtime.serving.token import find_token

    limits = _limits(options)
    port = options.whole("--port", PORT, most=MOST)
    token, source = find_token(options.text("--token-file"))
    tls = options.text("--certificate"), options.text("--key")
    with until_stopped() as wait:
        service = Service(options.required("TARGET"), limits, _folders(options))
        server = TargetServer(service, options.text("--host") or HOST, port, token, *tls).start()
        terminal.write(
            f"serving {service.info.name} at {server.url}, {f'with the token of {source}' if token else 'without a token'}"
        )
        if server.is_everywhere:
            scheme = server.url.partition(":")[0]
            terminal.write(
                f"  for other machines: {scheme}://{socket.gethostname()}:{server.address[1]}, or with an address of this "
                "machine for its name"
            )
        terminal.flush()
        wait()
        if not server.close():
            _leave(terminal)
    service.close()
    terminal.write("stopped")
    return 0


@contextmanager
def until_stopped() -> Iterator[Callable[[], None]]:
    """Give a function that returns once Ctrl-C or SIGTERM came.

    It looks every tenth of a second: a signal that another thread is given would wake nobody who waits for a lock, and a
    handler must not take one that is held.
    """
    came: list[int] = []

    def wait() -> None:
        while not came:
            time.sleep(0.1)

    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(one, lambda number, _: came.append(number)) for one in signals]
    try:
        yield wait
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)


def _leave(terminal: Terminal) -> NoReturn:
    """End the process at once, since Python cannot: threads that compute would still be in the libraries it unloads."""
    try:
        terminal.write("stopped; some requests were not finished")
        terminal.flush()
    finally:
        os._exit(0)


def _limits(options: Options) -> Limits:
    from brainsmith.runtime.serving.limits import Limits

    return Limits(
        megabytes=options.number("--limit-mb", Limits.megabytes),
        seconds=options.number("--timeout", Limits.seconds),
        requests=options.whole("--requests", Limits.requests, most=MOST),
    )


def _folders(options: Options) -> tuple[str, ...]:
    folder = options.text("--build")
    if folder is None:
        return ()
    if not Path(folder).is_dir():
        raise UsageError(f"--build must be a folder, not {folder}")
    return (folder,)
