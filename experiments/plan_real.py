"""Forecasts beside what is measured on real data sets, whose columns are neither normal nor
independent.

Run from the root: OPENBLAS_NUM_THREADS=1 python -m experiments.plan_real [--repeats 5]. Writes
experiments/plan_real.md. A forecast gets n, d, the strength of the model and the share of ones, and
knows nothing else. Its privacy noise is held against the spread of repeated fits, and against how
far private coefficients lie from those without privacy, each per standard deviation of its column
and divided by the root of its variance inflation factor; its excess risk against the loss on the
same rows beyond that of the model without privacy, without the one row in a thousand that has the
largest leverage. A few such rows can decide the plain fit and its whole loss, and no private fit can
follow single rows. Columns are cut at their 0.5 % and 99.5 %
quantiles first, in place of somebody who knows the units, or left with their tails.

A second table asks why forecasts fail where they do: the same rows with their columns made
uncorrelated, and the same correlations with normal columns.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression as Plain
from sklearn.linear_model import LogisticRegression as PlainLogistic

from discreet import LinearRegression, LogisticRegression, plan
from experiments.data import data_folder
from experiments.pages import write_page

OUT = Path(__file__).with_suffix(".md")
DELTA = 1e-6


@dataclass(frozen=True)
class Table:
    name: str
    family: str
    label: str
    dropped: tuple[str, ...] = ()
    tails: bool = False


TABLES = (
    Table("ccpp", "linear", "PE"),
    Table("california_housing", "linear", "MedHouseVal"),
    Table("wine_quality_white", "linear", "quality"),
    Table("gas_turbine_emissions", "linear", "NOX", ("year", "CO", "TEY")),
    Table("susy_10k", "logistic", "signal"),
    Table("bank_marketing", "logistic", "y"),
    Table("california_housing", "linear", "MedHouseVal", tails=True),
    Table("bank_marketing", "logistic", "y", tails=True),
)


def load(table: Table) -> tuple[np.ndarray, np.ndarray]:
    file = f"{table.name}.parquet"
    frame = pd.read_parquet(data_folder(file) / file).drop(columns=list(table.dropped))
    label = frame.pop(table.label)
    y = (label == "yes").to_numpy(float) if label.dtype.kind not in "fiub" else label.to_numpy(float)
    X = frame.select_dtypes("number").to_numpy(float)
    return (X if table.tails else np.clip(X, *np.quantile(X, [0.005, 0.995], axis=0))), y


def uncorrelated(X: np.ndarray, y: np.ndarray, family: str) -> tuple[np.ndarray, np.ndarray]:
    """The same rows in coordinates without correlations: the labels stay."""
    values, vectors = np.linalg.eigh(np.corrcoef(X, rowvar=False))
    return ((X - X.mean(axis=0)) / X.std(axis=0)) @ vectors / np.sqrt(values), y


def normal(X: np.ndarray, y: np.ndarray, family: str) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns with the same correlations, cut as declared; labels of a linear or logistic
    model fitted to X.
    """
    rng = np.random.default_rng(0)
    Z = rng.multivariate_normal(np.zeros(X.shape[1]), np.corrcoef(X, rowvar=False), size=len(X)).clip(-4, 4)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    if family == "linear":
        fitted = Plain().fit(scaled, y)
        noise = float(np.std(y - fitted.predict(scaled)))
        return Z, (fitted.predict(Z) + noise * rng.standard_normal(len(y))).clip(y.min(), y.max())
    fitted = PlainLogistic(C=1e6, max_iter=2000).fit(scaled, y)
    return Z, (rng.random(len(y)) < fitted.predict_proba(Z)[:, 1]).astype(float)


def why(table: Table, epsilon: float, repeats: int) -> str:
    rows = load(table)
    ratios = [compared(table, epsilon, repeats, *rows).noise_ratio]
    ratios += [compared(table, epsilon, repeats, *change(*rows, table.family)).noise_ratio for change in CHANGES]
    return f"| {table.name} | {epsilon:g} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |"


CHANGES = (uncorrelated, normal)


@dataclass(frozen=True)
class Compared:
    """A forecast, and what was measured."""

    noise: float
    spread: float
    seen: float
    extra: float
    risk: float
    inflation: float
    # The largest leverage of a row: 1 if the plain fit goes through its label, whatever the others are.
    leverage: float

    @property
    def noise_ratio(self) -> float:
        return self.seen / self.noise


def line(table: Table, epsilon: float, repeats: int) -> str:
    X, y = load(table)
    found = compared(table, epsilon, repeats, X, y)
    return (
        f"| {table.name}{', with tails' if table.tails else ''} | {table.family} | {len(y):,} | {X.shape[1]} | "
        f"{epsilon:g} | {found.inflation:.0f} | {_tail(X):.0f} | {found.leverage:.2f} | {found.noise:.3g} | "
        f"{found.spread / found.noise:.2f} | {found.noise_ratio:.2f} | "
        f"{found.extra:.3g} | {found.risk:.3g} | {found.risk / found.extra:.2f} |"
    )


def compared(table: Table, epsilon: float, repeats: int, X: np.ndarray, y: np.ndarray) -> Compared:
    n, d = X.shape
    std = X.std(axis=0)
    leverage = _leverage(X)
    usual = leverage <= np.quantile(leverage, 0.999)
    inflation = np.diag(np.linalg.inv(np.corrcoef(X, rowvar=False)))
    declared = {"epsilon": epsilon, "delta": DELTA, "bounds_X": (X.min(axis=0), X.max(axis=0))}
    if table.family == "linear":
        plain = Plain().fit(X, y)
        unit, spread = y.std(), math.sqrt(min(max(plain.score(X, y), 0.01), 0.99))
        fits = [LinearRegression(bounds_y=(y.min(), y.max()), **declared).fit(X, y) for _ in range(repeats)]
        losses = [np.mean((y - one.predict(X))[usual] ** 2) for one in (plain, *fits)]
        risk = float(np.mean(losses[1:]) - losses[0]) / unit**2
    else:
        plain = PlainLogistic(C=1e6, max_iter=2000).fit((X - X.mean(axis=0)) / std, y)
        plain.coef_ = plain.coef_ / std
        plain.intercept_ = plain.intercept_ - X.mean(axis=0) @ plain.coef_[0]
        unit, spread = 1.0, min(float(np.std(X @ plain.coef_[0])), 3.0)
        fits = [LogisticRegression(**declared).fit(X, y) for _ in range(repeats)]
        losses = [_log_loss(one, X[usual], y[usual]) for one in (plain, *fits)]
        risk = float(np.mean(losses[1:]) - losses[0])
    rate = float(y.mean()) if table.family == "logistic" else None
    told = plan(table.family, n=n, d=d, epsilon=epsilon, effect=spread, rate=rate, simulate=False)
    noise = math.sqrt(max(told.standard_error**2 - told.plain_standard_error**2, 0.0))
    away = [(one.results_.estimates[1:] - np.ravel(plain.coef_)) * std / unit / np.sqrt(inflation) for one in fits]
    seen = math.sqrt(np.mean(np.square(away)))
    between = math.sqrt(np.mean(np.var(away, axis=0, ddof=1)))
    extra = told.excess_risk - told.plain_excess_risk
    return Compared(noise, between, seen, extra, risk, float(inflation.max()), float(leverage.max()))


def _tail(X: np.ndarray) -> float:
    """How many standard deviations the farthest cell of any column is out."""
    return float(np.max(np.abs(X - X.mean(axis=0)) / X.std(axis=0)))


def _leverage(X: np.ndarray) -> np.ndarray:
    """The diagonal of the hat matrix of (1, x)."""
    factor = np.linalg.qr(np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / X.std(axis=0)]))[0]
    return np.asarray(np.sum(factor**2, axis=1))


def _log_loss(model: object, X: np.ndarray, y: np.ndarray) -> float:
    eta = X @ np.ravel(model.coef_) + np.ravel(model.intercept_)[0]  # type: ignore[attr-defined]
    return float(np.mean(np.logaddexp(0, eta) - y * eta))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repeats", type=int, default=5)
    repeats = arguments.parse_args().repeats
    lines = []
    for table in TABLES:
        for epsilon in (0.3, 1.0, 3.0):
            lines.append(line(table, epsilon, repeats))
            print(lines[-1], flush=True)
    heading = [
        "# Forecasts on real data sets",
        "",
        f"`OPENBLAS_NUM_THREADS=1 python -m experiments.plan_real --repeats {repeats}`, delta {DELTA:g}.",
        "The page compares the forecast noise of a coefficient (per standard deviation of its column, divided by the",
        "root of its variance inflation factor) and the forecast risk with measurements on the same rows. Spread: the",
        "standard deviation between fits over the forecast. Distance: that to the fit without privacy over the",
        "forecast. It has a systematic part, because rows of high leverage get less weight and real rows do not follow",
        "the model. Farthest cell: in standard deviations. Risks are measured without the one row in a thousand with",
        "the largest leverage: a few rows can decide the plain fit, which no private fit can follow.",
        "",
        "| data | family | n | d | epsilon | largest inflation | farthest cell | largest leverage | noise forecast "
        "| spread | distance | risk forecast | measured | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    reasons = [
        "",
        "## Why",
        "",
        "Distance over forecast noise: for the rows as they are, for the same rows rotated so that columns are not",
        "correlated, and for normal columns with the same correlations and labels that follow the model.",
        "",
        "| data | epsilon | as they are | uncorrelated | normal |",
        "|---|---|---|---|---|",
    ]
    for table in TABLES:
        for epsilon in (0.3, 1.0):
            if not table.tails:
                reasons.append(why(table, epsilon, repeats))
                print(reasons[-1], flush=True)
    write_page(OUT, "\n".join([*heading, *lines, *reasons, ""]))


if __name__ == "__main__":
    main()
