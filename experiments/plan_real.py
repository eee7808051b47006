"""Forecasts beside what is measured on real data sets, whose columns are neither normal nor
independent.

Run from the root: OPENBLAS_NUM_THREADS=1 python -m experiments.plan_real [--repeats 10]. Writes
experiments/plan_real.md. A forecast gets n, d, the strength of the model and the share of ones, or
a small random part of the rows in place of a public sample, and the declared bounds. Its noise is
held against the spread of repeated fits, its distance against how far private coefficients lie from
those without privacy, each per standard deviation of its column and divided by the root of its
variance inflation factor; its excess risk against the loss on the same rows beyond that of the
model without privacy. Columns are cut at their 0.5 % and 99.5 % quantiles first, in place of
somebody who knows the units, or left with their tails.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from discreet import Forecast, plan
from discreet.planning.sample import Sample
from discreet.planning.simulation import central_estimator
from experiments.data import data_folder
from experiments.pages import write_page

OUT = Path(__file__).with_suffix(".md")
DELTA, EPSILONS, SAMPLES = 1e-6, (0.3, 1.0, 3.0), (500, 2000)
# Larger tables are represented by this many of their rows, so that a page takes minutes.
MOST_ROWS = 100_000
AGAIN = "measured again, in place of a forecast"
# A sample is at most this part of the rows.
LARGEST_PART = 0.25

REASONS = """
## Why not more

Two measurements of ten fits each are not always within 1.5 of each other either (the lines
"measured again"). A few fits may be far off: in covertype at epsilon 3, two times ten fits had mean
risks of .024 and .008. Then a mean of ten fits is itself uncertain by half, and no forecast can be
held to more. On the six tables two measurements agree, and what follows is the reason. Counts
change by up to 6 of 39 between runs, with the samples and the noise.

A bias that is smaller than the chance in the sample cannot be forecast. In California housing at
epsilon 3, where rows of high leverage decide the distance, it is .009 with all rows, and .003, .008
and .010 with three samples of 500 that keep their own labels. The planner leaves out what is not
clear of chance, so its distances are too small there. CCPP's risks of 1e-5 of var(y) are of the
same kind. An unbiased estimate of the squared bias, without a margin, is right in the median and
wrong more often: on the tables of experiments/plan_sample.md, to the first order, with samples of
2,000, 86 to 89 % of distances are within 1.5 in place of 92 %; with 500, 70 to 73 in place of 80 %.

In banknote authentication the classes are nearly separable. The first coefficient without privacy
is -25 per standard deviation, and -18 to -51 in four samples of a quarter of the rows.

A sample does not show tails beyond its rows. Uncut columns have values at 119 standard deviations,
in a few rows of 20,000, which decide the plain fit.

Insurance and banknote have fewer than 1,400 rows: both of their samples are a quarter of them.
"""


@dataclass(frozen=True)
class Table:
    name: str
    family: str
    label: str
    dropped: tuple[str, ...] = ()
    # "seen": looked at while the forecast from a sample was made; "new": only afterwards; "tails":
    # as "seen", with uncut columns.
    group: str = "seen"


TABLES = (
    Table("ccpp", "linear", "PE"),
    Table("california_housing", "linear", "MedHouseVal"),
    Table("wine_quality_white", "linear", "quality"),
    Table("gas_turbine_emissions", "linear", "NOX", ("year", "CO", "TEY")),
    Table("susy_10k", "logistic", "signal"),
    Table("bank_marketing", "logistic", "y"),
    Table("bike_sharing_hour", "linear", "cnt", ("instant", "casual", "registered"), "new"),
    Table("insurance", "linear", "charges", (), "new"),
    Table("superconductivity", "linear", "critical_temp", (), "new"),
    Table("sgemm_gpu", "linear", "Run1_ms", ("Run2_ms", "Run3_ms", "Run4_ms"), "new"),
    Table("banknote_authentication", "logistic", "class", (), "new"),
    Table("skin_segmentation", "logistic", "skin", (), "new"),
    Table("covertype", "logistic", "Cover_Type", (), "new"),
    Table("california_housing", "linear", "MedHouseVal", group="tails"),
    Table("bank_marketing", "logistic", "y", group="tails"),
)
GROUPS = {"seen": "six tables", "new": "seven further tables", "tails": "two tables with their tails"}
# Of the labels of two classes: the value that is 1. Run times are taken as logarithms.
ONES = {"bank_marketing": "yes", "skin_segmentation": 1, "covertype": 2}


def load(table: Table) -> tuple[np.ndarray, np.ndarray]:
    file = f"{table.name}.parquet"
    frame = pd.read_parquet(data_folder(file) / file).drop(columns=list(table.dropped))
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    label = frame.pop(table.label)
    y = (label == ONES[table.name]).to_numpy(float) if table.name in ONES else label.to_numpy(float)
    y = np.log(y) if table.name == "sgemm_gpu" else y
    X = frame.select_dtypes("number").to_numpy(float)
    if table.group != "tails":
        X = np.clip(X, *np.quantile(X, [0.005, 0.995], axis=0))
    # Indicators of fewer than one row in 200 are constant after the cut.
    return X[:, X.std(axis=0) > 0], y


@dataclass(frozen=True)
class Quantities:
    """Noise, distance and risk: measured or forecast."""

    noise: float
    distance: float
    risk: float

    def over(self, told: Quantities) -> list[float]:
        return [
            self.noise / max(told.noise, 1e-300),
            self.distance / max(told.distance, 1e-300),
            self.risk / max(told.risk, 1e-300),
        ]


def measured(people: Sample, epsilon: float, repeats: int, inflation: np.ndarray) -> tuple[Quantities, float]:
    """And the relative standard error of the measured risk."""
    fits = [central_estimator(people, epsilon, DELTA, "replace_one").fit(people.X, people.y) for _ in range(repeats)]
    away = np.array([fit.results_.estimates[1:] - people.coefficients[1:] for fit in fits]) / np.sqrt(inflation)
    models = [np.concatenate([np.ravel(fit.intercept_), np.ravel(fit.coef_)]) for fit in fits]
    losses = people.losses(np.column_stack([people.coefficients, *models]))
    risks = losses[1:] - losses[0]
    risk = float(risks.mean())
    seen = Quantities(_root(np.var(away, axis=0, ddof=1)), _root(away**2), risk)
    return seen, float(np.std(risks, ddof=1)) / math.sqrt(repeats) / max(abs(risk), 1e-300)


def forecast(told: Forecast, inflation: np.ndarray) -> Quantities:
    """In the same units; without a sample nothing is known of single columns, or of correlations."""
    risk = told.excess_risk - told.plain_excess_risk
    if told.noises is None or told.distances is None:
        return Quantities(told.noise, told.distance, risk)
    noises, distances = (np.array(one) ** 2 / inflation for one in (told.noises, told.distances))
    return Quantities(_root(noises), _root(distances), risk)


def _root(squares: np.ndarray) -> float:
    return math.sqrt(float(np.mean(squares)))


def cells(table: Table, repeats: int) -> list[tuple[str, list[list[float]]]]:
    """A line for every epsilon, and its ratios: without a sample, and with each size of samples."""
    X, y = load(table)
    n, d = X.shape
    bounds = {"bounds_X": (X.min(axis=0), X.max(axis=0)), "bounds_y": (y.min(), y.max())}
    people = Sample.of(table.family, (X, y), **bounds)
    inflation = np.diag(np.linalg.pinv(np.corrcoef(X, rowvar=False)))
    effect = min(people.effect, 0.995 if table.family == "linear" else 3.0)
    rate = people.rate if table.family == "logistic" else None
    rng, found = np.random.default_rng(0), []
    for epsilon in EPSILONS:
        asked = {"n": n, "epsilon": epsilon, "delta": DELTA}
        seen, unsure = measured(people, epsilon, repeats, inflation)
        ratios = [
            seen.over(forecast(plan(table.family, d=d, effect=effect, rate=rate, simulate=False, **asked), inflation))
        ]
        for size in SAMPLES:
            some = rng.choice(n, min(size, int(LARGEST_PART * n)), replace=False)
            if len(some) < 5 * (d + 1):
                ratios.append([math.nan] * 3)
                continue
            # Bounds are those of the fit, so no value of a column may be missing from the sample.
            varied = X[some].std(axis=0) > 0
            if not varied.all():
                ratios.append([math.nan] * 3)
                continue
            told = plan(table.family, sample=(X[some], y[some]), **bounds, **asked)
            ratios.append(seen.over(forecast(told, inflation)))
        parts = [" | ".join(f"{ratio[i]:.2f}" for ratio in ratios) for i in range(3)]
        # Two measurements of the same differ as well: no forecast can be better.
        ratios.append(seen.over(measured(people, epsilon, repeats, inflation)[0]))
        tails = ", with tails" if table.group == "tails" else ""
        line = (
            f"| {table.name}{tails} | {table.family} | {n:,} | {d} | {epsilon:g} | {parts[0]} | {parts[1]} | "
            f"{seen.risk:.2g} | {100 * unsure:.0f} % | {parts[2]} |"
        )
        print(line, flush=True)
        found.append((line, ratios))
    return found


def summary(group: str, ratios: np.ndarray) -> list[str]:
    """Shares within a factor of 1.5; ``ratios``: cells x kinds of forecast x quantities."""
    lines = []
    for k, kind in enumerate(["without a sample", *(f"with {size:,} rows" for size in SAMPLES), AGAIN]):
        some = ratios[:, k][~np.isnan(ratios[:, k, 0])]
        within = np.sum((some > 1 / 1.5) & (some < 1.5), axis=0)
        shares = " | ".join(f"{count} of {len(some)}" for count in within)
        lines.append(f"| {GROUPS[group]} | {kind} | {shares} |")
    return lines


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repeats", type=int, default=10)
    repeats = arguments.parse_args().repeats
    found: dict[str, list[tuple[str, list[list[float]]]]] = {group: [] for group in GROUPS}
    for table in TABLES:
        found[table.group] += cells(table, repeats)
    kinds = " | ".join(["without", *(f"{size:,}" for size in SAMPLES)])
    text = [
        "# Forecasts on real data sets",
        "",
        f"`OPENBLAS_NUM_THREADS=1 python -m experiments.plan_real --repeats {repeats}`, delta {DELTA:g}. Ratios are",
        "measured over forecast. Noise: the standard deviation of a coefficient between fits to the same rows.",
        "Distance: to the fit without privacy. Both are per standard deviation of a column, divided by the root of",
        "its variance inflation factor, as root mean squares over columns. Risk: the loss on the same rows beyond",
        "that of the plain fit, with the relative standard error of its measurement.",
        "",
        "Without: the forecast knows n, d, epsilon, the effect and the rate. 500 and 2,000: it has that many random",
        "rows of the table, at most a quarter of them, in place of a public sample, and the bounds of the fit. Tables",
        f"of more than {MOST_ROWS:,} rows are represented by that many. The method was chosen on simulated designs",
        "(normal, correlated, lognormal and t(3) columns, t(3), skewed and heteroscedastic errors, rare indicators,",
        "a wrong model: experiments/plan_sample.md). Six tables had been looked at on the way, seven only afterwards;",
        "of these, two then led to a change: large tables are simulated by smaller ones of the same n mu rather than",
        "by formula (covertype), and the plain fit of a sample has a smaller ridge (banknote).",
        "",
        "Within a factor of 1.5:",
        "",
        "| tables | forecast | noise | distance | risk |",
        "|---|---|---|---|---|",
        *(line for group, lines in found.items() for line in summary(group, np.array([one for _, one in lines]))),
        "",
        f"| data | family | n | d | epsilon | noise: {kinds} | distance: {kinds} | risk | its error | risk: {kinds} |",
        "|" + "---|" * 16,
        *(line for lines in found.values() for line, _ in lines),
        REASONS,
    ]
    write_page(OUT, "\n".join(text))


if __name__ == "__main__":
    main()
