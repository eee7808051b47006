"""Coverage of 95 % intervals of local collections: designs, sizes, epsilons. `python -m
experiments.local_coverage`.

Logistic labels, five features (six indicators; mixed: three normal, one category, one skewed), a
linear predictor of standard deviation 1 in a random direction, 2,000 public rows drawn anew each
time, reports as the default task asks for them. "missing": Gaussian, every tenth record lacks an
answer. All coefficients with the intercept are counted. Sums of reports are drawn from their exact
mean and covariance (experiments/local_population.py).
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from discreet.domain import Categorical, Numeric, Public
from discreet.domain.columns import Column
from discreet.errors import NoSolutionError
from discreet.local import Task, fit, new_task
from discreet.local.make import known_design, units_of_design
from experiments.local_population import Population, numbers
from experiments.pages import write_page

RESULTS = Path(__file__).with_suffix(".md")
SIZES = (50_000, 200_000)
EPSILONS = (1.0, 4.0, 8.0)
PUBLIC_ROWS = 2_000
DESIGNS: dict[str, tuple[Column, ...]] = {
    "Gaussian": numbers(5, -4.0, 4.0),
    "indicators": tuple(Categorical(f"g{place}", ("a", "b", "c")) for place in range(3)),
    "skewed": numbers(5, -1.0, 6.0),
    "mixed": (*numbers(3, -4.0, 4.0), Categorical("g", ("a", "b", "c")), Numeric("s", -1.0, 6.0)),
    "missing": numbers(5, -4.0, 4.0),
}


class Cell:
    """One design, number of people and epsilon, as often as asked."""

    def __init__(self, design: str, n: int, epsilon: float) -> None:
        self.design, self.n, self.epsilon = design, n, epsilon
        self.first: Task | None = None

    def covered(self, seed: int) -> np.ndarray:
        """Which coefficients were covered; empty if there was no solution."""
        rng = np.random.default_rng([seed, self.n, round(10 * self.epsilon)])
        population = Population.drawn(DESIGNS[self.design], rng, usable=0.9 if self.design == "missing" else 1.0)
        try:
            task = self.task(population, rng)
            (result,) = fit(task, population.collected(task, self.n, rng), ["logistic"])
        except NoSolutionError:
            return np.empty(0, dtype=bool)
        low, high = result.results_.intervals().T
        return (low <= population.truth) & (population.truth <= high)

    def task(self, population: Population, rng: np.random.Generator) -> Task:
        """The default task; later ones keep the first one's weights and radius, which hardly vary."""
        target = Numeric("y", 0.0, 1.0)
        common = {"domain": population.domain, "target": target, "epsilon": self.epsilon, "goal": self.n}
        public = Public(rows=population.public(PUBLIC_ROWS, rng))
        if self.first is None:
            self.first = new_task("coverage", **common, public=public)
            return self.first
        known = known_design(population.domain, public)
        units = units_of_design(population.domain.columns, known)
        statistic = replace(self.first.statistic, transform=units)
        return replace(self.first, statistic=statistic, design=known)


def cell(design: str, n: int, epsilon: float, repeats: int) -> str:
    """Coverage, with twice its standard error over repeats, which share their draws among
    coefficients.
    """
    here = Cell(design, n, epsilon)
    runs = [here.covered(seed) for seed in range(repeats)]
    solved = [np.mean(run) for run in runs if len(run)]
    failed = repeats - len(solved)
    spread = 2 * np.std(solved) / np.sqrt(len(solved))
    return f"{np.mean(solved):.1%} ± {spread:.1%}" + (f" ({failed} without solution)" if failed else "")


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    chosen = sys.argv[2:] or list(DESIGNS)
    kept = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    found = {line.split(" | ")[0].strip("| "): line for line in kept if line.startswith("| ") and "epsilon" not in line}
    for design in chosen:
        cells = []
        for n, epsilon in ((n, epsilon) for n in SIZES for epsilon in EPSILONS):
            cells.append(cell(design, n, epsilon, repeats))
            print(design, n, epsilon, cells[-1], flush=True)
        found[design] = f"| {design} | {' | '.join(cells)} | {repeats} |"
        write_page(RESULTS, "\n".join(document(found)) + "\n")


def document(found: dict[str, str]) -> list[str]:
    heads = [f"n {n:,}, epsilon {epsilon:g}" for n in SIZES for epsilon in EPSILONS]
    assert __doc__ is not None
    return [
        "# Coverage of 95 % intervals, local collections, all coefficients",
        "",
        *__doc__.strip().splitlines()[2:],
        "",
        f"| design | {' | '.join(heads)} | repeats |",
        f"|---|{'---:|' * (len(heads) + 1)}",
        *(found[name] for name in DESIGNS if name in found),
        "",
        "± is twice the standard error of the repeats. Command: `python -m experiments.local_coverage 200`",
    ]


if __name__ == "__main__":
    main()
