"""COST, figure 1: squared error of the iterates of Algorithm 1, dense logistic regression."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet import LogisticRegression
from experiments.cost.logistic import FREE, NAN, STEP, STEPS, after, fitted, rows, squared_error
from experiments.runner import Cell, Figure, main

SETTINGS = [
    *({"panel": "a", "n": 40_000, "d": d, "epsilon": 0.5} for d in (10, 20, 40)),
    *({"panel": "b", "n": n, "d": 20, "epsilon": 0.5} for n in (20_000, 40_000, 80_000)),
    *({"panel": "c", "n": 40_000, "d": 20, "epsilon": epsilon} for epsilon in (0.2, 0.5, 0.8)),
]
CELLS = [{**setting, "step": t} for setting in SETTINGS for t in (1, 3, 5, STEPS)]
CURVES = ("paper", "tight", "auto", "no noise")


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    X, y, beta = rows(cell["n"], cell["d"], cell["d"], seed)
    X = X.astype(float)
    common = {"delta": 1 / (2 * cell["n"]), "bounds_X": (-1, 1), "fit_intercept": False}
    asked = {**common, "epsilon": cell["epsilon"]}
    gd = {"solver": "cost_gd", "max_iter": STEPS, "step": STEP}
    models = {
        "paper": LogisticRegression(**asked, **gd, calibration="paper"),
        "tight": LogisticRegression(**asked, **gd | {"step": 8.0}),
        "auto": LogisticRegression(**asked),
        "no noise": LogisticRegression(**common, **gd, epsilon=FREE),
    }
    found = {}
    for name, model in models.items():
        done = fitted(model, X, y)
        if done is None:
            found[name] = NAN
        elif hasattr(done, "path_"):
            found[name] = squared_error(after(done.path_, cell["step"])[1:], beta)
        else:
            found[name] = squared_error(np.ravel(done.coef_), beta)
    return found


FIGURE = Figure(
    name="figure1",
    title="COST, figure 1: Algorithm 1, dense logistic regression",
    says="The log error falls linearly with the steps where n is large or d small; it falls with epsilon.",
    cells=CELLS,
    quick=[cell for cell in CELLS if cell["step"] in (1, STEPS) and cell["panel"] == "c"],
    run=run,
    curves=CURVES,
    axis="step",
    repeats=20,
    measure="squared error of the coefficients",
    notes=(
        "`paper` and `tight` are `cost_gd` with ten steps, of length 1 and 8; `no noise` is the printed iteration\n"
        "with epsilon 10^6. `auto` has no such path and shows where it ends."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)
