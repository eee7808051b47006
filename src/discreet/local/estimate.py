"""From a collection to models: post-processing only, so any number of models costs nothing further."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.local.collection import Collection
from discreet.local.design import Reported, coefficient_map, collected_points, known_points
from discreet.local.links import Link
from discreet.local.models import Model, as_model
from discreet.local.moment_equation import Points, solve
from discreet.local.plan import Floats
from discreet.local.results import LocalResult
from discreet.local.stein import NoisyMoments, scaled_least_squares
from discreet.local.task import Task


def fit(
    task: Task,
    collection: Collection,
    models: Sequence[str | Model] | None = None,
    *,
    public: Any = None,
    prior_std: float | None = None,
) -> list[LocalResult]:
    """One result per model.

    models: names or LocalGLM and LocalRegression objects; without any, logistic for labels in [0, 1], else linear.
    public: rows (array or frame) like the ones the task was made with; without them the design counts as Gaussian.
    prior_std: how far the linear predictor typically ranges, known from elsewhere. It shrinks what the noise hides:
    that predicts better and never lacks a solution. Without it, estimates are as good as unbiased.
    """
    if collection.task.digest != task.digest:
        raise ValueError("the collection holds reports of another task")
    if models is None:
        models = ["logistic" if (task.target.low, task.target.high) == (0.0, 1.0) else "identity"]
    reported = Reported.of(task, collection.mean)
    if reported.second is None:
        points, carried = known_points(task, public), 0.0
    elif task.calibration == "paper" and public is not None:
        points = known_points(task, public)
        carried = collection.count / (collection.count + points.public_rows)
    else:
        points, carried = collected_points(task, collection, reported.second, public)
    ridge = 0.0 if prior_std is None else prior_ridge(task, collection.count, prior_std)
    return [_fit_one(task, collection, as_model(model), reported, points, carried, ridge) for model in models]


def prior_ridge(task: Task, count: int, prior_std: float) -> float:
    """The ridge of the posterior mode: noise variance of one entry over the prior variance of one coefficient."""
    if not prior_std > 0:
        raise ValueError(f"prior_std must be > 0, got {prior_std}")
    noise = float(task.plan.noise_std[-1]) * task.label_scale / task.cross_weight
    return noise**2 / count * task.width / prior_std**2


def _fit_one(
    task: Task, collection: Collection, model: Model, reported: Reported, points: Points, carried: float, ridge: float
) -> LocalResult:
    link = model.mean_function
    if task.calibration == "paper" and reported.second is not None:
        moments = NoisyMoments(reported.second, reported.cross * task.label_scale, collection.count)
        coef = scaled_least_squares(moments, points.vectors, link, pooled=carried < 1)
    else:
        coef = solve(points, expected_report(task, reported, points), link, task.label_centre, ridge)
    response = report_response(task, points, link, coef, carried, ridge)
    return _result(task, collection, model.name, points, link, coef, response)


def expected_report(task: Task, reported: Reported, points: Points) -> Floats:
    """E[h (y - centre)] in label units; a second round reported only what is left beside the first round's model."""
    observed = reported.cross * task.label_scale
    if task.second is None:
        return observed
    before = np.linalg.lstsq(task.transform.T, np.array(task.second.coef), rcond=None)[0]
    return observed + points.expected(before, task.second.link, task.label_centre)


def report_response(task: Task, points: Points, link: Link, coef: Floats, carried: float, ridge: float = 0.0) -> Floats:
    """The derivative of coefficients u in the entries of the average report.

    carried: the derivative of the design's covariance in the collected one; 0 where only public rows give it.
    """
    slopes = points.slopes(coef, link)
    square = slopes.T @ slopes + ridge * np.eye(len(slopes))
    inverse = np.linalg.pinv(square, rcond=1e-12, hermitian=True) @ slopes.T
    cross = inverse * (task.label_scale / task.cross_weight)
    if not task.outer:
        return cross
    # E[h mean(<u, z>)] is about S u E[slope] under a Gaussian design with covariance S, so a change dS moves it by
    # dS u E[slope], and an entry above the diagonal stands for two.
    pull = float(np.mean(link.slope(points.vectors @ coef))) * carried * coef
    rows, columns = np.triu_indices(task.width)
    matrix = np.zeros((task.width, len(rows)))
    places = np.arange(len(rows))
    matrix[rows, places] += pull[columns]
    above = rows != columns
    matrix[columns[above], places[above]] += pull[rows[above]]
    return np.hstack([-inverse @ matrix, cross])


def estimate_covariance(task: Task, count: int, points: Points, link: Link, coef: Floats, response: Floats) -> Floats:
    """Noise, the sampling of records and the sampling of public rows, carried through the derivative."""
    noise = (response * task.plan.noise_std**2 / count) @ response.T
    cross = response[:, response.shape[1] - task.width :] * task.cross_weight
    # Labels in [-1, 1] have squares of at most 1: exact for binary labels, an upper bound for others.
    sampling = points.clipped.T @ points.clipped / len(points.vectors) / count
    if points.public_rows:
        centred = link.mean(points.vectors @ coef) - task.label_centre
        scores = points.clipped * (centred / task.label_scale)[:, np.newaxis]
        sampling = sampling + np.cov(scores, rowvar=False).reshape(task.width, task.width) / points.public_rows
    return noise + cross @ sampling @ cross.T


def _result(
    task: Task, collection: Collection, name: str, points: Points, link: Link, coef: Floats, response: Floats
) -> LocalResult:
    to_columns = coefficient_map(task)
    covariance = estimate_covariance(task, collection.count, points, link, coef, response)
    back = np.linalg.pinv(task.transform)
    moment = back @ (points.vectors.T @ points.vectors / len(points.vectors)) @ back.T
    return LocalResult(
        model=name,
        names=(["intercept"] if task.fit_intercept else []) + task.names,
        estimates=to_columns @ coef,
        covariance=to_columns @ covariance @ to_columns.T,
        response=to_columns @ response,
        encoded_coef=task.transform.T @ coef,
        encoded_moment=moment,
        count=collection.count,
        fit_intercept=task.fit_intercept,
    )
