"""NLDP, figure 12: Algorithm 4, cubic link, Bernoulli rows, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(12, "Algorithm 4, cubic link, Bernoulli rows", "bernoulli", "cubic")

if __name__ == "__main__":
    main(FIGURE, __file__)
