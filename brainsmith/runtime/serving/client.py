"""The client of a served target: one request after the other, over connections that are kept."""

from __future__ import annotations

import http.client
import selectors
import socket
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from brainsmith.errors import RemoteError, TargetError, WireError
from brainsmith.forks import in_children, lock_of
from brainsmith.runtime.serving import protocol
from brainsmith.runtime.serving.timed import Deadline, TimedSocket
from brainsmith.runtime.serving.wire import CutShortError, decode, from_json, gathered, read_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.runtime.serving.wire import Array, Head

_JSON_BYTES = 16 << 20
_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 1.0
"""No server closes a connection that was idle for less."""
_AT_ONCE_SECONDS = 1.0
"""Within this, from the first byte sent, it is known that a connection was closed already."""


class UnknownAtServerError(TargetError):
    """The server has no such model, or nothing prepared under the name; it is to be sent again."""


class Client:
    """Asks a server; from any thread.

    Args:
        url: `http://HOST:PORT`.
        token: What the server wants to know; nothing if it wants none.
        seconds: How long an answer may take, from the first byte sent to the last one received.
        body_bytes: The longest answer that is taken.
    """

    def __init__(self, url: str, token: str, seconds: float, body_bytes: int) -> None:
        parts = urlsplit(url)
        self.url = url
        self._host, self._port = parts.hostname or "", parts.port
        self._seconds, self._body_bytes = seconds, body_bytes
        self._headers = {protocol.PROTOCOL_HEADER: protocol.PROTOCOL}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._lock = lock_of()
        self._idle: list[_Connection] = []
        in_children(self, Client._in_child)

    def _in_child(self) -> None:
        """Open connections of its own: the answers on these are the parent's."""
        self._idle = []

    def ask(
        self, doing: str, method: str, path: str, pieces: Sequence[Any] = (), kind: str = protocol.JSON
    ) -> tuple[Head, dict[str, Array]]:
        """Send a request and return its answer: a head, and arrays if it has any.

        Args:
            doing: What it is, for messages: `execute`.
            method: Of HTTP.
            path: Of `protocol`.
            pieces: The body, in pieces.
            kind: Of the body.

        Raises:
            RemoteError: Nobody is there, or the answer does not come, comes too late, or is not one of this protocol.
            UnknownAtServerError: It does not know what is asked for.
            BrainsmithError: What the target raised there, as far as its class is known here.
        """
        headers = {**self._headers, "Content-Type": kind, "Content-Length": str(sum(map(len, pieces)))}
        connection = self._kept() or self._opened()
        while True:
            try:
                response = connection.exchange(method, path, pieces, headers, self._seconds)
            except _ENDED as error:
                connection.close()
                if not connection.was_perhaps_closed():
                    raise self._broke(doing, error) from error
                try:  # the server closed it while it was idle: that says nothing of this request
                    connection = self._opened()
                except RemoteError:
                    raise self._broke(doing, error) from error
            except TimeoutError as error:
                connection.close()
                raise self._late(doing) from error
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                raise (
                    self._broke(doing, error)
                    if isinstance(error, OSError)
                    else self._wrong(doing, f"no HTTP ({type(error).__name__})")
                ) from error
            else:
                return self._answer(doing, connection, response)

    def close(self) -> None:
        """Close all connections that are idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _kept(self) -> _Connection | None:
        """Return a connection that is open and was used before, if there is one."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if connection.is_quiet():
                return connection
            connection.close()  # the server closed it, or was started anew

    def _opened(self) -> _Connection:
        """Return a new connection."""
        connection = _Connection(self._host, self._port, min(self._seconds, _CONNECT_SECONDS))
        try:
            connection.connect()
        except (OSError, UnicodeError) as error:
            connection.close()
            raise RemoteError(
                f"nobody serves a target at {self.url}: {_reason(error)}; start one there with brainsmith serve-target "
                "TARGET, or say with BRAINSMITH_REMOTE_URL or url= where it is"
            ) from error
        return connection

    def _answer(
        self, doing: str, connection: _Connection, response: http.client.HTTPResponse
    ) -> tuple[Head, dict[str, Array]]:
        """Read an answer; the connection is kept if nothing is left on it."""
        complete = False
        try:
            self._check_version(doing, response)
            found = self._read(doing, response)
            complete = not response.will_close
        except TimeoutError as error:
            raise self._late(doing) from error
        except (OSError, http.client.HTTPException) as error:
            raise self._broke(doing, error) from error
        except CutShortError as error:
            raise self._broke(doing, error) from error
        except WireError as error:
            raise self._wrong(doing, str(error)) from error
        finally:
            response.close()
            if complete:
                connection.rest()
                with self._lock:
                    self._idle.append(connection)
            else:
                connection.close()
        if response.status != http.client.OK:
            raise self._told(doing, response.status, found[0])
        return found

    def _check_version(self, doing: str, response: http.client.HTTPResponse) -> None:
        version = response.getheader(protocol.PROTOCOL_HEADER)
        if version is None:
            raise WireError(f"no {protocol.PROTOCOL_HEADER} beside status {response.status}")
        if version != protocol.PROTOCOL:
            raise RemoteError(
                f"{self.url} speaks version {version} of the protocol, and this client {protocol.PROTOCOL}: install the "
                "same version of brainsmith at both ends"
            )

    def _read(self, doing: str, response: http.client.HTTPResponse) -> tuple[Head, dict[str, Array]]:
        length = response.length
        is_frame = response.getheader("Content-Type") == protocol.FRAME and response.status == http.client.OK
        if length is None:
            raise WireError("no Content-Length")
        most = self._body_bytes if is_frame else _JSON_BYTES
        if length > most:
            raise RemoteError(
                f"{self.url} answers {doing} with {length:,} bytes, and at most {most:,} are taken: give fewer samples at "
                "once, or a larger limit_mb="
            )
        if is_frame:
            return decode(response, length)
        return from_json(read_bytes(response, length)), {}

    def _told(self, doing: str, status: int, head: Head) -> Exception:
        """Return the error that the server tells of."""
        kind, message = head.get("error"), head.get("message")
        if not isinstance(kind, str) or not isinstance(message, str):
            return self._wrong(doing, f"no message beside status {status}")
        if kind in (protocol.UNKNOWN_MODEL, protocol.UNKNOWN_PREPARED):
            return UnknownAtServerError(message)
        if kind == "InputError":
            return protocol.ERRORS[kind](message)
        if kind == protocol.TOKEN:
            return RemoteError(
                f"{self.url} lets nobody in without its token: {message}; set BRAINSMITH_REMOTE_TOKEN or "
                "remote_token_file to the one with which the server was started"
            )
        if kind == protocol.VERSION:
            return RemoteError(
                f"{self.url} does not speak version {protocol.PROTOCOL} of the protocol: install the same version of "
                "brainsmith at both ends"
            )
        return protocol.ERRORS.get(kind, RemoteError)(f"{self.url}: {message}")

    def _late(self, doing: str) -> RemoteError:
        return RemoteError(
            f"{self.url} did not answer {doing} within {self._seconds:g} s; BRAINSMITH_REMOTE_TIMEOUT or timeout= allows "
            "more"
        )

    def _broke(self, doing: str, error: Exception) -> RemoteError:
        return RemoteError(
            f"{self.url} broke off in {doing}: {_reason(error)}; see there why it ended, and start it again with "
            "brainsmith serve-target"
        )

    def _wrong(self, doing: str, what: str) -> RemoteError:
        return RemoteError(
            f"{self.url} answers {doing} as no brainsmith serve-target does: {what}; see what listens there"
        )


class _Connection(http.client.HTTPConnection):
    """A connection whose every request has one deadline."""

    def __init__(self, host: str, port: int | None, seconds: float) -> None:
        super().__init__(host, port, timeout=seconds)
        self._deadline = Deadline(seconds)
        self._rested_at: float | None = None
        self._idle_seconds = 0.0
        self._sent_at = 0.0

    def rest(self) -> None:
        """Be idle from now on."""
        self._rested_at = monotonic()

    def is_quiet(self) -> bool:
        """Tell whether the server neither closed it nor says anything of its own accord."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.sock, selectors.EVENT_READ)
            return not selector.select(0)

    def was_perhaps_closed(self) -> bool:
        """Tell whether a request on which it ended without an answer met a connection that the server had closed.

        It had been idle for a while then, and learned of its end at once; otherwise the server ended in the request,
        and to send that again could end the next one too.
        """
        return self._idle_seconds >= _IDLE_SECONDS and monotonic() - self._sent_at <= _AT_ONCE_SECONDS

    def connect(self) -> None:
        """Connect; from then on the deadline holds."""
        super().connect()
        self.sock: Any = TimedSocket(self.sock, self._deadline)

    def exchange(
        self, method: str, path: str, pieces: Sequence[Any], headers: dict[str, str], seconds: float
    ) -> http.client.HTTPResponse:
        """Send a request and return its answer, whose body is not read yet."""
        self._deadline.restart(seconds)
        self._sent_at = monotonic()
        self._idle_seconds = 0.0 if self._rested_at is None else self._sent_at - self._rested_at
        try:
            self.request(method, path, body=iter(gathered(list(pieces))) if pieces else None, headers=headers)
        except (BrokenPipeError, ConnectionResetError):
            return self.getresponse()  # the server may have said why it takes no more
        return self.getresponse()


_ENDED = (ConnectionError, http.client.RemoteDisconnected)


def _reason(error: BaseException) -> str:
    if isinstance(error, CutShortError):
        return f"its answer is cut short, {error}"
    if isinstance(error, TimeoutError):
        return "it does not answer"
    if isinstance(error, socket.gaierror):
        return "there is no such host"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
