"""NLDP, figure 3: Algorithm 1, logistic, covariance U + I, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(3, "Algorithm 1, logistic, covariance U + I", "gaussian", "logistic", covariance="turned")

if __name__ == "__main__":
    main(FIGURE, __file__)
