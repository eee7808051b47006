"""PMT's figures of logistic regression by iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from experiments.pmt.problems import LOGISTIC, PLAIN, Problem, logistic_errors, with_logistic_goal
from experiments.runner import Cell, Figure

ITERATIONS = (1, 2, 4, 8)
BY_MU = "PMT with the smallest mu is below DP-LR with the largest."
BY_LAMBDA = "PMT hardly depends on lambda; DP-LR needs a large one, and pays for it."


def by_iteration(
    number: int,
    title: str,
    says: str,
    panels: Sequence[dict[str, Any]],
    problem: Callable[[Cell, int], Problem],
    *,
    mu: Callable[[Cell], float],
    penalty: Callable[[Cell], float],
    eta: float,
    known_truth: bool,
    found: str,
) -> Figure:
    """A panel for each entry of ``panels``; errors after 1, 2, 4 and all steps."""

    def fit(method: str, data: Problem, cell: Cell, seed: int) -> list[float]:
        return logistic_errors(method, data, mu(cell), penalty(cell), eta, seed, ITERATIONS)

    return Figure(
        name=f"figure{number}",
        title=f"PMT, figure {number}: logistic regression by iterations and {title}",
        says=says,
        cells=panels,
        quick=panels,
        make=lambda cell, seed: with_logistic_goal(problem(cell, seed), penalty(cell)),
        fit=fit,
        curves=(*LOGISTIC, PLAIN) if known_truth else LOGISTIC,
        axis="iteration",
        points=[{"iteration": t} for t in ITERATIONS],
        repeats=100,
        found=found,
        measure="relative error of the coefficients",
        notes=(
            f"Printed methods after these of their {ITERATIONS[-1]} steps; the others have no such path, and show\n"
            "where they end."
        ),
    )
