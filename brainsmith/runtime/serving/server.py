"""The HTTP server of one target: uvicorn, in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import socket
import ssl
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from brainsmith.errors import TargetError, UsageError
from brainsmith.runtime.serving.application import Application
from brainsmith.runtime.serving.gate import DRAIN_SECONDS
from brainsmith.runtime.serving.protocol import PROTOCOL, PROTOCOL_HEADER
from brainsmith.runtime.target_log import note

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from brainsmith.runtime.serving.limits import Limits
    from brainsmith.runtime.serving.served_counts import ServedCounts
    from brainsmith.runtime.serving.service import Service

HOST = "127.0.0.1"
PORT = 8765
IDLE_SECONDS = 5.0
"""How long a connection is kept at least between two requests; clients do not use one that is nearly as old."""

_FULL_BODY = b'{"error":"refused","message":"too many clients are connected: try again later"}'
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\n%s: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
    b"Connection: close\r\nRetry-After: 1\r\n\r\n%s"
) % (PROTOCOL_HEADER.encode(), PROTOCOL.encode(), len(_FULL_BODY), _FULL_BODY)


class Connection(H11Protocol):
    """A connection of a client: uvicorn's, with a limit of their number, and a time limit for each step.

    A head has the time of a request; a request has it too, and an answer as much again to be taken.
    """

    def __init__(self, limits: Limits, counts: ServedCounts, config: Config, state: ServerState) -> None:
        super().__init__(config, state, {})
        self._limits, self._counts = limits, counts
        self._timer = self.loop.call_later(0, lambda: None)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head; or send the client away."""
        super().connection_made(transport)
        self._give_time(self._limits.seconds)
        if len(self.connections) > self._limits.connections:
            self._counts.refused("connections", 503)
            transport.write(_FULL)
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Take what came; a request that begins with it has its time from now on."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._give_time(self._limits.seconds)

    def on_response_complete(self) -> None:
        """Begin to wait for the next head, or with one that is here already."""
        super().on_response_complete()
        self._give_time(max(self._limits.seconds, IDLE_SECONDS))

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP; during a request only close, since part of its answer may have been sent."""
        if self.cycle is None or self.cycle.response_complete:
            super().send_400_response(msg)
        else:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        super().connection_lost(exc)
        self._timer.cancel()

    def _give_time(self, for_head: float) -> None:
        """End the connection unless its next step comes in time."""
        is_busy = self.cycle is not None and not self.cycle.response_complete
        self._timer.cancel()
        self._timer = self.loop.call_later(
            2 * self._limits.seconds + DRAIN_SECONDS if is_busy else for_head, self.transport.abort
        )


class TargetServer:
    """Serves a target until it is closed; a context manager.

    Args:
        service: The target. The server does not close it.
        host: The address at which it listens.
        port: Of that; 0 for any that is free.
        token: What clients must know; nothing only on this machine itself.
        certificate: The file with its certificate, and those that vouch for it; without one nothing is encrypted.
        key: The file of the key of that, unless it is in the same file.

    Raises:
        UsageError: Other machines can reach the address and there is no token, or it is no address; or the certificate
            or key cannot be used.
        TargetError: The server cannot listen at the address.
    """

    def __init__(
        self,
        service: Service,
        host: str = HOST,
        port: int = PORT,
        token: str = "",
        certificate: str | None = None,
        key: str | None = None,
    ) -> None:
        self.service, self.limits = service, service.limits
        self._tls = _tls(certificate, key)
        self._socket = _listening(host, port, token)
        self.address: tuple[Any, ...] = self._socket.getsockname()
        self.application = Application(service, token)
        self._state = ServerState()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._started = threading.Event()
        self._seconds, self._ended = 0.0, True
        self._thread = threading.Thread(target=self._run, name="brainsmith-server", daemon=True)

    @property
    def url(self) -> str:
        """Where clients find it; if it listens at every address, those of this machine."""
        host, port = str(self.address[0]), self.address[1]
        if self.is_everywhere:
            host = "::1" if ":" in host else HOST
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    @property
    def is_everywhere(self) -> bool:
        """Whether it listens at every address of this machine."""
        return _address_of(self.address).is_unspecified

    def start(self) -> Self:
        """Begin to serve, in a thread."""
        self._thread.start()
        self._started.wait()
        return self

    def close(self, seconds: float = 5.0) -> bool:
        """Take no more requests, let those that are being worked on end, and close all connections.

        Args:
            seconds: How long they may take.

        Returns:
            Whether all of them ended.
        """
        if self._loop is not None and self._thread.is_alive():
            self._seconds = seconds
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
        self._socket.close()
        return self._ended

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self._loop, state = asyncio.get_running_loop(), self._state
        self._loop.set_exception_handler(
            lambda _, context: note("a connection broke: %s", context["message"])
        )
        config = _config(self.application.app)
        state.default_headers = config.encoded_headers
        listener = await self._loop.create_server(
            partial(Connection, self.limits, self.application.counts, config, state),
            sock=self._socket,
            ssl=self._tls,
            ssl_handshake_timeout=None if self._tls is None else self.limits.seconds,
        )
        self._started.set()
        await self._stop.wait()
        listener.close()
        for connection in list(state.connections):
            connection.shutdown()
        self._ended = await self.application.all_done_within(self._seconds)
        if state.tasks:  # of which some are writing the answer
            await asyncio.wait(state.tasks, timeout=0.2)
        for connection in list(state.connections):
            connection.transport.abort()


def _config(app: Starlette) -> Config:
    """Return what uvicorn must know; it logs nothing, since clients could fill its log."""
    config = Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level=logging.CRITICAL,
        access_log=False,
        proxy_headers=False,
        headers=[("Server", "brainsmith"), (PROTOCOL_HEADER, PROTOCOL)],
    )
    config.load()
    return config


def _tls(certificate: str | None, key: str | None) -> ssl.SSLContext | None:
    if certificate is None:
        if key is not None:
            raise UsageError(f"the key {key} needs its certificate: --certificate FILE")
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # Without a function, OpenSSL asks for a password at the terminal.
        context.load_cert_chain(certificate, key, password=lambda: b"")
    except OSError as error:
        with_key = f" with the key {key}" if key else ""
        raise UsageError(
            f"the certificate {certificate}{with_key} cannot be used: {error.strerror or error}; both must be PEM files, "
            "the key of this certificate and without a password"
        ) from error
    return context


def _listening(host: str, port: int, token: str) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise _not_ours(host, error) from error
    family, _, _, _, address = found[0]
    if not token and not _address_of(address).is_loopback:
        raise UsageError(
            f"{host} can be reached from other machines, so a token is needed: --token-file FILE, or "
            "BRAINSMITH_REMOTE_TOKEN"
        )
    try:
        dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        listening = socket.create_server(address, family=family, backlog=64, dualstack_ipv6=dual)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        if error.errno == errno.EADDRNOTAVAIL:
            raise _not_ours(host, reason) from error
        raise TargetError(
            f"no target can be served at {host}:{port}: {reason}; choose another --port, or 0 for any that is free"
        ) from error
    # Connections inherit it; asyncio sets it only where a socket was made with its protocol's number.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _not_ours(host: str, reason: object) -> UsageError:
    return UsageError(f"--host must be an address of this machine, not {host!r}: {reason}")


def _address_of(address: Any) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(str(address[0]).partition("%")[0])
