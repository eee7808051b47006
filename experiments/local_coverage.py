"""How often 95 % intervals of local collections cover: python -m experiments.local_coverage [repeats] [design ...]

Logistic labels, 2,000 public rows drawn anew each time, reports as the default task asks for them. The noise of each
sum is drawn once (see discreet.local.simulation). "missing": Gaussian, every tenth record lacks an answer.
"no public rows" are two rounds with a pilot, Gaussian columns.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from discreet.domain import Categorical, Column, Domain, Numeric, Public
from discreet.errors import NoSolutionError
from discreet.local import fit, new_task, pilot_task, second_task
from discreet.local.columns import encoded_columns
from discreet.local.design import raw_map
from discreet.local.simulation import simulate_encoded

RESULTS = Path(__file__).with_name("local_coverage.md")
PUBLIC_ROWS = 2000
SIZES, EPSILONS = (50_000, 200_000), (1.0, 4.0, 8.0)


def numbers(count: int, low: float, high: float) -> tuple[Column, ...]:
    return tuple(Numeric(f"x{place}", low, high) for place in range(count))


DESIGNS: dict[str, tuple[Column, ...]] = {
    "Gaussian": numbers(5, -4.0, 4.0),
    "indicators": tuple(Categorical(f"g{place}", ("a", "b", "c")) for place in range(3)),
    "skewed": numbers(5, -1.0, 6.0),
    "mixed": (*numbers(3, -4.0, 4.0), Categorical("g", ("a", "b", "c")), Numeric("s", -1.0, 6.0)),
    "missing": numbers(5, -4.0, 4.0),
    "no public rows": numbers(5, -4.0, 4.0),
}


def draw(columns: tuple[Column, ...], n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Skewed where the bounds are; levels with probabilities .6, .3 and .1."""
    made: dict[str, np.ndarray] = {}
    for column in columns:
        if isinstance(column, Categorical):
            made[column.name] = rng.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1], size=n)
        else:
            made[column.name] = rng.exponential(size=n) - 1 if column.low == -1 else rng.normal(size=n)
    return made


def one(design: str, n: int, epsilon: float, seed: int) -> list[bool] | None:
    """Which coefficients were covered; None if there was no solution."""
    rng = np.random.default_rng(seed)
    columns = DESIGNS[design]
    domain, target = Domain(columns), Numeric("y", 0.0, 1.0)
    people = draw(columns, n, rng)
    rows = encoded_columns(domain, people, n)
    if design == "no public rows":
        task = pilot_task("coverage", domain=domain, target=target, epsilon=epsilon, goal=n)
    else:
        import pandas as pd

        public = Public(rows=pd.DataFrame(draw(columns, PUBLIC_ROWS, rng)))
        task = new_task("coverage", domain=domain, target=target, epsilon=epsilon, goal=n, public=public)
    raw = rows @ raw_map(task).T
    slopes = rng.normal(size=raw.shape[1])
    slopes /= np.std(raw @ slopes)
    truth = np.array([-float(raw.mean(axis=0) @ slopes), *slopes])
    labels = (rng.random(n) < 1 / (1 + np.exp(-truth[0] - raw @ slopes))).astype(float)
    if design == "missing":
        rows[rng.random(n) < 0.1, 1] = np.nan
    if design == "no public rows":
        task = second_task(task, simulate_encoded(task, rows[: n // 10], labels[: n // 10], rng))
        rows, labels = rows[n // 10 :], labels[n // 10 :]
    try:
        (result,) = fit(task, simulate_encoded(task, rows, labels, rng), ["logistic"])
    except NoSolutionError:
        return None
    low, high = result.conf_int().T
    return list((low <= truth) & (truth <= high))


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    chosen = sys.argv[2:] or list(DESIGNS)
    kept = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    found = {line.split(" | ")[0].strip("| "): line for line in kept if line.startswith("| ") and "epsilon" not in line}
    for design in chosen:
        cells = []
        for n in SIZES:
            for epsilon in EPSILONS:
                runs = [one(design, n, epsilon, seed) for seed in range(repeats)]
                covered = [hit for run in runs if run is not None for hit in run]
                failed = sum(run is None for run in runs)
                cells.append(f"{np.mean(covered):.1%}" + (f" ({failed} without solution)" if failed else ""))
                print(design, n, epsilon, cells[-1], flush=True)
        found[design] = f"| {design} | {' | '.join(cells)} | {repeats} |"
    heads = [f"n {n:,}, epsilon {epsilon:g}" for n in SIZES for epsilon in EPSILONS]
    lines = [
        "# Coverage of 95 % intervals, local collections, all coefficients",
        "",
        *__doc__.strip().splitlines()[2:],
        "",
        f"| design | {' | '.join(heads)} | repeats |",
        f"|---|{'---:|' * (len(heads) + 1)}",
        *(found[name] for name in DESIGNS if name in found),
        "",
        f"Command: `python -m experiments.local_coverage {repeats}`",
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
