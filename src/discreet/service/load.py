"""A load generator: sends prepared reports over a few connections until they are acknowledged."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_SETTLED = (200, 201)
_PAUSE = 0.05  # seconds before a report is sent again
_ANSWER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """One device's report and its enrolment token."""

    body: bytes
    token: str


@dataclass
class LoadResult:
    """The outcome as seen by the devices."""

    statuses: Counter[int] = field(default_factory=Counter)
    acknowledged: list[int] = field(default_factory=list)  # numbers of the deliveries
    refused: list[int] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)  # seconds from the first byte sent to the acknowledgement
    disconnects: int = 0
    seconds: float = 0.0

    def quantile(self, share: float) -> float:
        """Of the latencies."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


async def deliver(
    address: str,
    deliveries: Iterable[Delivery],
    *,
    connections: int = 64,
    give_up: float = 60.0,
    result: LoadResult | None = None,
) -> LoadResult:
    """Send every report until it is acknowledged or refused for good; wait while there is no
    server.

    ``give_up`` bounds the seconds in which one report is sent again; a ``result`` given from
    outside can be watched.
    """
    parts = urlsplit(address)
    if parts.scheme != "http" or parts.hostname is None:
        raise ValueError(f"the address must begin with http:// and name a host, got {address!r}")
    result, numbered = result or LoadResult(), iter(enumerate(deliveries))
    started = time.monotonic()
    devices = [_Connection(parts.hostname, parts.port or 80, result, give_up).run(numbered) for _ in range(connections)]
    await asyncio.gather(*devices)
    result.seconds = time.monotonic() - started
    return result


class _Connection:
    """One keep-alive connection with minimal HTTP: a general client is slower than the server."""

    def __init__(self, host: str, port: int, result: LoadResult, give_up: float) -> None:
        self._host, self._port, self._result, self._give_up = host, port, result, give_up
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def run(self, numbered: Iterator[tuple[int, Delivery]]) -> None:
        for number, delivery in numbered:
            await self._settle(number, delivery)
        self._hang_up()

    async def _settle(self, number: int, delivery: Delivery) -> None:
        request, started = self._request(delivery), time.monotonic()
        while time.monotonic() - started < self._give_up:
            try:
                # Closing before the answer arrives would leave open whether the report was counted.
                status = await asyncio.wait_for(self._exchange(request), max(self._give_up, _ANSWER_SECONDS))
            except (OSError, EOFError, TimeoutError, ValueError):
                self._result.disconnects += 1
                self._hang_up()
                await asyncio.sleep(_PAUSE)
                continue
            self._result.statuses[status] += 1
            if status in _SETTLED:
                self._result.latencies.append(time.monotonic() - started)
                self._result.acknowledged.append(number)
                return
            if status not in (408, 503, 507):
                break
            await asyncio.sleep(_PAUSE)
        self._result.refused.append(number)

    def _request(self, delivery: Delivery) -> bytes:
        head = (
            f"POST /v1/reports HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
            f"Authorization: Bearer {delivery.token}\r\n"
            f"Content-Type: application/octet-stream\r\nContent-Length: {len(delivery.body)}\r\n\r\n"
        )
        return head.encode("ascii") + delivery.body

    async def _exchange(self, request: bytes) -> int:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head.split(b" ", 2)[1])
        _, found, rest = head.partition(b"\r\ncontent-length:")
        await reader.readexactly(int(rest.split(b"\r\n", 1)[0]) if found else 0)
        if b"\r\nconnection: close" in head:
            self._hang_up()
        return status

    def _hang_up(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None
