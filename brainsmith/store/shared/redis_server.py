"""Redis as a shared cache, in its own protocol (RESP): four commands over one connection.

The package `redis` is not used: it imports `asyncio` and `ssl`, which takes longer than a discovery from disk. TLS is not
spoken.
"""

from __future__ import annotations

import _socket
import os

from brainsmith import TYPE_CHECKING
from brainsmith.errors import SharedCacheError
from brainsmith.store.shared.deadline import in_time
from brainsmith.store.shared.envelope import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brainsmith.store.shared.deadline import Deadline

PORT = 6379
KEPT = 30 * 86400
"""Seconds for which an entry stays on the server unless it is written again."""

_LARGEST_REPLY = LARGEST + (1 << 20)
_LONGEST_LINE = 1 << 16
_MOST_KEYS = 1 << 16
_DEEPEST = 4
_CHUNK = 1 << 18


class RedisServer:
    """A Redis server.

    Args:
        url: `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`.

    Raises:
        ValueError: It is another kind of address; the text says why.
    """

    def __init__(self, url: str) -> None:
        rest = url.partition("://")[2]
        account, at, place = rest.rpartition("@")
        host, _, database = place.partition("/")
        self._host, self._port = _host_and_port(host)
        self._database = database.strip("/")
        if self._database and not (self._database.isascii() and self._database.isdigit()):
            raise ValueError(f"{self._database!r} is not the number of a database")
        self._account = [_unquoted(part) for part in account.split(":", 1)] if at else []
        self._socket: _socket.socket | None = None
        self._owner = 0

    def get(self, key: str, deadline: Deadline) -> bytes | None:
        """Return what lies under a key; None if nothing does.

        Raises:
            OSError: The server cannot be asked, or does not answer as Redis does.
        """
        found = self._ask(deadline, b"GET", key.encode())
        if found is not None and not isinstance(found, bytes):
            raise SharedCacheError("it does not answer as Redis does")
        return found

    def put(self, key: str, data: bytes, deadline: Deadline) -> None:
        """Write under a key.

        Raises:
            OSError: As `get`.
        """
        self._ask(deadline, b"SET", key.encode(), data, b"EX", b"%d" % KEPT)

    def keys(self, prefix: str, deadline: Deadline) -> Iterator[str]:
        """Yield the keys that begin with a text, which has no special letters.

        Raises:
            OSError: As `get`.
        """
        cursor = b"0"
        seen: set[str] = set()
        while True:
            reply = self._ask(deadline, b"SCAN", cursor, b"MATCH", f"{prefix}*".encode(), b"COUNT", b"1000")
            try:
                cursor, names = reply
                found = {name.decode("ascii", "replace") for name in names}
            except (TypeError, ValueError, AttributeError):
                raise SharedCacheError("it does not answer as Redis does") from None
            deadline.moved(1 << 16)  # a large server takes many answers
            yield from sorted(found - seen)
            seen |= found
            if cursor == b"0":
                return

    def close(self) -> None:
        """End the connection."""
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_socket"):  # its address was one
            self.close()

    def _ask(self, deadline: Deadline, *words: bytes) -> Any:
        """Send a command and return its reply, over a new connection where there is none, or the old one has ended."""
        if self._owner != os.getpid():  # a forked child must not answer on its parent's line
            self.close()
        kept = self._socket is not None
        try:
            return self._exchange(deadline, *words)
        except (ConnectionError, EOFError):
            self.close()
            if not kept:
                raise SharedCacheError("it ended the connection") from None
        except BaseException:
            self.close()
            raise
        try:
            return self._exchange(deadline, *words)
        except BaseException:
            self.close()
            raise

    def _exchange(self, deadline: Deadline, *words: bytes) -> Any:
        if self._socket is None:
            self._connect(deadline)
        assert self._socket is not None
        try:
            _send(self._socket, words, deadline)
            return _Reply(self._socket, deadline).read()
        except TimeoutError:
            raise deadline.missed() from None

    def _connect(self, deadline: Deadline) -> None:
        try:
            family, address = self._address(deadline)
            connection = _socket.socket(family, _socket.SOCK_STREAM)
            self._socket, self._owner = connection, os.getpid()
            connection.settimeout(deadline.left())
            connection.connect(address)
            connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        except TimeoutError:
            raise deadline.missed() from None
        except OSError as error:
            if isinstance(error, SharedCacheError):
                raise
            raise SharedCacheError(f"it cannot be reached: {error.strerror or error}") from None
        if self._account:
            self._exchange(deadline, b"AUTH", *(part.encode() for part in self._account if part))
        if self._database:
            self._exchange(deadline, b"SELECT", self._database.encode())

    def _address(self, deadline: Deadline) -> tuple[int, Any]:
        """Return family and address; a name is looked up in time, too."""
        for family in (_socket.AF_INET, _socket.AF_INET6):
            try:
                _socket.inet_pton(family, self._host)
            except OSError:
                continue
            return family, (self._host, self._port)
        host, port = self._host, self._port
        found = in_time(deadline, lambda moved: _socket.getaddrinfo(host, port, 0, _socket.SOCK_STREAM))
        family, *_, address = min(
            found, key=lambda one: one[0]
        )  # IPv4 first: servers often listen there only
        return family, address


def _host_and_port(text: str) -> tuple[str, int]:
    host, bracket, rest = text.removeprefix("[").partition("]") if text.startswith("[") else ("", "", "")
    if bracket:
        port = rest.removeprefix(":")
    else:
        host, _, port = text.partition(":")
    if not host:
        raise ValueError("it names no host")
    if not port:
        return host, PORT
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"{port!r} is not a port")
    return host, int(port)


def _unquoted(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote  # hardly any password needs it

    return unquote(text)


def _send(connection: _socket.socket, words: tuple[bytes, ...], deadline: Deadline) -> None:
    data = b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)
    view = memoryview(data)
    while view:
        connection.settimeout(deadline.left())
        sent = connection.send(view[:_CHUNK])
        deadline.moved(sent)
        view = view[sent:]


class _Reply:
    """Reads one reply; sizes that the server states are limited."""

    def __init__(self, connection: _socket.socket, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline
        self._buffer = bytearray()

    def read(self, depth: int = 0) -> Any:
        """Return a text, a number, a list, or None.

        Raises:
            SharedCacheError: The server refuses, or is no Redis.
        """
        line = self._line()
        sort, rest = line[:1], line[1:]
        if sort == b"+":
            return rest
        if sort == b"-":
            raise SharedCacheError(f"it answers {rest.decode('ascii', 'replace')[:200]!r}")
        try:
            number = int(rest)
        except ValueError:
            number = -2
        if sort == b":":
            return number
        if number == -1 and sort in (b"$", b"*"):
            return None
        if sort == b"$" and 0 <= number <= _LARGEST_REPLY:
            return self._exactly(number + 2)[:-2]
        if sort == b"*" and 0 <= number <= _MOST_KEYS and depth < _DEEPEST:
            return [self.read(depth + 1) for _ in range(number)]
        raise SharedCacheError("it does not answer as Redis does")

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > _LONGEST_LINE:
                raise SharedCacheError("it does not answer as Redis does")
            self._more()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line

    def _exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._more()
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def _more(self) -> None:
        self._connection.settimeout(self._deadline.left())
        data = self._connection.recv(_CHUNK)
        if not data:
            raise EOFError
        self._deadline.moved(len(data))
        self._buffer += data
