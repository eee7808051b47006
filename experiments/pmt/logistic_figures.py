"""PMT's figures of logistic regression by iterations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments.pmt.problems import LOGISTIC, Problem, logistic_errors
from experiments.runner import Cell, Figure

STEPS = 8
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
    quick: Sequence[int],
) -> Figure:
    """A panel for each entry of ``panels``; errors after 1, 2, 4 and all steps, ``quick`` ones
    after these.
    """

    def run(cell: Cell, seed: int) -> Mapping[str, float]:
        return logistic_errors(problem(cell, seed), mu(cell), penalty(cell), eta, STEPS, cell["iteration"])

    cells = [{**panel, "iteration": t} for panel in panels for t in (1, 2, 4, STEPS)]
    return Figure(
        name=f"figure{number}",
        title=f"PMT, figure {number}: logistic regression by iterations and {title}",
        says=says,
        cells=cells,
        quick=[cell for cell in cells if cell["iteration"] in quick],
        run=run,
        curves=LOGISTIC,
        axis="iteration",
        repeats=100,
        measure="relative error of the coefficients",
        notes=f"Printed methods at each of their {STEPS} steps; the others have no such path, and show where they end.",
    )
