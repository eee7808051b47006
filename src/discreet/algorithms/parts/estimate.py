"""The estimate from all measurements of the optimum, and its errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts.clipped_rows import Move, unseen_bias
from discreet.algorithms.parts.last_gradients import LastGradients
from discreet.algorithms.parts.left_out import left_out
from discreet.algorithms.parts.mean_score import Constant
from discreet.algorithms.parts.measure import Estimate, Optimum, together
from discreet.algorithms.parts.noisy_matrix import Seen, held, inverse, relative_change
from discreet.algorithms.parts.rare_rows import clipped_groups, faded_groups
from discreet.algorithms.parts.uncertain import Spread, fading, spread
from discreet.algorithms.steps.columns import hidden_references, unknown_directions, unknown_slopes
from discreet.rows import Floats


@dataclass(frozen=True, eq=False)
class Estimated:
    """The estimate with its errors.

    ``faded``: with those of a curvature that may fall beyond the last point. ``inverse``: of the
    response there. ``hidden``: the columns that may be too narrow to be seen. ``absent``: the
    projection of phi on the slopes that steps have left out.
    """

    estimate: Estimate
    spread: Spread
    faded: Spread
    inverse: Floats
    hidden: tuple[int, ...]
    absent: Floats


def estimated(last: LastGradients) -> Estimated:
    """The mean of all measurements, weighted by their precision; free post-processing."""
    response, penalty, seen, absent = last.response, last.frame.penalty, last.seen, last.absent
    said = [one.optimum(response.full, last.keeps, absent) for one in seen]
    estimate = _combined(last, said)
    back = said[-1].inverse
    if last.start.plan.rehearses:
        back = inverse(response.seen + penalty)
        back = back if absent is None else held(back, absent) @ back
    columns, unknown = last.hidden, _unknown(last, estimate)
    score = last.directed_score
    move = None if score is None else score.move(estimate.phi, estimate.noise, 1 / _clipped_variance(last))
    levels = last.levels(seen[-1].phi)
    bias = back @ left_out(seen[-1], last.keeps, last.limits.sizes, estimate, levels, move)
    inverses = response.inverses(penalty, levels=bool(last.limits.bounds.levels))
    errors = spread(estimate, seen, last.keeps, inverses, last.meat, unknown + np.outer(bias, bias), absent)
    faded = _faded(last, estimate, errors)
    left_out_slopes = np.zeros_like(unknown) if absent is None else absent @ np.linalg.pinv(absent)
    known = Estimated(estimate, errors, faded, back, columns, left_out_slopes)
    return _constant_moved(last, known if move is None else _moved(known, move), move)


def _combined(last: LastGradients, said: Sequence[Optimum]) -> Estimate:
    """The measurements as far as their steps are trusted, and what that cut from them."""
    points = [one.here for one in said]
    limited = [last.limited(there, one.phi) for one, there in zip(said, points, strict=True)]
    cut = [one.phi - phi for one, phi in zip(said, limited, strict=True)]
    curves = [last.frame.foresight.curvature(phi) for phi in points]
    bends = [last.bend(phi, limited[-1]) for phi in points]
    wrong = [
        math.sqrt(last.known + relative_change(curve, curves[-1]) ** 2 + bend**2)
        for curve, bend in zip(curves, bends, strict=True)
    ]
    said = [replace(one, phi=phi) for one, phi in zip(said, limited, strict=True)]
    return together(said, wrong, cut, curves[-1])


def _unknown(last: LastGradients, estimate: Estimate) -> Floats:
    """The covariance of phi along all directions whose curvature noise hides, and along the slopes
    of columns too narrow within their bounds to be seen.

    The gradient has no information there, so the prior variance is that of all slopes.
    """
    frame, response, start = last.frame, last.response, last.start
    slopes = estimate.phi[frame.constants :]
    typical = float(np.mean(slopes**2)) if len(slopes) else 0.0
    effect = _effect(last)
    # If the model is without them, they are added to the covariances of slopes, where the large
    # numbers do not round others (unknown_coefficients).
    columns = last.hidden if last.absent is None else ()
    unknown = unknown_slopes(frame.coordinates, columns, effect)
    if start.columns.rare is not None:
        released = last.curvature_of_rows
        for one in hidden_references(frame.coordinates, released.curvature, released.noise_std, start.columns.rare):
            unknown += effect**2 * np.outer(one.change, one.change)
    narrow = np.kron(unknown, np.eye(frame.predictors))
    return np.asarray(typical * response.hidden + narrow + clipped_groups(last.seen[-1], effect))


def _effect(last: LastGradients) -> float:
    """The largest effect of a column of which nothing is known, as a standard deviation."""
    frame = last.frame
    return last.start.label.scale if frame.model.link.is_identity else frame.farthest


def unknown_coefficients(last: LastGradients) -> Floats:
    """The covariance of the coefficients of (1, x) along the slopes that steps have left out."""
    frame = last.frame
    columns = () if last.absent is None else last.hidden
    unknown = unknown_directions(frame.coordinates, columns, _effect(last))
    return np.asarray(np.kron(frame.across, unknown), dtype=np.float64)


def _faded(last: LastGradients, estimate: Estimate, errors: Spread) -> Spread:
    """The covariances of the estimate, if the curvature may be smaller beyond the last point."""
    frame, limits, response, phi = last.frame, last.limits, last.response, last.phi
    if frame.model.link.is_identity or frame.model.single_index:
        return errors  # a single index has a link of any shape: the curvature is not known to fall
    foresight, step = frame.foresight, estimate.phi - phi
    farthest = max(frame.farthest, float(np.linalg.norm(estimate.phi)))
    # With bounded weights, a curvature below the foreseen one indicates that weights have
    # decreased, unless the longest rows are clipped and cut.
    longest = limits.longest_seen
    middle = longest / 2**0.25  # of the last cell of the histogram of lengths
    cut = min(limits.longest * (frame.root_size / middle) ** 2, 1.0)
    left = cut * foresight.kept(phi, limits.bounds.clip / longest, frame.dispersion)
    bounded = frame.model.family.label_free
    curve = response.steepest(left * foresight.curvature(phi) if bounded else response.seen)
    seen = Seen(response.seen, response.curvatures[-1].noise_std)
    rate = max(foresight.sharpest(at) for at in (phi, phi + step)) * longest
    faded = fading(errors, step, seen, curve, rate, farthest)
    return faded_groups(frame, faded, phi, step, farthest)


def _constant_moved(last: LastGradients, known: Estimated, move: Move | None) -> Estimated:
    """The constant follows the mean score, as far as it is clear of the noise, and slopes get the
    error of what it shows and no ``move`` corrects.
    """
    if last.mean_score is None:
        return known
    phi, noise = known.estimate.phi, known.estimate.noise
    constant = last.mean_score.constant(phi, noise, _clipped_variance(last))
    if last.clipped is not None:
        unseen = unseen_bias(last.clipped, 0.0 if move is None else move.sure, constant.away)
        wider = replace(known.spread, noise=known.spread.noise + unseen)
        known = replace(known, spread=wider, faded=replace(known.faded, noise=known.faded.noise + unseen))
    return _moved(known, constant)


def _clipped_variance(last: LastGradients) -> float:
    """The sampling variance of an estimate from clipped scores, relative to that of one from all of
    them.
    """
    sizes, limits = last.limits.sizes, last.limits
    return sizes.mean_square(limits.bounds.clip) / max(sizes.mean_square() * limits.kept**2, 1e-300)


def _moved(known: Estimated, move: Constant | Move) -> Estimated:
    return replace(
        known,
        estimate=replace(known.estimate, phi=move.moved(known.estimate.phi)),
        spread=move.spread(known.spread),
        faded=move.spread(known.faded),
    )
