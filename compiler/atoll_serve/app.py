# SPDX-License-Identifier: Apache-2.0
"""Which requests are answered: those of this computer's own page, by its secret address."""

import json
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from atoll_serve.desk import Desk
from atoll_serve.running import CPUS

ADDRESS = "127.0.0.1"
_STATIC = Path(__file__).parent / "static"
_FRAME = "default-src 'none'; frame-ancestors "
_POLICY = (
    f"{_FRAME}'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """Lets a request through that a page of this server makes, and no other.

    The address has a secret as its first part. `Host` must be this computer, or a page whose name
    was made to point here could ask; `Origin`, where there is one, must be this server.
    """

    def __init__(self, app: ASGIApp, secret: str, port: int) -> None:
        self._app = app
        self._secret = secret.encode()
        self._hosts = {f"{name}:{port}" for name in (ADDRESS, "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http" or not self._is_ours(Headers(scope=scope)):
            await PlainTextResponse("not from here\n", 403, _HEADERS)(scope, receive, send)
            return
        first, slash, rest = scope["path"].removeprefix("/").partition("/")
        if not slash or not secrets.compare_digest(first.encode(), self._secret):
            await PlainTextResponse("nothing is here\n", 404, _HEADERS)(scope, receive, send)
            return
        await self._app({**scope, "path": f"/{rest}", "root_path": ""}, receive, send)

    def _is_ours(self, headers: Headers) -> bool:
        hosts = headers.getlist("host")
        origins = headers.getlist("origin")
        return (
            len(hosts) == 1
            and hosts[0] in self._hosts
            and all(origin == f"http://{hosts[0]}" for origin in origins)
            and headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        )


def make_app(desk: Desk, secret: str, port: int) -> ASGIApp:
    """Return the server of one desk."""

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(desk.follow)
            app.state.group = group
            yield
            group.cancel_scope.cancel()

    async def report(_: Request) -> Response:
        policy = {"Content-Security-Policy": "frame-ancestors 'self'"}
        return Response(desk.html, headers=_HEADERS | policy, media_type="text/html")

    async def events(request: Request) -> Response:
        async def lines() -> AsyncIterator[str]:
            async for state in desk.states():
                yield f"data: {json.dumps(state)}\n\n"

        return StreamingResponse(lines(), headers=_HEADERS, media_type="text/event-stream")

    async def run(request: Request) -> Response:
        cpu = request.query_params.get("cpu", "")
        if cpu not in CPUS:
            return PlainTextResponse("no such simulator\n", 400, _HEADERS)
        app.state.group.start_soon(desk.run, cpu)
        return PlainTextResponse("", 202, _HEADERS)

    app = Starlette(
        routes=[
            *(Route(path, _serve_file(name), methods=["GET"]) for path, name in _FILES.items()),
            Route("/report", report, methods=["GET"]),
            Route("/events", events, methods=["GET"]),
            Route("/run", run, methods=["POST"]),
        ],
        lifespan=living,
    )
    app.router.redirect_slashes = False
    return Guard(app, secret, port)


def serve_until_interrupted(
    desk: Desk, secret: str, door: socket.socket, ready: Callable[[], None]
) -> None:
    """Answer whoever comes to a socket that listens; `ready` is called once Ctrl-C ends that."""
    settings = uvicorn.Config(
        make_app(desk, secret, door.getsockname()[1]),
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    _Server(settings, desk, ready).run(sockets=[door])


class _Server(uvicorn.Server):
    """Ends the streams of listeners first, which would never end by themselves."""

    def __init__(self, settings: uvicorn.Config, desk: Desk, ready: Callable[[], None]) -> None:
        super().__init__(settings)
        self._desk, self._ready = desk, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so; signals are heeded by then."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the desk, then what is open."""
        self._desk.close()
        await super().shutdown(sockets)


_FILES: Mapping[str, str] = {"/": "page.html", "/page.js": "page.js", "/page.css": "page.css"}
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


def _serve_file(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def respond(_: Request) -> Response:
        headers = _HEADERS | {"Content-Security-Policy": _POLICY}
        return Response(_text(name), headers=headers, media_type=_TYPES[Path(name).suffix])

    return respond


@cache
def _text(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")
