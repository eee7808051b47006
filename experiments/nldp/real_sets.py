"""Covertype, SUSY and Skin for NLDP's figures 15 and 16: test accuracy of one simulated collection."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pyarrow.parquet as pq
from sklearn.linear_model import LogisticRegression

from discreet.domain import Domain, Numeric, Public
from discreet.errors import DiscreetError
from discreet.local import fit, new_task, printed_task
from discreet.local.simulation import simulate_rows
from experiments.data import data_folder

# File, label, and the value that counts as 1; most private rows, test rows.
SETS = {
    "covertype": ("covertype.parquet", "Cover_Type", "2", 350_000, 200_000),
    "skin": ("skin_segmentation.parquet", None, "1", 180_000, 5_000),
    "susy": ("susy_10k.parquet", None, "1", 7_000, 2_000),
}
CURVES = ("paper", "gaussian", "unit", "without privacy")


@lru_cache(maxsize=1)
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    file, target, positive, _, _ = SETS[name]
    frame = pq.read_table(data_folder(file) / file).to_pandas()
    label = target or ("class" if "class" in frame else frame.columns[-1] if name == "skin" else frame.columns[0])
    y = frame.pop(label)
    numbers = y.astype(float).to_numpy() if y.dtype.kind in "iuf" else y.astype(str).to_numpy()
    labels = (numbers == (float(positive) if numbers.dtype.kind == "f" else positive)).astype(float)
    return frame.to_numpy(dtype=float), labels


def accuracies(name: str, n: int, m: int, epsilon: float, seed: int) -> Mapping[str, float]:
    """Shares of right guesses on test rows; 0.5 where the noisy moments have no solution."""
    rows, labels = load(name)
    test_rows = SETS[name][4]
    rng = np.random.default_rng(seed)
    private, public, test = np.split(rng.permutation(len(labels))[: n + m + test_rows], [n, n + m])
    known = rows[public]
    least = min(40, m // 20)
    kept = np.flatnonzero((known != np.median(known, axis=0)).sum(axis=0) >= least)
    centre, spread = known[:, kept].mean(axis=0), known[:, kept].std(axis=0)
    X = (rows[:, kept] - centre) / spread
    margin = 0.05 * np.ptp(X[public], axis=0)
    bounds = X[public].min(axis=0) - margin, X[public].max(axis=0) + margin
    common = {
        "domain": Domain.from_bounds([f"x{j}" for j in range(len(kept))], bounds),
        "target": Numeric("y", 0.0, 1.0),
        "epsilon": epsilon,
        "goal": n,
        "public": Public(rows=X[public]),
    }
    found = {}
    for calibration in ("paper", "gaussian", "unit"):
        try:
            if calibration == "paper":
                task = printed_task(name, **common, delta=n**-1.1)
            else:
                task = new_task(name, **common, randomizer=calibration, delta=n**-1.1)
            collection = simulate_rows(task, X[private], labels[private], rng)
            prior = None if calibration == "paper" else 3.0
            (result,) = fit(task, collection, ["logistic"], prior_std=prior)
            guess = X[test] @ result.coef_ + result.intercept_ > 0
            found[calibration] = float(np.mean(guess == (labels[test] > 0.5)))
        except DiscreetError:
            found[calibration] = 0.5
    some = private[:50_000]
    plain = LogisticRegression(max_iter=200).fit(X[some], labels[some])
    return found | {"without privacy": float(plain.score(X[test], labels[test]))}
