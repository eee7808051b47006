"""The source of randomness: every random draw in discreet is made from these 64-bit words."""

from __future__ import annotations

import os
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

CHUNK_BYTES = 1 << 18  # written in pieces, so that a large request needs no second large buffer
SMALL_BYTES = 1 << 13  # below this size, setting up a cipher costs more than asking the system


class Bits(Protocol):
    """A source of independent uniform 64-bit words."""

    def words(self, count: int) -> Words:
        """Return `count` fresh words."""
        ...


class SystemBits:
    """Cryptographic randomness from the operating system, without state.

    Each call takes a fresh 256-bit key from `os.urandom` and expands it by AES-256 in counter
    mode if the package `cryptography` is installed. Otherwise all bytes come from
    `os.urandom`. Nothing is kept between calls, so a forked child, another thread or an
    unpickled copy cannot repeat a word.
    """

    def words(self, count: int) -> Words:
        """Return `count` fresh words."""
        n_bytes = 8 * count
        ciphers = _aes_counter_mode() if n_bytes > SMALL_BYTES else None
        if ciphers is None:
            return _from_system(count)
        algorithms, modes, cipher = ciphers
        # A counter that starts at zero is safe because the key is used for this call only.
        stream = cipher(algorithms.AES(os.urandom(32)), modes.CTR(bytes(16))).encryptor()
        # `update_into` requires one spare block (two words) after what it writes.
        buffer = np.empty(count + 2, dtype=np.uint64)
        target = buffer.view(np.uint8).data
        zeros = memoryview(bytes(min(CHUNK_BYTES, n_bytes)))
        for start in range(0, n_bytes, CHUNK_BYTES):
            stream.update_into(zeros[: n_bytes - start], target[start:])
        return buffer[:count]


class SeededBits:
    """Reproducible words for tests.

    NOT private: anyone who knows the seed can subtract the noise.
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.PCG64(seed)

    def words(self, count: int) -> Words:
        """Return the next `count` words of the stream that the seed fixes."""
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)


@cache
def _aes_counter_mode() -> tuple[Any, Any, Any] | None:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        return None
    return algorithms, modes, Cipher


def _from_system(count: int) -> Words:
    words = np.empty(count, dtype=np.uint64)
    for start in range(0, count, CHUNK_BYTES // 8):
        piece = words[start : start + CHUNK_BYTES // 8]
        piece[:] = np.frombuffer(os.urandom(piece.nbytes), dtype=np.uint64)
    return words
