"""Tests of code draw the same noise in every run, so that failures are reproducible.

The operating system's words are replaced by a stream that is fixed by the test's name, or by the
name of the fixture that fits a model for several tests. Tests of the noise itself
(tests/unit/noise) draw real words, and state the level at which they fail by chance.
``DISCREET_TEST_NOISE=fresh`` draws real words everywhere.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator

import pytest

from discreet.noise.bits import SeededBits, SystemBits

_FRESH = os.environ.get("DISCREET_TEST_NOISE") == "fresh"
_OF_THE_NOISE = "tests/unit/noise/"
_real_words = SystemBits.words
_lock = threading.Lock()
_stream: SeededBits | None = None


def _fresh_in_child() -> None:
    global _stream
    _stream = None  # two children would draw the same words


os.register_at_fork(after_in_child=_fresh_in_child)


def _words(self: SystemBits, count: int):
    if _stream is None:
        return _real_words(self, count)
    with _lock:
        return _stream.words(count)


def _named(name: str) -> SeededBits | None:
    if _FRESH or name.startswith(_OF_THE_NOISE):
        return None
    return SeededBits(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    global _stream
    SystemBits.words = _words
    _stream = _named(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request) -> Iterator[None]:
    """A fixture that several tests share must not depend on which of them comes first."""
    global _stream
    if fixturedef.scope == "function":
        return (yield)
    before, _stream = _stream, _named(f"{request.node.nodeid}::{fixturedef.argname}")
    try:
        return (yield)
    finally:
        _stream = before
