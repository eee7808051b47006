"""PMT, figure 8: logistic regression by iterations and lambda, simulation."""

from __future__ import annotations

from experiments.pmt.logistic_figures import BY_LAMBDA, by_iteration
from experiments.pmt.problems import simulated
from experiments.runner import main

FIGURE = by_iteration(
    8,
    "lambda, simulation",
    BY_LAMBDA,
    [{"lambda": size} for size in (0.0, 1e-3, 1e-2, 1e-1)],
    lambda cell, seed: simulated(8000, 100, 8, True, seed),
    mu=lambda cell: 10.0,
    penalty=lambda cell: cell["lambda"],
    eta=0.05,
    known_truth=True,
    found=(
        "Reproduced: DP-LR as printed needs a large penalty, and PMT does not. From lambda .01 on the\n"
        "penalty's bias decides, and every method is at the plain fit, which is also where the tight\n"
        "methods are throughout."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)
