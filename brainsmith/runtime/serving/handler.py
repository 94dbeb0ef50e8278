"""One connection of a client: its requests are checked before they are read, and read before they are executed."""

from __future__ import annotations

import io
import ipaddress
import re
import socket
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BrainsmithError, WireError
from brainsmith.plugin.loading import describe_error
from brainsmith.runtime.log import note, warn
from brainsmith.runtime.serving import protocol
from brainsmith.runtime.serving.limits import Job
from brainsmith.runtime.serving.protocol import RefusedError
from brainsmith.runtime.serving.timed import Deadline, StalledError, TimedReader
from brainsmith.runtime.serving.token import is_token
from brainsmith.runtime.serving.wire import decode, encode, from_json, gathered, read_bytes, to_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.runtime.serving.server import TargetServer

_CONTENT = re.compile(r"[0-9a-f]{1,128}")
_LENGTH = re.compile(r"[0-9]{1,15}")
_DRAIN_SECONDS = 2.0
STALL_SECONDS = 10.0
"""How long nothing of a body may come."""
_TOLD_OTHERWISE = {501: 405, 505: 400}
"""Statuses by which Python's module blames the server for what the client sent, and those by which we do not."""


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection, one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: TargetServer

    def setup(self) -> None:
        """Read against a deadline."""
        super().setup()
        self.deadline = Deadline(self.server.limits.seconds)
        self.rfile.close()
        self.reader = TimedReader(self.connection, self.deadline)
        self.rfile = io.BufferedReader(self.reader)
        self.unread = 0

    def handle_one_request(self) -> None:
        """Answer one request; waiting for it and its head have the time of a request too."""
        self.deadline.restart(self.server.limits.seconds)
        self.connection.settimeout(self.server.limits.seconds)
        super().handle_one_request()

    def do_GET(self) -> None:
        """Say what the target is, or whether there is a model."""
        self._answer()

    do_PUT = do_POST = do_GET  # noqa: N815  (named by `http.server`)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is not an HTTP request."""
        code = _TOLD_OTHERWISE.get(int(code), int(code))
        self._refuse(RefusedError(code, f"it is not an HTTP request: {message or self.responses[code][0]}"))

    def log_message(self, format: str, *args: Any) -> None:
        """Note what was asked, where that is wanted."""
        note("%s " + format, self.client_address[0], *args)

    def version_string(self) -> str:
        """Return what the server calls itself."""
        return "brainsmith"

    def _answer(self) -> None:
        self.deadline.restart(self.server.limits.seconds)
        self.unread = 0
        try:
            self._check()
            kind, pieces = self._result()
            self._send(200, kind, pieces)
        except RefusedError as refusal:
            self._refuse(refusal)
        except WireError as error:
            self._refuse(RefusedError(400, f"the body is malformed: {error}"))
        except StalledError as error:
            self._refuse(RefusedError(408, f"nothing of the request came for {error.seconds:g} s"))
        except TimeoutError:
            seconds = self.server.limits.seconds
            self._refuse(RefusedError(408, f"the request did not come within {seconds:g} s"))
        except BrainsmithError as error:
            self._refuse(RefusedError(422, str(error), protocol.kind_of(error)))
        except OSError:  # the client is gone
            self.close_connection = True
        except Exception as error:  # noqa: BLE001  (whatever a target raises, the server lives on)
            warn("a request failed: %s", describe_error(error))
            self._refuse(RefusedError(500, f"it failed: {type(error).__name__}: {error}", "TargetError"))

    def _check(self) -> None:
        """Refuse, before anything of its body is read, a request that may not be made."""
        lengths = self.headers.get_all("Content-Length") or []
        if len(lengths) > 1 or (lengths and not _LENGTH.fullmatch(lengths[0])):
            raise RefusedError(400, f"Content-Length must be a number of bytes, not {', '.join(lengths)}")
        self.unread = int(lengths[0]) if lengths else 0
        if self.server.token:
            if not is_token(self.headers.get("Authorization", ""), self.server.token):
                what = "is wrong" if "Authorization" in self.headers else "is missing"
                raise RefusedError(401, f"the token {what}", protocol.TOKEN, {"WWW-Authenticate": "Bearer"})
        elif not _is_local(self.headers.get("Host", "")):
            raise RefusedError(
                403, "without a token only clients that name this machine localhost are served"
            )
        version = self.headers.get(protocol.PROTOCOL_HEADER)
        if version != protocol.PROTOCOL:
            raise RefusedError(
                400,
                f"{protocol.PROTOCOL_HEADER} must be {protocol.PROTOCOL}, not {version!r}",
                protocol.VERSION,
            )
        if self.command == "GET" and self.unread:
            raise RefusedError(400, "GET takes no body")
        if "Transfer-Encoding" in self.headers or (self.command != "GET" and not lengths):
            raise RefusedError(411, "a body must come with its Content-Length")
        if self.unread > self.server.limits.body_bytes:
            raise RefusedError(
                413,
                f"a request of {self.unread:,} bytes is too large: at most {self.server.limits.body_bytes:,} are "
                "taken; --limit-mb of the server allows more",
            )

    def _result(self) -> tuple[str, list[Any]]:
        """Return the kind of the answer and its pieces."""
        service = self.server.service
        content = self.path.removeprefix(protocol.MODELS)
        is_model = content != self.path and _CONTENT.fullmatch(content)
        match self.command, self.path:
            case "GET", protocol.TARGET:
                return protocol.JSON, [to_json(service.describe())]
            case "GET", _ if is_model:
                return protocol.JSON, [to_json({"known": service.has(content)})]
            case "PUT", _ if is_model:
                return protocol.JSON, [to_json(self._work(self._body, partial(service.store, content)))]
            case "POST", protocol.PREPARE:
                return protocol.JSON, [to_json(self._work(lambda: from_json(self._body()), service.prepare))]
            case "POST", protocol.EXECUTE:
                outputs = self._work(self._frame, lambda frame: service.execute(*frame))
                return protocol.FRAME, _encoded(outputs)
        if is_model or self.path in (protocol.TARGET, protocol.PREPARE, protocol.EXECUTE):
            raise RefusedError(405, f"{self.path} does not take {self.command}")
        raise RefusedError(404, f"there is nothing at {self.path[:200]!r}")

    def _work(self, read: Callable[[], Any], work: Callable[[Any], Any]) -> Any:
        """Read the body, and work on it in one of the places: a client that sends slowly takes none."""
        server = self.server
        with server.room.of(self.unread, self.deadline.left()):
            with self.reader.impatient(STALL_SECONDS):
                body = read()
            server.places.take(self.deadline.left())
        job = None
        try:
            job = Job(lambda: work(body), server.places.give)
        finally:
            if job is None:
                server.places.give()
        return job.result(self.deadline.left(), server.limits.seconds)

    def _body(self) -> bytes:
        length, self.unread = self.unread, 0
        return read_bytes(self.rfile, length)

    def _frame(self) -> tuple[Any, Any]:
        length, self.unread = self.unread, 0
        try:
            return decode(self.rfile, length)
        except WireError:
            self.unread = length  # some of it, and nobody knows how much
            raise

    def _send(self, status: int, kind: str, pieces: list[Any], headers: dict[str, str] | None = None) -> None:
        self.request_version = self.protocol_version  # whatever the client spoke, it gets a status
        to_client, self.wfile = self.wfile, io.BytesIO()
        self.send_response(status)
        self.send_header(protocol.PROTOCOL_HEADER, protocol.PROTOCOL)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(sum(map(len, pieces))))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        head, self.wfile = self.wfile.getvalue(), to_client
        self.connection.settimeout(self.server.limits.seconds)
        for piece in gathered([head, *pieces]):
            self.connection.sendall(piece)

    def _refuse(self, refusal: RefusedError) -> None:
        """Say why there is no result. A connection whose rest may look like a request is closed."""
        headers = dict(refusal.headers)
        if self.unread or refusal.status in (400, 408, 411, 413, 414, 431):
            self.close_connection = True
            headers["Connection"] = "close"
        text = to_json({"error": refusal.kind, "message": str(refusal)})
        try:
            self._send(refusal.status, protocol.JSON, [text], headers)
            if self.close_connection:
                self._drain()
        except OSError:  # the client is gone
            self.close_connection = True

    def _drain(self) -> None:
        """Take what still comes, for a while: a socket closed before would take the answer with it."""
        self.connection.shutdown(socket.SHUT_WR)
        self.deadline.restart(_DRAIN_SECONDS)
        buffer = bytearray(1 << 16)
        while self.rfile.readinto(buffer):
            pass


def _encoded(outputs: Any) -> list[Any]:
    try:
        return encode({}, outputs)
    except WireError as error:
        raise RefusedError(500, f"the outputs cannot be sent: {error}", "TargetError") from error


def _is_local(host: str) -> bool:
    """Tell whether the `Host` of a request is this machine; a web page's own name is not, wherever that leads."""
    name = re.sub(r":\d*$", "", host.strip()).strip("[]").lower()
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
