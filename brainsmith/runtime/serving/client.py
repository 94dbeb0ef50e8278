"""The client of a served target: httpx, with one deadline for all of a request and its answer."""

from __future__ import annotations

import re
import socket
import ssl
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

import httpx
from httpcore import ConnectionPool, NetworkStream, ReadTimeout, SyncBackend

from brainsmith.errors import RemoteError, WireError
from brainsmith.forks import in_children
from brainsmith.runtime.serving import protocol
from brainsmith.runtime.serving.protocol import UnknownAtServerError
from brainsmith.runtime.serving.wire import decode, from_json
from brainsmith.runtime.target_log import warn

if TYPE_CHECKING:
    from brainsmith.runtime.serving.wire import Array, Head

IDLE_SECONDS = 1.0
"""How long a connection is kept that is not used: servers keep it longer, so no request meets one that is being closed."""

_JSON_BYTES = 16 << 20
_CONNECT_SECONDS = 10.0
_PIECE = 1 << 16
_ENDED = re.compile("disconnected|closed connection")
"""How the libraries say that a server ended a connection too early, which is no fault in what it sent."""
_END: ContextVar[float] = ContextVar("_END")
"""When the request of this thread must have its answer."""


class Client:
    """Asks a server; from any thread. It follows no redirects, and uses no proxy and no password of the environment.

    Args:
        url: `http://HOST:PORT` or `https://HOST:PORT`.
        token: What the server wants to know; nothing if it wants none.
        seconds: How long an answer may take, from the first byte sent to the last one received.
        body_bytes: The longest answer that is taken.
        verify: Whether the certificate of the server must be one that this machine trusts; or the file of the only one
            that is trusted, or of the authority that signed it.

    Raises:
        RemoteError: The file of the certificate cannot be used.
    """

    def __init__(
        self, url: str, token: str, seconds: float, body_bytes: int, verify: str | bool = True
    ) -> None:
        self.url = url
        self._seconds, self._body_bytes = seconds, body_bytes
        self._headers = {protocol.PROTOCOL_HEADER: protocol.PROTOCOL, "Accept-Encoding": "identity"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._tls = _tls(url, verify)
        self._connect()
        in_children(self, Client._connect)

    def _connect(self) -> None:
        """Have connections of its own: in a forked child, the answers on those that it finds are the parent's."""
        self._http = httpx.Client(
            base_url=self.url, headers=self._headers, trust_env=False, transport=_Transport(self._tls)
        )

    def ask(
        self, doing: str, method: str, path: str, body: bytes = b"", kind: str = protocol.JSON
    ) -> tuple[Head, dict[str, Array]]:
        """Send a request, once, and return its answer: a head, and arrays if it has any.

        Args:
            doing: What it is, for messages: `execute`.
            method: Of HTTP.
            path: Of `protocol`.
            body: What is sent.
            kind: Of the body.

        Raises:
            RemoteError: No server is there, or the answer does not come, comes too late, or is not one of this protocol.
            UnknownAtServerError: It does not know what is asked for.
            BrainsmithError: What the target raised there, as far as its class is known here.
        """
        _END.set(monotonic() + self._seconds)
        headers = {"Content-Type": kind} if body else {}
        try:
            with self._http.stream(method, path, content=body or None, headers=headers) as response:
                found = self._answer(doing, response)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            self._not_served(error)
        except httpx.TimeoutException as error:
            raise RemoteError(
                f"{self.url} did not answer {doing} within {self._seconds:g} s; BRAINSMITH_REMOTE_TIMEOUT or timeout= "
                "allows more"
            ) from error
        except httpx.TransportError as error:
            if isinstance(error, httpx.RemoteProtocolError) and not _ENDED.search(str(error)):
                self._wrong(doing, f"no HTTP ({error})", error)
            raise RemoteError(
                f"{self.url} ended the connection during {doing}: {_reason(error)}; look for the cause there, and "
                "start it again with brainsmith serve-target"
            ) from error
        except WireError as error:
            self._wrong(doing, str(error), error)
        if response.status_code != httpx.codes.OK:
            self._refused(doing, response.status_code, found[0])
        return found

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _answer(self, doing: str, response: httpx.Response) -> tuple[Head, dict[str, Array]]:
        version, length = (
            response.headers.get(protocol.PROTOCOL_HEADER),
            response.headers.get("Content-Length"),
        )
        if version is None:
            raise WireError(f"no {protocol.PROTOCOL_HEADER} beside status {response.status_code}")
        if version != protocol.PROTOCOL:
            raise RemoteError(
                f"{self.url} speaks version {version} of the protocol, and this client {protocol.PROTOCOL}: install the "
                "same version of brainsmith at both ends"
            )
        if length is None or "Transfer-Encoding" in response.headers:
            raise WireError("no Content-Length")
        is_arrays = response.headers.get("Content-Type") == protocol.ARRAYS and response.is_success
        most = self._body_bytes if is_arrays else _JSON_BYTES
        if int(length) > most:
            raise RemoteError(
                f"{self.url} answers {doing} with {int(length):,} bytes, and at most {most:,} are accepted: give fewer "
                "samples at once, or a larger limit_mb="
            )
        data = b"".join(response.iter_raw())
        return decode(data) if is_arrays else (from_json(data), {})

    def _not_served(self, error: httpx.TransportError) -> NoReturn:
        cause = _cause(error)
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise RemoteError(
                f"{self.url} has a certificate that is not trusted here: {cause.verify_message.rstrip('.')}; set "
                "BRAINSMITH_REMOTE_VERIFY or verify= to the file of it, or of the authority that signed it"
            ) from error
        raise RemoteError(
            f"no target is served at {self.url}: {_reason(error)}; start one there with brainsmith serve-target "
            "TARGET, or set BRAINSMITH_REMOTE_URL or url= to its address"
        ) from error

    def _refused(self, doing: str, status: int, head: Head) -> NoReturn:
        """Raise the error that the server reports."""
        kind, message = head.get("error"), head.get("message")
        if not isinstance(kind, str) or not isinstance(message, str):
            self._wrong(doing, f"no message beside status {status}")
        if kind in (protocol.UNKNOWN_MODEL, protocol.UNKNOWN_PREPARED):
            raise UnknownAtServerError(message)
        if kind == "InputError":
            raise protocol.ERRORS[kind](message)
        if kind == protocol.TOKEN:
            raise RemoteError(
                f"{self.url} requires its token: {message}; set BRAINSMITH_REMOTE_TOKEN or "
                "remote_token_file to the one with which the server was started"
            )
        if kind == protocol.VERSION:
            raise RemoteError(
                f"{self.url} does not speak version {protocol.PROTOCOL} of the protocol: install the same version of "
                "brainsmith at both ends"
            )
        raise protocol.ERRORS.get(kind, RemoteError)(f"{self.url}: {message}")

    def _wrong(self, doing: str, what: str, cause: Exception | None = None) -> NoReturn:
        raise RemoteError(
            f"{self.url} does not answer {doing} as brainsmith serve-target does: {what}; see which program listens there"
        ) from cause


class _Transport(httpx.HTTPTransport):
    """httpx's, whose connections heed the deadline of a request: httpx itself has one for each piece of it only."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(verify=tls, trust_env=False)
        self._pool = ConnectionPool(tls, keepalive_expiry=IDLE_SECONDS, network_backend=_Backend())


class _Backend(SyncBackend):
    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *options: Any, **named: Any
    ) -> Any:
        return _TimedStream(
            super().connect_tcp(host, port, min(_left(), _CONNECT_SECONDS), *options, **named)
        )


class _TimedStream:
    """A stream of httpcore's, with the deadline of this thread's request in place of the times that it is given."""

    def __init__(self, stream: NetworkStream) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            self._stream.write(buffer[start : start + _PIECE], _left())

    def start_tls(self, *options: Any, **named: Any) -> _TimedStream:
        return _TimedStream(self._stream.start_tls(*options, **{**named, "timeout": _left()}))


def _left() -> float:
    left = _END.get() - monotonic()
    if left <= 0:
        raise ReadTimeout("timed out")
    return left


def _tls(url: str, verify: str | bool) -> ssl.SSLContext:
    if not url.startswith("https:"):
        # Of no use, and made without reading what is trusted here.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
    except OSError as error:
        raise RemoteError(f"the certificate {verify} cannot be used: {error.strerror or error}") from error
    if verify is False:
        warn(
            "the certificate of %s is not verified: all data can be read and changed on the way",
            url,
        )
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _cause(error: httpx.TransportError) -> OSError | None:
    """Return the system's error from which one of the library was made; None if it has no such cause."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__ or cause.__context__
    return None if isinstance(error, httpx.RemoteProtocolError) else cause


def _reason(error: httpx.TransportError) -> str:
    cause = _cause(error)
    if isinstance(cause, TimeoutError):
        return "it does not answer"
    if isinstance(cause, ssl.SSLError):
        return f"the TLS handshake failed ({cause.reason})"
    if isinstance(cause, socket.gaierror):
        return "there is no such host"
    return (cause and cause.strerror) or str(error).rstrip(".") or type(error).__name__
