"""NLDP, figure 5: Algorithm 2, exponential, Bernoulli rows, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(5, "Algorithm 2, exponential, Bernoulli rows", "bernoulli", "exponential")

if __name__ == "__main__":
    main(FIGURE, __file__)
