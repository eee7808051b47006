"""``POST /v1/reports``: a report is checked, stored, and only then acknowledged."""

from __future__ import annotations

from starlette.types import Receive, Scope, Send

from discreet.errors import StoreError, StoreFull
from discreet.local import wire
from discreet.local.task import Task
from discreet.service.access import answer, refuse
from discreet.service.entries import Entry, Outcome
from discreet.service.limits import Limits, Refused, read_exactly
from discreet.service.metrics import Metrics
from discreet.service.tokens import Keys, Token
from discreet.service.writer import QueueFull, Writer

_STATUS = {Outcome.ACCEPTED: 201, Outcome.REPEATED: 200, Outcome.CONFLICT: 409, Outcome.TOKEN_USED: 403}
_COME_AGAIN = [(b"retry-after", b"1")]
_COME_LATER = [(b"retry-after", b"60")]


class ReportEndpoint:
    """Takes one report from one device."""

    def __init__(self, task: Task, keys: Keys, limits: Limits, metrics: Metrics) -> None:
        self._task, self._keys, self._limits, self._metrics = task, keys, limits, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        writer: Writer = scope["state"]["writer"]
        try:
            entry = await self._entry(scope, receive)
            outcome = await writer.write(entry)
        except Refused as refused:
            await self._refuse(send, refused.status, refused.code)
        except QueueFull:
            await self._refuse(send, 503, "busy", _COME_AGAIN)
        except StoreFull:
            await self._refuse(send, 507, "store_full", _COME_LATER)
        except StoreError:
            await self._refuse(send, 503, "store_failed", _COME_AGAIN)
        else:
            counter = self._metrics.stored if _STATUS[outcome] < 300 else self._metrics.refusals
            counter[outcome] += 1
            await answer(send, _STATUS[outcome], {"report": entry.report_id.hex(), "status": outcome})

    async def _entry(self, scope: Scope, receive: Receive) -> Entry:
        token: Token = scope["discreet.token"]
        headers = dict(scope["headers"])
        body = await read_exactly(headers, receive, self._task.body_size, self._limits.body_seconds)
        try:
            return Entry.of(self._task, body, self._keys.mark(token, self._task.digest))
        except wire.WireError:
            # One code for every fault: the format's description says what a valid report is.
            raise Refused(400, "malformed") from None

    async def _refuse(
        self, send: Send, status: int, code: str, headers: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        self._metrics.refusals[code] += 1
        await refuse(send, status, code, headers)
