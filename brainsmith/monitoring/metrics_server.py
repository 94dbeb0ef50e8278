"""`/metrics` of a process that runs for long: a small HTTP server in a thread of its own."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from socketserver import TCPServer, ThreadingMixIn
from threading import Thread
from typing import TYPE_CHECKING, Any, Self
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from brainsmith.errors import MetricsError
from brainsmith.monitoring.families import WorkMetrics, exposition
from brainsmith.monitoring.hub_metrics import HubMetrics
from brainsmith.monitoring.loopback import is_loopback_name

if TYPE_CHECKING:
    from brainsmith.monitoring.families import Source
    from brainsmith.monitoring.hub_metrics import Hub

PATH = "/metrics"
SECONDS = 10.0
"""How long a client may take to ask."""

_MOST = 65535
"""The highest port."""

Answer = tuple[str, str, bytes]
"""Of HTTP: the status, the media type and the body."""


class MetricsServer:
    """Serves figures until it is closed; a context manager.

    Args:
        sources: What has figures.
        host: The address at which it listens. Whoever reaches it may read the figures.
        port: Of that; 0 for any that is free.

    Raises:
        MetricsError: The server cannot listen at the address.
    """

    def __init__(self, sources: Sequence[Source], host: str, port: int) -> None:
        self._server = _listening(host, port, lambda path, headers: self._answer(sources, path, headers))
        self.address: tuple[Any, ...] = self._server.socket.getsockname()
        self._is_loopback = ipaddress.ip_address(str(self.address[0]).partition("%")[0]).is_loopback
        serve = partial(self._server.serve_forever, 0.05)  # looks as often whether it is closed
        self._thread = Thread(target=serve, name="brainsmith-metrics", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the figures are."""
        host, port = self.address[:2]
        return f"http://[{host}]:{port}{PATH}" if ":" in host else f"http://{host}:{port}{PATH}"

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _answer(self, sources: Sequence[Source], path: str, headers: dict[str, str]) -> Answer:
        # A web page elsewhere can have a browser ask for a name of its own, which it lets mean this machine.
        if self._is_loopback and not is_loopback_name(headers.get("HTTP_HOST", "")):
            return "403 Forbidden", "text/plain", b"only requests to localhost are served\n"
        if headers["REQUEST_METHOD"] != "GET":
            return "405 Method Not Allowed", "text/plain", b"only GET is served\n"
        if path != PATH:
            return "404 Not Found", "text/plain", f"the figures are at {PATH}\n".encode()
        body, media_type = exposition(sources, headers.get("HTTP_ACCEPT", ""))
        return "200 OK", media_type, body


def serve_hub(hub: Hub, host: str, port: int) -> MetricsServer:
    """Serve the figures of a hub, of the work of this process, and of the process itself; errors are the server's."""
    return MetricsServer([HubMetrics(hub), WorkMetrics()], host, port)


class _Threads(ThreadingMixIn, WSGIServer):
    """A server whose clients do not wait for each other."""

    daemon_threads = True

    def server_bind(self) -> None:
        """Bind, without asking a name server what this machine is called."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()

    def handle_error(self, request: object, client_address: object) -> None:
        """Pass by a client that went away or was too slow."""


class _Quiet(WSGIRequestHandler):
    """One request; it is not logged."""

    timeout = SECONDS

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: clients could fill the log."""


def _listening(host: str, port: int, answer: Callable[[str, dict[str, str]], Answer]) -> WSGIServer:
    try:
        if not 0 <= port <= _MOST:  # of which getaddrinfo makes another one
            raise OverflowError(f"a port is from 0 to {_MOST}")
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        kind = type("_Server", (_Threads,), {"address_family": family})
        server: WSGIServer = kind(address[:2], _Quiet)
    except (OSError, UnicodeError, OverflowError) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if isinstance(number, int) and number > 0 else str(error)
        raise MetricsError(
            f"metrics cannot be served at {host}:{port}: {reason}; choose another port, or 0 for any that is free, and "
            "an address of this machine"
        ) from error

    def application(environ: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
        status, media_type, body = answer(environ["PATH_INFO"], environ)
        start(status, [("Content-Type", media_type), ("Content-Length", str(len(body)))])
        return [body]

    server.set_app(application)
    return server
