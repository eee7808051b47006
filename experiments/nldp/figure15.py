"""NLDP, figure 15: real sets by n and epsilon."""

from __future__ import annotations

from experiments.nldp.real_sets import CURVES, accuracy, split
from experiments.runner import Figure, main

CELLS = [
    *(
        {"set": "covertype", "epsilon": e, "m": 10_000, "n": n}
        for e in (4, 10, 15)
        for n in (100_000, 200_000, 350_000)
    ),
    *({"set": "skin", "epsilon": e, "m": 5000, "n": n} for e in (0.2, 0.5, 1) for n in (20_000, 80_000, 180_000)),
    *({"set": "susy", "epsilon": e, "m": 500, "n": 7000} for e in (2, 10)),
]


FIGURE = Figure(
    name="figure15",
    title="NLDP, figure 15: real sets by n and epsilon",
    says="Accuracy rises with n and epsilon; Covertype 72.5 % at epsilon 15 and n 350,000, 75 % without privacy.",
    cells=CELLS,
    quick=[{"set": "skin", "epsilon": 1, "m": 5000, "n": 80_000}],
    make=split,
    fit=accuracy,
    curves=CURVES,
    axis="n",
    repeats=20,
    measure="test accuracy",
    notes="The SUSY file here has 10,000 rows of the paper's 500,000.",
    log=False,
    found=(
        "Reproduced and improved with tight noise: on Covertype at epsilon 15 and n = 350,000 Gaussian noise "
        "has 75.2 %, the unit randomizer 75.4 % (the paper 72.5 %), which is the plain fit's; at epsilon 4 "
        "the unit randomizer loses at most half a point, Gaussian noise 1.4 to 2.9. On skin the unit "
        "randomizer has the accuracy of the plain logistic fit or more, but for .7 points at epsilon .2 and n "
        "= 20,000. Gaussian noise is on average 1 to 8 points below at epsilon .2, and 3.5 at epsilon .5 and "
        "n = 20,000, where single runs fail; else it is within half a point or above. On SUSY, with 7,000 "
        "people in place of 500,000, the unit randomizer is 2 (epsilon 10) and 6 points (epsilon 2) below the "
        "plain fit, Gaussian noise 4 and 16. The printed noise gives about a coin's accuracy throughout, so "
        "the paper's own accuracy is not reproduced with it."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)
