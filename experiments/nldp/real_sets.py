"""Covertype, SUSY and Skin for NLDP's figures 15 and 16: test accuracy of one simulated collection."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow.parquet as pq
from sklearn.linear_model import LogisticRegression

from discreet.domain import Domain, Numeric, Public
from discreet.errors import DiscreetError
from discreet.local import fit, new_task, printed_task
from discreet.local.simulation import simulate_rows
from experiments.data import data_folder
from experiments.runner import Cell

# File, label, and the value that counts as 1; most private rows, test rows.
SETS = {
    "covertype": ("covertype.parquet", "Cover_Type", "2", 350_000, 200_000),
    "skin": ("skin_segmentation.parquet", None, "1", 180_000, 5_000),
    "susy": ("susy_10k.parquet", None, "1", 7_000, 2_000),
}
CURVES = ("paper", "gaussian", "unit", "no privacy")


@lru_cache(maxsize=1)
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    file, target, positive, _, _ = SETS[name]
    frame = pq.read_table(data_folder(file) / file).to_pandas()
    label = target or ("class" if "class" in frame else frame.columns[-1] if name == "skin" else frame.columns[0])
    y = frame.pop(label)
    numbers = y.astype(float).to_numpy() if y.dtype.kind in "iuf" else y.astype(str).to_numpy()
    labels = (numbers == (float(positive) if numbers.dtype.kind == "f" else positive)).astype(float)
    return frame.to_numpy(dtype=float), labels


@dataclass(frozen=True)
class Split:
    """Rows on columns that public rows standardise: private, public and test."""

    X: np.ndarray
    y: np.ndarray
    known: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def accuracy(self, coef: np.ndarray, intercept: float) -> float:
        return float(np.mean((self.X_test @ coef + intercept > 0) == (self.y_test > 0.5)))


def split(cell: Cell, seed: int) -> Split:
    rows, labels = load(cell["set"])
    n, m = cell["n"], cell["m"]
    order = np.random.default_rng(seed).permutation(len(labels))[: n + m + SETS[cell["set"]][4]]
    private, public, test = np.split(order, [n, n + m])
    known = rows[public]
    kept = np.flatnonzero((known != np.median(known, axis=0)).sum(axis=0) >= min(40, m // 20))
    centre, spread = known[:, kept].mean(axis=0), known[:, kept].std(axis=0)
    parts = [(rows[np.ix_(part, kept)] - centre) / spread for part in (private, public, test)]
    return Split(parts[0], labels[private], parts[1], parts[2], labels[test])


def accuracy(curve: str, data: Split, cell: Cell, seed: int) -> float:
    """The share of right guesses on test rows; 0.5 where the noisy moments have no solution."""
    if curve == "no privacy":
        plain = LogisticRegression(max_iter=200).fit(data.X[:50_000], data.y[:50_000])
        return float(plain.score(data.X_test, data.y_test))
    margin = 0.05 * np.ptp(data.known, axis=0)
    bounds = data.known.min(axis=0) - margin, data.known.max(axis=0) + margin
    common = {
        "domain": Domain.from_bounds([f"x{j}" for j in range(data.X.shape[1])], bounds),
        "target": Numeric("y", 0.0, 1.0),
        "epsilon": cell["epsilon"],
        "goal": cell["n"],
        "public": Public(rows=data.known),
        "delta": cell["n"] ** -1.1,
    }
    printed = curve == "paper"
    try:
        task = printed_task(cell["set"], **common) if printed else new_task(cell["set"], **common, randomizer=curve)
        collection = simulate_rows(task, data.X, data.y, np.random.default_rng([seed, 1]))
        # A linear predictor rarely leaves +-6.
        (result,) = fit(task, collection, ["logistic"], prior_std=None if printed else 3.0)
    except DiscreetError:
        return 0.5
    return data.accuracy(result.coef_, result.intercept_)
