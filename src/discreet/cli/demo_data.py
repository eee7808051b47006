"""Synthetic patients for the demo, and the same regression without privacy to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain import Categorical, Domain, Encoder, Numeric

Floats = NDArray[np.float64]

TARGET = "cost"
# Declared from public knowledge about the columns, as in a codebook; no row was read.
DOMAIN = Domain(
    (
        Numeric("age", 18.0, 90.0),
        Numeric("bmi", 15.0, 50.0),
        Categorical("sex", ("female", "male")),
        Categorical("smoker", ("no", "yes")),
        Categorical("region", ("north", "south", "east", "west")),
        Numeric(TARGET, 0.0, 30_000.0),
    )
)
FEATURES = DOMAIN.select([column.name for column in DOMAIN.columns if column.name != TARGET])


def patients(count: int, seed: int) -> Any:
    """An Arrow table of patients who do not exist: yearly cost in euros by age, bmi, sex, smoking
    and region.
    """
    import pyarrow as pa

    random = np.random.default_rng(seed)
    age = np.clip(random.normal(48, 16, count), 18, 90).round()
    bmi = np.clip(random.gamma(30, 0.9, count), 15, 50).round(1)
    male = random.random(count) < 0.49
    smoker = random.random(count) < 0.24
    region = random.choice(4, count, p=[0.35, 0.3, 0.2, 0.15])
    mean = 600 + 70 * (age - 18) + 110 * (bmi - 20) - 350 * male + 3200 * smoker
    mean += np.array([0, 150, -250, 500])[region]
    cost = np.clip(mean + random.gamma(2, 1000, count) - 2000, 0, 30_000).round(2)
    return pa.table(
        {
            "age": age,
            "bmi": bmi,
            "sex": np.where(male, "male", "female"),
            "smoker": np.where(smoker, "yes", "no"),
            "region": np.array(["north", "south", "east", "west"])[region],
            TARGET: cost,
        }
    )


@dataclass(frozen=True)
class PlainFit:
    """Ordinary least squares on the rows, without privacy."""

    coef: Floats
    bse: Floats

    def conf_int(self) -> Floats:
        return np.column_stack([self.coef - 1.96 * self.bse, self.coef + 1.96 * self.bse])

    def predict(self, table: Any) -> Floats:
        return np.asarray(_design(table) @ self.coef)


def plain_fit(table: Any) -> PlainFit:
    """OLS with the textbook's standard errors; the constant comes first."""
    x, y = _design(table), labels(table)
    gram = x.T @ x
    coef = np.linalg.solve(gram, x.T @ y)
    residual = y - x @ coef
    variance = float(residual @ residual) / (len(y) - len(coef))
    return PlainFit(np.asarray(coef, dtype=np.float64), np.sqrt(variance * np.diag(np.linalg.inv(gram))))


def r_squared(truth: Floats, predicted: Floats) -> float:
    """The share of the variance that the predictions explain."""
    return float(1 - np.sum((truth - predicted) ** 2) / np.sum((truth - truth.mean()) ** 2))


def labels(table: Any) -> Floats:
    return np.asarray(table.column(TARGET).to_numpy())


def features(table: Any) -> Any:
    """The table without the target."""
    return table.drop_columns([TARGET])


def _design(table: Any) -> Floats:
    x = Encoder(FEATURES).design(features(table))
    return np.column_stack([np.ones(len(x)), x])
