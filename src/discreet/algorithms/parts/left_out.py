"""What an estimate lacks of scores beyond the clip norm: a bias, where the model is wrong.

Of a level above the clip norm only the part that is clear of its noise is kept, and far above it
none is asked for. Under a true model neither matters: the mean score of a level is 0. Otherwise the
levels show how lopsided scores are, and what is left out of them, or lies beyond, is an error of
the estimate. Nothing here queries the source.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.algorithms.parts.clipped_rows import Move
from discreet.algorithms.parts.measure import Estimate, Measurement
from discreet.algorithms.parts.shrink import clear
from discreet.algorithms.parts.sizes import Sizes
from discreet.rows import Answer, Floats

# Scores are lopsided for certain if this part of what levels show is clear of the noise.
_SURE = 0.25


def left_out(
    last: Measurement,
    keeps: Sequence[float],
    sizes: Sizes,
    estimate: Estimate,
    responses: Sequence[Floats],
    move: Move | None = None,
) -> Floats:
    """The mean score at the optimum that the estimate probably lacks.

    ``responses``: those of whole levels, whose scores were released at the ``last`` point. Nothing
    is lacking of what a ``move`` corrects.
    """
    if not last.levels:
        return np.zeros(len(last.phi))
    seen = [_at(estimate, last, *level) for level in zip(last.levels, responses, strict=True)]
    if move is not None:
        seen = [(move.across @ value, noise_std) for value, noise_std in seen]
    # Scores are lopsided in all levels or in none: together these show it best.
    together = np.concatenate([value / noise_std for value, noise_std in seen])
    sure = min(clear(together, 1.0) / _SURE, 1.0)
    lacks, lopsided = np.zeros(len(last.phi)), np.zeros(len(last.phi))
    for (value, noise_std), keep, (low, top) in zip(seen, keeps, last.bounds.levels, strict=True):
        most = max(sizes.beyond(low) - sizes.beyond(top), 1e-300)
        length = float(np.linalg.norm(value))
        likely = sure * math.sqrt(max(length**2 - len(value) * noise_std**2, 0.0))
        if likely > 0:
            lopsided = value * (min(likely / most, 1.0) / length)
            lacks += (1 - keep) * most * lopsided
    lacks += sizes.hidden_beyond(last.bounds.levels[-1][1]) * lopsided
    return lacks if np.isfinite(lacks).all() else np.zeros(len(lacks))  # extreme noise


def _at(estimate: Estimate, last: Measurement, level: Answer, response: Floats) -> tuple[Floats, float]:
    """The mean score of a level at the estimate, and the noise in an entry."""
    count = last.frame.count
    value = level.value[:, 0] / count + response @ (estimate.phi - last.phi)
    moved = float(np.sum(response * (response @ (estimate.noise + estimate.unsure)))) / len(value)
    return value, math.sqrt((level.noise_std / count) ** 2 + max(moved, 0.0))
