"""Randomness is never repeated: not across calls, forks, threads or pickles."""

from __future__ import annotations

import os
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from discreet.noise import SeededBits, SystemBits, discrete_gaussian
from discreet.noise import bits as bits_module

SIZES = [1, 7, 1024, 1025, 40_001, 200_003]


@pytest.fixture(params=["aes", "system"])
def system_bits(request, monkeypatch):
    if request.param == "aes":
        pytest.importorskip("cryptography", reason="cryptography is not installed")
    else:
        monkeypatch.setattr(bits_module, "_aes_counter_mode", lambda: None)
    return SystemBits()


@pytest.mark.parametrize("size", SIZES)
def test_words_have_the_asked_size_and_never_repeat(system_bits, size):
    both = np.concatenate([system_bits.words(size), system_bits.words(size)])
    assert both.dtype == np.uint64
    # 400,006 words of 64 bits collide with probability 4e-9; a repeated or unfilled stretch would
    # show at once.
    assert np.unique(both).size == 2 * size


def test_no_words_are_an_empty_array(system_bits):
    assert system_bits.words(0).shape == (0,)


def test_every_bit_is_fair(system_bits):
    words = system_bits.words(100_000)
    ones = np.array([int(((words >> np.uint64(i)) & np.uint64(1)).sum()) for i in range(64)])
    assert np.abs(ones - 50_000).max() < 5.7 * np.sqrt(25_000)  # 64 tests: false alarm below 1e-6


def test_missing_cryptography_falls_back_to_the_system(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    bits_module._aes_counter_mode.cache_clear()
    try:
        assert bits_module._aes_counter_mode() is None
        assert discrete_gaussian(3.0, 10_000).shape == (10_000,)
    finally:
        bits_module._aes_counter_mode.cache_clear()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_forked_children_draw_different_noise():
    discrete_gaussian(2.0**40, 4_000)  # whatever the parent could have cached is cached now
    draws = {_draw_in_a_fork() for _ in range(4)}
    draws.add(discrete_gaussian(2.0**40, 4_000).tobytes())
    assert len(draws) == 5


def _draw_in_a_fork() -> bytes:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(discrete_gaussian(2.0**40, 4_000).tobytes())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        drawn = pipe.read()
    os.waitpid(child, 0)
    assert len(drawn) == 8 * 4_000
    return drawn


def test_threads_draw_different_noise():
    shared = SystemBits()
    with ThreadPoolExecutor(8) as pool:
        draws = list(pool.map(lambda _: discrete_gaussian(2.0**40, 4_000, bits=shared).tobytes(), range(32)))
    assert len(set(draws)) == 32


def test_a_pickled_source_has_no_state_to_repeat():
    original = SystemBits()
    copy = pickle.loads(pickle.dumps(original))
    assert vars(copy) == {}
    assert original.words(2_000).tobytes() != copy.words(2_000).tobytes()


def test_a_seed_fixes_the_draws_and_survives_pickling():
    seeded = SeededBits(5)
    np.testing.assert_array_equal(
        discrete_gaussian(9.0, 100, bits=SeededBits(5)), discrete_gaussian(9.0, 100, bits=seeded)
    )
    copy = pickle.loads(pickle.dumps(seeded))
    np.testing.assert_array_equal(copy.words(10), seeded.words(10))
    assert SeededBits(6).words(1) != SeededBits(5).words(1)
