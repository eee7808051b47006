"""A selection with its exact scores, for the replay audit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.noise.ranking import RankNoise
from discreet.privacy import Release
from discreet.rows import Ranking


@dataclass(frozen=True)
class Choice:
    """A selection: its releases, noise, exact column sums, and the candidates with their scores.

    Sums and scores are whole numbers on the noise's grid.
    """

    releases: tuple[Release, ...]
    query: Ranking
    noise: RankNoise
    sums: NDArray[np.object_]
    candidates: NDArray[np.int64]
    scores: NDArray[np.float64]
