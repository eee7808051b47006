"""NLDP, figure 18: one round with public rows beside two rounds without, for all four algorithms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.domain import Domain, Numeric
from discreet.errors import DiscreetError
from discreet.local import fit, pilot_task, second_task
from discreet.local.simulation import simulate_rows
from experiments.nldp.accuracy import MEANS, Setting, label_range, one_error
from experiments.nldp.figure17 import ALGORITHMS
from experiments.runner import Cell, Figure, main

CELLS = [
    {"algorithm": name, "epsilon": 10, "n": n} for name in ALGORITHMS for n in (100_000, 200_000, 400_000, 700_000)
]


def two_rounds(setting: Setting, seed: int) -> float:
    """A tenth of the people are asked for means and scales, the others for moments; nothing is
    public.
    """
    rng = np.random.default_rng(seed)
    n, p, gaussian = setting.n, setting.p, setting.design == "gaussian"
    bound = 6.0 if gaussian else 1 / p
    rows = rng.normal(size=(n, p)) if gaussian else rng.choice([-1 / p, 1 / p], size=(n, p))
    truth = rng.normal(size=p)
    truth /= np.linalg.norm(truth)
    labels = MEANS[setting.model](rows @ truth)
    if setting.model in ("cubic", "softplus", "sigmoid"):
        labels = labels + rng.uniform(-0.05, 0.05, size=n)
    common = {
        "domain": Domain.from_bounds([f"x{j}" for j in range(p)], (-bound, bound)),
        "target": Numeric("y", *label_range(setting)),
        "epsilon": setting.epsilon,
        "goal": n,
    }
    try:
        pilot = pilot_task("nldp", **common)
        first = pilot.goal
        second = second_task(pilot, simulate_rows(pilot, rows[:first], labels[:first], rng))
        (result,) = fit(second, simulate_rows(second, rows[first:], labels[first:], rng), [setting.model])
    except DiscreetError:
        return np.inf
    norm = 2 if gaussian else np.inf
    return float(np.linalg.norm(result.coef_ - truth, norm) ** 2 / np.linalg.norm(truth, norm) ** 2)


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    design, model = ALGORITHMS[cell["algorithm"]]
    setting = Setting(cell["n"], 10, cell["epsilon"], design, model)
    one = {name: one_error(setting, name, seed) for name in ("paper", "unit")}
    return one | {"two rounds": two_rounds(setting, seed)}


FIGURE = Figure(
    name="figure18",
    title="NLDP, figure 18: one round with public rows and two rounds without",
    says="Two rounds are worse than one with public rows, for all four algorithms.",
    cells=CELLS,
    quick=[cell for cell in CELLS if cell["n"] == 100_000],
    run=run,
    curves=("paper", "unit", "two rounds"),
    axis="n",
    repeats=20,
    measure="squared relative error",
    notes="`two rounds` is the product's own (a pilot of a tenth of the people), not the printed Algorithm 5.",
)

if __name__ == "__main__":
    main(FIGURE, __file__)
