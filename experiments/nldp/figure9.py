"""NLDP, figure 9: Algorithm 3, sigmoid link, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(9, "Algorithm 3, sigmoid link", "gaussian", "sigmoid")

if __name__ == "__main__":
    main(FIGURE, __file__)
