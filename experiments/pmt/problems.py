"""The tables of PMT's experiments and its methods, each a call of the product."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
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
    """Private rows, public rows, and the true slopes if there are any."""

    X: np.ndarray
    y: np.ndarray
    public_X: np.ndarray
    public_y: np.ndarray
    truth: np.ndarray | None = None

    def first(self, rows: int) -> Problem:
        return Problem(self.X[:rows], self.y[:rows], self.public_X, self.public_y, self.truth)

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


def real(name: str, seed: int) -> Problem:
    file, target, public = SETS[name]
    frame = pq.read_table(data_folder(file) / file).to_pandas()
    y = frame.pop(target)
    binary = name in ("bank", "banknote")
    labels = (y.astype(str) == y.astype(str).max()).to_numpy(float) if binary else y.to_numpy(float)
    # Categories as numbers, as the paper's 16 features of bank marketing must be.
    columns = [frame[c] if frame[c].dtype.kind in "iufb" else frame[c].astype("category").cat.codes for c in frame]
    X = np.column_stack([np.asarray(c, dtype=float) for c in columns])
    order = np.random.default_rng(seed).permutation(len(labels))
    X, labels = X[order], labels[order]
    known = int(public * len(labels)) if public < 1 else int(public)
    return Problem(X[known:], labels[known:], X[:known], labels[:known])


def distance(coef: np.ndarray, goal: np.ndarray, X: np.ndarray) -> float:
    """|coefficients - reference| / |reference|, each feature in units of its standard deviation."""
    scale = X.std(axis=0)
    return float(np.linalg.norm((coef - goal) * scale) / np.linalg.norm(goal * scale))


def budget(mu: float) -> dict[str, float]:
    """The paper's mu is that of each of two releases: sqrt(2) mu in all, for every method alike."""
    asked = Budget.from_mu(np.sqrt(2) * mu, DELTA)
    return {"epsilon": asked.epsilon, "delta": DELTA}


RIDGE = ("DP-RR paper", "DP-GD", "PMT paper", "PMT tight", "auto")
# With a penalty the paper leaves out DP-GD, whose step would have to change with it.
PENALISED = ("DP-RR paper", "PMT paper", "PMT tight", "auto")
LOGISTIC = ("DP-LR paper", "DP-LR tight", "PMT paper", "PMT tight", "auto")


def ridge_model(method: str, problem: Problem, mu: float, penalty: float, eta: float, steps: tuple | None) -> Any:
    known = Public(rows=problem.public_X, y=problem.public_y)
    common = {**budget(mu), "bounds_X": problem.bounds, "bounds_y": problem.label_bounds}
    common["alpha"] = penalty * len(problem.y)
    rounds, clip, step = steps or (None, None, None)
    return {
        "DP-RR paper": lambda: LinearRegression(**common, calibration="paper"),
        "DP-GD": lambda: LinearRegression(
            **common, solver="dp_gd", max_iter=rounds, clip=clip, step=step, public=Public(rows=problem.public_X)
        ),
        "PMT paper": lambda: LinearRegression(**common, solver="pmt", calibration="paper", public=known, eta=eta),
        "PMT tight": lambda: LinearRegression(**common, solver="pmt", public=known),
        "auto": lambda: LinearRegression(**common, public=known),
    }[method]()


def ridge_errors(
    problem: Problem, mu: float, penalty: float, eta: float, steps: tuple | None = None
) -> Mapping[str, float]:
    """``steps``: those of DP-GD, their clip and length; None leaves it out."""
    X = np.clip(problem.X, *problem.bounds)
    goal = problem.truth
    if goal is None:
        goal = PlainRidge(alpha=penalty * len(X)).fit(X, problem.y).coef_
    return {
        method: fitted_distance(ridge_model(method, problem, mu, penalty, eta, steps), problem, goal)
        for method in (PENALISED if steps is None else RIDGE)
    }


def fitted_distance(model: Any, problem: Problem, goal: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return distance(np.ravel(model.fit(problem.X, problem.y).coef_), goal, problem.X)
        except GuaranteeError:
            return float("nan")


def logistic_model(method: str, problem: Problem, mu: float, penalty: float, eta: float, steps: int) -> Any:
    known = Public(rows=problem.public_X)
    common = {**budget(mu), "bounds_X": problem.bounds, "alpha": penalty * len(problem.y)}
    whose, _, calibration = method.partition(" ")
    if method == "auto":
        return LogisticRegression(**common, public=known)
    public = known if whose == "PMT" else None
    more = {"eta": eta, "max_iter": steps, "calibration": "paper"} if calibration == "paper" else {}
    return LogisticRegression(**common, solver="newton", public=public, **more)


def logistic_goal(problem: Problem, penalty: float) -> np.ndarray:
    if problem.truth is not None:
        return problem.truth
    X = np.clip(problem.X, *problem.bounds)
    scale = X.std(axis=0)
    # On columns of spread 1, as the solver needs it; the penalty there is the user's over the
    # squared spread.
    design = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / scale])
    weights = np.concatenate([[0.0], np.full(len(scale), penalty) / scale**2])
    return fit_plain(Bernoulli(), Logit(), design, problem.y, weights, np.zeros(design.shape[1]))[1:] / scale


def logistic_errors(
    problem: Problem, mu: float, penalty: float, eta: float, steps: int, iteration: int
) -> Mapping[str, float]:
    """Printed methods after this many of their steps; the others have no such path, and show where
    they end.
    """
    goal, found = logistic_goal(problem, penalty), {}
    for method in LOGISTIC:
        model = logistic_model(method, problem, mu, penalty, eta, steps)
        found[method] = fitted_distance(model, problem, goal)
        if hasattr(model, "path_"):
            found[method] = distance(model.path_[iteration - 1, 1:], goal, problem.X)
    return found
