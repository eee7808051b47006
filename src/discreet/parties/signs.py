"""The signs of the mixes: a fixed function of the plan's seed and a person's key.

Version 1, in full. Texts are UTF-8; numbers are unsigned 64-bit, little-endian, and wrap around.

1. plan state    P = BLAKE2b-128("discreet signs 1" || seed)
2. person state  (a, b) = the two numbers in BLAKE2b-128(P || key)
3. word w        m(m(a + (w + 1) * 0x9E3779B97F4A7C15) xor b), m: the output function of SplitMix64
4. mix r         bit r mod 64 of word r // 64 (bit 0 is the lowest): 1 is plus, 0 is minus
5. slot          word -1: the lowest bit is the sign; the other 63, modulo the slots, the slot

A person's signs do not depend on other people, so parties need neither a common order of rows nor
each other's keys. The guarantee holds for every fixed choice of signs; only the accuracy needs
signs that look random.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_DIGEST = 16


def plan_state(seed: str) -> bytes:
    return blake2b(b"discreet signs 1" + seed.encode(), digest_size=_DIGEST).digest()


def person_states(state: bytes, keys: Iterable[bytes]) -> Words:
    """The states of these people, one row of two words each."""
    # A hash object with the plan's state is copied for each key: a third faster than making a new
    # one.
    begun = blake2b(state, digest_size=_DIGEST)
    digests = []
    for key in keys:
        person = begun.copy()
        person.update(key)
        digests.append(person.digest())
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64, copy=False).reshape(-1, 2)


def slots(states: Words, count: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Each person's one slot among ``count``, and the sign of the person's row in it:
    True is plus.
    """
    word = _word(states, -1)
    return ((word >> np.uint64(1)) % np.uint64(count)).astype(np.intp), (word & np.uint64(1)).astype(np.bool_)


def signs(states: Words, mixes: int) -> NDArray[np.bool_]:
    """Truth values, one row per mix and one column per person: True is plus."""
    words = -(-mixes // 64)
    table = np.empty((len(states), words), dtype="<u8")
    for word in range(words):
        table[:, word] = _word(states, word)
    bits: NDArray[Any] = np.unpackbits(table.view(np.uint8), axis=1, bitorder="little")
    return bits[:, :mixes].view(np.bool_).T


def _word(states: Words, number: int) -> Words:
    with np.errstate(over="ignore"):
        return _mixed(_mixed(states[:, 0] + np.uint64(number + 1) * _STEP) ^ states[:, 1])


def _mixed(words: Words) -> Words:
    """SplitMix64's output function, on a fresh array, in place."""
    for shift, factor in _MIXERS:
        words ^= words >> np.uint64(shift)
        words *= np.uint64(factor)
    words ^= words >> np.uint64(31)
    return words
