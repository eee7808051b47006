"""Location and spread of labels, from sums or, for labels over several orders of
magnitude, from a histogram.

The noise of a sum is proportional to the declared range, and hides a mean far below its upper end.
A histogram over octaves has the noise of counts, for any range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import log_ndtr

from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.parts.sizes import CLEAR, last_clear
from discreet.algorithms.steps.first_look import Scaling, look_at_labels, power_sums
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.whitening import LabelScale
from discreet.rows import Answer, Floats, Source
from discreet.rows.histograms import Look

# Octaves below the upper end of the range; smaller labels count as 0.
_OCTAVES = 24
# The relative error of representing labels by the middle of a cell of half an octave.
_COARSE = 0.03
# A histogram is used if the noise in the number of rows found is below this part of them, and if at
# most this part of them is missing, up to twice that noise.
_UNCERTAIN, _MISSED = 0.1, 0.2
# The standard deviation within a cell, relative to its middle.
_CELL = 0.1
# Labels are clipped at this many standard deviations from the mean in the first regression.
LABEL_BOUND = 2.5
# A mean this many standard deviations of its noise above the lower end is above it.
_CERTAIN = 5.0
# The smallest spread, relative to the half-width.
_LEAST_SPREAD = 1e-6


def octaves(model: GlmModel) -> Look | None:
    """A histogram of labels over half octaves, if they are amounts or counts."""
    labels = model.labels
    if labels.low < 0 or model.family.label_free:
        return None
    edges = labels.high * 2.0 ** np.arange(-_OCTAVES, 0.01, 0.5)
    return Look(labels, model.width, edges, np.array([]), label="sizes of labels")


def label_scale(model: GlmModel, scaling: Scaling, histogram: Answer | None) -> LabelScale:
    """Mean and standard deviation of labels, in their units; the latter is rather
    too large than too small.
    """
    labels = model.labels
    mean = labels.centre + labels.half_width * scaling.y_centre
    spread, noise = labels.half_width * scaling.y_scale, labels.half_width * scaling.y_noise_std
    hidden = histogram is not None and clear_cells(histogram, scaling.count) is None
    if histogram is not None:
        mean, spread, noise = _by_octaves(model, histogram, scaling.count, mean, spread, noise)
        mean = _above(labels.low, mean, min(noise, labels.half_width / 2))
    if model.origin is not None:
        # Without an intercept the mean at eta = 0 is fixed, and labels are measured from it.
        through = float(model.link.mean(0.0))
        return LabelScale(labels, through, math.hypot(spread, mean - through), noise)
    if model.family.label_free:
        # A clip would affect the two labels unevenly: the scale keeps both within it.
        spread = max(spread, max(labels.high - mean, mean - labels.low) / LABEL_BOUND)
    return LabelScale(labels, mean, max(spread, _LEAST_SPREAD * labels.half_width), noise, hidden)


def look_again(
    source: Source, model: GlmModel, plan: Plan, x_radius: float, scaling: Scaling, counts: Answer | None
) -> tuple[Scaling, LabelScale, float]:
    """Scales of rows and labels, after a second look at labels if their mean was too uncertain, and
    the share of the budget that it cost. ``counts``: the histogram of labels, if there is one.

    Privacy: at most one sum.
    """
    label, half_width = label_scale(model, scaling, counts), model.labels.half_width
    if counts is not None and (again := _octaves_again(source, model, plan, scaling, counts)) is not None:
        return scaling, *again
    query = power_sums(source, model.width, x_radius, with_x=False)
    noise = half_width * source.noise_std(query, plan.part(1.0)) / scaling.count
    # If noise hides a spread, the noisy one is too large.
    spread = min(label.scale, half_width / math.sqrt(3))
    share = plan.labels(noise / spread, label.noise_std / spread)
    # If a histogram gives the mean more precisely than sums of labels could,
    # these are not asked for.
    if share == 0 or noise / math.sqrt(share) > label.noise_std:
        return scaling, label, 0.0
    scaling = look_at_labels(source, plan.part(share), model.width, x_radius, scaling)
    return scaling, label_scale(model, scaling, counts), share


def _octaves_again(
    source: Source, model: GlmModel, plan: Plan, scaling: Scaling, counts: Answer
) -> tuple[LabelScale, float] | None:
    """Scales of labels by one more histogram, if noise hides the first and not this one; and its
    share of the budget.

    Of the octaves below the labels' bound, few hold labels, and a mean over these has less
    noise than a sum over the whole range.
    """
    query, count = octaves(model), scaling.count
    assert query is not None  # it was asked
    if clear_cells(counts, count) is not None:
        return None
    share = plan.octaves_again(source.noise_std(query, plan.part(1.0)) / count)
    if not share:
        return None
    again = source.sum(query, plan.part(share))
    return label_scale(model, scaling, combined([counts, again])), share


def combined(histograms: Sequence[Answer]) -> Answer:
    """The mean of several answers to one question, weighted by their precision."""
    trusts = np.array([one.noise_std**-2 for one in histograms])
    value = np.average([one.value for one in histograms], axis=0, weights=trusts)
    return replace(histograms[0], value=value, noise_std=float(trusts.sum()) ** -0.5)


def clear_cells(histogram: Answer, count: float) -> slice | None:
    """The cells of a histogram of labels that hold about all rows, or None if noise hides them."""
    counts, noise_std = histogram.value[:, 0], histogram.noise_std
    # If only zeros are clear of the noise, nothing is known about the other labels.
    last = 1 + last_clear(counts[1:], noise_std, -1)
    if last < 1:
        return None
    # Cells below the first clear one hold almost nothing and would only add noise.
    cells = slice(int(np.argmax(counts[: last + 1] > CLEAR * noise_std)), last + 1)
    # Cells filled by noise carry no information: the cells used must hold about all rows.
    found, noise = float(counts[cells].sum()), noise_std * math.sqrt(cells.stop - cells.start)
    if noise > _UNCERTAIN * count or found < (1 - _MISSED) * count - 2 * noise:
        return None
    return cells


def _above(low: float, mean: float, noise: float) -> float:
    """The expected mean, given a noisy one, if it lies above ``low``: that of a cut normal.

    A mean that noise has moved to ``low`` would put the logarithm, and the start, far away.
    """
    if mean - low > _CERTAIN * noise:
        return mean
    z = max((mean - low) / noise, -_CERTAIN)
    return low + noise * (z + math.exp(-(z**2) / 2 - float(log_ndtr(z))) / math.sqrt(2 * math.pi))


def _by_octaves(
    model: GlmModel, histogram: Answer, count: float, mean: float, spread: float, mean_noise: float
) -> tuple[float, float, float]:
    """Mean, spread and the mean's noise from the histogram, if it is more
    precise than the sum of labels.
    """
    query = octaves(model)
    assert query is not None  # it was asked
    cells = clear_cells(histogram, count)
    if cells is None:
        return mean, spread, mean_noise
    counts, noise_std, middles = histogram.value[:, 0], histogram.noise_std, _middles(query.y_edges)
    found, found_noise = float(counts[cells].sum()), noise_std * math.sqrt(cells.stop - cells.start)
    shares, used = counts[cells] / max(found, noise_std), middles[cells]
    # Noise makes some counts negative; the mean still lies between the cells.
    by_cells = min(max(float(shares @ used), float(used[0])), float(used[-1]))
    noise = noise_std * float(np.linalg.norm(used - by_cells)) / max(found, noise_std)
    wrong = math.hypot(noise, _COARSE * by_cells)
    if wrong > mean_noise:
        return mean, spread, mean_noise
    # Labels within one cell may still differ by its width.
    by_cells_spread = math.sqrt(max(float(shares @ (used - by_cells) ** 2), (_CELL * by_cells) ** 2)) + noise
    # The histogram tells the spread; the sum may still tell the mean better.
    hidden = _hidden_above(middles[cells.stop :] - by_cells, count - found + found_noise, noise_std) / count
    by_cells, wrong = min((by_cells, math.hypot(wrong, hidden)), (mean, mean_noise), key=lambda known: known[1])
    return by_cells, by_cells_spread, wrong


def _hidden_above(excesses: Floats, rows: float, noise_std: float) -> float:
    """What rows that were not found may add to the sum of labels.

    They lie above the last clear cell, in the lowest cells that can hide them: in each as many as
    would not be clear of its noise.
    """
    before = CLEAR * noise_std * np.arange(len(excesses))
    return float(np.clip(max(rows, 0.0) - before, 0.0, CLEAR * noise_std) @ excesses)


def _middles(edges: Floats) -> Floats:
    return np.concatenate([[edges[0] / 2], np.sqrt(edges[1:] * edges[:-1]), [edges[-1]]])
