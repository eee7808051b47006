"""Select columns, then fit the chosen ones: in one round, or in several, each looking at what the last left over.

Every round picks columns by how far they go along with the residual of a least-squares fit on the columns picked so
far, and refits on all of them. A column that only echoes a chosen one has nothing left to explain in the next round,
which is what correlated designs need; picks cost the same in one round as in many, so rounds cost only their refits.
For screening, the residual of a linear fit serves every family: given normal x it is uncorrelated with each column that
the mean does not depend on. The last fit is the family's own: least squares, or averaged Newton steps from its
Stein-scaled solution. Where more columns were picked than wanted, the least certain are dropped, which is free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.steps.averaged_newton import averaged_newton
from discreet.algorithms.steps.sparse_model import Model, SparseFit
from discreet.algorithms.steps.support_coordinates import SupportCoordinates
from discreet.algorithms.steps.support_moment import SupportMoment, support_moment
from discreet.algorithms.steps.wide_look import WideScaling, wide_look
from discreet.privacy import GDP, Budget, picks_within
from discreet.rows import Floats, Indices, Labels, LinearMap, OnSupport, ResidualRanking, WideSource

# Shares of mu^2: first look, picks, refits of all rounds, last fit.
_SHARES = (0.03, 0.42, 0.25, 0.30)
# In a single round, as where the budget is small, finding the columns is what is hard.
_SINGLE = (0.03, 0.54, 0.13, 0.30)
_STEPS = 3
# What a Stein-scaled start may be off by where x is not normal, as a share of its squared length.
_START_ERROR = 0.03
# Cells are clipped to this many of their root mean square: in a ranking, the noise outweighs what that loses.
_CELL_CLIP, _SINGLE_CELL_CLIP = 1.0, 0.6
# Residuals of a label that is no class are clipped to this many standard deviations of the label.
_RESIDUAL_CLIP = 1.5
# How far the weakest signal of interest stands above the noise of a pick decides how many rounds pay.
_FEW, _MANY = 50.0, 150.0
_MOST_AUTOMATIC = 30


@dataclass(frozen=True)
class Rounds:
    """How many columns each round picks, how many are kept; ``keep`` None keeps those that stand clear of the noise."""

    picks: tuple[int, ...]
    keep: int | None

    @classmethod
    def once(cls, sparsity: int) -> Rounds:
        return cls((sparsity,), sparsity)

    @classmethod
    def planned(cls, sparsity: int | None, width: int, budget: Budget, rows: float) -> Rounds:
        """By public numbers only: the larger n mu / (sqrt(s) ln d), the more rounds and the more spare picks."""
        reach = rows * budget.mu / max(math.log(width), 1.0)
        if sparsity is None:
            wanted = int(np.clip((reach / _FEW) ** 2, 1, min(_MOST_AUTOMATIC, width)))
            return cls(_even(wanted, 1 if wanted < 4 else 3), None)
        clear = reach / math.sqrt(sparsity)
        if clear < _FEW:
            return cls.once(sparsity)
        spare = min(width, sparsity + math.ceil(sparsity / 2))
        return cls(_even(spare, 3 if clear < _MANY else 5), sparsity)


def _even(picks: int, rounds: int) -> tuple[int, ...]:
    rounds = min(rounds, picks)
    return tuple(picks // rounds + (i < picks % rounds) for i in range(rounds))


def select_then_fit(
    source: WideSource, model: Model, budget: Budget, *, width: int, sparsity: int | None, rounds: Rounds | None = None
) -> SparseFit:
    """A sparse model by rounds of selection and refit; planned by public numbers unless ``rounds`` are given.

    Privacy: one sum, then a selection and a sum per round, then gradient sums; their costs together are the budget.
    """
    rows = source.public_rows
    first = budget.split([_SHARES[0], 1 - _SHARES[0]])
    known = wide_look(source, first[0], width)
    plan = rounds or Rounds.planned(sparsity, width, budget, rows if rows is not None else known.count)
    look, pick, refit, last = _SHARES if len(plan.picks) > 1 else _SINGLE
    cell_clip = _CELL_CLIP if len(plan.picks) > 1 else _SINGLE_CELL_CLIP
    every = sum(plan.picks)
    shares = [look]
    for picks in plan.picks:
        shares += [pick * picks / every, refit / len(plan.picks)]
    if model.is_linear:
        shares[-1] += last
        costs = budget.split(shares)
    else:
        costs = budget.split([*shares, *[last / _STEPS] * _STEPS])
    moment: SupportMoment | None = None
    for number, picks in enumerate(plan.picks):
        query = _residual_ranking(width, moment, known, cell_clip, labelled=model.family.name == "bernoulli")
        picked = source.select(query, picks_within(costs[1 + 2 * number], picks)).indices
        moment = support_moment(source, np.concatenate([query.columns, picked]), costs[2 + 2 * number], known)
    assert moment is not None
    if model.is_linear:
        return replace(_linear_fit(model, moment, plan), used=known.used)
    steps = costs[1 + 2 * len(plan.picks) :]
    return replace(_curved_fit(source, model, moment, known, plan, steps), used=known.used)


def _residual_ranking(
    width: int, moment: SupportMoment | None, known: WideScaling, cell_clip: float, *, labelled: bool
) -> ResidualRanking:
    columns = np.zeros(0, dtype=np.int64) if moment is None else moment.columns
    coef = np.array([known.y_centre])
    if moment is not None:
        fitted = moment.least_squares()
        coef = np.concatenate([[fitted.intercept], fitted.slopes])
    # A class is at most 1 + |centre| from the mean, and clipping one side only would no longer be centred.
    bound = 1 + abs(known.y_centre) if labelled else min(1 + abs(known.y_centre), _RESIDUAL_CLIP * known.y_scale)
    return ResidualRanking(
        width,
        LinearMap(coef[np.newaxis]),
        columns,
        Labels(0.0, 1.0),
        _linear_score,
        bound,
        min(1.0, cell_clip * known.cell_scale),
        excluded=columns,
    )


def _linear_score(y: Floats, eta: Floats) -> Floats:
    return np.asarray(eta - y)


def _linear_fit(model: Model, moment: SupportMoment, plan: Rounds) -> SparseFit:
    fitted = moment.least_squares()
    # Where noise has the upper hand, a repaired matrix may have variances below zero.
    deviation = np.sqrt(np.maximum(np.diag(fitted.noise_covariance + fitted.sampling_covariance), 0.0))[1:]
    keep = _kept(np.abs(fitted.estimate[1:]) / np.maximum(deviation, 1e-300), plan)
    fitted = moment.least_squares(keep)
    half = model.labels.half_width
    return SparseFit(
        moment.columns[keep],
        model.labels.centre + half * fitted.intercept,
        half * fitted.slopes,
        2 * len(plan.picks) + 1,
        half**2 * (fitted.noise_covariance + fitted.sampling_covariance),
    ).sorted()


def _curved_fit(
    source: WideSource, model: Model, moment: SupportMoment, known: WideScaling, plan: Rounds, costs: Sequence[GDP]
) -> SparseFit:
    coordinates = moment.coordinates()
    start, variance = _stein_start(model, moment, coordinates)
    narrow = OnSupport(source, moment.columns)
    fit = averaged_newton(narrow, model, coordinates, start, variance, costs, known.count)
    slopes = coordinates.coefficients(fit.phi)[1:]
    # Slopes are root^T phi, so their covariance is the variance of phi times root^T root.
    spread = coordinates.root.T @ coordinates.root
    variances = (fit.noise_variance + fit.sampling_variance) * np.diag(spread)
    keep = _kept(np.abs(slopes) / np.sqrt(np.maximum(variances, 1e-300)), plan)
    intercept, slopes = _without_the_rest(coordinates, fit.phi, keep)
    covariance = _covariance(coordinates, keep, fit.noise_variance + fit.sampling_variance)
    passes = 2 * len(plan.picks) + 1 + _STEPS
    return SparseFit(moment.columns[keep], intercept, slopes, passes, covariance).sorted()


def _covariance(coordinates: SupportCoordinates, keep: Indices, variance: float) -> Floats:
    """That of (intercept, slopes) on the kept columns, where each coordinate of phi has this variance."""
    slopes = np.linalg.pinv(coordinates.covariance[np.ix_(keep, keep)])
    size = len(keep) + 1
    covariance = np.zeros((size, size))
    centre = coordinates.centre[keep]
    covariance[1:, 1:] = slopes
    covariance[0, 1:] = covariance[1:, 0] = -slopes @ centre
    covariance[0, 0] = 1 + centre @ slopes @ centre
    return variance * covariance


def _kept(clear: Floats, plan: Rounds) -> Indices:
    """Positions of the columns to keep: the wanted number of the most certain, or all that no chance explains."""
    order = np.argsort(-clear, kind="stable")
    if plan.keep is not None:
        return order[: plan.keep]
    certain = int(np.sum(clear > math.sqrt(2 * math.log(2 * len(clear) + 1))))
    return order[: max(certain, 1)]


def _without_the_rest(coordinates: SupportCoordinates, phi: Floats, keep: Indices) -> tuple[float, Floats]:
    """The coefficients of the kept columns once the others are dropped: the kept take over what they can.

    With covariance S = (root^T root)^-1 of x, slopes a on kept and b on dropped columns, the nearest predictor in
    mean square has the slopes a + S_kk^-1 S_kd b.
    """
    coef = coordinates.coefficients(phi)
    centred = float(coef[0] + coef[1:] @ coordinates.centre)
    dropped = np.setdiff1d(np.arange(len(coef) - 1), keep)
    slopes = coef[1 + keep]
    if len(dropped):
        covariance = coordinates.covariance
        taken = np.linalg.lstsq(covariance[np.ix_(keep, keep)], covariance[np.ix_(keep, dropped)], rcond=None)[0]
        slopes = slopes + taken @ coef[1 + dropped]
    return centred - float(slopes @ coordinates.centre[keep]), slopes


def _stein_start(model: Model, moment: SupportMoment, coordinates: SupportCoordinates) -> tuple[Floats, float]:
    """Coefficients of (1, z) from least squares: for normal z, Cov(z, y) = E[slope of the mean] times them.

    Also their variance, averaged over coordinates: noise, and an allowance for designs that are not normal.
    """
    fitted = moment.least_squares()
    half = model.labels.half_width
    linear = coordinates.phi(np.concatenate([[fitted.intercept], fitted.slopes]) * half)
    linear[0] += model.labels.centre
    margin = 0.02 * (model.label_high - model.label_low)
    mean = float(np.clip(linear[0], model.label_low + margin, model.label_high - margin))
    length = float(np.linalg.norm(linear[1:]))
    middle, stretch = float(model.link.predictor(mean)), 1.0
    for _ in range(60):
        variance = min((stretch * length) ** 2, 50.0)
        slope = max(model.slope_over(middle, variance), 1e-6)
        middle = float(np.clip(middle - (model.mean_over(middle, variance) - mean) / slope, -15, 15))
        stretch = 0.5 * stretch + 0.5 / slope
    stretch = min(stretch, 7.0 / max(length, 1e-300))
    turn = np.linalg.pinv(coordinates.root.T)
    variance = float(np.trace(turn @ fitted.noise_covariance[1:, 1:] @ turn.T)) / len(fitted.slopes)
    start = np.concatenate([[middle], stretch * linear[1:]])
    return start, variance * (half * stretch) ** 2 + _START_ERROR * float(start[1:] @ start[1:]) / len(fitted.slopes)
