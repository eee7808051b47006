"""NLDP, figure 11: Algorithm 4, cubic link, Bernoulli rows, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(11, "Algorithm 4, cubic link, Bernoulli rows", "bernoulli", "cubic")

if __name__ == "__main__":
    main(FIGURE, __file__)
