"""Which rows are kept for a choice: a rule that looks at one row at a time, so that neighbours stay neighbours.

Where a row is replaced, the rule is the row's place: the new row takes the old one's, and both parts keep their
(public) numbers of rows. Where one is added or removed, places would shift, so the rule is a fixed hash of what the
person is known by: the id, or the row's own encoded cells. One person more or less is then one more or less in one
part, and nothing else moves.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discreet.domain import Encoder, spelling
from discreet.estimators.tables import check_table, check_target, feature_domain

Words = NDArray[np.uint64]

# Odd constants of SplitMix64 (Steele, Lea and Flood, 2014): every bit of a cell moves every bit of the hash.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def held_out_rows(estimator: Any, X: Any, y: Any, groups: Any, one_in: int) -> NDArray[np.bool_]:
    """True for about one row in so many."""
    opener = clone(estimator)
    table = check_table(opener, X, reset=True)
    labels = check_target(table, y, opener)
    if estimator.neighbours == "replace_one":
        if groups is not None:
            # A person's rows could all be in one part, and that part's emptiness would show.
            raise ValueError("a search over persons' rows (groups) needs neighbours='add_or_remove_one'")
        if len(labels) < one_in:
            raise ValueError(f"n_samples={len(labels)} rows are too few to hold one in {one_in} out")
        return np.asarray(np.arange(len(labels)) % one_in == one_in - 1)
    if groups is not None:
        ids = np.asarray(groups)
        if ids.shape != (len(labels),):
            raise ValueError(f"groups must have one entry per row, got {ids.shape} for {len(labels)} rows")
        words = [_spelled(ids)]
    else:
        words = _encoded(opener, table, labels, getattr(y, "name", None))
    return np.asarray(_hashed(words) % np.uint64(one_in) == 0)


def _encoded(opener: Any, table: Any, labels: Any, name: str | None) -> list[Words]:
    """The bits of a row's encoded cells and label: encoding looks at one cell at a time, whatever type a column has."""
    target = opener._target(name)
    names = list(getattr(opener, "feature_names_in_", [f"x{i}" for i in range(opener.n_features_in_)]))
    encoder = Encoder(feature_domain(opener, names), target)
    block = encoder.encode(table, opener._label_numbers(labels, target))
    cells = np.empty((encoder.width + 1, len(labels)))
    block.write_x(cells[:-1])
    cells[-1] = block.y
    cells[np.isnan(cells)] = 2.0  # one pattern of bits for all that is missing, which no encoded cell has
    return list(cells.view(np.uint64))


def _hashed(columns: list[Words]) -> Words:
    state = np.full(len(columns[0]), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for words in columns:
        with np.errstate(over="ignore"):
            state = (state ^ words) * _FIRST
            state ^= state >> np.uint64(29)
            state = state * _SECOND
            state ^= state >> np.uint64(32)
    return state


def _spelled(ids: Any) -> Words:
    """Ids by how they are written, the same from every type."""
    texts = (spelling(value).encode(errors="surrogatepass") for value in ids.tolist())
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype=np.uint64)
