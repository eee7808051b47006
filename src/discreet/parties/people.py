"""A party's rows with the keys of the people behind them, streamed from a file or held
in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from os import PathLike
from threading import Lock
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.domain import Categorical, Domain, EncodedBlock, Encoder, frame_of
from discreet.engines import Engine, Layout, open_engine
from discreet.errors import DomainError
from discreet.parties.signs import Words, person_states
from discreet.rows import Coded, Columns

# Digests are compared bucket by bucket; with this many, a bucket of 30 million people has 15 MB.
_BUCKETS = 16


class KeyedBlock:
    """An encoded block with its people's states; see signs.py."""

    def __init__(self, block: EncodedBlock, keys: Sequence[bytes | None], state: bytes) -> None:
        self._block = block
        self._keys = keys
        self._state = state

    @property
    def records(self) -> int:
        return self._block.records

    @property
    def y(self) -> NDArray[np.float64]:
        return self._block.y

    def write_x(self, out: NDArray[np.float64]) -> None:
        self._block.write_x(out)

    @property
    def keys(self) -> Sequence[bytes | None]:
        return self._keys

    @property
    def states(self) -> Words:
        # check_keys refuses missing keys; here one must only not raise.
        keys = [key for key in self._keys if key is not None]
        if len(keys) < len(self._keys):
            keys = [b"" if key is None else key for key in self._keys]
        return person_states(self._state, keys)


def open_people(data: Any, domain: Domain, key: str, state: bytes, *, workers: int | None = None) -> Engine:
    """The engine over Parquet or CSV files, or over a frame with named columns."""
    if not isinstance(data, (str, PathLike)):
        data = frame_of(data).to_native()  # keys are read on this machine
    encoder = Encoder(domain)
    texts = [
        column.name
        for column in domain.columns
        if isinstance(column, Categorical) and any(isinstance(value, str) for value in column.values)
    ]
    names = tuple(column.name for column in domain.columns)
    layout = Layout(
        partial(_keyed, encoder, state),
        names,
        keys=(key,),
        texts=frozenset(texts),
        declared=domain.columns,
        workers=workers,
    )
    return open_engine(data, layout)


def _keyed(encoder: Encoder, state: bytes, table: Columns, _: Any) -> KeyedBlock:
    """A block whose last column holds the keys."""
    *features, keys = table.arrays
    return KeyedBlock(encoder.encode(Columns(features, len(table))), _spelled_column(keys), state)


def _spelled_column(keys: Any) -> Sequence[bytes | None]:
    if isinstance(keys, Coded):
        spelled = spelled_keys(keys.distinct.tolist())
        return [spelled[code] for code in keys.codes.tolist()]
    return spelled_keys(keys.to_list() if isinstance(keys, nw.Series) else keys.tolist())


def spelled_keys(values: Sequence[Any]) -> list[bytes | None]:
    """Keys as bytes, converted for a whole column at once: this is half of the work per key."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return [b"%d" % value for value in values]
    if kinds == {bytes}:
        return [value.strip() or None for value in values]
    if kinds == {str}:
        return [value.strip().encode() or None for value in values]
    return [spelled_key(value) for value in values]


def spelled_key(value: Any) -> bytes | None:
    """A key as bytes, the same from every file format: whole numbers in decimal, texts without
    outer blanks.
    """
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, bytes):
        return value.strip() or None
    if isinstance(value, (bool, np.bool_, float, np.floating)):
        raise DomainError(
            "keys must be texts or whole numbers: file formats write fractions and truth values differently"
        )
    return str(value).strip().encode() or None


def check_keys(engine: Engine) -> None:
    """Refuse a file in which a key is missing or occurs twice. Only the party sees the message.

    Digests are kept in unnamed temporary files, so memory does not grow with the number of people
    and nothing is left behind.
    """
    lock = Lock()
    missing = 0
    with ExitStack() as stack:
        buckets = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(_BUCKETS)]

        def collect(block: Any, used: NDArray[np.bool_] | None) -> NDArray[np.int64]:
            nonlocal missing
            digests = block.states[:, 0]
            order = np.argsort(digests)
            digests = digests[order]
            edges = np.searchsorted(digests, np.arange(1, _BUCKETS, dtype=np.uint64) << np.uint64(60))
            with lock:
                missing += sum(key is None for key in block.keys)
                for bucket, part in zip(buckets, np.split(digests, edges), strict=True):
                    bucket.write(part.tobytes())
            return np.zeros(1, dtype=np.int64)

        engine.sum_rows(collect)
        twice = sum(_repeats(bucket) for bucket in buckets)
    if missing:
        raise DomainError(f"{missing} rows have no key; give each person one, or leave them out")
    if twice:
        raise DomainError(f"{twice} rows repeat a key: each person must have one row; nothing was spent")


def _repeats(bucket: Any) -> int:
    bucket.seek(0)
    digests = np.frombuffer(bucket.read(), dtype=np.uint64)
    return len(digests) - len(np.unique(digests))
