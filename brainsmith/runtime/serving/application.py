"""What the server answers: a request is checked before it is read, and read before it is worked on."""

from __future__ import annotations

import asyncio
import re
import threading
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from brainsmith.errors import BrainsmithError, WireError
from brainsmith.monitoring.loopback import is_loopback_name
from brainsmith.monitoring.needed import INSTALL, has_prometheus
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.plugin_loading import describe_error
from brainsmith.runtime.serving import protocol
from brainsmith.runtime.serving.gate import REFUSAL, Gate
from brainsmith.runtime.serving.protocol import RefusedError
from brainsmith.runtime.serving.served_counts import ServedCounts
from brainsmith.runtime.serving.token import is_token
from brainsmith.runtime.serving.wire import decode, encode, from_json, to_json
from brainsmith.runtime.target_log import warn
from brainsmith.shown import typed_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from brainsmith.monitoring.families import Source
    from brainsmith.runtime.serving.service import Service

_CONTENT = re.compile(r"[0-9a-f]{1,128}")
STALL_SECONDS = 10.0
"""How long nothing of a body may come."""


class Application:
    """Answers requests for a service, in one event loop.

    Args:
        service: The target.
        token: What clients must know; nothing if they are of this machine.

    Attributes:
        app: Starlette's.
        room: Where bodies are read.
    """

    def __init__(self, service: Service, token: str) -> None:
        self.service, self.limits = service, service.limits
        self._token = token
        self.counts = ServedCounts(service.info.name)
        self._figures: list[Source] = []
        self._places = asyncio.Semaphore(self.limits.requests)
        self.room = Room(self.limits.read_bytes)
        model = protocol.MODELS + "{content}"
        routes = [
            Route(protocol.TARGET, self._describe, methods=["GET"]),
            Route(model, self._model, methods=["GET", "PUT"]),
            Route(protocol.PREPARE, self._prepare, methods=["POST"]),
            Route(protocol.EXECUTE, self._execute, methods=["POST"]),
            Route(protocol.METRICS, self._metrics, methods=["GET"]),
        ]
        gate = Middleware(Gate, check=self._check, refused=_refused, counts=self.counts)
        answers = dict.fromkeys((BrainsmithError, HTTPException, ClientDisconnect, Exception), _refused)
        self.app = Starlette(routes=routes, middleware=[gate], exception_handlers=answers)
        self.app.router.redirect_slashes = False

    async def all_done_within(self, seconds: float) -> bool:
        """Wait until nothing is being worked on; return whether that came. Afterwards nothing is worked on any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for _ in range(self.limits.requests):
                    await self._places.acquire()
                return True
        return False

    def _check(self, request: Request) -> None:
        """Refuse, before anything of its body is read, a request that may not be made."""
        headers, limit = request.headers, self.limits.body_bytes
        if self._token:
            if not is_token(headers.get("Authorization", ""), self._token):
                what = "is wrong" if "Authorization" in headers else "is missing"
                raise RefusedError(401, f"the token {what}", protocol.TOKEN, {"WWW-Authenticate": "Bearer"})
        elif not is_loopback_name(headers.get("Host", "")):
            what = "without a token only requests to localhost are served"
            raise RefusedError(403, what)
        version = headers.get(protocol.PROTOCOL_HEADER)
        if version != protocol.PROTOCOL and request.scope["path"] != protocol.METRICS:
            what = f"{protocol.PROTOCOL_HEADER} must be {protocol.PROTOCOL}, not {version!r}"
            raise RefusedError(400, what, protocol.VERSION)
        length = int(headers.get("Content-Length", "0"))
        if request.method == "GET" and length:
            raise RefusedError(400, "GET takes no body")
        needs_length = request.method in ("PUT", "POST")
        if "Transfer-Encoding" in headers or (needs_length and "Content-Length" not in headers):
            raise RefusedError(411, "a request with a body must state its Content-Length")
        if length > limit:
            what = f"a request of {length:,} bytes is too large: at most {limit:,} are accepted"
            raise RefusedError(413, f"{what}; --limit-mb of the server allows more")

    async def _describe(self, request: Request) -> Response:
        return _json(await _in_thread(self.service.describe))

    async def _model(self, request: Request) -> Response:
        content = request.path_params["content"]
        if not _CONTENT.fullmatch(content):
            raise HTTPException(404)
        if request.method != "PUT":
            return _json({"known": self.service.has(content)})
        return _json(await self._work(request, partial(self.service.store, content)))

    async def _prepare(self, request: Request) -> Response:
        return _json(await self._work(request, lambda body: self.service.prepare(_read(from_json, body))))

    async def _execute(self, request: Request) -> Response:
        data = await self._work(request, lambda body: _encoded(self.service.execute(*_read(decode, body))))
        return Response(data, media_type=protocol.ARRAYS)

    async def _metrics(self, request: Request) -> Response:
        if not has_prometheus():
            raise RefusedError(501, f"metrics need prometheus-client at the server: {INSTALL}")
        accept = request.headers.get("Accept", "")
        body, media_type = await _in_thread(partial(self._exposed, accept))
        return Response(body, media_type=media_type)

    def _exposed(self, accept: str) -> tuple[bytes, str]:
        """Return the figures of the hub, of this process and of what it serves; the first call imports what it takes."""
        from brainsmith.monitoring.families import WorkMetrics, exposition
        from brainsmith.monitoring.hub_metrics import HubMetrics

        if not self._figures:
            self._figures = [HubMetrics(get_plugin_manager()), WorkMetrics(), self.counts]
        return exposition(self._figures, accept)

    async def _work(self, request: Request, work: Callable[[bytes], Any]) -> Any:
        """Read the body, and work on it in one of the places: a client that sends slowly takes none."""
        limits, length = self.limits, int(request.headers["Content-Length"])
        end = asyncio.get_running_loop().time() + limits.seconds
        within = f"within {limits.seconds:g} s"
        no_room = (
            f"no memory for a request of {length:,} bytes became free {within}, because others are being read"
        )
        async with _until(end, _busy(no_room)):
            await self.room.take(length)
        try:
            body = await self._body(request, end)
            no_place = f"the target did not become free for a request {within} ({limits.requests} in all)"
            async with _until(end, _busy(no_place)):
                await self._places.acquire()
        finally:
            self.room.give(length)
        goes_on = "it goes on, so the same request may succeed later; --timeout of the server allows more"
        async with _until(end, RefusedError(504, f"the target did not finish {within}; {goes_on}")):
            return await _in_thread(partial(work, body), self._places.release)

    async def _body(self, request: Request, end: float) -> bytes:
        pieces: list[bytes] = []
        stream, clock = aiter(request.stream()), asyncio.get_running_loop()
        late = RefusedError(408, f"the request did not arrive completely within {self.limits.seconds:g} s")
        stalled = RefusedError(408, f"no data of the request arrived for {STALL_SECONDS:g} s")
        while True:
            patience = clock.time() + STALL_SECONDS
            async with _until(min(end, patience), late if end <= patience else stalled):
                piece = await anext(stream, None)
            if piece is None:
                return b"".join(pieces)
            pieces.append(piece)


class Room:
    """The memory in which the bodies of requests are read, and wait to be worked on.

    Args:
        count: Its bytes.
    """

    def __init__(self, count: int) -> None:
        self.left = self.count = count
        self._given = asyncio.Event()

    async def take(self, count: int) -> None:
        """Take some bytes of it, waiting for them; no more than there are in all."""
        while self.left < count:
            self._given.clear()
            await self._given.wait()
        self.left -= count

    def give(self, count: int) -> None:
        """Give them back."""
        self.left += count
        self._given.set()


@asynccontextmanager
async def _until(end: float, refusal: RefusedError) -> AsyncIterator[None]:
    """Wait for something until a time of the loop's clock.

    Raises:
        RefusedError: It did not come.
    """
    try:
        async with asyncio.timeout_at(end):
            yield
    except TimeoutError as error:
        raise refusal from error


async def _in_thread(work: Callable[[], Any], done: Callable[[], None] = lambda: None) -> Any:
    """Work in a thread of its own; the server can close without waiting for it, since Python cannot end a thread.

    Args:
        work: What is done.
        done: Called when it is over, however long that takes.

    Raises:
        BrainsmithError: What it raised.
        RefusedError: It raised something else.
    """
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[Any] = loop.create_future()

    def finish(result: Any, error: BrainsmithError | None) -> None:
        done()
        if waiting.done():  # it took too long
            return
        if error is None:
            waiting.set_result(result)
        else:
            waiting.set_exception(error)

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BrainsmithError as raised:
            error = raised
        except BaseException as raised:  # noqa: BLE001  (whatever a target raises, the server lives on)
            error = _failed(raised)
        with suppress(RuntimeError):  # the server was closed, and its loop with it
            loop.call_soon_threadsafe(finish, result, error)

    try:
        threading.Thread(target=run, name="brainsmith-request", daemon=True).start()
    except BaseException:
        done()
        raise
    return await waiting


def _busy(what: str) -> RefusedError:
    return RefusedError(503, f"{what}: try again later", headers={"Retry-After": "1"})


def _failed(error: BaseException) -> RefusedError:
    warn("a request failed: %s", describe_error(error))
    return RefusedError(500, f"it failed: {typed_text(error)}", "TargetError")


async def _refused(request: Request, error: Exception) -> Response:
    """Say why there is no result."""
    path = request.scope["path"][:200]
    match error:
        case RefusedError():
            refusal = error
        case BrainsmithError():
            refusal = RefusedError(422, str(error), protocol.kind_of(error))
        case HTTPException(status_code=405):
            refusal = RefusedError(405, f"{path} does not take {request.method}")
        case HTTPException():
            refusal = RefusedError(error.status_code, f"there is nothing at {path!r}")
        case ClientDisconnect():
            refusal = RefusedError(400, "the connection ended before the request was complete")
        case _:
            refusal = _failed(error)
    request.scope[REFUSAL] = refusal.kind
    return _json({"error": refusal.kind, "message": str(refusal)}, refusal.status, refusal.headers)


def _json(plain: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(to_json(plain), status, headers, protocol.JSON)


def _read(read: Callable[[bytes], Any], body: bytes) -> Any:
    try:
        return read(body)
    except WireError as error:
        raise RefusedError(400, f"the body is malformed: {error}") from error


def _encoded(outputs: Any) -> bytes:
    try:
        return encode({}, outputs)
    except WireError as error:
        raise RefusedError(500, f"the outputs cannot be sent: {error}", "TargetError") from error
