"""Limits on one request, on one address, and on all together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.types import Receive


@dataclass(frozen=True)
class Limits:
    """Bounds on waiting, size and time; the defaults suit one small machine."""

    queue_size: int = 1024  # reports that wait for a commit; more get 503
    batch_size: int = 64  # reports in one commit
    patience: float = 0.01  # seconds that a report waits for others to share its commit
    body_seconds: float = 10.0  # to send a whole body, however slowly
    probe_seconds: float = 15.0  # without a report until the store is probed
    retry_seconds: float = 1.0  # between two probes of a store that fails
    publish_seconds: float = 10.0  # between two looks at whether a new fit is due
    form_bytes: int = 1024  # of the login form
    connections: int = 2048
    connections_per_address: int = 256  # one IPv4 address, or one IPv6 network of 64 bits
    head_bytes: int = 16_384  # of a request line and its header fields
    head_fields: int = 100
    request_bytes: int = 262_144  # of everything after a head: body, framing, trailers
    pipelined: int = 16  # requests sent ahead on one connection
    head_seconds: float = 10.0  # to send a whole head
    idle_seconds: float = 30.0  # between two requests
    request_seconds: float = 120.0  # from the end of the head to the last byte of the answer
    shutdown_seconds: float = 12.0  # for open requests, and again for reports that wait to be stored


class Refused(Exception):
    """The request is refused with this status and code, and its body is not read."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code


async def read_exactly(headers: Mapping[bytes, bytes], receive: Receive, size: int, seconds: float) -> bytes:
    """A body of this many bytes; every other one is refused, by its declared length if
    it has one.
    """
    declared = headers.get(b"content-length")
    if declared is not None and declared != str(size).encode():
        longer = not declared.isdigit() or len(declared) > 9 or int(declared) > size
        raise Refused(413, "too_long") if longer else Refused(400, "too_short")
    body = await read_at_most(receive, size, seconds)
    if len(body) != size:
        raise Refused(400, "too_short")
    return body


async def read_at_most(receive: Receive, size: int, seconds: float) -> bytes:
    """The body, in memory never more than one chunk beyond ``size``."""
    try:
        async with asyncio.timeout(seconds):
            return await _read(receive, size)
    except TimeoutError:
        raise Refused(408, "too_slow") from None


async def _read(receive: Receive, size: int) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "too_short")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > size:
            raise Refused(413, "too_long")
    return body
