"""NLDP, figure 1: Algorithm 1, logistic, Gaussian rows, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(1, "Algorithm 1, logistic, Gaussian rows", "gaussian", "logistic")

if __name__ == "__main__":
    main(FIGURE, __file__)
