"""Select columns, then fit them; in one round, or in several that use the
residual of the previous ones.

1. Each round picks columns by their association with the residual of a least-squares fit on
   the columns picked so far. A column that is only correlated with a chosen one has nothing
   left to explain in the next round, as correlated designs require. Picks cost the same in one
   round as in many, so rounds cost only their least squares. For screening, the residual of a
   linear fit works for every family: given normal x it is uncorrelated with each column that
   the mean does not depend on.
2. The descent (algorithms/descent.py) fits the family's model on the picked columns,
   with the rest of the budget.
3. If more columns were picked than wanted, the least certain are dropped, at no cost.
4. After a single round, for two classes, constant and length of the predictor are checked against
   the labels along it (_recalibrated).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.descent import descend
from discreet.algorithms.parts.line_search import nearest_line, profile_along
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel
from discreet.algorithms.steps.sparse_model import SparseFit, kept_columns
from discreet.algorithms.steps.support_fit import least_squares
from discreet.algorithms.steps.whitening import LabelScale
from discreet.algorithms.steps.wide_look import WideScaling, wide_look
from discreet.privacy import GDP, Budget, picks_within
from discreet.rows import Floats, Indices, Labels, LinearMap, OnSupport, ResidualRanking, WideSource

# Shares of mu^2: first look, picks, least squares between rounds; the descent has the rest. Chosen
# on simulated designs (independent and AR(1) columns, linear, logistic, Poisson): fewer picks lose
# columns, which costs most.
_SHARES = (0.03, 0.40, 0.12)
# With a single round, as for a small budget, most of the budget is needed to find the columns.
_SINGLE = (0.03, 0.54, 0.0)
# Then noise hides where the chosen columns are centred, and with many slopes of one sign the level
# of predictions is far off. For two classes this share corrects it.
_RECALIBRATION = 0.04
# Slopes for predictions are nothing but noise, if they have less than this part of the estimate's.
_SHRUNK_AWAY = 1e-6
# Cells are clipped at this many root mean squares: in a ranking, the noise outweighs the loss.
_CELL_CLIP, _SINGLE_CELL_CLIP = 1.0, 0.6
# Residuals of labels that are not classes are clipped at this many standard
# deviations of the label.
_RESIDUAL_CLIP = 1.5
# The signal-to-noise of the weakest signal of interest in a pick decides the number of rounds.
_FEW, _MANY = 50.0, 150.0
_MOST_AUTOMATIC = 30
# Clipping changes which column looks best, whatever the budget: the more there is of it, the
# later cells are clipped.
_WIDENING = 0.3


@dataclass(frozen=True)
class Rounds:
    """The number of picks per round, and of kept columns; with ``keep`` None,
    the clearly nonzero ones.
    """

    picks: tuple[int, ...]
    keep: int | None
    # By how much cells are clipped later than where noise decides.
    widening: float = 1.0

    @classmethod
    def once(cls, sparsity: int) -> Rounds:
        return cls((sparsity,), sparsity)

    @classmethod
    def planned(cls, sparsity: int | None, width: int, budget: Budget, rows: float) -> Rounds:
        """From public numbers only: larger n mu / (sqrt(s) ln d) gives more
        rounds and more spare picks.
        """
        reach = rows * budget.mu / max(math.log(width), 1.0)
        if sparsity is None:
            wanted = int(np.clip((reach / _FEW) ** 2, 1, min(_MOST_AUTOMATIC, width)))
            return cls(_even(wanted, 1 if wanted < 4 else 3), None)
        clear = reach / math.sqrt(sparsity)
        if clear < _FEW:
            return cls.once(sparsity)
        spare = min(width, sparsity + math.ceil(sparsity / 2))
        return cls(_even(spare, 3 if clear < _MANY else 5), sparsity, max(1.0, (clear / _MANY) ** _WIDENING))

    @property
    def cell_clip(self) -> float:
        return _SINGLE_CELL_CLIP if self.is_single else self.widening * _CELL_CLIP

    @property
    def is_single(self) -> bool:
        return len(self.picks) == 1

    def shares(self, recalibrated: bool = False) -> list[float]:
        """Shares of mu^2: the look; a pick and a least squares per round, except for the last; the
        descent; the recalibration, if there is one.
        """
        look, pick, refit = _SINGLE if self.is_single else _SHARES
        last = [_RECALIBRATION] if recalibrated else []
        shares = [look]
        for picks in self.picks:
            shares += [pick * picks / sum(self.picks), refit / max(len(self.picks) - 1, 1)]
        return [*shares[:-1], 1 - look - pick - refit - sum(last), *last]


def _even(picks: int, rounds: int) -> tuple[int, ...]:
    rounds = min(rounds, picks)
    return tuple(picks // rounds + (i < picks % rounds) for i in range(rounds))


def select_then_fit(
    source: WideSource,
    model: GlmModel,
    budget: Budget,
    *,
    width: int,
    sparsity: int | None,
    once: bool = False,
) -> SparseFit:
    """A sparse model by rounds of selection, planned from public numbers, and a descent; ``once``:
    by a single round.

    Privacy: one sum, then a selection and a sum per round, then the descent's sums, then a
    histogram after a single round; their joint cost is the budget.
    """
    rows = source.public_rows
    known = wide_look(source, budget.split([_SHARES[0], 1 - _SHARES[0]])[0], width)
    if once and sparsity is not None:
        plan = Rounds.once(sparsity)
    else:
        plan = Rounds.planned(sparsity, width, budget, rows if rows is not None else known.count)
    recalibrated = plan.is_single and model.family.label_free
    _, *costs = budget.split(plan.shares(recalibrated))
    recalibration = costs.pop() if recalibrated else None
    last = costs.pop()
    columns: Indices = np.zeros(0, dtype=np.int64)
    coef = np.array([known.y_centre])
    for number, picks in enumerate(plan.picks):
        if number:
            coef = least_squares(source, columns, costs[2 * number - 1], known)
        query = _residual_ranking(model, width, columns, coef, known, plan.cell_clip)
        cost, *later = [*costs[2 * number :], last]
        picked = source.select(query, picks_within(cost, picks, later)).indices
        columns = np.concatenate([columns, picked])
    columns = np.sort(columns)
    narrow = OnSupport(source, columns)
    fit = descend(
        narrow,
        Budget.from_mu(last.mu, budget.delta),
        replace(model, penalty=np.zeros(len(columns))),
        x_radius=math.sqrt(len(columns)),
    )
    if recalibration is not None:
        fit = _recalibrated(narrow, model, fit, known, recalibration)
    keep = _kept(fit, plan)
    fit = replace(kept_columns(fit, keep), iterations=len(plan.picks) + fit.iterations)
    return SparseFit(columns[keep], fit)


def _residual_ranking(
    model: GlmModel,
    width: int,
    columns: Indices,
    coef: Floats,
    known: WideScaling,
    cell_clip: float,
) -> ResidualRanking:
    # A class is at most 1 + |centre| from the mean; clipping on one side only
    # would bias the residual.
    bound = 1 + abs(known.y_centre)
    if not model.family.label_free:
        bound = min(bound, _RESIDUAL_CLIP * known.y_scale)
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


def _recalibrated(source: OnSupport, model: GlmModel, fit: GlmFit, known: WideScaling, cost: GDP) -> GlmFit:
    """The fit with a constant and length for predictions that labels along its predictor allow.

    Privacy: one histogram. Location and scale of the predictor, where its cells are, come from the
    released curvature H of the loss, the inverse of the model's covariance: H is about the second
    moment of (1, x) times a constant.
    """
    assert fit.model_covariance is not None
    labels, inverse = model.labels, np.linalg.pinv(fit.model_covariance[1:, 1:], hermitian=True)
    curvature = np.linalg.pinv(fit.model_covariance, hermitian=True)
    slopes, length = _direction(fit), math.sqrt(max(float(fit.coef[1:] @ inverse @ fit.coef[1:]), 0.0))
    variance = float(slopes @ inverse @ slopes)
    if not (variance > 0 and curvature[0, 0] > 0):
        return fit
    length /= math.sqrt(curvature[0, 0])
    slopes = slopes * math.sqrt(curvature[0, 0] / variance)
    position = np.concatenate([[-slopes @ curvature[0, 1:] / curvature[0, 0]], slopes])
    half = labels.half_width
    query = profile_along(
        model, position, LabelScale(labels, labels.centre + half * known.y_centre, half * known.y_scale)
    )
    middle = float(fit.coef[0] - length * position[0])  # the predictor at the centre of rows
    level, length = nearest_line(model, query, source.sum(query, cost), (middle, length))
    return replace(fit, coef=np.concatenate([[level], np.zeros(len(slopes))]) + length * position)


def _direction(fit: GlmFit) -> Floats:
    """The slopes for predictions, or the estimate if they are all shrunk to 0. Columns were picked
    for their association with the label, so together they may well show it.
    """
    slopes, estimate = fit.coef[1:], fit.estimate[1:]
    return slopes if np.linalg.norm(slopes) > _SHRUNK_AWAY * np.linalg.norm(estimate) else estimate


def _kept(fit: GlmFit, plan: Rounds) -> Indices:
    """Positions of the columns to keep: the wanted number of the most certain, or
    all that are significant.
    """
    assert fit.noise_covariance is not None
    assert fit.sampling_covariance is not None
    assert fit.model_covariance is not None
    # The noise is proportional to the model's covariance, so it is used to rank. The full
    # uncertainty of an estimate grows with its size, and would make large estimates look less
    # certain than small ones.
    if plan.keep is not None:
        return _backwards(fit.estimate, fit.model_covariance, plan.keep)
    clear = _in_deviations(fit.estimate, fit.noise_covariance + fit.sampling_covariance)
    certain = np.flatnonzero(clear > math.sqrt(2 * math.log(2 * len(clear) + 1)))
    return certain if len(certain) else np.array([np.argmax(clear)])


def _backwards(estimate: Floats, inverse: Floats, keep: int) -> Indices:
    """Drop one column after another, always the one without which the loss rises least.

    Two correlated columns are both uncertain while the other is there; once one is dropped, the
    other takes over its part, and may be the clearest of all. So slopes and curvature are
    brought up to date after each.
    """
    left = np.arange(1, len(estimate))
    estimate, inverse = estimate.copy(), inverse.copy()
    while len(left) > keep:
        spread = np.maximum(np.diag(inverse)[left], 1e-300)
        out = int(left[np.argmin(estimate[left] ** 2 / spread)])
        share = inverse[:, out] / max(float(inverse[out, out]), 1e-300)
        estimate -= share * estimate[out]
        inverse -= np.outer(share, inverse[out])
        left = left[left != out]
    return np.asarray(left - 1)


def _in_deviations(estimate: Floats, covariance: Floats) -> Floats:
    """Absolute slopes in units of their standard deviations."""
    return np.asarray(np.abs(estimate) / np.sqrt(np.maximum(np.diag(covariance), 1e-300)))[1:]
