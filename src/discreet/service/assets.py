"""The style sheet and the scripts of the collector's pages, all of them from this package."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from starlette.types import Receive, Scope, Send

from discreet.service.access import refuse

_TYPES = {".css": b"text/css; charset=utf-8", ".js": b"text/javascript; charset=utf-8"}

# The content security policy: pages load files from this collector only, and nothing inline.
CONTENT_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@cache
def assets() -> dict[str, tuple[bytes, bytes, str]]:
    """Content, type and version of every file that is served, by name."""
    found = {}
    for file in files("discreet.service").joinpath("static").iterdir():
        kind = _TYPES.get("." + file.name.rpartition(".")[2])
        if kind is not None:
            content = file.read_bytes()
            found[file.name] = (content, kind, hashlib.sha256(content).hexdigest()[:12])
    return found


def asset_address(name: str) -> str:
    """The file's address; each version has its own, so that no browser mixes two versions."""
    return f"/static/{name}?v={assets()[name][2]}"


async def serve_asset(scope: Scope, receive: Receive, send: Send) -> None:
    """``GET /static/{name}``."""
    name = scope["path_params"]["name"]
    if name not in assets():
        await refuse(send, 404, "not_found")
        return
    content, kind, version = assets()[name]
    current = f"v={version}".encode() == scope["query_string"]
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(content)).encode()),
        (b"cache-control", b"public, max-age=31536000, immutable" if current else b"no-cache"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})
