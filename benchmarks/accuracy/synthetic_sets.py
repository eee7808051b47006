"""Synthetic designs: linear, logistic and Poisson with condition numbers 1 to 10,000, and claims
with exposure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from discreet import Categorical, Domain, Numeric

SEED = 1
FEATURES = 10
STDS_WITHIN_BOUNDS = 4.0
TEST_ROWS = 20_000  # many, as they are free: the test error then has no sampling noise to speak of
CLAIM_LEVELS = (2, 4, 8, 12)  # levels of the categorical columns of the claims
CLAIM_NUMBERS = 16
EXPOSURE = (0.05, 1.0)  # years
MEAN_CLAIMS = 0.15  # per year of exposure


@dataclass(frozen=True)
class SyntheticSet:
    """A family and the condition number of its Gaussian design; 0 stands for the claims."""

    family: str
    condition: float
    bounds_y: tuple[float, float]
    train_rows: int = 10_000
    public_rows: int = 200


SYNTHETIC_SETS = {
    **{f"linear_{int(c)}": SyntheticSet("linear", c, (-8.0, 8.0)) for c in (1.0, 1e2, 1e4)},
    **{f"logistic_{int(c)}": SyntheticSet("logistic", c, (0, 1)) for c in (1.0, 1e2, 1e4)},
    **{f"poisson_{int(c)}": SyntheticSet("poisson", c, (0, 20)) for c in (1.0, 1e4)},
    "claims": SyntheticSet("poisson", 0.0, (0, 4), 50_000, 1_000),
}
# The standard deviation of the linear predictor: an R^2 of .75 beside unit noise, and clear but not
# separable classes.
SIGNAL = {"linear": np.sqrt(3.0), "logistic": 2.0, "poisson": 0.8}


def domain_of(name: str) -> Domain:
    chosen = SYNTHETIC_SETS[name]
    if chosen.condition == 0:
        numbers = [Numeric(f"x{i}", 0.0, 1.0) for i in range(CLAIM_NUMBERS)]
        groups = [Categorical(f"group{i}", tuple(range(levels))) for i, levels in enumerate(CLAIM_LEVELS)]
        return Domain((*numbers, *groups))
    basis, root_eigenvalues = _design(chosen.condition)
    # Standard deviations of the population, not of the sample: public facts about the design.
    reach = STDS_WITHIN_BOUNDS * np.sqrt(((basis * root_eigenvalues) ** 2).sum(axis=1))
    return Domain(tuple(Numeric(f"x{i}", -float(r), float(r)) for i, r in enumerate(reach)))


def draw(name: str, n_rows: int, split: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray | None]:
    """Fresh rows of a set: features, target, and the exposure where there is one."""
    chosen = SYNTHETIC_SETS[name]
    rng = np.random.default_rng([SEED, split, n_rows])
    if chosen.condition == 0:
        return _claims(n_rows, rng)
    basis, root_eigenvalues = _design(chosen.condition)
    whitened = rng.standard_normal((n_rows, FEATURES))
    frame = pd.DataFrame((whitened * root_eigenvalues) @ basis.T, columns=[f"x{i}" for i in range(FEATURES)])
    # Every eigen-direction has the same share of the signal: its strong directions alone do not
    # answer the question.
    predictor = SIGNAL[chosen.family] * whitened.sum(axis=1) / np.sqrt(FEATURES)
    if chosen.family == "linear":
        return frame, predictor + rng.standard_normal(n_rows), None
    if chosen.family == "logistic":
        return frame, (rng.random(n_rows) < 1 / (1 + np.exp(-predictor))).astype(np.float64), None
    return frame, rng.poisson(np.exp(np.minimum(predictor, 4))).astype(np.float64), None


def _design(condition: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    basis, _ = np.linalg.qr(rng.standard_normal((FEATURES, FEATURES)))
    return basis, np.geomspace(1, 1 / np.sqrt(condition), FEATURES)


def _claims(n_rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Policies: skewed numbers between 0 and 1, groups of unequal size, most of a year's exposure,
    few claims.
    """
    truth = np.random.default_rng(SEED)
    numbers = rng.beta(1.5, 3.0, (n_rows, CLAIM_NUMBERS))
    predictor = (numbers - 1 / 3) @ truth.normal(0, 0.8, CLAIM_NUMBERS)
    frame = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(CLAIM_NUMBERS)])
    for i, levels in enumerate(CLAIM_LEVELS):
        sizes = truth.dirichlet(np.full(levels, 2.0))
        group = rng.choice(levels, n_rows, p=sizes)
        effects = truth.normal(0, 0.4, levels)
        predictor += effects[group] - effects @ sizes
        frame[f"group{i}"] = group
    exposure = np.clip(rng.beta(2.0, 1.0, n_rows), *EXPOSURE)
    return frame, rng.poisson(MEAN_CLAIMS * exposure * np.exp(predictor)).astype(np.float64), exposure
