"""What stands before the answers: each request is counted, and refused before its body is read if it may not be made."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.requests import Request

from brainsmith.runtime.serving.protocol import RefusedError
from brainsmith.runtime.target_log import note

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from brainsmith.runtime.serving.served_counts import ServedCounts

DRAIN_SECONDS = 2.0
"""How long the rest of a refused body is read: a socket that is closed before takes the answer with it."""
REFUSAL = "brainsmith.refusal"
"""Under which a request has the kind of error that it was refused with."""


class Gate:
    """Lets through what may be asked, and takes nothing more from a connection on which a body was not read to its end.

    What is left of such a body may look like a request.

    Args:
        app: What answers.
        check: Raises a RefusedError for what may not be asked.
        refused: Gives the answer to a request that may not be.
        counts: Notes each request.
    """

    def __init__(
        self,
        app: ASGIApp,
        check: Callable[[Request], None],
        refused: Callable[[Request, Exception], Awaitable[Response]],
        counts: ServedCounts,
    ) -> None:
        self._app, self._check, self._refused, self._counts = app, check, refused, counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request, app = Request(scope), self._app
        note("%s %s %s", *(scope["client"] or ("?",))[:1], request.method, scope["raw_path"])
        counted = self._counts.begun(scope["path"])

        async def count_and_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                counted.status = message["status"]
            await send(message)

        body = _Body(request, receive, count_and_send)
        try:
            try:
                self._check(request)
            except RefusedError as refusal:
                app, body.is_left = await self._refused(request, refusal), True
            await app(scope, body.receive, body.send)
        finally:
            counted.end()
            if kind := scope.get(REFUSAL):
                self._counts.refused(kind, counted.status)


class _Body:
    """The body of a request, and the answer, which ends the connection if something of the body is left."""

    def __init__(self, request: Request, receive: Receive, send: Send) -> None:
        self._receive, self._send, headers = receive, send, request.headers
        self.is_left = "Transfer-Encoding" in headers or headers.get("Content-Length", "0") != "0"

    async def receive(self) -> Message:
        message = await self._receive()
        self.is_left = message["type"] == "http.request" and message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if self.is_left and message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        elif self.is_left and not message.get("more_body"):
            await self._send({**message, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    while self.is_left:
                        await self.receive()
            message = {"type": "http.response.body"}
        await self._send(message)
