"""The dashboard's answers: read-only, to this machine's own browser, which knows the token."""

from __future__ import annotations

import asyncio
import hmac
import time
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from brainsmith.dashboard.build_tree import PAGE, REPORT, FoundBuild
from brainsmith.dashboard.comparison_page import comparison_page
from brainsmith.dashboard.overview_page import MOST_COMPARED, overview_page, overview_parts
from brainsmith.graph_drawing.graph_svg import STYLE
from brainsmith.web.page import page_policy
from brainsmith.web.subject import read_files

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from brainsmith.dashboard.build_tree import BuildTree

COOKIE = "brainsmith-dashboard-"
"""And the port: browsers give a cookie to all ports of a machine."""
_HEADERS = {
    b"cache-control": b"no-store",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
    b"cross-origin-resource-policy": b"same-origin",
}
_SHOWN = {
    ".json": "application/json",
    ".log": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
"""What is shown in the browser besides a report's page; other files are saved."""


def dashboard_application(tree: BuildTree, token: str, hosts: frozenset[str]) -> Starlette:
    """Return the application.

    Args:
        tree: The builds.
        token: What the first address must hold; a cookie holds it from then on.
        hosts: What the header `Host` may be: with another one, a page of somebody else's asks under a name of its own.
    """
    pages = Pages(tree)
    routes = [
        Route("/", pages.overview, methods=["GET"]),
        Route("/builds", pages.parts, methods=["GET"]),
        Route("/compare", pages.compare, methods=["GET"]),
        Route("/build/{path:path}/-/{file:path}", pages.file, methods=["GET"]),
        Route("/dashboard.css", _style, methods=["GET"]),
        Route("/dashboard.js", _script, methods=["GET"]),
    ]
    return Starlette(routes=routes, middleware=[Middleware(RequestGuard, token=token, hosts=hosts)])


class RequestGuard:
    """Lets in who knows the token, under this server's own names, and gives every answer its headers."""

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str]) -> None:
        self._app, self._token, self._hosts = app, token, hosts
        self._cookie = COOKIE + min(hosts).rpartition(":")[2]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS.items()]
            await send(message)

        answer = self._refused(scope)
        await (answer or self._app)(scope, receive, send_with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is not let in, or that brings the token; None for one that is let in."""
        from starlette.requests import Request

        request = Request(scope)
        if request.headers.get("host", "") not in self._hosts:
            return PlainTextResponse("this server has another name", 421)
        if self._is_token(request.cookies.get(self._cookie, "")):
            return None
        if request.url.path == "/" and self._is_token(request.query_params.get("token", "")):
            answer = RedirectResponse("/", 303)
            answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
            return answer
        return PlainTextResponse("open the address that brainsmith dashboard printed: it has the token", 403)

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "replace"), self._token.encode())


class Pages:
    """The pages of a tree's builds."""

    def __init__(self, tree: BuildTree) -> None:
        self._tree = tree

    async def overview(self, request: Request) -> Response:
        """Return the list of builds."""
        builds = await asyncio.to_thread(self._tree.builds)
        return HTMLResponse(
            _encoded(overview_page(str(self._tree.root), builds, time.time(), self._tree.is_cut))
        )

    async def parts(self, request: Request) -> Response:
        """Return the builds alone, for a page that is there already."""
        builds = await asyncio.to_thread(self._tree.builds)
        return HTMLResponse(_encoded(overview_parts(builds, time.time(), self._tree.is_cut)))

    async def compare(self, request: Request) -> Response:
        """Return builds side by side."""
        paths = list(dict.fromkeys(request.query_params.getlist("build")))
        if not 2 <= len(paths) <= MOST_COMPARED:
            return PlainTextResponse(f"choose 2 to {MOST_COMPARED} builds", 400)
        found = []
        for path in paths:
            build = await asyncio.to_thread(self._tree.build, path)
            if build is None or build.state == "unreadable":
                return PlainTextResponse(f"there is no build {path} that can be read", 404)
            found.append(build)
        return HTMLResponse(_encoded(await asyncio.to_thread(comparison_page, found)))

    async def file(self, request: Request) -> Response:
        """Return a file that a build's report names."""
        build = await asyncio.to_thread(self._tree.build, request.path_params["path"])
        answer = (
            None if build is None else await asyncio.to_thread(self._file, build, request.path_params["file"])
        )
        return answer or PlainTextResponse("there is no such file of a build", 404)

    def _file(self, build: FoundBuild, name: str) -> Response | None:
        if name not in {PAGE, REPORT, *read_files(build.report)}:
            return None
        path = (self._tree.root / build.path / name).resolve()
        if not path.is_file() or not path.is_relative_to(self._tree.root):
            return None
        kind = _SHOWN.get(path.suffix) if name != PAGE else "text/html; charset=utf-8"
        headers = {} if kind else {"content-disposition": f"attachment; filename*=utf-8''{quote(path.name)}"}
        if name == PAGE:  # whoever made the build wrote it, and here it could read all other builds
            headers["content-security-policy"] = page_policy()
        return Response(path.read_bytes(), media_type=kind or "application/octet-stream", headers=headers)


async def _style(request: Request) -> Response:
    return Response(_resources()[0], media_type="text/css")


async def _script(request: Request) -> Response:
    return Response(_resources()[1], media_type="text/javascript")


@cache
def _resources() -> tuple[str, str]:
    root = files("brainsmith")
    sheets = ("web/report.css", "web/catalogue/catalogue.css", "dashboard/dashboard.css")
    style = "".join(root.joinpath(name).read_text("utf-8") for name in sheets) + STYLE
    return style, root.joinpath("dashboard/dashboard.js").read_text("utf-8")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
