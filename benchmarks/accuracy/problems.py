"""A data set, split into private, public and test rows; and the units in which every peer sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from benchmarks.accuracy import real_sets, synthetic_sets
from benchmarks.peers.setting import Rows

from discreet import Domain, Numeric
from discreet.domain import Encoder

TEST_SHARE = 0.2
PUBLIC_NORM_QUANTILE = 0.9  # rows longer than nine of ten public rows are shortened
STD_FLOOR = 0.1  # of a column's declared half width: a level that no public row has must not become huge
ALL_SETS = (*real_sets.REAL_SETS, *synthetic_sets.SYNTHETIC_SETS)


@dataclass(frozen=True)
class Part:
    """Rows in their own units, with numbers moved into the declared bounds."""

    frame: pd.DataFrame
    y: np.ndarray
    exposure: np.ndarray | None

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Problem:
    """One split of one data set. The public rows are set aside in either case, used or not."""

    name: str
    family: str
    domain: Domain
    bounds_y: tuple[float, float]
    private: Part
    public: Part
    test: Part


def family_of(name: str) -> str:
    return (real_sets.REAL_SETS | real_sets.SET_ASIDE | synthetic_sets.SYNTHETIC_SETS)[name].family


def public_rows_of(name: str) -> int:
    known = real_sets.REAL_SETS.get(name) or synthetic_sets.SYNTHETIC_SETS[name]
    return known.public_rows


@dataclass(frozen=True)
class Size:
    """Rows of each part, and encoded columns (indicators counted one by one, the constant not)."""

    private: int
    public: int
    test: int
    columns: int


def size_of(name: str) -> Size:
    """Of every split."""
    public = public_rows_of(name)
    if name in real_sets.REAL_SETS:
        rows = real_sets.rows_of(name)
        test = round(TEST_SHARE * rows)
        private, domain = rows - test - public, real_sets.domain_of(real_sets.REAL_SETS[name].columns)
    else:
        private, test = synthetic_sets.SYNTHETIC_SETS[name].train_rows, synthetic_sets.TEST_ROWS
        domain = synthetic_sets.domain_of(name)
    return Size(private, public, test, Encoder(domain).width)


def problem(name: str, split: int) -> Problem:
    """Split number ``split``: another permutation of a real set, fresh rows of a synthetic one."""
    if name not in synthetic_sets.SYNTHETIC_SETS:
        real = real_sets.real_set(name)
        frame, y = real_sets.load(name)
        exposure, n_test = None, round(TEST_SHARE * len(y))
        domain, n_public, bounds_y = real_sets.domain_of(real.columns), real.public_rows, real.bounds_y
        order = np.random.default_rng(split).permutation(len(y))
    else:
        made = synthetic_sets.SYNTHETIC_SETS[name]
        n_public, n_test, bounds_y = made.public_rows, synthetic_sets.TEST_ROWS, made.bounds_y
        n_rows = n_test + n_public + made.train_rows
        frame, y, exposure = synthetic_sets.draw(name, n_rows, split)
        domain, order = synthetic_sets.domain_of(name), np.arange(n_rows)
    for column in domain.columns:
        if isinstance(column, Numeric):
            frame[column.name] = frame[column.name].astype(np.float64).clip(column.low, column.high)

    def part(chosen: np.ndarray) -> Part:
        return Part(frame.iloc[chosen], y[chosen], None if exposure is None else exposure[chosen])

    test, public, private = np.split(order, [n_test, n_test + n_public])
    return Problem(name, family_of(name), domain, bounds_y, part(private), part(public), part(test))


@dataclass(frozen=True)
class Units:
    """How rows become numbers for the peers.

    Without public rows: declared intervals become [-1, 1], levels 0/1 indicators. With public rows:
    the same, then centred and scaled by the mean and standard deviation of the public rows, which
    also give the radius and the bound of the target.
    """

    problem: Problem
    with_public: bool

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self.problem.domain)

    @cached_property
    def _centre_and_scale(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.with_public:
            return np.zeros(self._encoder.width), np.ones(self._encoder.width)
        x = self._encoder.encode(self.problem.public.frame).x
        return x.mean(axis=1), np.sqrt(x.var(axis=1) + STD_FLOOR**2)

    @cached_property
    def y_centre_and_scale(self) -> tuple[float, float]:
        """Only a linear model's target has units to choose."""
        if self.problem.family != "linear":
            return 0.0, 1.0
        if self.with_public:
            return float(self.problem.public.y.mean()), float(self.problem.public.y.std())
        low, high = self.problem.bounds_y
        return (low + high) / 2, (high - low) / 2

    @cached_property
    def log_rate(self) -> float:
        """Where a log-linear model starts: the public rows' rate, or 1."""
        if self.problem.family != "poisson" or not self.with_public:
            return 0.0
        public = self.problem.public
        total = len(public) if public.exposure is None else public.exposure.sum()
        return float(np.log(max(public.y.sum(), 1.0) / total))

    def rows(self, part: Part) -> Rows:
        """A part in these units."""
        centre, scale = self._centre_and_scale
        x = (self._encoder.encode(part.frame).x.T - centre) / scale
        X = np.column_stack([x, np.ones(len(x))])
        y_centre, y_scale = self.y_centre_and_scale
        y = (part.y - y_centre) / y_scale
        offset = None
        if self.problem.family == "poisson":
            offset = self.log_rate + (np.zeros(len(y)) if part.exposure is None else np.log(part.exposure))
        return Rows(X, y, self.radius, self.y_bound, offset)

    @cached_property
    def radius(self) -> float:
        """Of a row with its 1."""
        if not self.with_public:
            return float(np.hypot(self._encoder.radius, 1))
        centre, scale = self._centre_and_scale
        x = (self._encoder.encode(self.problem.public.frame).x.T - centre) / scale
        return float(np.hypot(np.quantile(np.linalg.norm(x, axis=1), PUBLIC_NORM_QUANTILE), 1))

    @cached_property
    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Low and high of each feature: as declared; with public rows theirs, where they vary at
        all.
        """
        low = np.concatenate(
            [np.full(len(c.names), -1.0 if isinstance(c, Numeric) else 0.0) for c in self.problem.domain.columns]
        )
        high = np.ones_like(low)
        if not self.with_public:
            return low, high
        centre, scale = self._centre_and_scale
        x = self._encoder.encode(self.problem.public.frame).x
        varies = x.max(axis=1) > x.min(axis=1)
        low, high = np.where(varies, x.min(axis=1), low), np.where(varies, x.max(axis=1), high)
        return (low - centre) / scale, (high - centre) / scale

    @cached_property
    def y_bound(self) -> float:
        """Of |y| in these units; of a linear model with public rows, the largest of those."""
        y_centre, y_scale = self.y_centre_and_scale
        if self.problem.family == "linear" and self.with_public:
            return float(np.abs(self.problem.public.y - y_centre).max() / y_scale)
        return float(max(abs(bound - y_centre) for bound in self.problem.bounds_y) / y_scale)

    @cached_property
    def test(self) -> Rows:
        return self.rows(self.problem.test)

    def test_loss(self, weights: np.ndarray) -> np.ndarray:
        """The test loss of each line of weights."""
        predictor = self.test.X @ np.atleast_2d(weights).T
        if self.test.offset is not None:
            predictor += self.test.offset[:, None]
        y_centre, y_scale = self.y_centre_and_scale
        return loss(self.problem, y_centre + y_scale * predictor)


def loss(problem: Problem, predictor: np.ndarray) -> np.ndarray:
    """Of each column of linear predictors: MSE as a share of the variance of y, mean log-loss, or
    mean deviance.
    """
    y = problem.test.y[:, None]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if problem.family == "linear":
            value = ((y - predictor) ** 2).mean(axis=0) / y.var()
        elif problem.family == "logistic":
            value = (np.logaddexp(0, predictor) - y * predictor).mean(axis=0)
        else:
            mean = np.exp(predictor)
            value = 2 * (np.where(y > 0, y * (np.log(np.maximum(y, 1)) - predictor), 0) - y + mean).mean(axis=0)
    return np.where(np.isfinite(value), value, np.inf)
