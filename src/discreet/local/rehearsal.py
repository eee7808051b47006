"""Made-up people for a task: what a collection would say if effects were as strong as supposed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.domain import Domain, Numeric
from discreet.local.collection import Collection
from discreet.local.design import coefficient_map, known_points
from discreet.local.make import raw_map
from discreet.local.models import LocalGLM, Model
from discreet.local.plan import Floats
from discreet.local.simulation import simulate_rows
from discreet.local.task import Task


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """A simulated collection, the people behind it, and the coefficients that made their labels."""

    collection: Collection
    rows: Floats
    labels: Floats
    truth: Floats


def rehearse(task: Task, n: int, model: Model, rng: np.random.Generator, effect: float = 1.0) -> Rehearsal:
    """n people like the task's public moments (or bounds), with a linear predictor of standard deviation ``effect``.

    Gaussian features, clipped by the declared bounds as any are; only tasks whose columns are all numeric.
    """
    if not all(isinstance(column, Numeric) for column in task.columns):
        raise ValueError("a rehearsal needs numeric columns: made-up categories would have to be guessed")
    vectors = known_points(task).vectors
    back = np.linalg.pinv(task.transform)
    encoded = vectors @ back.T
    encoded[:, 0] = 1.0
    raw = encoded @ raw_map(Domain(task.columns)).T
    mean, covariance = raw.mean(axis=0), np.cov(raw, rowvar=False).reshape(raw.shape[1], raw.shape[1])
    if not task.fit_intercept:
        mean = np.zeros_like(mean)
    rows = rng.multivariate_normal(mean, covariance, size=n, method="eigh")
    coef = rng.normal(size=task.width)
    truth = coefficient_map(task) @ coef
    slopes = truth[-raw.shape[1] :]
    slopes *= effect / np.sqrt(slopes @ covariance @ slopes)
    if task.fit_intercept:
        truth[0] = -float(mean @ slopes)
    predictor = rows @ slopes + (truth[0] if task.fit_intercept else 0.0)
    labels = _labels(model, predictor, rng)
    return Rehearsal(simulate_rows(task, rows, labels, rng), rows, labels, truth)


def _labels(model: Model, predictor: Floats, rng: np.random.Generator) -> Floats:
    mean = model.mean_function.mean(predictor)
    if not isinstance(model, LocalGLM):
        return np.asarray(mean + rng.uniform(-0.05, 0.05, size=len(mean)))
    if model.family in ("logistic", "boosting"):
        return (rng.random(len(mean)) < mean).astype(np.float64)
    return rng.poisson(np.minimum(mean, 1e6)).astype(np.float64)
