"""RELU, figure 1: training loss during the fit on California housing, gas turbine and wine, all
rows.
"""

from __future__ import annotations

from experiments.relu.real_sets import loss_figure
from experiments.runner import main

FIGURE = loss_figure(1, "training loss on real sets", test=False)

if __name__ == "__main__":
    main(FIGURE, __file__)
