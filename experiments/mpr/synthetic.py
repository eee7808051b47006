"""MPR's synthetic people, and its printed methods drawn through their second moments.

10 features uniform in [-1, 1], weights uniform in [-.1, .1], y = w.x, six parties of two attributes
(the last of one), k = sqrt(n) / sigma mixes for RMGM. The weights of DGM, BGM and RMGM depend on
the releases only through second moments. These are drawn exactly for DGM and BGM (Bartlett's
decomposition), and by the central limit theorem over n people for RMGM: 1,000 seeds of 3,000,000
people would take the product weeks, and its printed training is for cells in [0, 1].
``tests/unit/experiments/test_mpr.py`` compares both on such cells.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from discreet.parties import Plan
from experiments.mpr.joint import DELTA

FEATURES = 10
NAMES = [f"x{i}" for i in range(FEATURES)]
RIDGE = 1e-5


def printed_noise(epsilon: float) -> float:
    return math.sqrt(4 * 2 * 2 * math.log(1.25 / DELTA)) / epsilon


def data(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The weights, and X^T X of n people."""
    weights = rng.uniform(-1 / FEATURES, 1 / FEATURES, FEATURES)
    gram = np.zeros((FEATURES, FEATURES))
    for start in range(0, n, 100_000):
        x = rng.uniform(-1, 1, (min(100_000, n - start), FEATURES))
        gram += x.T @ x
    return weights, gram


def direct(
    gram: np.ndarray, weights: np.ndarray, n: int, std: float, rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], float]:
    """DGM-OLS and BGM-OLS on [X, y] + R, and the least absolute eigenvalue of DGM's Hessian.

    With X = Q L^T and [X, y] = Q A^T, [X, y]^T R = A Z for Z = Q^T R, and R^T R = Z^T
    Z + Wishart(n - 10).
    """
    root = np.vstack([np.eye(FEATURES), weights]) @ np.linalg.cholesky(gram)
    z = std * rng.normal(size=(FEATURES, FEATURES + 1))
    lower = np.tril(rng.normal(size=(FEATURES + 1, FEATURES + 1)), -1)
    lower[np.diag_indices(FEATURES + 1)] = np.sqrt(rng.chisquare(n - FEATURES - np.arange(FEATURES + 1)))
    noisy = (root @ root.T + root @ z + (root @ z).T + z.T @ z + std**2 * lower @ lower.T) / n
    biased = noisy[:-1, :-1] + RIDGE * np.eye(FEATURES)
    hessian = biased - std**2 * np.eye(FEATURES)
    fits = {"DGM": np.linalg.solve(hessian, noisy[:-1, -1]), "BGM": np.linalg.solve(biased, noisy[:-1, -1])}
    return fits, float(np.abs(np.linalg.eigvalsh(hessian)).min())


def mixed(
    gram: np.ndarray, weights: np.ndarray, n: int, std: float, mixes: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """RMGM-OLS, and the least eigenvalue of its Hessian over n: a mix of n people is a draw from
    N(0, [X, y]^T [X, y]).
    """
    root = np.vstack([np.eye(FEATURES), weights]) @ np.linalg.cholesky(gram)
    joint = rng.normal(size=(mixes, FEATURES)) @ root.T / math.sqrt(mixes)
    joint += std * rng.normal(size=joint.shape)
    hessian = joint[:, :-1].T @ joint[:, :-1] + RIDGE * np.eye(FEATURES)
    fitted = np.linalg.solve(hessian, joint[:, :-1].T @ joint[:, -1])
    return fitted, float(np.linalg.eigvalsh(hessian)[0] / n)


def printed_mixes(n: int, epsilon: float) -> int:
    return max(FEATURES + 1, round(math.sqrt(n) * epsilon / math.sqrt(2 * math.log(1.25 / DELTA))))


def make_plan(n: int, epsilon: float, seed: int, **more: object) -> Plan:
    """Six parties of two attributes, the last of one."""
    columns = [*NAMES, "label"]
    tables = {
        f"party {j}": {"columns": {name: {"low": -1.0, "high": 1.0} for name in columns[2 * j : 2 * j + 2]}}
        for j in range(6)
    }
    basic = {"format": 1, "name": "figure 2", "key": "id", "people": n, "label": "label", "epsilon": epsilon}
    return Plan.from_dict({**basic, "seed": str(seed), "delta": DELTA, "parties": tables, **more})


def people(n: int, weights: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    x = rng.uniform(-1, 1, (n, FEATURES))
    return pd.DataFrame(np.column_stack([x, x @ weights]), columns=[*NAMES, "label"])
