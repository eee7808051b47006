"""Rows that are encoded once and fitted many times, without looking up every category again.

The estimator is called as usual, and its curator sends the same queries about the same numbers to
the same engine, with fresh noise; only the source of a block's numbers differs. What is computed
from public rows alone is the same in every fit, and is computed once. ``check`` verifies both to
the last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from benchmarks.accuracy.problems import Problem

from discreet import Public
from discreet.domain.encoding import Encoder
from discreet.engines import Arrays, Layout, MemoryEngine
from discreet.errors import PrivacyLeakWarning
from discreet.estimators import base, solved
from discreet.estimators.public_guess import public_guess

SEED = 1


@dataclass
class KeptRows:
    """Encoded features, a column per record, that an engine slices by records as it slices a frame."""

    x: np.ndarray
    sliced: tuple[KeptRows, slice] | None = None
    whole: dict[float, np.ndarray] = field(default_factory=dict)  # the same in whole numbers, by their scale

    def __len__(self) -> int:
        return self.x.shape[1]

    def __getitem__(self, rows: slice | np.ndarray) -> KeptRows:
        return KeptRows(self.x[:, rows], (self, rows) if isinstance(rows, slice) else None)

    def gather_every(self, n: int) -> KeptRows:
        return KeptRows(self.x[:, ::n])


class KeptEncoder(Encoder):
    """An encoder of rows that are encoded already."""

    def write(self, table: KeptRows, out: np.ndarray, memory: dict[str, Any] | None = None) -> None:
        np.copyto(out, table.x)

    def cells(self, table: KeptRows) -> None:
        """Nothing for loops to encode."""
        return

    def write_whole(self, table: KeptRows, out: np.ndarray, scale: float, memory: dict[str, Any] | None = None) -> None:
        if table.sliced is None:
            super().write_whole(table, out, scale)
            return
        rows, chosen = table.sliced
        if scale not in rows.whole:
            whole = np.empty((len(out), len(rows)))
            super().write_whole(rows, whole, scale)
            rows.whole[scale] = whole
        np.copyto(out, rows.whole[scale][:, chosen])


@dataclass
class EncodedOnce:
    """One split's private and test rows, as the first fit and the first prediction encoded them."""

    problem: Problem
    _private: KeptRows | None = field(default=None, init=False)
    _test: np.ndarray | None = field(default=None, init=False)
    _guess: Any = field(default=None, init=False)

    @contextmanager
    def rows(self) -> Iterator[None]:
        """In this context every fit uses the private rows of this split, with one thread each."""
        with (
            patch.object(base, "open_engine", self._engine),
            patch.object(solved, "public_guess", self._public_guess),
        ):
            yield

    def _public_guess(self, public: Public, *facts: Any) -> Any:
        if public.rows is not self.problem.public.frame or public.y is not self.problem.public.y:
            raise ValueError(f"these are not the public rows of {self.problem.name}")
        if self._guess is None:
            self._guess = public_guess(public, *facts)
        return self._guess

    def _engine(self, arrays: Arrays, layout: Layout) -> MemoryEngine:
        encoder: Encoder = layout.encode.__self__  # type: ignore[attr-defined]
        table = arrays.table
        if encoder.domain != self.problem.domain or len(table) != len(self.problem.private):
            raise ValueError(f"these are not the private rows of {self.problem.name}")
        if self._private is None:
            self._private = KeptRows(encoder.encode(table).x)
        kept = KeptEncoder(encoder.domain, encoder.target, encoder.exposure)
        return MemoryEngine(kept.encode, self._private, arrays.y, workers=1)

    def predicts_test_rows(self, model: Any) -> None:
        """Make the model predict the test rows, whatever rows it is given."""
        if self._test is None:
            self._test = model._design(self.problem.test.frame, extrapolate=False)
        model._design = lambda _, extrapolate=False: self._test

    def check(self, fit: Callable[[], Any], predict: Callable[[Any], np.ndarray]) -> None:
        """A seeded fit gives the same bits either way."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyLeakWarning)  # the warning about a seed, which is expected here
            plain = fit()
            with self.rows():
                first, second = fit(), fit()  # the second from what the first one kept
        for kept in (first, second):
            if np.append(plain.coef_, plain.intercept_).tobytes() != np.append(kept.coef_, kept.intercept_).tobytes():
                raise AssertionError(f"{self.problem.name}: rows encoded ahead give another model")
            self.predicts_test_rows(kept)
            if predict(plain).tobytes() != predict(kept).tobytes():
                raise AssertionError(f"{self.problem.name}: rows encoded ahead give other predictions")
