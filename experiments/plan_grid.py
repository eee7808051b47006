"""Forecasts of ``discreet.plan`` beside what is then measured, on a stated grid.

Run from the root: OPENBLAS_NUM_THREADS=1 python -m experiments.plan_grid [--repeats 10]. Writes
experiments/plan_grid.md. Every cell is forecast from public numbers first; then so many made-up
data sets are fitted by the very estimator. Ends with exit code 1 if fewer than 90 % of the cells
are within a factor of 1.5.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet import plan
from discreet.local import fit
from discreet.local.models import as_model
from discreet.local.simulation import simulate_rows
from discreet.parties import join, open_ledger, release
from discreet.planning.design import Design
from discreet.planning.distributed import local_task, parties_plan
from discreet.planning.simulation import Measured, simulate_central
from discreet.privacy import Budget

OUT = Path(__file__).with_suffix(".md")
DELTA, SEED = 1e-6, 78
CENTRAL = [(n, d, epsilon) for d in (3, 8, 20) for n, epsilon in ((1500, 1.0), (5000, 0.3), (5000, 3.0), (20_000, 1.0))]
LOCAL = [(100_000, 4, 2.0), (100_000, 10, 8.0)]
PARTIES = [(60_000, 4, 2.0), (60_000, 8, 4.0)]


@dataclass(frozen=True)
class Cell:
    family: str
    n: int
    d: int
    epsilon: float
    trust: str = "central"
    neighbours: str = "replace_one"
    public: int = 0
    rate: float | None = None


def cells() -> list[Cell]:
    grid = [Cell(family, *size) for family in ("linear", "logistic", "poisson") for size in CENTRAL]
    grid += [Cell(f, 5000, 8, 1.0, neighbours="add_or_remove_one") for f in ("linear", "logistic", "poisson")]
    grid += [Cell("logistic", n, 8, 1.0, rate=0.1) for n in (5000, 20_000)]
    grid += [Cell("logistic", n, 8, 1.0, rate=rate) for rate in (0.01, 0.02) for n in (20_000, 100_000)]
    grid += [Cell("poisson", n, 8, 1.0, rate=4.0) for n in (5000, 20_000)]
    # As many rows, columns and visits as in the RAND health insurance experiment.
    grid += [Cell("poisson", 20_000, 9, epsilon, rate=3.0) for epsilon in (0.3, 1.0)]
    grid += [Cell(family, 5000, 8, 1.0, public=300) for family in ("linear", "logistic")]
    grid += [Cell(f, n, d, e, trust="local", public=2000) for f in ("linear", "logistic") for n, d, e in LOCAL]
    grid += [Cell("linear", n, d, e, trust="parties") for n, d, e in PARTIES]
    return grid


def measure(cell: Cell, repeats: int) -> Measured:
    design = Design.of(cell.family, cell.d, rate=cell.rate)
    if cell.trust == "central":
        more = {"neighbours": cell.neighbours, "public": cell.public, "repeats": repeats, "seed": SEED}
        return simulate_central(design, cell.n, cell.epsilon, DELTA, **more)
    rng = np.random.default_rng([SEED, cell.n, cell.d])
    squares = []
    for _ in range(repeats):
        X, y = design.rows(cell.n, rng)
        slopes = _local(cell, design, X, y, rng) if cell.trust == "local" else _parties(cell, design, X, y)
        squares.append(np.mean((slopes - design.coefficients[1:]) ** 2))
    return Measured(math.sqrt(np.mean(squares)), math.nan, math.nan)


def _local(cell: Cell, design: Design, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    task = local_task(design, cell.epsilon, cell.public)
    (result,) = fit(task, simulate_rows(task, X, y, rng), [as_model(design.kind.local_model)])
    return np.asarray(result.estimates[1:])


def _parties(cell: Cell, design: Design, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    import pandas as pd

    drawn = parties_plan(design, cell.n, Budget.of(cell.epsilon, DELTA))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(cell.d)]).assign(y=y, person=np.arange(cell.n))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCREET_STATE"] = folder  # ledgers of made-up people are not to be remembered
        parts = [
            release(drawn, party.name, frame, ledger=open_ledger(drawn, party.name, Path(folder) / party.name))
            for party in drawn.parties
        ]
    return np.asarray(join(parts).regress("y", [f"x{j}" for j in range(cell.d)]).results_.estimates[1:])


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repeats", type=int, default=10)
    repeats = arguments.parse_args().repeats
    lines, error_ratios, risk_ratios, start = [], [], [], time.perf_counter()
    grid = cells()
    for done, cell in enumerate(grid, 1):
        asked = {name: value for name, value in vars(cell).items() if name != "family"}
        told, seen = plan(cell.family, delta=DELTA, **asked), measure(cell, repeats)
        error_ratios.append(seen.standard_error / told.standard_error)
        risk = ""
        if not math.isnan(seen.excess_risk):
            risk_ratios.append(seen.excess_risk / told.excess_risk)
            risk = f"{told.excess_risk:.3g} | {seen.excess_risk:.3g} | {risk_ratios[-1]:.2f}"
        kind = cell.trust + (", n private" if cell.neighbours != "replace_one" else "")
        name = cell.family if cell.rate is None else f"{cell.family}, mean {cell.rate:g}"
        lines.append(
            f"| {name} | {kind} | {cell.n:,} | {cell.d} | {cell.epsilon:g} | {cell.public or ''} | "
            f"{told.method} | {told.standard_error:.3g} | {seen.standard_error:.3g} | {error_ratios[-1]:.2f} | "
            f"{risk or '| | '} | {told.bound:.3g} |"
        )
        print(f"[{done}/{len(grid)}, {time.perf_counter() - start:.0f} s] {lines[-1]}", flush=True)
    shares = [_within(error_ratios), _within(risk_ratios)]
    OUT.write_text(_page(lines, shares, len(grid), len(risk_ratios), repeats), encoding="utf-8")
    return 0 if min(shares) >= 0.9 else 1


def _within(ratios: list[float]) -> float:
    return float(np.mean([1 / 1.5 <= ratio <= 1.5 for ratio in ratios]))


def _page(lines: list[str], shares: list[float], count: int, risks: int, repeats: int) -> str:
    return "\n".join(
        [
            "# Forecasts compared with measurements",
            "",
            f"`OPENBLAS_NUM_THREADS=1 python -m experiments.plan_grid --repeats {repeats}`, delta {DELTA:g}.",
            f"Each measurement is a root mean square (risk: mean) over {repeats} fits to simulated people; with few",
            "columns it has a standard error of 10 to 30 %. Errors are per standard deviation of a column.",
            "",
            f"**Within a factor of 1.5: {shares[0]:.0%} of {count} standard errors, "
            f"{shares[1]:.0%} of {risks} excess risks.**",
            "",
            "| family | trust | n | d | epsilon | public rows | forecast by | error forecast | measured | ratio | "
            "risk forecast | measured | ratio | lower bound of the error |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
            *lines,
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
