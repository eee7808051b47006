"""NLDP, figure 10: Algorithm 3, sigmoid link, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(10, "Algorithm 3, sigmoid link", "gaussian", "sigmoid")

if __name__ == "__main__":
    main(FIGURE, __file__)
