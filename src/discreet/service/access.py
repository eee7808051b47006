"""Access control: every route names the roles that may use it; all others are refused."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any

import msgspec
from starlette.responses import RedirectResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.errors import StoreError
from discreet.service.tokens import Keys, Role, Token

COOKIE = "discreet_token"
_log = logging.getLogger("discreet.service")
_encode = msgspec.json.encode
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Rule:
    """One route. ``cookie`` lets a browser identify itself, which no route that changes the
    collection allows.
    """

    method: str
    path: str
    endpoint: ASGIApp
    roles: frozenset[Role] = field(default_factory=frozenset)
    cookie: bool = False


def routes(keys: Keys, rules: list[Rule], refusals: Counter[str]) -> list[Route]:
    """The application's only entry: it checks each request's role and counts refusals by reason."""
    return [Route(rule.path, _Gate(keys, rule, refusals), methods=[rule.method]) for rule in rules]


class _Gate:
    def __init__(self, keys: Keys, rule: Rule, refusals: Counter[str]) -> None:
        self._keys, self._rule, self._refusals = keys, rule, refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = self._token(dict(scope["headers"]))
        role = token.role if token else Role.ANYONE
        if role not in self._rule.roles and Role.ANYONE not in self._rule.roles:
            if token is None and self._rule.cookie:  # a person with a browser
                await RedirectResponse("/login", status_code=303)(scope, receive, send)
                return
            status, code = (401, "token_needed") if token is None else (403, "role_forbidden")
            self._refusals[code] += 1
            await refuse(send, status, code)
            return
        scope["discreet.token"] = token
        try:
            await self._rule.endpoint(scope, receive, send)
        except StoreError as error:  # raised before anything was sent, because endpoints read the store first
            _log.error("%s %s: %s", self._rule.method, self._rule.path, error)
            self._refusals["store_failed"] += 1
            await refuse(send, 503, "store_failed", [(b"retry-after", b"60")])

    def _token(self, headers: dict[bytes, bytes]) -> Token | None:
        scheme, _, text = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        if scheme.lower() == "bearer":
            return self._keys.read(text.strip())
        return self._keys.read(_cookie(headers)) if self._rule.cookie else None


def _cookie(headers: dict[bytes, bytes]) -> str:
    try:
        morsel = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


async def refuse(send: Send, status: int, code: str, headers: Headers | None = None) -> None:
    """Refuse with one fixed code and close the connection: the rest of the request may
    be unread.
    """
    more: Headers = [(b"connection", b"close")]
    if status == 401:
        more.append((b"www-authenticate", b"Bearer"))
    await answer(send, status, {"error": code}, [*more, *(headers or [])])


async def answer(send: Send, status: int, content: Any, headers: Headers | None = None) -> None:
    """A JSON answer, sent directly to ASGI: this is the collector's most frequent operation."""
    body = _encode(content)
    fixed: Headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": fixed + (headers or [])})
    await send({"type": "http.response.body", "body": body})
