"""Making a task: settings are chosen by their predicted error, which depends on public
facts only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.domain import Categorical, Domain, Numeric, Public, cells
from discreet.errors import DomainError
from discreet.local.columns import Floats, declared, encoded_columns
from discreet.local.design import outer_noise, supposed_moment
from discreet.local.forecasting import forecast
from discreet.local.gaussian import Gaussian
from discreet.local.known_design import KnownDesign
from discreet.local.statistic import Statistic
from discreet.local.target import Target
from discreet.local.task import Task, check_asked
from discreet.local.unit import Unit
from discreet.privacy import gaussian_mu

# Squared weights that are tried, of the flag and of h h^T (h c gets the rest).
_FLAGS = (0.01, 0.02, 0.04, 0.08)
_OUTERS = (0.25, 0.5, 0.75)
# Radii that are tried, in units of the root of the length of h; whitened vectors are about 1 in
# these. With h h^T reported too, directions alone would lose the scale.
_RADII = {"cross": (0.3, 0.5, 0.7, 1.0), "both": (0.7, 1.0, 1.4)}
# Where the noise of one entry of h h^T, over all devices, is so many times the error of public
# rows, it is not asked.
_HOPELESS = 4.0


def new_task(
    name: str,
    *,
    domain: Domain,
    target: Numeric | Categorical,
    epsilon: float,
    delta: float | None = None,
    goal: int,
    closes: str = "goal",
    public: Public | None = None,
    reports: str = "auto",
    randomizer: str = "unit",
    fit_intercept: bool = True,
    radius: float | None = None,
    positive: object = None,
) -> Task:
    """A new, checked task. With public rows, or their second moment, reports need far less noise.

    Parameters
    ----------
    name : str
        What the task is about, for people.
    domain : Domain
        What is asked, without the label.
    target : Numeric or Categorical
        The label.
    epsilon : float
        The privacy loss of one report.
    delta : float, optional
        Only for randomizer "gaussian" (1e-6 if not given); the unit randomizer needs none.
    goal : int
        How many reports are planned.
    closes : str, default 'goal'
        When the task ends: at its goal, or on a date such as ``'2030-12-31'``.
    public : Public, optional
        Rows without labels, or their second moment: with them reports need far less noise.
    reports : str, default 'auto'
        "cross", "both", or "auto": the one with the smaller predicted error, and "both" without
        public rows or moments.
    randomizer : {'unit', 'gaussian'}, default 'unit'
        How devices randomize; the unit randomizer needs no delta and has less error.
    fit_intercept : bool, default True
        Whether the model has an intercept.
    radius : float, optional
        The clip norm of rows; chosen by the forecast if None.
    positive : object, optional
        The level of a categorical target that counts as 1; of two levels, the second if not given.

    Returns
    -------
    Task
        What devices are asked.

    Privacy
    -------
    Every report has the task's epsilon, whatever the record. ``Task`` checks this when it is made.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import new_task
    >>> task = new_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=20_000,
    ... )
    >>> task.body_size
    34
    """
    check_asked(epsilon, 0.0 if delta is None else delta, goal)
    if domain.missing != "drop":
        raise DomainError("local tasks use complete records only: missing='centre' is for central models")
    if randomizer not in ("unit", "gaussian"):
        raise DomainError(f"randomizer must be 'unit' or 'gaussian', got {randomizer!r}")
    columns = tuple(declared(column) for column in domain.columns)
    design = None if public is None else known_design(Domain(columns), public)
    kinds = _kinds(reports, design)
    common: dict[str, Any] = {
        "name": name,
        "epsilon": float(epsilon),
        "delta": 0.0 if randomizer == "unit" else float(1e-6 if delta is None else delta),
        "goal": goal,
        "closes": closes,
        "columns": columns,
        "target": Target.of(target, positive),
        "fit_intercept": fit_intercept,
        "design": design,
    }
    moment, rows = (supposed_moment(columns), goal) if design is None else (design.moment, design.count)
    transform = _units(columns, fit_intercept, moment, rows)
    tasks = [
        _best(common, kind, transform, radius)
        for kind in kinds
        if reports != "auto" or not _hopeless(common, kind, transform)
    ]
    return tasks[0] if len(tasks) == 1 else min(tasks, key=_predicted_error)


def _hopeless(common: dict[str, Any], kind: str, transform: Floats) -> bool:
    """Whether a collected h h^T could add nothing to the public one.

    A rough estimate, which saves a long search.
    """
    if kind == "cross" or common["design"] is None:
        return False
    tried = _with(common, _statistic(kind, transform, math.sqrt(len(transform)), _FLAGS[1], 0.5))
    return bool(outer_noise(tried) / common["goal"] > _HOPELESS / common["design"].count)


def task_in_units(common: dict[str, Any], moment: Floats) -> Task:
    """A task that reports both moments in units of this E[(1, x)(1, x)^T], without a
    known design.
    """
    transform = _units(common["columns"], common["fit_intercept"], moment, common["goal"])
    return _best(common, "both", transform, None)


def units_of_design(columns: Sequence[Any], design: KnownDesign, *, fit_intercept: bool = True) -> Floats:
    """The map of a task with this design: it whitens the known rows."""
    return _units(columns, fit_intercept, design.moment, design.count)


def _units(columns: Sequence[Any], fit_intercept: bool, moment: Floats, rows: int) -> Floats:
    """The map to coordinates in which the moment is the identity."""
    basis = _basis(columns, fit_intercept)
    return _whitening(basis, moment, rows) @ basis


def _kinds(reports: str, design: KnownDesign | None) -> Sequence[str]:
    if reports not in ("auto", "cross", "both"):
        raise DomainError(f"reports must be 'auto', 'cross' or 'both', got {reports!r}")
    if reports == "cross" and design is None:
        raise DomainError("reports 'cross' needs public rows or moments, because the covariance comes from them alone")
    if reports != "auto":
        return (reports,)
    return ("both",) if design is None else ("cross", "both")


def _best(common: dict[str, Any], kind: str, transform: Floats, radius: float | None) -> Task:
    """The task of this kind with the least predicted error: radius and split first,
    then the flag.
    """
    radii = [radius] if radius is not None else [factor * math.sqrt(len(transform)) for factor in _RADII[kind]]
    outers = _OUTERS if kind == "both" else (0.0,)
    sizes = [(float(size), outer) for size in radii for outer in outers]
    size, outer = min(
        sizes, key=lambda one: _predicted_error(_with(common, _statistic(kind, transform, one[0], _FLAGS[1], one[1])))
    )
    flags = (_with(common, _statistic(kind, transform, size, flag, outer)) for flag in _FLAGS)
    return min(flags, key=_predicted_error)


def _predicted_error(task: Task) -> float:
    return float(forecast(task, task.goal)["squared_relative_error"])


def _statistic(kind: str, transform: Floats, radius: float, flag: float, outer: float) -> Statistic:
    weights = {"flag": math.sqrt(flag), "cross": math.sqrt((1 - flag) * (1 - outer))}
    if kind == "both":
        weights["outer"] = math.sqrt((1 - flag) * outer)
    return Statistic(kind, radius=radius, transform=transform, **weights)


def _with(common: dict[str, Any], statistic: Statistic) -> Task:
    features = sum(len(column.names) for column in common["columns"])
    return Task(**common, statistic=statistic, randomizer=_randomizer(common, statistic, features))


def _randomizer(common: dict[str, Any], statistic: Statistic, features: int) -> Unit | Gaussian:
    if common["delta"] == 0:
        return Unit.best(statistic.dimension(features), common["epsilon"])
    # With this margin the task passes the device's own check, which uses a simpler formula.
    mu = gaussian_mu(common["epsilon"], common["delta"]) * (1 - 1e-9)
    return Gaussian.tight(statistic, features, mu)


def public_design(domain: Domain, rows: Any) -> Floats:
    """Public rows as (1, x), encoded; rows with anything missing are left out."""
    if isinstance(rows, np.ndarray):
        if rows.ndim != 2 or rows.shape[1] != len(domain.columns):
            raise DomainError(f"public rows must have {len(domain.columns)} columns")
        columns: Any = {column.name: rows[:, place] for place, column in enumerate(domain.columns)}
    else:
        import narwhals as nw

        frame = nw.from_native(rows, eager_only=True)
        columns = {name: cells(frame[name]) for name in frame.columns}
    design = encoded_columns(domain, columns, len(rows))
    return design[np.isfinite(design).all(axis=1)]


def known_design(domain: Domain, public: Public) -> KnownDesign:
    """The design for the task: public rows, or a second moment of (1, x) with x encoded."""
    if public.rows is not None:
        design = public_design(domain, public.rows)
        if len(design) < 2:
            raise DomainError("public rows must have at least two complete rows")
        return KnownDesign.of_rows(design)
    moment = np.asarray(public.second_moment, dtype=np.float64)
    size = 1 + sum(len(column.names) for column in domain.columns)
    if moment.shape != (size, size):
        raise DomainError(f"a public second moment must be that of (1, x), {size} x {size}, got {moment.shape}")
    return KnownDesign(int(public.n or 1), second_moment=moment)


def _basis(columns: Sequence[Any], fit_intercept: bool) -> Floats:
    """The basis of the coefficients: (1, x) encoded, or without an intercept x scaled
    to [-1, 1].
    """
    names = [name for column in columns for name in column.names]
    if fit_intercept:
        return np.eye(len(names) + 1)
    raw = np.zeros((len(names), len(names) + 1))
    place = 0
    for column in columns:
        for _ in column.names:
            centre, half = (column.centre, column.half_width) if isinstance(column, Numeric) else (0.0, 1.0)
            raw[place, 0], raw[place, place + 1] = centre, half
            place += 1
    return np.asarray(raw / np.abs(raw).sum(axis=1, keepdims=True))


def _whitening(basis: Floats, moment: Floats, rows: int) -> Floats:
    """The symmetric inverse root of the basis' second moment, with one row's worth added."""
    second = basis @ moment @ basis.T
    values, vectors = np.linalg.eigh((second + second.T) / 2)
    floor = max(float(values[-1]), 1e-12) * 1e-8 + max(float(np.diag(second).max()), 1e-12) / max(rows, 1)
    # The floor is added, not a maximum: a direction that public rows hardly show must not dominate
    # the length of a private row.
    return np.asarray((vectors / np.sqrt(np.maximum(values, 0.0) + floor * (values < 50 * floor))) @ vectors.T)
