"""From a collection to models: post-processing only, so any number of models costs
nothing further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.glm import MeanFunction
from discreet.local.collection import Collection
from discreet.local.columns import Floats
from discreet.local.design import Pooling, Reported, coefficient_map, collected_points, known_points, raw_map
from discreet.local.known_design import KnownDesign
from discreet.local.models import Model, as_model
from discreet.local.moment_equation import Points, solve
from discreet.local.results import LocalResult
from discreet.local.stein import NoisyMoments, scaled_least_squares, stein_scale
from discreet.local.task import Task


@dataclass(frozen=True, eq=False)
class Evidence:
    """The collection before any model: its parts, the design, and how collected moments
    changed it.
    """

    reported: Reported
    points: Points
    count: int
    pooling: Pooling | None = None


def fit(
    task: Task,
    collection: Collection,
    models: Sequence[str | Model] | None = None,
    *,
    prior_std: float | None = None,
) -> list[LocalResult]:
    """One result per model.

    Parameters
    ----------
    task : Task
        The public task that the reports answer.
    collection : Collection
        The sum of the reports.
    models : Sequence[str or Model], optional
        Names or LocalGLM and LocalRegression objects; without any, logistic for labels in [0, 1],
        else linear.
    prior_std : float, optional
        The typical standard deviation of the linear predictor, from public knowledge. Directions
        that the noise hides are shrunk, which predicts better and always has a solution. Without
        it, estimates are nearly unbiased.

    Returns
    -------
    list of LocalResult
        One for each model.

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
    >>> import numpy as np
    >>> from discreet.local import simulate
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(18, 90, 20_000)
    >>> cost = 0.2 + 0.005 * age + rng.uniform(-0.1, 0.1, 20_000)
    >>> collection = simulate(task, {"age": age}, cost, rng)
    >>> from discreet.local import fit
    >>> (result,) = fit(task, collection, ["identity"])
    >>> result.names
    ['intercept', 'age']
    """
    if collection.task.digest != task.digest:
        raise ValueError("the collection holds reports of another task")
    if task.statistic.kind == "pilot":
        raise ValueError(
            "a pilot's reports hold means and scales only; make the second task from them (`local task second`)"
        )
    if models is None:
        models = [default_model(task)]
    if task.statistic.kind == "predictor":
        return [_printed_second(task, collection, as_model(model)) for model in models]
    evidence = gather(task, collection)
    ridge = 0.0 if prior_std is None else prior_ridge(task, collection.count, prior_std)
    return [_fit_one(task, collection, as_model(model), evidence, ridge) for model in models]


def _printed_second(task: Task, collection: Collection, model: Model) -> LocalResult:
    """NLDP's algorithm 5, lines 17 to 23: the scale of the first round's w_ols; the paper gives no
    standard errors.
    """
    coef = task.statistic.transform[0, 1:] / np.diag(raw_map(task)[:, 1:])  # w_ols, which the task carries
    estimates = stein_scale(collection.values, model.mean_function) * coef
    unknown = np.full((len(coef), len(coef)), np.nan)
    return LocalResult(
        model=model.name,
        names=task.names,
        estimates=estimates,
        covariance=unknown,
        response=np.full((len(coef), task.report_entries), np.nan),
        noise_covariance=unknown,
        count=collection.count,
        task=task,
        link=model.mean_function,
        usable=1.0,
        usable_std=0.0,
        assumption="features are Gaussian; the paper gives no standard errors",
    )


def default_model(task: Task) -> str:
    """Logistic for labels that are 0 or 1, else linear."""
    return "logistic" if task.target.two_valued else "identity"


def gather(task: Task, collection: Collection) -> Evidence:
    """The average report and the design that it is read with."""
    return evidence_of(task, Reported.of(task, collection.mean), collection.count)


def evidence_of(task: Task, reported: Reported, count: int) -> Evidence:
    """The same from the parts of an average report."""
    if reported.second is None:
        return Evidence(reported, known_points(task), count)
    if task.calibration == "paper" and task.design is not None:
        points = known_points(task)
        share = count / (count + points.public_rows)
        return Evidence(reported, points, count, Pooling(share * np.eye(len(task.statistic.triangle[0]))))
    points, pooling = collected_points(task, count, reported)
    return Evidence(reported, points, count, pooling)


def prior_ridge(task: Task, count: int, prior_std: float) -> float:
    """The ridge of the posterior mode: noise variance of one entry over the prior variance of one
    coefficient.
    """
    if not prior_std > 0:
        raise ValueError(f"prior_std must be > 0, got {prior_std}")
    size = task.report_entries
    noise = float(np.mean(np.diag(task.randomizer.second_moment(np.zeros((size, size)), np.eye(size) / size))))
    noise *= (task.target.scale * task.statistic.radius / task.statistic.cross) ** 2
    return noise / count * task.width / prior_std**2


def _fit_one(task: Task, collection: Collection, model: Model, evidence: Evidence, ridge: float) -> LocalResult:
    link, reported = model.mean_function, evidence.reported
    observed = reported.cross * task.target.scale
    if task.calibration == "paper" and reported.second is not None:
        moments = NoisyMoments(reported.second, observed, collection.count)
        coef = scaled_least_squares(moments, evidence.points.vectors, link, pooled=task.design is not None)
    else:
        coef = solve(evidence.points, observed, link, task.target.centre, ridge)
    return _result(task, collection, model, evidence, coef, ridge)


def report_response(task: Task, evidence: Evidence, link: MeanFunction, coef: Floats, ridge: float = 0.0) -> Floats:
    """The derivative of coefficients u in the entries of the average report."""
    statistic, reported = task.statistic, evidence.reported
    inverse = _inverse_slopes(evidence.points, link, coef, ridge)
    per_cross = task.target.scale * statistic.radius / (statistic.cross * reported.usable)
    parts = [inverse * per_cross]
    # The entries that are divided by the usable share: h c, and below h h^T.
    divided, through_share = reported.cross * task.target.scale, np.zeros(task.width)
    if evidence.pooling is not None:
        per_moment = -inverse @ moment_pull(task, evidence, link, coef)
        parts.insert(0, per_moment * (statistic.radius**2 / (statistic.outer * reported.usable) * _entry_root(task)))
        rows, columns, root = statistic.triangle
        assert reported.second is not None
        through_share = per_moment @ (reported.second[rows, columns] * root)
    if statistic.flagged:
        along_share = inverse @ divided + through_share
        parts.insert(0, (-along_share / (reported.usable * statistic.flag))[:, np.newaxis])
    return np.hstack(parts)


def _entry_root(task: Task) -> Floats:
    """The factors from a report's entries to svec's coordinates: NLDP's triangles lack the root of
    two.
    """
    rows, columns, root = task.statistic.triangle
    return np.where(rows == columns, 1.0, np.sqrt(2)) / root


def moment_pull(task: Task, evidence: Evidence, link: MeanFunction, coef: Floats) -> Floats:
    """The derivative of the expected E[w h mean(<u, z>)] in the collected svec(E[h h^T])."""
    points, pooling = evidence.points, evidence.pooling
    assert pooling is not None
    if pooling.moments is not None:
        # Calibration: the regression of each row's part on its svec(h h^T), times the gain.
        return pooling.regression(scores(task, points, link, coef)) @ pooling.gain
    # About S u E[slope] with S = E[h h^T], so a change dS moves it by dS u E[slope]; off the
    # diagonal, an entry of svec stands for two entries divided by the root of two.
    pull = float(np.mean(link.slope(points.vectors @ coef))) * coef
    rows, columns, _ = task.statistic.triangle
    places = np.arange(len(rows))
    matrix = np.zeros((task.width, len(rows)))
    off = np.where(rows == columns, 1.0, np.sqrt(0.5))
    matrix[rows, places] += pull[columns] * off
    above = rows != columns
    matrix[columns[above], places[above]] += pull[rows[above]] * off[above]
    return matrix @ pooling.gain


def scores(task: Task, points: Points, link: MeanFunction, coef: Floats) -> Floats:
    """Each row's contribution to the expected report."""
    return points.clipped * (link.mean(points.vectors @ coef) - task.target.centre)[:, np.newaxis]


def _inverse_slopes(points: Points, link: MeanFunction, coef: Floats, ridge: float) -> Floats:
    slopes = points.slopes(coef, link)
    square = slopes.T @ slopes + ridge * np.eye(len(slopes))
    return np.asarray(np.linalg.pinv(square, rcond=1e-12, hermitian=True) @ slopes.T)


def estimate_covariance(task: Task, evidence: Evidence, link: MeanFunction, coef: Floats, ridge: float = 0.0) -> Floats:
    """The delta method's covariance: noise, sampling of records and sampling of public rows."""
    response = report_response(task, evidence, link, coef, ridge)
    covariance = response @ mean_covariance(task, evidence, link, coef) @ response.T
    return np.asarray(covariance + _public_covariance(task, evidence, link, coef, ridge))


def _public_covariance(task: Task, evidence: Evidence, link: MeanFunction, coef: Floats, ridge: float) -> Floats:
    """The part of public rows in an estimate's covariance."""
    points, pooling = evidence.points, evidence.pooling
    if not points.public_rows:
        return np.zeros((task.width, task.width))
    inverse = _inverse_slopes(points, link, coef, ridge)
    parts = scores(task, points, link, coef)
    if pooling is not None and pooling.moments is not None:
        parts = parts - pooling.moments @ moment_pull(task, evidence, link, coef).T
    sampling = np.cov(parts, rowvar=False).reshape(task.width, task.width) / points.public_rows
    if pooling is not None and pooling.moments is None:
        sampling = sampling * (1 - pooling.gain[0, 0]) ** 2
    return np.asarray(inverse @ sampling @ inverse.T)


def mean_covariance(task: Task, evidence: Evidence, link: MeanFunction, coef: Floats) -> Floats:
    """The covariance of the average report under these coefficients: noise and sampling of records.

    Labels count as -1 or 1 around their mean: exact for two-valued ones, and an upper bound for
    others (for the unit randomizer, which rounds lengths to 1, it is exact up to the flag's part).
    """
    return _covariances(task, evidence, link, coef)[0]


def _covariances(task: Task, evidence: Evidence, link: MeanFunction, coef: Floats) -> tuple[Floats, Floats]:
    """The covariance of the average report, and that of the average of what was randomized.

    A report's mean given its record is the record's statistic, so by the law of total covariance
    the randomizers' part is the difference.
    """
    points, usable = evidence.points, min(evidence.reported.usable, 1.0)
    labels = task.target.scaled(link.mean(points.vectors @ coef))
    made = task.statistic.mapped_vectors(points.vectors, np.ones(len(labels)))
    unit = made / np.linalg.norm(made, axis=1, keepdims=True).clip(1e-300)
    inputs, directions = (_signed_square(some, labels, task.statistic.cross_at) for some in (made, unit))
    average = np.mean(made, axis=0)
    average[task.statistic.cross_at :] = labels @ made[:, task.statistic.cross_at :] / len(made)
    missing = np.zeros_like(directions)
    missing[0, 0] = 1.0
    second = task.randomizer.second_moment(usable * inputs, usable * directions + (1 - usable) * missing)
    square = usable**2 * np.outer(average, average)
    return (second - square) / evidence.count, (usable * inputs - square) / evidence.count


def _signed_square(vectors: Floats, labels: Floats, cross_at: int) -> Floats:
    """E[v v^T] if the entries from ``cross_at`` on have a random sign, with these means."""
    square = vectors.T @ vectors
    crossed = (vectors[:, :cross_at].T * labels) @ vectors[:, cross_at:]
    square[:cross_at, cross_at:], square[cross_at:, :cross_at] = crossed, crossed.T
    return np.asarray(square / len(vectors))


def assumptions(task: Task, model: Model) -> str:
    """What a result assumes beyond the model, in words."""
    design = task.design
    if isinstance(design, KnownDesign) and design.rows is not None:
        said = f"features are distributed as in the task's {design.count:,} public rows"
    elif isinstance(design, KnownDesign):
        said = f"features are Gaussian with the task's public second moment ({design.count:,} rows)"
    elif model.mean_function.is_identity:
        said = "nothing is assumed about the features' distribution"
    else:
        said = "features are Gaussian with the collected second moment"
    return said + "; records with a missing answer are like the others"


def _result(
    task: Task, collection: Collection, model: Model, evidence: Evidence, coef: Floats, ridge: float
) -> LocalResult:
    link = model.mean_function
    to_columns = coefficient_map(task)
    response = report_response(task, evidence, link, coef, ridge)
    whole, sampling = _covariances(task, evidence, link, coef)
    covariance = response @ whole @ response.T + _public_covariance(task, evidence, link, coef, ridge)
    noise = response @ (whole - sampling) @ response.T
    usable_std = float(np.sqrt(whole[0, 0])) / task.statistic.flag if task.statistic.flagged else 0.0
    return LocalResult(
        model=model.name,
        names=(["intercept"] if task.fit_intercept else []) + task.names,
        estimates=to_columns @ coef,
        covariance=to_columns @ covariance @ to_columns.T,
        response=to_columns @ response,
        noise_covariance=to_columns @ noise @ to_columns.T,
        count=collection.count,
        task=task,
        link=link,
        usable=evidence.reported.usable,
        usable_std=usable_std,
        assumption=assumptions(task, model),
    )
