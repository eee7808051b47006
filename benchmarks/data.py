"""Data sets of the linear benchmarks: fixed splits, and bounds that were declared instead of taken
from the data.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
TEST_SHARE = 0.2
SPLIT_SEED = 0

Bounds = dict[str, tuple[float, float]]

# The last column of each is the target. Round numbers from what the quantity is (legal limits, the
# weather of the place, the scale of a score); a few rows of the heavy-tailed columns lie outside
# and are clipped, for every method.
WINE: Bounds = {
    "fixed_acidity": (3, 12),
    "volatile_acidity": (0, 1.2),  # 1.2 g/l is about the legal limit
    "citric_acid": (0, 1),  # 1 g/l is the legal limit
    "residual_sugar": (0, 30),
    "chlorides": (0, 0.2),
    "free_sulfur_dioxide": (0, 120),
    "total_sulfur_dioxide": (0, 350),
    "density": (0.985, 1.005),
    "pH": (2.5, 4),
    "sulphates": (0, 1.2),
    "alcohol": (8, 15),
    "quality": (0, 10),
}
CCPP: Bounds = {
    "AT": (-10, 50),
    "V": (20, 90),
    "AP": (980, 1050),
    "RH": (0, 105),
    "PE": (400, 510),
}
CALIFORNIA: Bounds = {
    "MedInc": (0, 16),
    "HouseAge": (0, 55),
    "AveRooms": (0, 20),
    "AveBedrms": (0, 5),
    "Population": (0, 6000),
    "AveOccup": (0, 10),
    "Latitude": (32, 42.5),
    "Longitude": (-125, -114),
    "MedHouseVal": (0, 5.1),  # the census capped values at 500,001 USD
}
# TEY is a feature here: with it the design has the d = 10 (intercept included) of the figures to
# compare with.
GAS_TURBINE: Bounds = {
    "AT": (-10, 40),
    "AP": (980, 1040),
    "AH": (20, 105),
    "AFDP": (2, 8),
    "GTEP": (15, 45),
    "TIT": (1000, 1110),
    "TAT": (500, 560),
    "TEY": (100, 180),
    "CDP": (9, 16),
    "NOX": (20, 130),
}
REAL = {
    "wine": ("wine_quality_white.parquet", WINE),
    "ccpp": ("ccpp.parquet", CCPP),
    "california": ("california_housing.parquet", CALIFORNIA),
    "gas_turbine": ("gas_turbine_emissions.parquet", GAS_TURBINE),
}
CONDITION_NUMBERS = {"condition_1": 1.0, "condition_100": 1e2, "condition_10000": 1e4}

SYNTHETIC_TRAIN_ROWS = 10_000
SYNTHETIC_TEST_ROWS = 40_000  # many, as they are free: the test error then has no sampling noise to speak of
SYNTHETIC_FEATURES = 10
SYNTHETIC_SEED = 1
SYNTHETIC_R2 = 0.75
STDS_WITHIN_BOUNDS = 4.0


class Cell(NamedTuple):
    """One data set, split; rows are already clipped to the bounds, apart from ``y_test``."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    low: np.ndarray
    high: np.ndarray
    y_low: float
    y_high: float


def cells() -> dict[str, Cell]:
    """Every data set of the linear benchmark by name."""
    real = {name: _real(file, bounds) for name, (file, bounds) in REAL.items()}
    return real | {name: _synthetic(condition) for name, condition in CONDITION_NUMBERS.items()}


def data_folder() -> Path:
    """``DISCREET_DATA``, or the data sets shared beside the repository."""
    folder = Path(os.environ.get("DISCREET_DATA", ROOT.parent / "shared" / "datasets"))
    missing = [file for file, _ in REAL.values() if not (folder / file).is_file()]
    if missing:
        sys.exit(
            f"data sets not found in {folder}: {', '.join(missing)}. Set DISCREET_DATA to the folder that has them."
        )
    return folder


def _real(file: str, bounds: Bounds) -> Cell:
    frame = pd.read_parquet(data_folder() / file, columns=list(bounds))
    rows = frame.to_numpy(dtype=np.float64)
    low, high = np.array(list(bounds.values()), dtype=np.float64).T
    return _split(rows[:, :-1], rows[:, -1], low, high, round(len(rows) * (1 - TEST_SHARE)))


def _synthetic(condition: float) -> Cell:
    """A Gaussian design whose covariance has eigenvalues from 1 down to 1 / condition in a random
    basis.

    Every eigen-direction explains the same share of the target, so an ill-conditioned design cannot
    be answered by its strong directions alone. All conditions share the same underlying draws.
    """
    rng = np.random.default_rng(SYNTHETIC_SEED)
    basis, _ = np.linalg.qr(rng.standard_normal((SYNTHETIC_FEATURES, SYNTHETIC_FEATURES)))
    n_rows = SYNTHETIC_TRAIN_ROWS + SYNTHETIC_TEST_ROWS
    whitened = rng.standard_normal((n_rows, SYNTHETIC_FEATURES))
    noise = rng.standard_normal(n_rows)

    root_eigenvalues = np.geomspace(1, 1 / np.sqrt(condition), SYNTHETIC_FEATURES)
    signal_std = np.sqrt(SYNTHETIC_R2 / (1 - SYNTHETIC_R2))  # the noise has standard deviation 1
    X = (whitened * root_eigenvalues) @ basis.T
    y = signal_std * whitened.sum(axis=1) / np.sqrt(SYNTHETIC_FEATURES) + noise

    # Standard deviations of the population, not of the sample: public facts about the design.
    stds = np.append(np.sqrt(((basis * root_eigenvalues) ** 2).sum(axis=1)), np.hypot(signal_std, 1))
    return _split(X, y, -STDS_WITHIN_BOUNDS * stds, STDS_WITHIN_BOUNDS * stds, SYNTHETIC_TRAIN_ROWS)


def _split(X: np.ndarray, y: np.ndarray, low: np.ndarray, high: np.ndarray, n_train: int) -> Cell:
    """A fixed shuffled split; the last bound is the target's."""
    order = np.random.default_rng(SPLIT_SEED).permutation(len(y))
    train, test = order[:n_train], order[n_train:]
    X = np.clip(X, low[:-1], high[:-1])
    y_low, y_high = float(low[-1]), float(high[-1])
    return Cell(X[train], np.clip(y[train], y_low, y_high), X[test], y[test], low[:-1], high[:-1], y_low, y_high)
