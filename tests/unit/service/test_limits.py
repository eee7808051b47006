from __future__ import annotations

import asyncio

import pytest

from discreet.service.limits import Refused, read_at_most, read_exactly


def receiver(*chunks, delay=0.0):
    """A request body that arrives in these pieces."""
    messages = [{"type": "http.request", "body": c, "more_body": n < len(chunks)} for n, c in enumerate(chunks, 1)]
    waiting = iter(messages)

    async def receive():
        await asyncio.sleep(delay)
        return next(waiting)

    return receive


def outcome(read):
    try:
        return asyncio.run(read)
    except Refused as refused:
        return refused.status, refused.code


def test_a_body_in_pieces_is_whole():
    assert outcome(read_exactly({}, receiver(b"ab", b"", b"c"), 3, 1.0)) == b"abc"


def test_a_slow_body_is_given_up():
    assert outcome(read_at_most(receiver(b"a", b"b", b"c", delay=0.1), 3, 0.15)) == (408, "too_slow")


def test_a_long_body_is_cut_at_the_first_byte_too_many():
    seen = []

    async def receive():
        seen.append(1)
        return {"type": "http.request", "body": b"xx", "more_body": True}

    assert outcome(read_at_most(receive, 3, 1.0)) == (413, "too_long")
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("declared", "expected"),
    [(b"4", 413), (b"2", 400), (b"99999999999999999999", 413), (b"-3", 413), (b"3.0", 413), (b"", 413)],
)
def test_a_declared_length_is_enough_to_refuse(declared, expected):
    async def never():
        raise AssertionError("the body was looked at")

    assert outcome(read_exactly({b"content-length": declared}, never, 3, 1.0))[0] == expected


def test_a_device_that_hangs_up_sent_too_little():
    async def receive():
        return {"type": "http.disconnect"}

    assert outcome(read_at_most(receive, 3, 1.0)) == (400, "too_short")
