"""The HTTP server of one target."""

from __future__ import annotations

import errno
import ipaddress
import socket
import threading
from socketserver import TCPServer, ThreadingMixIn
from typing import TYPE_CHECKING, Any, Self

from brainsmith.errors import TargetError, UsageError
from brainsmith.runtime.log import note
from brainsmith.runtime.serving.handler import Handler
from brainsmith.runtime.serving.limits import Places, Room
from brainsmith.runtime.serving.protocol import PROTOCOL, PROTOCOL_HEADER

if TYPE_CHECKING:
    from brainsmith.runtime.serving.service import Service

HOST = "127.0.0.1"
PORT = 8765

_FULL = (
    "HTTP/1.1 503 Service Unavailable\r\n"
    f"{PROTOCOL_HEADER}: {PROTOCOL}\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
    "Connection: close\r\nRetry-After: 1\r\n\r\n%s"
)
_FULL_BODY = '{"error":"refused","message":"too many clients are connected: try again later"}'


class TargetServer(ThreadingMixIn, TCPServer):
    """Serves a target until it is closed; a context manager.

    Args:
        service: The target. The server does not close it.
        host: The address at which it listens.
        port: Of that; 0 for any that is free.
        token: What clients must know; nothing only on this machine itself.

    Raises:
        UsageError: Other machines can reach the address and there is no token, or it is no address.
        TargetError: The server cannot listen at the address.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, service: Service, host: str = HOST, port: int = PORT, token: str = "") -> None:
        self.service, self.limits, self.token = service, service.limits, token
        self.places, self.room = Places(self.limits.requests), Room(self.limits.read_bytes)
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._ended: bool | None = None
        family, address = _resolved(host, port)
        if not token and not _address_of(address).is_loopback:
            raise UsageError(
                f"{host} can be reached from other machines, so a token is needed: --token-file FILE, or "
                "BRAINSMITH_REMOTE_TOKEN"
            )
        self.address_family = family
        try:
            super().__init__(address, Handler)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise _not_ours(host, error.strerror) from error
            raise TargetError(
                f"nothing can be served at {host}:{port}: {error.strerror}; choose another port with --port, or 0 for any "
                "that is free"
            ) from error
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.1}, name="brainsmith-server", daemon=True
        )

    @property
    def url(self) -> str:
        """Where clients find it; if it listens at every address, those of this machine."""
        host, port = str(self.server_address[0]), self.server_address[1]
        if self.is_everywhere:
            host = "::1" if ":" in host else HOST
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def is_everywhere(self) -> bool:
        """Whether it listens at every address of this machine."""
        return _address_of(self.server_address).is_unspecified

    def start(self) -> Self:
        """Begin to serve, in a thread."""
        self._thread.start()
        return self

    def close(self, seconds: float = 5.0) -> bool:
        """Take no more requests, let those that are being worked on end, and close all connections.

        Args:
            seconds: How long they may take.

        Returns:
            Whether all of them ended.
        """
        if self._ended is None:
            if self._thread.ident is not None:
                self.shutdown()
            self.socket.close()
            self._ended = self.places.all_free_within(seconds)
            with self._lock:
                for connection in self._open:
                    _shut(connection)
        return self._ended

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own, or send it away."""
        with self._lock:
            full = len(self._open) >= self.limits.connections
            if not full:
                self._open.add(request)
        if not full:
            super().process_request(request, client_address)
            return
        request.settimeout(1.0)
        try:
            request.sendall((_FULL % (len(_FULL_BODY), _FULL_BODY)).encode())
        except OSError:  # it is gone already
            note("a client went away")
        self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Note that a connection broke; what a target raised was answered already."""
        note("the connection of %s broke", client_address[0])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.close()


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[Any, ...]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise _not_ours(host, error) from error
    family, _, _, _, address = found[0]
    return family, address


def _not_ours(host: str, reason: object) -> UsageError:
    return UsageError(f"--host must be an address of this machine, not {host!r}: {reason}")


def _address_of(address: Any) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(str(address[0]).partition("%")[0])


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # the client was faster
        note("a client went away")
