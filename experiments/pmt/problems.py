"""The tables of PMT's experiments and its methods, each a call of the product."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from sklearn.linear_model import Ridge as PlainRidge

from discreet import GuaranteeError, LinearRegression, LogisticRegression, Public
from discreet.glm import Bernoulli, Logit, fit_plain
from discreet.privacy import Budget
from experiments.data import data_folder

DELTA = 1e-6
SETS: dict[str, tuple[str, str, float]] = {
    "wine": ("wine_quality_white.parquet", "quality", 245),
    "CCPP": ("ccpp.parquet", "PE", 192),
    "bank": ("bank_marketing.parquet", "y", 0.1),
    "banknote": ("banknote_authentication.parquet", "class", 0.1),
}
# The paper's T, clip and step of DP-GD.
DP_GD = {"simulation": (1000, 1.0, 0.09), "wine": (1000, 3.0, 0.5), "CCPP": (1000, 2.0, 0.04)}


@dataclass(frozen=True)
class Problem:
    """Private rows, public rows, and the slopes that a fit should find, if these are known."""

    X: np.ndarray
    y: np.ndarray
    public_X: np.ndarray
    public_y: np.ndarray
    goal: np.ndarray | None = None

    def first(self, rows: int) -> Problem:
        return replace(self, X=self.X[:rows], y=self.y[:rows])

    def error(self, coef: np.ndarray) -> float:
        """|coefficients - goal| / |goal|, each feature in units of its standard deviation."""
        assert self.goal is not None
        scale = self.X.std(axis=0)
        return float(np.linalg.norm((coef - self.goal) * scale) / np.linalg.norm(self.goal * scale))

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """What would be declared: the public rows' range, and half of it more on either side."""
        low, high = self.public_X.min(axis=0), self.public_X.max(axis=0)
        return low - 0.5 * (high - low) - 1e-9, high + 0.5 * (high - low) + 1e-9

    @property
    def label_bounds(self) -> tuple[float, float]:
        low, high = float(self.public_y.min()), float(self.public_y.max())
        return low - 0.5 * (high - low), high + 0.5 * (high - low)


def simulated(rows: int, public: int, columns: int, binary: bool, seed: int) -> Problem:
    """x ~ N(mean, Psi) with condition number 1,000; the paper does not say which Psi it took."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    X = rng.normal(size=(rows + public, columns)) * np.geomspace(1, 1000**-0.5, columns) @ basis.T
    X += 0.3 * rng.normal(size=columns)
    beta = rng.normal(size=columns)
    eta = X @ beta
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-eta))).astype(float) if binary else eta + 0.05 * rng.normal(size=len(X))
    return Problem(X[public:], y[public:], X[:public], y[:public], beta)


@lru_cache(maxsize=2)
def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows and labels of a data set."""
    file, target, _ = SETS[name]
    frame = pq.read_table(data_folder(file) / file).to_pandas()
    y = frame.pop(target)
    binary = name in ("bank", "banknote")
    labels = (y.astype(str) == y.astype(str).max()).to_numpy(float) if binary else y.to_numpy(float)
    # Categories as numbers, as the paper's 16 features of bank marketing must be.
    columns = [frame[c] if frame[c].dtype.kind in "iufb" else frame[c].astype("category").cat.codes for c in frame]
    return np.column_stack([np.asarray(c, dtype=float) for c in columns]), labels


def real(name: str, seed: int) -> Problem:
    X, labels = table(name)
    order = np.random.default_rng(seed).permutation(len(labels))
    X, labels, public = X[order], labels[order], SETS[name][2]
    known = int(public * len(labels)) if public < 1 else int(public)
    return Problem(X[known:], labels[known:], X[:known], labels[:known])


def budget(mu: float) -> dict[str, float]:
    """The paper's mu is that of each of two releases: sqrt(2) mu in all, for every method alike."""
    asked = Budget.from_mu(np.sqrt(2) * mu, DELTA)
    return {"epsilon": asked.epsilon, "delta": DELTA}


RIDGE = ("DP-RR paper", "DP-GD", "PMT paper", "PMT tight", "auto")
# With a penalty the paper leaves out DP-GD, whose step would have to change with it.
PENALISED = ("DP-RR paper", "PMT paper", "PMT tight", "auto")
LOGISTIC = ("DP-LR paper", "DP-LR tight", "PMT paper", "PMT tight", "auto")
# The plain fit, in simulations; on real sets it is what errors are measured from.
PLAIN = "no privacy"


def plain_ridge(problem: Problem, penalty: float) -> np.ndarray:
    X = np.clip(problem.X, *problem.bounds)
    return PlainRidge(alpha=penalty * len(X)).fit(X, problem.y).coef_


def with_ridge_goal(problem: Problem, penalty: float) -> Problem:
    """Plain ridge is the goal where the true slopes are not known."""
    return problem if problem.goal is not None else replace(problem, goal=plain_ridge(problem, penalty))


def ridge_error(
    method: str, problem: Problem, mu: float, penalty: float, eta: float, seed: int, steps: tuple | None = None
) -> float:
    """``steps``: those of DP-GD, their clip and length."""
    if method == PLAIN:
        return problem.error(plain_ridge(problem, penalty))
    known = Public(rows=problem.public_X, y=problem.public_y)
    common = {**budget(mu), "bounds_X": problem.bounds, "bounds_y": problem.label_bounds, "random_state": seed}
    common["alpha"] = penalty * len(problem.y)
    rounds, clip, step = steps or (None, None, None)
    models: dict[str, Callable[[], Any]] = {
        "DP-RR paper": lambda: LinearRegression(**common, calibration="paper"),
        "DP-GD": lambda: LinearRegression(
            **common, solver="dp_gd", max_iter=rounds, clip=clip, step=step, public=Public(rows=problem.public_X)
        ),
        "PMT paper": lambda: LinearRegression(**common, solver="pmt", calibration="paper", public=known, eta=eta),
        "PMT tight": lambda: LinearRegression(**common, solver="pmt", public=known),
        "auto": lambda: LinearRegression(**common, public=known),
    }
    model = fitted(models[method](), problem)
    return math.nan if model is None else problem.error(np.ravel(model.coef_))


def fitted(model: Any, problem: Problem) -> Any:
    """The fitted model; None where its printed noise is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.fit(problem.X, problem.y)
        except GuaranteeError:
            return None


def logistic_model(method: str, problem: Problem, mu: float, penalty: float, eta: float, steps: int, seed: int) -> Any:
    known = Public(rows=problem.public_X)
    common = {**budget(mu), "bounds_X": problem.bounds, "alpha": penalty * len(problem.y), "random_state": seed}
    whose, _, calibration = method.partition(" ")
    if method == "auto":
        return LogisticRegression(**common, public=known)
    public = known if whose == "PMT" else None
    more = {"eta": eta, "max_iter": steps, "calibration": "paper"} if calibration == "paper" else {}
    return LogisticRegression(**common, solver="newton", public=public, **more)


def plain_logistic(problem: Problem, penalty: float) -> np.ndarray:
    X = np.clip(problem.X, *problem.bounds)
    scale = X.std(axis=0)
    # On columns of spread 1, as the solver needs it; the penalty there is the user's over the
    # squared spread.
    design = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / scale])
    weights = np.concatenate([[0.0], np.full(len(scale), penalty) / scale**2])
    return fit_plain(Bernoulli(), Logit(), design, problem.y, weights, np.zeros(design.shape[1]))[1:] / scale


def with_logistic_goal(problem: Problem, penalty: float) -> Problem:
    """The plain fit is the goal where the true slopes are not known."""
    return problem if problem.goal is not None else replace(problem, goal=plain_logistic(problem, penalty))


def logistic_errors(
    method: str, problem: Problem, mu: float, penalty: float, eta: float, seed: int, iterations: Sequence[int]
) -> list[float]:
    """Printed methods after these of their steps; the others have no such path, and show where they
    end.
    """
    if method == PLAIN:
        return [problem.error(plain_logistic(problem, penalty))] * len(iterations)
    model = fitted(logistic_model(method, problem, mu, penalty, eta, iterations[-1], seed), problem)
    if model is None:
        return [math.nan] * len(iterations)
    if hasattr(model, "path_"):
        return [problem.error(model.path_[t - 1, 1:]) for t in iterations]
    return [problem.error(np.ravel(model.coef_))] * len(iterations)
