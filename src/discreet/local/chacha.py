"""ChaCha20's key stream (RFC 8439, nonce zero): public random bits that every language can make.

It derives a report's candidate vectors from its id. No secret depends on it: the guarantee holds
for any stream.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 64
_WORDS = np.frombuffer(b"expand 32-byte k", dtype="<u4")
_ROUNDS = (
    ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
    (
        (0, 5, 10, 15),
        (1, 6, 11, 12),
        (2, 7, 8, 13),
        (3, 4, 9, 14),
    ),
)


def key_stream(key: bytes, start: int, count: int) -> bytes:
    """Bytes ``start`` to ``start + count`` of the stream of this 32-byte key."""
    first = start // BLOCK_BYTES
    skip = start - first * BLOCK_BYTES
    cipher = _openssl()
    if cipher is None:
        blocks = np.arange(first, (start + count + BLOCK_BYTES - 1) // BLOCK_BYTES, dtype=np.uint32)
        stream = stream_blocks(np.frombuffer(key, dtype="<u4")[np.newaxis], blocks).tobytes()
    else:
        stream = cipher(key, first, skip + count)
    return stream[skip : skip + count]


def key_streams(keys: list[bytes], count: int) -> NDArray[np.uint8]:
    """The first ``count`` bytes of each key's stream, one row per key."""
    if _openssl() is not None:
        joined = b"".join(key_stream(key, 0, count) for key in keys)
        return np.frombuffer(joined, dtype=np.uint8).reshape(len(keys), count)
    words = np.frombuffer(b"".join(keys), dtype="<u4").reshape(-1, 8)
    blocks = np.arange(-(-count // BLOCK_BYTES), dtype=np.uint32)
    return np.ascontiguousarray(stream_blocks(words, blocks)[:, :count])


def stream_blocks(keys: NDArray[np.uint32], blocks: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """These blocks of the streams of several keys (rows of 8 words): one row of bytes per key."""
    shape = (len(keys), len(blocks))
    state = np.zeros((16, *shape), dtype=np.uint32)
    state[:4] = _WORDS[:, np.newaxis, np.newaxis]
    state[4:12] = keys.T[:, :, np.newaxis]
    state[12] = blocks
    words = [row.copy() for row in state]
    for _ in range(10):
        for half in _ROUNDS:
            for quarter in half:
                _quarter_round(words, *quarter)
    mixed = np.stack(words, axis=-1) + np.moveaxis(state, 0, -1)
    return np.ascontiguousarray(mixed.astype("<u4")).view(np.uint8).reshape(len(keys), -1)


def _quarter_round(words: list[NDArray[np.uint32]], a: int, b: int, c: int, d: int) -> None:
    for first, second, third, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        words[first] = words[first] + words[second]
        mixed = words[third] ^ words[first]
        words[third] = (mixed << np.uint32(turn)) | (mixed >> np.uint32(32 - turn))


@cache
def _openssl() -> Any:
    """The same by OpenSSL, if ``cryptography`` is installed: a hundred times faster on
    one block.
    """
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
    except ImportError:
        return None

    def stream(key: bytes, first: int, count: int) -> bytes:
        counter = first.to_bytes(4, "little") + bytes(12)
        result: bytes = Cipher(algorithms.ChaCha20(key, counter), mode=None).encryptor().update(bytes(count))
        return result

    return stream
