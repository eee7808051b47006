"""NLDP, figure 4: Algorithm 1, logistic, covariance U + I, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(4, "Algorithm 1, logistic, covariance U + I", "gaussian", "logistic", covariance="turned")

if __name__ == "__main__":
    main(FIGURE, __file__)
