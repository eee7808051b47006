"""How many people parties share, before any budget is spent: salted digests are compared, not keys.

A digest file lists digests of all keys, so whoever has the salt can test whether a given key is in
it. The parties must therefore keep the salt secret: it is not part of the public plan. The files
are for the parties only, who delete them afterwards. The parties learn whose keys they share; see
docs/papers/mpr.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.documents import write_whole
from discreet.errors import DomainError, ReleaseError
from discreet.parties.people import open_people
from discreet.parties.plan import Plan

_MAGIC = b"discreet align 1\n"
_DIGEST = 16
_SALT_CHARACTERS = 16


def key_digests(plan: Plan, party: str, data: Any, *, salt: str) -> bytes:
    """The sorted, salted digests of a party's keys, as the content of a file for the
    other parties.
    """
    if len(salt) < _SALT_CHARACTERS:
        raise DomainError(f"the salt must have at least {_SALT_CHARACTERS} characters, or keys could be guessed")
    state = blake2b(b"discreet align 1" + salt.encode(), digest_size=_DIGEST).digest()
    engine = open_people(data, plan.party(party).domain, plan.key, state)
    found: list[NDArray[np.uint64]] = []
    lock = Lock()

    def collect(block: Any, used: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        states = block.states
        with lock:
            found.append(states)
        return np.zeros(1, dtype=np.int64)

    engine.sum_rows(collect)
    rows = np.concatenate(found).astype("<u8").view(f"V{_DIGEST}").ravel()
    digests = b"".join(sorted(row.tobytes() for row in rows))
    head = _MAGIC + f"{plan.hash}\n{party}\n{_salt_mark(salt)}\n{len(rows)}\n".encode()
    return head + hashlib.sha256(head + digests).digest() + digests


def write_digests(path: Path, content: bytes) -> None:
    write_whole(path, content)


def shared_people(files: Sequence[str | Path]) -> Mapping[tuple[str, ...], int]:
    """How many people each party has, how many each pair shares, and how many all parties share."""
    parties = [_read(Path(path)) for path in files]
    if len(parties) < 2:
        raise ReleaseError("an alignment compares the digest files of at least two parties")
    first = parties[0]
    for plan_hash, name, mark, _ in parties:
        if plan_hash != first[0]:
            raise ReleaseError(f"the digests of {first[1]} and {name} were made under different plans")
        if mark != first[2]:
            raise ReleaseError(f"the digests of {first[1]} and {name} were made with different salts")
    sets = {name: digests for _, name, _, digests in parties}
    if len(sets) < len(parties):
        raise ReleaseError("a party's digests were given twice")
    names = list(sets)
    counts: dict[tuple[str, ...], int] = {(name,): len(sets[name]) for name in names}
    counts |= {(a, b): len(sets[a] & sets[b]) for i, a in enumerate(names) for b in names[i + 1 :]}
    if len(names) > 2:
        counts[tuple(names)] = len(frozenset.intersection(*sets.values()))
    return counts


def missing_people(files: Sequence[str | Path]) -> Mapping[tuple[str, str], int]:
    """For each pair of parties, how many people of the first are missing at the second."""
    sets = {name: digests for _, name, _, digests in map(_read, map(Path, files))}
    return {(a, b): len(sets[a] - sets[b]) for a in sets for b in sets if a != b}


def _read(path: Path) -> tuple[str, str, str, frozenset[bytes]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ReleaseError(f"cannot read {path}: {error.strerror}") from error
    lines = data.split(b"\n", 5)
    if len(lines) < 6 or not data.startswith(_MAGIC):
        raise ReleaseError(f"{path} holds no key digests, or it was cut short")
    head = b"\n".join(lines[:5]) + b"\n"
    checksum, digests = lines[5][:32], lines[5][32:]
    # The number is compared as text: other spellings of a number are not accepted.
    right = hashlib.sha256(head + digests).digest() == checksum and lines[4] == b"%d" % (len(digests) // _DIGEST)
    try:
        plan_hash, party, mark = (line.decode() for line in lines[1:4])
    except UnicodeDecodeError:
        right = False
    if not right or len(digests) % _DIGEST:
        raise ReleaseError(f"{path} was altered or cut short")
    people = frozenset(digests[i : i + _DIGEST] for i in range(0, len(digests), _DIGEST))
    return plan_hash, party, mark, people


def _salt_mark(salt: str) -> str:
    """A hash that shows whether two parties used the same salt, and nothing else about it."""
    return blake2b(b"discreet align mark" + salt.encode(), digest_size=8).hexdigest()
