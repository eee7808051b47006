"""CORS: which origins may use which two addresses from pages of other sites."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.errors import DomainError

_OPEN = ("/v1/task", "/v1/reports")  # no other address is open to other origins


class CrossOrigin:
    """Lets pages of these origins read the task and send reports, without cookies."""

    def __init__(self, app: ASGIApp, origins: frozenset[str]) -> None:
        self._app = app
        self._open = CORSMiddleware(
            app,
            allow_origins=sorted(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
            expose_headers=["retry-after"],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        opened = scope["type"] == "http" and scope["path"] in _OPEN
        await (self._open if opened else self._app)(scope, receive, send)


def checked_origin(origin: str) -> str:
    """The origin as browsers write it; raises for anything else, such as an address with a path."""
    parts = urlsplit(origin)
    if origin == "*" or (
        parts.scheme in ("http", "https") and parts.netloc and origin == f"{parts.scheme}://{parts.netloc}"
    ):
        return origin
    raise DomainError(f"an origin is https:// and a host, such as https://survey.example, or *; got {origin!r}")
