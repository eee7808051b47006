"""RELU, figure 2: test loss along the way on California housing, gas turbine and wine, all rows."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.relu.real_sets import CURVES, SETS, losses
from experiments.runner import Cell, Figure, main

CELLS = [
    {"set": name, "epsilon": epsilon, "share": share}
    for name in SETS
    for epsilon in (0.05, 0.2, 0.5)
    for share in (0.1, 0.5, 1.0)
]


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    return losses(cell["set"], cell["epsilon"], cell["share"], True, seed)


FIGURE = Figure(
    name="figure2",
    title="RELU, figure 2: test loss on real sets",
    says="DP-MBGLMtron is best, then DP-TAGLMtron, DP-GLMtron and DP-SGD; the gap shrinks as epsilon grows.",
    cells=CELLS,
    quick=[cell for cell in CELLS if cell["share"] == 1.0 and cell["set"] == "wine"],
    run=run,
    curves=CURVES,
    axis="share",
    repeats=10,
    measure="half the mean squared error",
    notes=(
        "One pass, so the axis is the share of steps done; at 1 it is the model that is returned. 500 public rows\n"
        "standardise, whiten and give thresholds; all other training rows are private."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)
