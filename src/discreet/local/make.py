"""Making a task: the choices that only public facts decide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.domain import Domain, Numeric, Public, cells
from discreet.errors import DomainError
from discreet.local.plan import Floats, printed_plan, statistic_reach
from discreet.local.statistic import encoded_columns
from discreet.local.task import Second, Task
from discreet.privacy import gaussian_mu

# Whitened rows have norms near sqrt(width). Clipping most of them costs little signal, as the direction carries it, and
# the noise shrinks with the radius; estimation knows the clip and undoes its attenuation.
_TIGHT_SHARE = 0.7
# A guess at the squared slope on encoded features, which decides how the budget is split between h h^T and h c.
_TYPICAL_SLOPE = 0.1


def new_task(
    name: str,
    *,
    domain: Domain,
    target: Numeric,
    epsilon: float,
    delta: float,
    goal: int,
    closes: str = "goal",
    public: Public | None = None,
    reports: str = "auto",
    calibration: str = "tight",
    design: str = "gaussian",
    fit_intercept: bool = True,
    rounds: int = 1,
    radius: float | None = None,
) -> Task:
    """A checked task; public rows, or their second moment, make it report far less noise.

    design: only for calibration "paper", which radius it prints: "gaussian" (Alg. 1, 3) or "bounded" (Alg. 2, 4).
    reports: "cross", "both", or "auto": the cross moment alone when public rows give the covariance.
    """
    moment = None if public is None else public_moment(domain, public)
    if calibration == "paper":
        transform, radius = _printed(domain, moment, design, goal)
        mu, weight, reports, fit_intercept = printed_plan(len(transform), radius, epsilon, delta).mu, 1.0, "both", False
    else:
        if reports == "auto":
            reports = "both" if moment is None else "cross"
        if reports == "cross" and moment is None:
            raise DomainError("reports 'cross' needs public rows or moments: nothing else gives the covariance")
        basis = _basis(domain, fit_intercept)
        transform = basis if moment is None else _whitening(basis, moment, public_size(public)) @ basis
        radius = radius or _radius(domain, len(transform), moment is not None, reports, fit_intercept)
        # The margin leaves the device's own check, by a simpler formula, nothing to argue about.
        mu = gaussian_mu(epsilon, delta) / math.sqrt(rounds) * (1 - 1e-9)
        weight = _cross_weight(radius) if reports == "both" else 1.0
    return Task(
        name=name,
        epsilon=float(epsilon),
        delta=float(delta),
        mu=mu,
        goal=goal,
        closes=closes,
        columns=domain.columns,
        target=target,
        transform=transform,
        radius=float(radius),
        reports=reports,
        cross_weight=weight,
        calibration=calibration,
        fit_intercept=fit_intercept,
        rounds=rounds,
        public_rows=public_size(public),
    )


def second_round(task: Task, coef: Floats, family: str, moment: Floats) -> Task:
    """The task of the second round: residuals of the first round's model, whitened by the first round's moments.

    coef: on (1, x) with x encoded to [-1, 1], as ``LocalResult.encoded_coef``. moment: E[(1, x)(1, x)^T], as estimated.
    """
    if task.rounds != 2 or task.round != 1:
        raise DomainError("only the first of two rounds has a second")
    basis = _basis(Domain(task.columns), task.fit_intercept)
    transform = _whitening(basis, moment, task.goal) @ basis
    fields = {key: getattr(task, key) for key in ("name", "epsilon", "delta", "mu", "goal", "closes", "columns")}
    return Task(
        **fields,
        target=task.target,
        transform=transform,
        radius=_TIGHT_SHARE * math.sqrt(len(transform)),
        fit_intercept=task.fit_intercept,
        rounds=2,
        round=2,
        public_rows=task.public_rows,
        second=Second(task.digest, family, tuple(float(value) for value in coef)),
    )


def public_design(domain: Domain, rows: Any) -> Floats:
    """Public rows as (1, x), encoded; rows with anything missing are left out."""
    if isinstance(rows, np.ndarray):
        if rows.ndim != 2 or rows.shape[1] != len(domain.columns):
            raise DomainError(f"public rows must have {len(domain.columns)} columns")
        columns: Any = {column.name: rows[:, place] for place, column in enumerate(domain.columns)}
    else:
        import narwhals as nw

        frame = nw.from_native(rows, eager_only=True)
        columns = {column.name: cells(frame[column.name]) for column in domain.columns}
    design = encoded_columns(domain, columns, len(rows))
    return design[np.isfinite(design).all(axis=1)]


def public_size(public: Public | None) -> int:
    if public is None:
        return 0
    return int(public.n) if public.n is not None else len(public.rows)


def public_moment(domain: Domain, public: Public) -> Floats:
    """E[(1, x)(1, x)^T] of encoded public rows; a declared second moment must be of exactly that."""
    if public.rows is not None:
        design = public_design(domain, public.rows)
        if len(design) < 2:
            raise DomainError("public rows must have at least two complete rows")
        return design.T @ design / len(design)
    moment = np.asarray(public.second_moment, dtype=np.float64)
    size = 1 + sum(len(column.names) for column in domain.columns)
    if moment.shape != (size, size):
        raise DomainError(f"a public second moment must be that of (1, x), {size} x {size}, got {moment.shape}")
    return moment


def raw_map(domain: Domain) -> Floats:
    """The matrix that takes (1, encoded x) to x in its own units."""
    names = [name for column in domain.columns for name in column.names]
    matrix = np.zeros((len(names), len(names) + 1))
    place = 0
    for column in domain.columns:
        for _ in column.names:
            centre, half = (column.centre, column.half_width) if isinstance(column, Numeric) else (0.0, 1.0)
            matrix[place, 0], matrix[place, place + 1] = centre, half
            place += 1
    return matrix


def _basis(domain: Domain, fit_intercept: bool) -> Floats:
    """What coefficients multiply: (1, x) encoded, or without an intercept x itself scaled to [-1, 1]."""
    raw = raw_map(domain)
    if fit_intercept:
        return np.eye(raw.shape[1])
    return raw / np.abs(raw).sum(axis=1, keepdims=True)


def _whitening(basis: Floats, moment: Floats, rows: int) -> Floats:
    """The symmetric inverse root of the basis' second moment, each direction floored at one row's worth."""
    second = basis @ moment @ basis.T
    values, vectors = np.linalg.eigh((second + second.T) / 2)
    floor = max(float(values[-1]), 1e-12) * 1e-8 + max(float(np.diag(second).max()), 1e-12) / max(rows, 1)
    # Added, not maximised: a direction that public rows barely show must not dominate a private row's length.
    return (vectors / np.sqrt(np.maximum(values, 0.0) + floor * (values < 50 * floor))) @ vectors.T


def _radius(domain: Domain, width: int, whitened: bool, reports: str, fit_intercept: bool) -> float:
    if not whitened:
        return math.sqrt(len(domain.columns) + int(fit_intercept))
    # With h h^T released too, clipping would distort the covariance: a wider ball.
    return (_TIGHT_SHARE if reports == "cross" else 1.5) * math.sqrt(width)


def _cross_weight(radius: float) -> float:
    """The weight of h c beside h h^T that gives the least error at a typical slope."""
    weights = radius * np.geomspace(0.05, 20, 400)
    cost = [statistic_reach(radius, True, w) ** 2 * (1 / w**2 + _TYPICAL_SLOPE / 2) for w in weights]
    return float(weights[int(np.argmin(cost))])


def _printed(domain: Domain, moment: Floats | None, design: str, n: int) -> tuple[Floats, float]:
    raw = raw_map(domain)
    if design == "bounded":
        return raw, float(np.abs(raw).sum())  # the L1 radius of the declared box, as Alg. 2 and 4 print it
    if design != "gaussian" or moment is None:
        raise DomainError("calibration 'paper' needs design 'bounded', or 'gaussian' with public rows")
    spread = float(np.linalg.eigvalsh(raw @ moment @ raw.T)[-1])
    return raw, math.sqrt(20 * len(raw) * spread * math.log(n))
