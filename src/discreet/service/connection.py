"""One HTTP connection with limits on size and time, which uvicorn's protocol lacks for heads.

A connection is always under exactly one deadline: for the end of its head, for the answer to its
request, or for the start of its next request. Data that arrive meanwhile do not extend the
deadline, so slow senders cannot keep connections open.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from discreet.service.limits import Limits

_LINGER_SECONDS = 1.0  # time for a refused client to read the reason: closing at once would discard the answer
_LINGER_BYTES = 1 << 20
SPARE = 256  # refused connections that may stay open beyond the limit; further ones are cut without an answer


class Admission:
    """Counts open connections, in all and by address, for all connections of one server."""

    def __init__(self, limits: Limits, refusals: Counter[str], proxies: frozenset[str] = frozenset()) -> None:
        self.limits, self.refusals, self._proxies = limits, refusals, proxies
        self._admitted = self._lingering = 0
        self._by_network: Counter[str] = Counter()

    def enter(self, host: str | None) -> str | None:
        """Count a new connection: None if it may stay, otherwise the code of its refusal."""
        network = self._network(host)
        if network is not None and self._by_network[network] >= self.limits.connections_per_address:
            refusal = "too_many_from_address"
        elif self._admitted >= self.limits.connections:
            refusal = "too_many_connections"
        else:
            self._admitted += 1
            if network is not None:
                self._by_network[network] += 1
            return None
        self._lingering += 1
        return refusal

    @property
    def crowded(self) -> bool:
        """Whether too many refused connections are open, waiting for their answer to be read."""
        return self._lingering > SPARE

    def leave(self, host: str | None, *, admitted: bool) -> None:
        if not admitted:
            self._lingering -= 1
            return
        self._admitted -= 1
        network = self._network(host)
        if network is not None:
            self._by_network[network] -= 1
            if not self._by_network[network]:
                del self._by_network[network]

    def _network(self, host: str | None) -> str | None:
        """The key for limits per address; None (no limit) for a proxy and for a Unix socket."""
        if host is None or host in self._proxies:
            return None
        try:
            address = ip_address(host)
        except ValueError:
            return None
        if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
            return address.packed[:8].hex()  # one IPv6 client usually has a network of 2^64 addresses
        return host


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's HTTP protocol with a bounded head, deadlines, and refusals with Retry-After."""

    def __init__(self, admission: Admission, **uvicorn_arguments: Any) -> None:
        super().__init__(**uvicorn_arguments)
        self._admission, self._limits = admission, admission.limits
        self._deadline: asyncio.TimerHandle | None = None
        self._in_head, self._fed, self._size = True, 0, 0
        self._refused, self._reason, self._discarded = False, "", 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._arm(self._limits.head_seconds, "too_slow_head")
        refusal = self._admission.enter(self._host)
        self._admitted = refusal is None
        if refusal is not None:
            self._refuse(503, refusal)
            if self._admission.crowded:
                transport.abort()

    @property
    def _host(self) -> str | None:
        return self.client[0] if self.client else None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._admission.leave(self._host, admitted=self._admitted)
        if self._deadline is not None:
            self._deadline.cancel()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            self._discarded += len(data)
            if self._discarded > _LINGER_BYTES:
                self.transport.abort()
            return
        in_head = self._in_head
        self._fed += len(data)
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
            # Incomplete fields and chunks are inside the parser, so the bytes given to it are
            # counted as well.
            if in_head and self._in_head and self._fed > self._limits.head_bytes:
                self._refuse(431, "head_too_long")
            elif self._fed > self._limits.request_bytes:
                self._refuse(413, "too_long")
        except httptools.HttpParserUpgrade:  # upgrades to other protocols are ignored
            self.cycle.keep_alive = False
        except httptools.HttpParserError:  # also what the callbacks below raise
            self._refuse(*((431, self._reason) if self._reason else (400, "not_http")))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        later = not self._in_head
        self._in_head, self._fed, self._size = True, 0, 0
        if later and self.cycle.response_complete:
            self._arm(self._limits.head_seconds, "too_slow_head")

    def on_url(self, url: bytes) -> None:
        self._grow(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_head:  # a trailer, which nothing here reads
            return
        self._grow(len(name) + len(value) + 4)
        if len(self.headers) >= self._limits.head_fields:
            self._stop("head_too_long")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= self._limits.pipelined:
            self._stop("too_many_at_once")
        self._in_head, self._fed = False, 0
        waits = self.cycle is not None and not self.cycle.response_complete
        super().on_headers_complete()
        if not waits:
            self._arm(self._limits.request_seconds, "too_slow")

    def on_response_complete(self) -> None:
        waiting = bool(self.pipeline)
        super().on_response_complete()
        if self.transport.is_closing():
            self._arm(self._limits.head_seconds)  # to take what was written
        elif waiting:
            self._arm(self._limits.request_seconds, "too_slow")
        elif self._in_head:
            self._arm(self._limits.head_seconds, "too_slow_head")
        else:
            self._arm(self._limits.idle_seconds)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > self._limits.head_bytes:
            self._stop("head_too_long")

    def _stop(self, reason: str) -> None:
        """Ends parsing in the middle of a chunk of data; the parser raises its callbacks'
        exceptions.
        """
        self._reason = reason
        raise ValueError(reason)

    def _arm(self, seconds: float, reason: str = "") -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self._expire, reason)

    def _expire(self, reason: str) -> None:
        if reason and not self._refused:
            self._admission.refusals[reason] += 1
        self.transport.abort()  # not close(), which waits for a client that does not read

    def _refuse(self, status: int, code: str) -> None:
        """Answer without the application, and without a line in the log."""
        self._refused = True
        self._admission.refusals[code] += 1
        if self.cycle is not None and not self.cycle.response_complete:  # an earlier answer is still being sent
            self.transport.abort()
            return
        body = b'{"error":"%s"}' % code.encode()
        later = b"retry-after: %d\r\n" % self._limits.head_seconds if status == 503 else b""
        self.transport.write(
            b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%sconnection: close\r\n\r\n%s"
            % (status, HTTPStatus(status).phrase.encode(), len(body), later, body)
        )
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._arm(_LINGER_SECONDS)
