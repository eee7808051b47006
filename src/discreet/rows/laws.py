"""Functions of a row that loops can compute: what is asked of it, and under which law of labels.

A query of a descent weighs rows by a function of (label, eta, |z|). In numpy it is any function;
for the usual families it comes with a rule from which ``law_loops.py`` computes the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Families with their canonical links.
GAUSSIAN, BERNOULLI, POISSON = 0, 1, 2
# Loops add up the chances of counts: declared labels must not be larger than this.
MOST_COUNTS = 23.0
# What is asked: a score clipped at ``first`` (less the one clipped at ``second``), the root of its
# slope, the size of the score times |z| / ``first``, |z| / ``first``, the squared residual, or
# 1 / |z| if the score is clipped at ``first``, else 0.
SCORE, ROOT_SLOPE, SIZE, LENGTH, SQUARE, CLIPPED = 0, 1, 2, 3, 4, 5


@dataclass(frozen=True)
class Law:
    """A family with its canonical link, the range of labels, whether the mean of clipped scores is
    subtracted from them, and the dispersion with which it is computed.
    """

    family: int
    y_low: float
    y_high: float
    centred: bool
    dispersion: float = 1.0


@dataclass(frozen=True, eq=False)
class Rule:
    """An elementwise function of labels, eta and the length of z, and the same for loops; ``law``
    is None where they cannot compute it.
    """

    function: Callable[[Floats, Floats, Floats], Floats]
    law: Law | None
    what: int
    first: float = 0.0
    second: float = 0.0

    def __call__(self, y: Floats, eta: Floats, length: Floats) -> Floats:
        return self.function(y, eta, length)
