"""The estimator itself, fitted to tables that are drawn from a public sample.

A table repeats the sample's rows until it has n. Labels that are repeated with their rows would
make the chance in a few hundred labels look like misfit, which a fit to many rows detects and a fit
to real rows does not find. So a row takes the residual of a neighbour, unless the sample shows a
misfit that is clear of chance: then a part of the rows keep their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.planning.influence import apart
from discreet.planning.kinds import Floats
from discreet.planning.sample import Sample
from discreet.planning.simulation import central_estimator, fitted
from discreet.privacy import Budget

# Neighbours on both sides: few enough that errors keep their size and skewness, and that the
# product of both numbers of rows is that of a large table.
_NEIGHBOURS = 12
# Tables, and fits to each; the spread between fits to one table is the noise.
_TABLES, _FITS = 10, 2


@dataclass(frozen=True, eq=False)
class Rehearsed:
    """Variances per column: between fits to one table, of the distance to the plain fit of that
    table, of sampling, and the squared bias. And by how much the standard errors that fits state
    exceed those without privacy (median), and the risk beyond the plain fit's.
    """

    noise: Floats
    distance: Floats
    sampling: Floats
    bias: Floats
    wider: float
    risk: float


def rehearse(sample: Sample, n: int, epsilon: float, delta: float, *, neighbours: str, public: int = 0) -> Rehearsed:
    from discreet.domain import Public

    rng = np.random.default_rng([n, sample.rows, sample.d])
    replaced = neighbours == "replace_one"
    own = apart(sample, n, Budget.of(epsilon, delta), replaced=replaced, public=public > 0).own
    estimates, stated, plain, risks = [], [], [], []
    for _ in range(_TABLES):
        table, known = drawn(sample, n, own, rng), None
        if public:
            rows = drawn(sample, public, own, rng)
            known = Public(rows=rows.X, y=rows.y)
        estimator = central_estimator(sample, epsilon, delta, neighbours, known)
        fits = [fitted(estimator, table.X, table.y) for _ in range(_FITS)]
        estimates.append([estimate for estimate, _, _ in fits])
        stated.append([errors for _, errors, _ in fits])
        plain.append(table.coefficients[1:])
        losses = table.losses(np.column_stack([table.coefficients, *(model for _, _, model in fits)]))
        risks.append(float(np.mean(losses[1:]) - losses[0]))
    # As multiples of those without privacy: columns differ in theirs by their correlations.
    wider = float(np.median(np.array(stated) / np.sqrt(np.diag(sample.per_row)[1:] / n)))
    return _split(np.array(estimates), np.array(plain), wider, float(np.mean(risks)))


def _split(estimates: Floats, plain: Floats, wider: float, risk: float) -> Rehearsed:
    """From estimates (tables x fits x slopes) and the plain slopes of each table."""
    tables, fits, _ = estimates.shape
    noise = np.mean(np.var(estimates, axis=1, ddof=1), axis=0)
    middle = estimates.mean(axis=1)
    away = middle - plain
    bias = np.maximum(away.mean(axis=0) ** 2 - np.var(away, axis=0, ddof=1) / tables, 0.0)
    sampling = np.maximum(np.var(middle, axis=0, ddof=1) - noise / fits, 0.0)
    distance = np.mean((estimates - plain[:, np.newaxis]) ** 2, axis=(0, 1))
    return Rehearsed(noise, distance, sampling, bias, wider, risk)


def drawn(sample: Sample, n: int, own: float, rng: np.random.Generator) -> Sample:
    """A table of n rows like the sample's; ``own``: the part of rows that keep their label."""
    m = sample.rows
    order = np.argsort(sample.closeness, kind="stable")
    place = np.empty(m, dtype=np.intp)
    place[order] = np.arange(m)
    rows = rng.permutation(np.resize(rng.permutation(m), n))
    near = np.clip(place[rows], _NEIGHBOURS, m - 1 - _NEIGHBOURS) + rng.integers(-_NEIGHBOURS, _NEIGHBOURS + 1, n)
    donors = np.where(rng.random(n) < own, rows, order[near])
    return replace(sample, X=sample.X[rows], y=_labels(sample, rows, donors, rng))


def _labels(sample: Sample, rows: np.ndarray, donors: np.ndarray, rng: np.random.Generator) -> Floats:
    """The label of each row if it had the residual of its donor, in standard deviations."""
    y: Floats = sample.y[donors]
    moved = sample.kind.moved(y, sample.means[donors], sample.means[rows], rng)
    return np.asarray(np.clip(moved, *sample.label_bounds))
