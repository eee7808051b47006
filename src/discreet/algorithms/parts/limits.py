"""How the last gradients are bounded: by the histogram of scores, the clip norm with the smallest
predicted error, levels above it that may matter, and the clip of rows in the curvature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.filtered_approach import gradient_question, see
from discreet.algorithms.parts.looks import Question, moved
from discreet.algorithms.parts.measure import LESS_LEVEL_SHARE, LEVEL_SHARE, Bounds
from discreet.algorithms.parts.sizes import Sizes
from discreet.algorithms.parts.start import Start

# Noise that moves the curvature's eigenvalues by this part of them is negligible.
_NO_NOISE = 0.01
# No row is clipped in a curvature while the noise is at most this part of its eigenvalues.
_LITTLE_NOISE = 0.05


@dataclass(frozen=True, eq=False)
class Limits:
    """Bounds of scores and rows, and the sizes of both that they are for."""

    bounds: Bounds
    sizes: Sizes
    # The clip of rows in the curvature, in squares of their typical length, and the longest seen.
    longest: float
    longest_seen: float
    # Whether the noise in the curvature is negligible.
    exact: bool
    sampling_variance: float
    # The noise in a mean of scores that are clipped at 1.
    noise_per_clip: float
    # The shares of the mean score, and of the clipped rows by direction.
    mean_share: float
    clipped_share: float

    @property
    def kept(self) -> float:
        """The part of the curvature of typical rows that the clip norm keeps."""
        return self.sizes.kept(self.bounds.clip)

    def scaled(self, scores: float, clip: float) -> Limits:
        """The same for scores multiplied by one factor, and clip norms by another."""
        return replace(self, sizes=self.sizes.scaled(scores), bounds=self.bounds.scaled(clip))


def best_bounds(sizes: Sizes, noise_per_clip: float, variance: float, count: float, size: int) -> Bounds:
    """The clip norm with the smallest predicted error, and the levels above it that may matter.

    ``noise_per_clip``: in a mean of scores that are clipped at 1; ``variance``: of a coordinate of
    the unclipped score. Forecasts call this as well (planning/descent.py).
    """
    clip = sizes.best_clip(noise_per_clip, variance, count)
    risk = sizes.risk(clip, noise_per_clip, variance, count) * sizes.kept(clip) ** 2
    return Bounds(clip, tuple(sizes.levels(clip, noise_per_clip / math.sqrt(LEVEL_SHARE), risk, size)))


def best_limits(start: Start) -> tuple[Start, Limits]:
    """The start with what is known of the dispersion, and the bounds there.

    Privacy: two or three sums in one pass, and the last gradient of a filter.
    """
    frame, phi, plan = start.frame, start.phi, start.plan
    source, model, unit = frame.source, frame.model, frame.typical_norm(phi)
    # Rows far out along a steep link, or where labels are rare elsewhere, make up most of the
    # curvature. Where noise is negligible, a single row may; elsewhere, weights far out are those
    # of a start that may be wrong.
    kinds = [True, False] if plan.nominal and plan.curved else [model.single_index]
    questions: list[Question] = [(frame.histogram(phi, unit), plan.part(shares.HISTOGRAM))]
    questions += [(frame.lengths(phi, weighted=one), plan.part(shares.LENGTHS / len(kinds))) for one in kinds]
    if plan.asks_dispersion:
        questions.append(frame.squares(phi, plan.part(shares.DISPERSION)))
    if (leader := start.filter) is not None and leader.next is not None:
        questions.append(gradient_question(frame, leader.belief, leader.next))
    histogram, *lengths = frame.ask(*questions)
    if leader is not None and leader.next is not None:
        see(frame, leader.belief, questions.pop(), lengths.pop())
        start = replace(start, phi=leader.belief.theta)
    squares = [lengths.pop()] if plan.asks_dispersion else []
    edge = plan.curvature_edge(frame.count, moved(source))
    weighted, *plain = (Sizes.read(one.value[:, 0], one.noise_std, frame.root_size, label_free=True) for one in lengths)
    rows = (plain or [weighted])[0]
    longest = weighted.best_cut(edge)
    if plain:  # the weights of a few rows may be many times those foreseen
        longest = max(longest, min((weighted.top / frame.root_size) ** 2, _LITTLE_NOISE / edge))
    # Weights make rows longer than their lengths say.
    if exact := plan.nominal and edge * longest < _NO_NOISE:
        longest = _NO_NOISE / edge
    if squares:
        frame = frame.with_squares(questions[-1], squares[0])
    label_free = model.family.label_free
    sizes = Sizes.read(histogram.value[:, 0], histogram.noise_std, unit, label_free)
    variance = frame.dispersion * frame.weight(phi) if label_free else sizes.mean_square() / frame.size
    noise = source.noise_std(frame.gradient(phi, 1.0), start.gradients(1.0)) / frame.count
    bounds = best_bounds(sizes, noise, variance, frame.count, frame.size)
    if plan.nominal and (whole := sizes.clip_of_none(noise, variance, frame.count)):
        bounds = Bounds(whole, ())
    # As the budget grows the fit becomes the plain one: the model is not asked for the mean of
    # scores that nothing clips, and labels in the declared range are as they are.
    frame = replace(frame, centred=not sizes.all_within(bounds.clip))
    # Skewed labels could move a constant, if scores are clipped.
    moves = frame.constants == 1 and not label_free and not model.single_index
    mean_share = shares.MEAN if bounds.levels and moves else 0.0
    # With a curved link more rows are clipped in some directions under any model.
    shifts = frame.keeps_whole_rows and not plan.curved
    left = (start.gradients(1.0, mean_share).mu / plan.budget.mu) ** 2
    clipped_share = shares.CLIPPED * left if bounds.levels and shifts else 0.0
    if clipped_share:
        bounds = replace(bounds, level_share=LESS_LEVEL_SHARE)
    limits = Limits(bounds, sizes, longest, rows.top, exact, variance / frame.count, noise, mean_share, clipped_share)
    return replace(start, frame=frame), limits
