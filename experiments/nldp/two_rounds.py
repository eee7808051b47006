"""One round or two without public rows; `python -m experiments.nldp.two_rounds [repeats]`.

Logistic labels, a linear predictor of standard deviation 1 in a random direction. "One round" asks
everybody for both moments, in units of what is supposed of columns that nobody knows; "two rounds"
asks a tenth for means and scales first (discreet.local.pilot). Both with the unit randomizer and
prior_std = 2, so that both always have an answer. The error is that of the linear predictor,
relative to its variance; medians. "Covered" are the 95 % intervals of two rounds without a prior,
where there is a solution. Sums of reports are drawn from their exact mean and covariance
(experiments/local_population.py).

The designs: "as supposed" has columns in the middle of their range with a standard deviation of an
eighth of it; "narrow" of a fiftieth; "off the middle" lie at a quarter; "skewed" are exponential
from the lower bound on; "levels" have three, with chances .6, .3 and .1.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from discreet.domain import Categorical, Numeric
from discreet.domain.columns import Column
from discreet.errors import NoSolutionError
from discreet.local import Task, fit, forecast, new_task, pilot_task, second_task
from experiments.local_population import Population, numbers

RESULT = Path(__file__).with_suffix(".md")
SETTINGS = ((20_000, 2, 1.0), (100_000, 5, 4.0), (500_000, 10, 20.0))


def designs(p: int) -> dict[str, tuple[Column, ...]]:
    return {
        "as supposed": numbers(p, -4.0, 4.0),
        "narrow": numbers(p, -25.0, 25.0),
        "off the middle": numbers(p, -4.0, 12.0),
        "skewed": numbers(p, -1.0, 7.0),
        "levels": tuple(Categorical(f"g{place}", ("a", "b", "c")) for place in range(max(p // 2, 1))),
    }


def errors(population: Population, task: Task, n: int, rng: np.random.Generator) -> tuple[float, np.ndarray]:
    """The error with the prior, and which coefficients intervals without one cover (none without a
    solution).
    """
    collection = population.collected(task, n, rng)
    (shrunk,) = fit(task, collection, ["logistic"], prior_std=2.0)
    raw = population.raw
    gap = float(np.var(raw @ (shrunk.coef_ - population.truth[1:])) / np.var(raw @ population.truth[1:]))
    try:
        (plain,) = fit(task, collection, ["logistic"])
    except NoSolutionError:
        return gap, np.empty(0)
    low, high = plain.results_.intervals().T
    return gap, (low <= population.truth) & (population.truth <= high)


def row(design: str, columns: tuple[Column, ...], setting: tuple[int, int, float], repeats: int) -> str:
    n, p, epsilon = setting
    ones, twos, covered = [], [], []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        population = Population.drawn(columns, rng)
        common = {"domain": population.domain, "target": Numeric("y", 0.0, 1.0), "epsilon": epsilon, "goal": n}
        ones.append(errors(population, new_task("one", **common), n, rng)[0])
        pilot = pilot_task("two", **common)
        second = second_task(pilot, population.collected(pilot, pilot.goal, rng))
        gap, hits = errors(population, second, n - pilot.goal, rng)
        twos.append(gap)
        covered += list(hits)
    seen = forecast(pilot, pilot.goal)["squared_relative_error"]
    share = f"{np.mean(covered):.0%}" if covered else "no solution"
    return (
        f"| {n:,} | {p} | {epsilon:g} | {seen:.2g} | {design} | {np.median(ones):.2g} | {np.median(twos):.2g} | "
        f"{np.median(np.array(twos) / np.array(ones)):.2g} | {share} |"
    )


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    assert __doc__ is not None
    lines = ["# Two rounds without public rows", "", *__doc__.strip().splitlines()[2:], ""]
    lines += ["| people | columns | epsilon | pilot's error | design | one round | two rounds | ratio | covered |"]
    lines += ["|---:|---:|---:|---:|---|---:|---:|---:|---:|"]
    for setting in SETTINGS:
        for design, columns in designs(setting[1]).items():
            lines.append(row(design, columns, setting, repeats))
            print(lines[-1], flush=True)
    lines += ["", f"Command: `python -m experiments.nldp.two_rounds {repeats}`"]
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
