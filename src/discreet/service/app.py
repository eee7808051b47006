"""The collector as a web application: its routes and who may use them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from discreet.errors import StoreError
from discreet.local.task import Task
from discreet.service import export, page
from discreet.service.access import COOKIE, Rule, answer, routes
from discreet.service.assets import CONTENT_POLICY, serve_asset
from discreet.service.cross_origin import CrossOrigin
from discreet.service.form import Form
from discreet.service.limits import Limits, Refused, read_at_most
from discreet.service.metrics import Metrics
from discreet.service.operations import Operations
from discreet.service.reports import ReportEndpoint
from discreet.service.results import Results
from discreet.service.storage import Store
from discreet.service.tokens import Keys, Role
from discreet.service.writer import Writer

_EVERYONE = frozenset({Role.ANYONE, Role.DEVICE, Role.ANALYST})
_DEVICES = frozenset({Role.DEVICE})
_ANALYSTS = frozenset({Role.ANALYST})


class Collector:
    """One task, its store and everything the routes share."""

    def __init__(
        self,
        task: Task,
        store: Store,
        keys: Keys,
        results: Results,
        limits: Limits,
        *,
        public_page: bool,
        form: Form | None,
    ) -> None:
        self.task, self.store, self.keys, self.results, self.limits = task, store, keys, results, limits
        self.public_page, self.form = public_page, form
        self.metrics = Metrics()

    def rules(self) -> list[Rule]:
        """All routes with their roles."""
        page_roles = _EVERYONE if self.public_page else _ANALYSTS
        reports = ReportEndpoint(self.task, self.keys, self.limits, self.metrics)
        join = [Rule("GET", "/join", self._join, _EVERYONE)] if self.form is not None else []
        return [
            *join,
            Rule("POST", "/v1/reports", reports, _DEVICES),
            Rule("GET", "/v1/task", self._task, _EVERYONE),
            Rule("GET", "/v1/models", self._models, _ANALYSTS),
            Rule("POST", "/v1/close", self._close, _ANALYSTS),
            Rule("GET", "/metrics", self._metrics, _ANALYSTS),
            Rule("GET", "/health/live", self._live, _EVERYONE),
            Rule("GET", "/health/ready", self._ready, _EVERYONE),
            Rule("GET", "/", self._page, page_roles, cookie=True),
            Rule("GET", "/results.csv", self._csv, page_roles, cookie=True),
            Rule("GET", "/results.json", self._json, page_roles, cookie=True),
            Rule("GET", "/static/{name}", serve_asset, _EVERYONE),
            Rule("GET", "/login", self._login_form, _EVERYONE),
            Rule("POST", "/login", self._login, _EVERYONE),
            Rule("POST", "/logout", self._logout, _EVERYONE),
        ]

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[dict[str, Any]]:
        """Run the writer with the server; at shutdown, waiting reports are stored."""
        writer = Writer(self.store, self.metrics, self.limits, body_size=self.task.body_size)
        publishing = asyncio.create_task(self._publish())
        yield {"writer": writer}
        publishing.cancel()
        if await writer.close():  # otherwise the writer's thread still uses the store; it ends with the process
            self.store.close()

    async def _publish(self) -> None:
        """Fit when a fit is due, with or without visitors: publications do not depend
        on requests.
        """
        while True:
            await asyncio.sleep(self.limits.publish_seconds)
            with suppress(StoreError):  # the writer sees and logs the same error
                await self.results.snapshot()

    async def _task(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Without the design, which devices do not need: the digest is the same.
        await Response(self.task.document, media_type="application/json")(scope, receive, send)

    async def _models(self, scope: Scope, receive: Receive, send: Send) -> None:
        snapshot = await self.results.snapshot()
        await answer(send, 200, snapshot.to_dict())

    async def _close(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Close the batch that was open when the request arrived; later reports go to
        the next one.
        """
        number = await asyncio.to_thread(self.store.open_batch)
        closed = await asyncio.to_thread(self.store.close_batch, number)
        await answer(send, 200 if closed else 409, {"batch": number, "closed": closed})

    async def _metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        counts = await asyncio.to_thread(self.store.counts)
        gauges = (await self._operations(scope)).gauges()
        gauges["discreet_counted"] = (
            "Reports in the store, of all batches.",
            float(sum(count for _, count in counts)),
        )
        await PlainTextResponse(self.metrics.text(gauges))(scope, receive, send)

    async def _operations(self, scope: Scope) -> Operations:
        return await asyncio.to_thread(Operations.of, self.store, scope["state"]["writer"], self.metrics)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Liveness: whether the writer's thread runs; if not, the process must be restarted."""
        writer: Writer = scope["state"]["writer"]
        await answer(send, 200 if writer.alive else 503, {"live": writer.alive})

    async def _ready(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Readiness: whether reports would be stored, as known without asking the store."""
        writer: Writer = scope["state"]["writer"]
        headers = [] if writer.ready else [(b"retry-after", b"1")]
        await answer(send, 200 if writer.ready else 503, {"ready": writer.ready}, headers)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        snapshot = await self.results.snapshot()
        token = scope["discreet.token"]
        analyst = token is not None and token.role is Role.ANALYST
        html = page.overview(
            self.task,
            snapshot,
            models=self.results.models,
            signed_in=token is not None,
            operations=await self._operations(scope) if analyst else None,
        )
        await _html(html)(scope, receive, send)

    async def _csv(self, scope: Scope, receive: Receive, send: Send) -> None:
        text = export.as_csv(self.task, await self.results.snapshot())
        await _file(text, "text/csv", "results.csv")(scope, receive, send)

    async def _json(self, scope: Scope, receive: Receive, send: Send) -> None:
        content = msgspec.json.encode(export.as_document(self.task, await self.results.snapshot()))
        text = msgspec.json.format(content.decode(), indent=2)
        await _file(text + "\n", "application/json", "results.json")(scope, receive, send)

    async def _join(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.form is not None
        await _html(page.join(self.task, self.form))(scope, receive, send)

    async def _login_form(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _html(page.login(self.task, wrong=False))(scope, receive, send)

    async def _login(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await read_at_most(receive, self.limits.form_bytes, self.limits.body_seconds)
        except Refused as refused:
            self.metrics.refusals[refused.code] += 1
            await answer(send, refused.status, {"error": refused.code}, [(b"connection", b"close")])
            return
        text = parse_qs(body.decode("latin-1")).get("token", [""])[0].strip()
        token = self.keys.read(text)
        if token is None or token.role is not Role.ANALYST:
            await _html(page.login(self.task, wrong=True), status=401)(scope, receive, send)
            return
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(COOKIE, text, httponly=True, samesite="strict", secure=scope["scheme"] == "https")
        await response(scope, receive, send)

    async def _logout(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = RedirectResponse("/login", status_code=303)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
        await response(scope, receive, send)


def create_app(
    task: Task,
    store: Store,
    keys: Keys,
    *,
    limits: Limits | None = None,
    public_page: bool = False,
    models: Sequence[str] = (),
    form: Form | None = None,
    origins: Sequence[str] = (),
) -> Starlette:
    """The collector of one task on one store.

    ``models`` are shown on the page. ``form`` defines the participant's page; without it there is
    none. ``origins`` are other sites whose pages may read the task and send reports.
    """
    results = Results(task, store, models=models)
    collector = Collector(task, store, keys, results, limits or Limits(), public_page=public_page, form=form)
    rules = routes(keys, collector.rules(), collector.metrics.refusals)
    middleware = [Middleware(CrossOrigin, origins=frozenset(origins))] if origins else []
    app = Starlette(routes=rules, lifespan=collector.lifespan, middleware=middleware)
    app.state.metrics = collector.metrics
    return app


def _html(text: str, status: int = 200) -> Response:
    headers = {
        "Content-Security-Policy": CONTENT_POLICY,
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    return HTMLResponse(text, status_code=status, headers=headers)


def _file(text: str, kind: str, name: str) -> Response:
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(text, media_type=kind, headers=headers)
