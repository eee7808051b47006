"""Where labels lie: their mean and spread, from sums or, for labels that reach over orders of magnitude, a histogram.

A sum over a wide declared range has noise in proportion to the range, and a mean far below its upper end drowns in it.
A histogram over octaves has the noise of counts, whatever the range.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.algorithms.parts.sizes import CLEAR, last_clear
from discreet.algorithms.steps.first_look import Scaling
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.whitening import LabelScale
from discreet.rows import Answer, Floats
from discreet.rows.histograms import Look

# Octaves below the upper end of the range; a label farther down is as good as 0.
_OCTAVES = 24
# The middle of a cell of half an octave stands for its labels up to this part of them.
_COARSE = 0.03
# A histogram is believed if the noise in the number of rows found is below this part of them, and if no more than this
# part of them is missing, but for twice that noise.
_UNCERTAIN, _MISSED = 0.1, 0.2
# The standard deviation within a cell, as a part of its middle.
_CELL = 0.1
# Labels are clipped at this many of their standard deviations from the mean when they are first regressed on.
LABEL_BOUND = 2.5
# Room beyond a spread that noise may have made too small.
_LEAST_SPREAD = 1e-6


def octaves(model: GlmModel) -> Look | None:
    """A histogram of labels over half octaves, where they are amounts or counts."""
    labels = model.labels
    if labels.low < 0 or model.family.label_free:
        return None
    edges = labels.high * 2.0 ** np.arange(-_OCTAVES, 0.01, 0.5)
    return Look(labels, model.width, edges, np.array([]), label="sizes of labels")


def label_scale(model: GlmModel, scaling: Scaling, histogram: Answer | None) -> LabelScale:
    """Mean and standard deviation of labels, in their units; the spread rather too large than too small."""
    labels = model.labels
    mean = labels.centre + labels.half_width * scaling.y_centre
    spread, noise = labels.half_width * scaling.y_scale, labels.half_width * scaling.y_noise_std
    if histogram is not None:
        mean, spread, noise = _by_octaves(model, histogram, scaling.count, mean, spread, noise)
    if model.origin is not None:
        # Without an intercept the model passes through the mean at eta = 0, and labels are measured from there.
        through = float(model.link.mean(0.0))
        return LabelScale(labels, through, math.hypot(spread, mean - through), noise)
    if model.family.label_free:
        # A clip would cut the two labels unevenly: the scale leaves both within it.
        spread = max(spread, max(labels.high - mean, mean - labels.low) / LABEL_BOUND)
    return LabelScale(labels, mean, max(spread, _LEAST_SPREAD * labels.half_width), noise)


def _by_octaves(
    model: GlmModel, histogram: Answer, count: float, mean: float, spread: float, mean_noise: float
) -> tuple[float, float, float]:
    """Mean, spread and the mean's noise by the histogram, if it knows the mean better than the sum of labels does."""
    query = octaves(model)
    assert query is not None  # there is an answer to it
    counts, noise_std = histogram.value[:, 0], histogram.noise_std
    last = last_clear(counts, noise_std, -1)
    if last < 0:
        return mean, spread, mean_noise
    # Cells below the first clear one hold next to nothing and would only add noise.
    cells = slice(int(np.argmax(counts[: last + 1] > CLEAR * noise_std)), last + 1)
    # A cell that noise has filled says nothing of where labels lie: what is kept must be about all rows.
    found, found_noise = float(counts[cells].sum()), noise_std * math.sqrt(cells.stop - cells.start)
    if found_noise > _UNCERTAIN * count or found < (1 - _MISSED) * count - 2 * found_noise:
        return mean, spread, mean_noise
    shares, middles = counts[cells] / max(found, noise_std), _middles(query.y_edges)[cells]
    # Noise makes some counts negative; a mean lies between the cells all the same.
    by_cells = min(max(float(shares @ middles), float(middles[0])), float(middles[-1]))
    noise = noise_std * float(np.linalg.norm(middles - by_cells)) / max(found, noise_std)
    wrong = math.hypot(noise, _COARSE * by_cells)
    if wrong > mean_noise:
        return mean, spread, mean_noise
    # Labels that all lie in one cell may still differ by its width.
    by_cells_spread = math.sqrt(max(float(shares @ (middles - by_cells) ** 2), (_CELL * by_cells) ** 2)) + noise
    return by_cells, by_cells_spread, wrong


def _middles(edges: Floats) -> Floats:
    return np.concatenate([[edges[0] / 2], np.sqrt(edges[1:] * edges[:-1]), [edges[-1]]])
