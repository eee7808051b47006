"""The rule for holding out rows for a choice. It uses one row at a time, so that
neighbours stay neighbours.

Under ``replace_one`` the rule is the row's position: the new row takes the old one's position, and
both parts keep their (public) numbers of rows. Under ``add_or_remove_one`` positions would shift,
so the rule is a fixed hash of the person's id, or of the row's own encoded cells. One person more
or less is then one more or less in one part, and nothing else changes.

If a person is replaced, ids decide as well, and both parts keep the rows of all people: labels are
removed from rows that belong to the other part. The new person may belong to another part than the
old one, but in each part one person's rows are then replaced by another's, which the noise hides.
So no part can be observed to be empty.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from discreet.domain import Encoder
from discreet.engines import Engine
from discreet.engines.person_ids import person_key
from discreet.estimators.tables import check_table, feature_names
from discreet.estimators.vectors import NamedCells, check_groups
from discreet.rows import row_hashes

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Rows:
    """The rows of a search, all of them or a part."""

    X: Any
    y: NamedCells
    groups: Any = None
    exposure: Any = None

    def parted(self, estimator: Any, one_in: int) -> tuple[Rows, Rows]:
        """The rows to which candidates are fitted, and those kept for the choice."""
        aside = held_out_rows(estimator, self.X, self.y, self.groups, one_in)
        if estimator.neighbours == "replace_one" and self.groups is not None:
            return self._labelled(~aside), self._labelled(aside)
        return self._cut(np.flatnonzero(~aside)), self._cut(np.flatnonzero(aside))

    def fit(self, estimator: Any) -> Any:
        more = {} if self.exposure is None else {"exposure": self.exposure}
        return estimator.fit(self.X, self.y, self.groups, **more)

    def engine(self, estimator: Any) -> tuple[Engine, Encoder]:
        """The engine over these rows, and their encoding."""
        found: tuple[Engine, Encoder] = estimator._rows_engine(self.X, self.y, self.groups, self.exposure)
        return found

    def _cut(self, places: NDArray[np.intp]) -> Rows:
        X, groups, exposure = (
            None if part is None else _safe_indexing(part, places) for part in (self.X, self.groups, self.exposure)
        )
        return Rows(X, NamedCells.of(self.y[places], self.y.name), groups, exposure)

    def _labelled(self, kept: NDArray[np.bool_]) -> Rows:
        """All rows, with labels only for those kept: a row without a label adds
        nothing to any sum.
        """
        labels = self.y.copy()
        labels[~kept] = None
        return replace(self, y=labels)


def held_out_rows(estimator: Any, X: Any, y: NamedCells, groups: Any, one_in: int) -> NDArray[np.bool_]:
    """True for about one row in ``one_in``."""
    if estimator.neighbours == "replace_one" and groups is None:
        if len(y) < one_in:
            raise ValueError(f"n_samples={len(y)} rows are too few to hold out one in {one_in}")
        return np.asarray(np.arange(len(y)) % one_in == one_in - 1)
    ids = check_groups(groups, len(y))
    if ids is not None:
        return held_out_ids(ids.tolist(), one_in)
    return np.asarray(row_hashes(_encoded(clone(estimator), X, y), len(y)) % np.uint64(one_in) == 0)


def held_out_ids(ids: Sequence[Any], one_in: int) -> NDArray[np.bool_]:
    """True for all rows of about one person in ``one_in``, by the id alone."""
    return np.asarray(row_hashes([_spelled(ids)], len(ids)) % np.uint64(one_in) == 0)


def _encoded(opener: Any, X: Any, y: NamedCells) -> list[np.ndarray]:
    """A row's encoded cells and label; encoding uses one cell at a time, for any type of column."""
    table = check_table(opener, X, reset=True)
    target, _, labels = opener._read_labels(table, y)
    encoder = opener._make_encoder(feature_names(opener), target, None)
    block = encoder.encode(table, labels)
    cells = np.empty((encoder.width + 1, len(y)))
    block.write_x(cells[:-1])
    cells[-1] = block.y
    return list(cells)


def _spelled(ids: Sequence[Any]) -> Words:
    """Hashes of ids as they are written, the same for every type; rows without
    an id are not used.
    """
    texts = ((person_key(value) or "").encode(errors="surrogatepass") for value in ids)
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype=np.uint64)
