"""People needed for a given error: Gaussian noise against the unit randomizer; `python -m
experiments.local_people`.

Logistic labels, normal columns with bounds at four standard deviations, 10,000 public rows, reports
of kind "cross", a linear predictor of standard deviation 1. The error is the expected squared error
of the linear predictor over its variance: .05, a correlation of .975 with the true one. The numbers
are those at which `discreet.local.forecast` gives that error for a task made for so many people.
Gaussian noise has delta 1e-6, the unit randomizer 0.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from discreet.domain import Domain, Numeric, Public
from discreet.errors import NoSolutionError
from discreet.local import Task, fit, forecast, new_task
from experiments.local_population import Population, numbers
from experiments.pages import write_page

RESULT = Path(__file__).with_suffix(".md")
COLUMNS = (2, 5, 10, 20, 50)
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
PUBLIC_ROWS = 10_000
ERROR = 0.05
CHECKED = ((2, 0.5), (2, 8.0), (10, 1.0), (10, 4.0), (20, 2.0), (50, 8.0))


def task_for(n: int, p: int, epsilon: float, randomizer: str, rows: object) -> Task:
    return new_task(
        "people",
        domain=Domain(numbers(p, -4.0, 4.0)),
        target=Numeric("y", 0.0, 1.0),
        epsilon=epsilon,
        goal=n,
        public=Public(rows=rows),
        reports="cross",
        randomizer=randomizer,
    )


def needed(p: int, epsilon: float, randomizer: str, rows: object) -> int:
    """A forecast is a / n + b, with b the public rows' own part, for one task; which task is best
    changes a little.
    """
    n = 100_000
    for _ in range(5):
        task = task_for(n, p, epsilon, randomizer, rows)
        rest = float(forecast(task, 10**15)["squared_relative_error"])
        part = (float(forecast(task, n)["squared_relative_error"]) - rest) * n
        n, before = max(round(part / (ERROR - rest)), 1), n
        if abs(n / before - 1) < 0.003:
            break
    return n


def simulated(n: int, p: int, epsilon: float, repeats: int) -> tuple[float, int]:
    """The mean error of simulated collections of n people, and how many had no solution."""
    errors = []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, p])
        population = Population.drawn(numbers(p, -4.0, 4.0), rng)
        task = task_for(n, p, epsilon, "unit", population.public(PUBLIC_ROWS, rng))
        try:
            (result,) = fit(task, population.collected(task, n, rng), ["logistic"])
        except NoSolutionError:
            continue
        gap = result.estimates - population.truth
        errors.append(float(np.mean((gap[0] + population.raw @ gap[1:]) ** 2)))
    return float(np.mean(errors)), repeats - len(errors)


def shown(n: int) -> str:
    """Three digits."""
    return f"{float(f'{n:.3g}'):,.0f}"


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    assert __doc__ is not None
    heads = " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS)
    lines = ["# People needed", "", *__doc__.strip().splitlines()[2:], ""]
    lines += ["Gaussian / unit (ratio):", "", f"| columns | {heads} |", f"|---:|{'---:|' * len(EPSILONS)}"]
    found: dict[tuple[int, float], int] = {}
    for p in COLUMNS:
        rows = np.random.default_rng(p).normal(size=(PUBLIC_ROWS, p)).clip(-4, 4)
        cells = []
        for epsilon in EPSILONS:
            gaussian = needed(p, epsilon, "gaussian", rows)
            found[p, epsilon] = unit = needed(p, epsilon, "unit", rows)
            cells.append(f"{shown(gaussian)} / {shown(unit)} ({gaussian / unit:.1f})")
        lines.append(f"| {p} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    lines += [
        "",
        f"Do forecasts hold? Simulated collections of so many people, unit randomizer, mean of {repeats}:",
        "",
    ]
    lines += ["| columns | epsilon | people | error, forecast | error, found | without solution |"]
    lines += ["|---:|---:|---:|---:|---:|---:|"]
    for p, epsilon in CHECKED:
        error, failed = simulated(found[p, epsilon], p, epsilon, repeats)
        lines.append(f"| {p} | {epsilon:g} | {shown(found[p, epsilon])} | {ERROR:g} | {error:.3f} | {failed} |")
        print(lines[-1], flush=True)
    lines += ["", f"Command: `python -m experiments.local_people {repeats}`"]
    write_page(RESULT, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
