"""The queries of a private evaluation, and the measures from their noisy answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.domain import Encoder
from discreet.estimators.evaluation_losses import NEAREST, Deviance, LogLoss, OneDeviance
from discreet.estimators.moments import require_target
from discreet.estimators.units import units
from discreet.inference.evaluation import (
    CalibrationRow,
    Measure,
    area_under_curve,
    clipped,
    entropy,
    equal_groups,
    loss_bound,
    ratio_interval,
    share_interval,
    weighted_mean,
)
from discreet.parameters import normal_quantile
from discreet.privacy import Budget
from discreet.rows import Labels, LinearMap, Source
from discreet.rows.evaluation import ByPrediction, ClassLosses, LossCells, LossSums, ScoreCells

Floats = np.ndarray
# Shares of mu^2: location of predictions, labels by prediction, sizes of losses, sums of losses.
_PLACES, _BY_PREDICTION, _SIZES, _SUMS = 0.15, 0.35, 0.1, 0.4
# Predictions are first counted in this many cells, over the range that the declared bounds allow.
_CELLS = 256
# The largest numbers of calibration groups and of ROC cells; each must hold
# this many times its noise.
_GROUPS, _CURVE, _CLEAR = 10, 60, 20.0
# Octaves of losses below the largest loss that declared labels allow.
_OCTAVES = 40


def ask(fitted: Any, source: Source, encoder: Encoder, budget: Budget, alpha: float) -> dict[str, Any]:
    """All contents of an Evaluation of these rows.

    Privacy: sums whose joint cost is within the budget.
    """
    if hasattr(fitted, "classes_"):
        return _Classes(fitted, source, encoder, budget, alpha).ask()
    return _Means(fitted, source, encoder, budget, alpha).ask()


class _Questions:
    def __init__(self, fitted: Any, source: Source, encoder: Encoder, budget: Budget, alpha: float) -> None:
        self.source, self.budget, self.alpha = source, budget, alpha
        self.target, self.exposures = require_target(encoder), encoder.exposures
        self.labels = Labels(self.target.centre, self.target.half_width)
        self.models = encoded_models(fitted, encoder)
        self.map = LinearMap(self.models)
        self.z = normal_quantile(alpha)

    def cost(self, share: float) -> Any:
        return self.budget.split([share, 1 - share])[0]

    def reach(self) -> tuple[float, float]:
        """The range of linear predictors, by the declared bounds alone."""
        size = float(np.abs(self.models[0, 1:]).sum())
        return float(self.models[0, 0]) - size, float(self.models[0, 0]) + size

    def places(self, low: float, high: float) -> tuple[Floats, Floats]:
        """The location of predictions: fine edges, and a noisy count for each cell."""
        low, high = max(low, self.reach()[0]), min(high, self.reach()[1])
        if not high > low:
            low, high = low - 0.5, low + 0.5
        self.range = low, high
        edges = np.linspace(low, high, _CELLS + 1)[1:-1]
        answer = self.source.sum(ScoreCells(self.map, self.labels, edges), self.cost(_PLACES))
        self.unclear = 2 * answer.noise_std
        return edges, answer.value[:, 0]

    def middles(self, edges: Floats, counts: Floats, cuts: Any) -> Floats:
        """A typical predictor of each group of fine cells, weighted by counts that
        are clear of their noise.
        """
        step = edges[1] - edges[0] if len(edges) > 1 else 1.0
        places = np.concatenate([[edges[0] - step / 2], edges + step / 2])
        found, start = [], 0
        for end in [*cuts, len(counts) - 1]:
            part = slice(start, end + 1)
            clear = np.where(counts[part] > self.unclear, counts[part], 0.0)
            weights = clear if clear.any() else np.ones(len(clear))
            found.append(float(places[part] @ weights / weights.sum()))
            start = end + 1
        return np.array(found)


class _Classes(_Questions):
    """Log-loss and deviance explained; with two classes also the area under the
    ROC curve and calibration.
    """

    def __init__(self, fitted: Any, *others: Any) -> None:
        super().__init__(fitted, *others)
        self.classes = len(fitted.classes_)

    def ask(self) -> dict[str, Any]:
        bound = self._largest_loss()
        losses = ClassLosses(self.map, self.labels, LogLoss(), bound, self.classes)
        if self.classes > 2:
            answer = self.source.sum(losses, self.cost(1 - 1e-12))
            return self._found(answer, bound, {}, ())
        edges, counts = self.places(-math.log(1 / NEAREST), math.log(1 / NEAREST))
        curve = ScoreCells(self.map, self.labels, edges, by_label=True, label="predictions by class")
        cost = self.cost(_BY_PREDICTION + _SIZES)
        room = float(counts.sum()) / (_CLEAR * max(self.source.noise_std(curve, cost), 1e-9))
        cuts = equal_groups(counts, int(np.clip(room, 2, _CURVE)))
        curve = ScoreCells(self.map, self.labels, edges[cuts], by_label=True, label=curve.label)
        by_class, answer = self.source.sums([(curve, cost), (losses, self.cost(_SUMS))])
        negative, positive = by_class.value[:, 0].reshape(2, -1)
        area = area_under_curve(negative, positive, by_class.noise_std, self.alpha)
        more = {}
        if area is not None:
            more["auc"] = Measure("auc", "area under ROC curve", *area)
        middles = self.middles(edges, counts, cuts)
        table = self._calibration(negative, positive, by_class.noise_std, middles)
        return self._found(answer, bound, more, table)

    def _largest_loss(self) -> float:
        """The largest log-loss that declared bounds allow, with
        probabilities kept away from 0 and 1.
        """
        if self.classes > 2:
            return -math.log(NEAREST)
        low, high = self.reach()
        return float(min(np.logaddexp(0.0, max(-low, high)), -math.log(NEAREST)))

    def _found(self, answer: Any, bound: float, more: dict[str, Measure], table: Any) -> dict[str, Any]:
        counts, noise = answer.value[0, : self.classes], answer.noise_std
        rows, rows_std = float(counts.sum()), noise * math.sqrt(self.classes)
        total = float(answer.value[0, -1]) * bound
        shares = np.maximum(counts, 0.0) / max(float(np.maximum(counts, 0.0).sum()), 1e-9)
        # The loss of the constant model is rows * entropy; its derivative in a class
        # count is -log of the share.
        null = rows * entropy(shares)
        null_std = noise * float(np.linalg.norm(np.log(np.maximum(shares, 1e-6))))
        loss = ratio_interval(total, rows, (bound * noise, rows_std), self.alpha)
        worse = ratio_interval(total, null, (bound * noise, null_std), self.alpha)
        measures = {
            "log_loss": Measure("log_loss", "log-loss", total / max(rows, 1e-9), *clipped(loss, 0.0, bound)),
            "deviance_explained": Measure(
                "deviance_explained",
                "deviance explained",
                1 - total / max(null, 1e-9),
                *clipped((1 - worse[1], 1 - worse[0]), -math.inf, 1.0),
            ),
        }
        return {
            "measures": measures | more,
            "calibration": table,
            "rows": max(rows, 0.0),
            "rows_std": rows_std,
            "cut": {"log_loss": bound},
        }

    def _calibration(self, negative: Floats, positive: Floats, noise_std: float, middles: Floats) -> Any:
        counts = negative + positive
        room = float(counts.sum()) / (_CLEAR * max(noise_std, 1e-9) * math.sqrt(2))
        ends = [*equal_groups(counts, int(np.clip(room, 1, _GROUPS))), len(counts) - 1]
        chances = 1 / (1 + np.exp(-middles))
        rows, start = [], 0
        for end in ends:
            part = slice(start, end + 1)
            start = end + 1
            cells = part.stop - part.start
            hits, all_rows = float(positive[part].sum()), float(counts[part].sum())
            predicted = weighted_mean(chances[part].tolist(), np.maximum(counts[part], 1e-9).tolist())
            low, high = share_interval(hits, all_rows - hits, noise_std * math.sqrt(cells), self.alpha)
            seen = min(max(hits / all_rows, 0.0), 1.0) if all_rows > 0 else math.nan
            place = float(chances[part][0]), float(chances[part][-1])
            rows.append(CalibrationRow(*place, max(all_rows, 0.0), predicted, seen, low, high))
        return tuple(rows)


class _Means(_Questions):
    """R^2 (least squares) or deviance explained, and calibration by groups of predictions."""

    def __init__(self, fitted: Any, *others: Any) -> None:
        super().__init__(fitted, *others)
        self.family, self.link = fitted._family()

    def ask(self) -> dict[str, Any]:
        target, (low, high) = self.target, self._mean_range()
        edges, counts = self.places(float(self.link.predictor(low)), float(self.link.predictor(high)))
        profile = self._profile(edges, counts)
        answer = self.source.sum(profile, self.cost(_BY_PREDICTION))
        exposures = answer.value[:, 0] * profile.largest_exposure
        # Labels are measured from the lower end of their range, which with exposures is 0 (counts).
        base = target.low if self.exposures is None else 0.0
        span, rows = target.high - target.low, max(float(exposures.sum()), 1e-9)
        total = float(answer.value[:, 1].sum()) * span
        null = float(np.clip(total / rows + base, low, high))
        # The deviance at a noisy mean is larger than at the mean itself, to second order by this.
        # The noise of a ratio is that of both sums, with the ratio as factor of the denominator's.
        both = math.hypot(span, (null - base) * profile.largest_exposure)
        noise = answer.noise_std * math.sqrt(len(exposures)) * both / rows
        found = self._losses(null, rows * noise**2 / max(float(self.family.variance(null)), 1e-300))
        return found | {"calibration": self._calibration(profile, answer, base)}

    def _mean_range(self) -> tuple[float, float]:
        """The means that labels of the declared range can have, per unit of exposure."""
        low, high = self.family.mean_range(self.target.low, self.target.high, self.link)
        least, most = (1.0, 1.0) if self.exposures is None else self.exposures
        return low / most, high / least

    def _profile(self, edges: Floats, counts: Floats) -> ByPrediction:
        largest = 1.0 if self.exposures is None else self.exposures[1]

        def made(groups: int) -> ByPrediction:
            cuts = edges[equal_groups(counts, groups)]
            ends = self.link.mean(np.array([self.range[0], *cuts, self.range[1]]))
            return ByPrediction(self.map, self.labels, self.link.mean, cuts, ends, largest)

        noise_std = self.source.noise_std(made(2), self.cost(_BY_PREDICTION))
        room = float(counts.sum()) / (_CLEAR * max(noise_std, 1e-9))
        return made(int(np.clip(room, 1, _GROUPS)))

    def _losses(self, null: float, excess: float) -> dict[str, Any]:
        """The measures; ``excess``: the bias of the constant model's deviance at ``null``."""
        losses = Deviance(self.family, self.link, self.target.low, self.target.high, null)
        top = self._largest_deviance()
        octaves = top * 2.0 ** np.arange(-_OCTAVES, 0.5)
        parts = [OneDeviance(losses, line) for line in (0, 1)]
        cells = [LossCells(self.map, self.labels, part, octaves) for part in parts]
        sizes = self.source.sums([(query, self.cost(_SIZES / 2)) for query in cells])
        bounds = np.array([loss_bound(one.value[:, 0], one.noise_std, octaves) for one in sizes])
        answer = self.source.sum(LossSums(self.map, self.labels, losses, bounds), self.cost(_SUMS))
        rows, noise = float(answer.value[0, 0]), answer.noise_std
        own, constant = (float(part) for part in answer.value[0, 1:] * bounds)
        constant -= min(excess, constant / 2)
        # The constant model's deviance is skewed upwards by the squared noise of its mean.
        worse = ratio_interval(own, constant, (noise * bounds[0], noise * bounds[1]), self.alpha, squared=excess)
        explained = clipped((1 - worse[1], 1 - worse[0]), -math.inf, 1.0)
        mean = clipped(ratio_interval(own, rows, (noise * bounds[0], noise), self.alpha), 0.0, top)
        value, level = 1 - own / max(constant, 1e-300), max(own, 0.0) / max(rows, 1e-9)
        if self.family.least_squares:
            roots = math.sqrt(level), math.sqrt(mean[0]), math.sqrt(mean[1])
            measures = {
                "r2": Measure("r2", "R^2", value, *explained),
                "rmse": Measure("rmse", "root mean square error", *roots),
            }
        else:
            measures = {
                "deviance_explained": Measure("deviance_explained", "deviance explained", value, *explained),
                "mean_deviance": Measure("mean_deviance", "mean deviance", level, *mean),
            }
        return {
            "measures": measures,
            "rows": max(rows, 0.0),
            "rows_std": noise,
            "cut": {"model": float(bounds[0]), "constant model": float(bounds[1])},
            "counted": "rows" if self.exposures is None else "exposure",
        }

    def _largest_deviance(self) -> float:
        """The largest deviance of a label and a mean within the declared range."""
        low, high = self._mean_range()
        least, most = (1.0, 1.0) if self.exposures is None else self.exposures
        labels = self.target.low, self.target.high
        return float(self.family.largest_deviance(labels, (low * least * 1e3, high * most)))

    def _calibration(self, profile: ByPrediction, answer: Any, base: float) -> Any:
        noise, span = answer.noise_std, self.target.high - self.target.low
        exposures, sums = answer.value[:, 0] * profile.largest_exposure, answer.value[:, 1]
        ends = [-math.inf, *profile.ends[1:-1].tolist(), math.inf]
        rows = []
        for group, (total, labels) in enumerate(zip(exposures, sums, strict=True)):
            stds = noise * span, noise * profile.largest_exposure
            low, high = ratio_interval(float(labels) * span, float(total), stds, self.alpha)
            seen = float(labels) * span / total + base if total > 0 else math.nan
            # Where noise hides the rows of a group, their predictions are in its middle.
            share = answer.value[group, 2] / answer.value[group, 0] if answer.value[group, 0] > noise else 0.5
            start, end = profile.ends[group : group + 2]
            predicted = float(start + (end - start) * min(max(share, 0.0), 1.0))
            place = ends[group], ends[group + 1], max(float(total), 0.0), predicted
            rows.append(CalibrationRow(*place, seen, low + base, high + base))
        return tuple(rows)


def encoded_models(fitted: Any, encoder: Encoder) -> Floats:
    """Coefficients of (1, encoded x), one line per linear predictor."""
    coef = np.atleast_2d(fitted.coef_)
    if hasattr(fitted, "support_"):  # a sparse model reads its chosen columns alone
        coef = coef[:, fitted.support_]
    constants = np.broadcast_to(np.ravel(fitted.intercept_), (len(coef),))
    turn = units(encoder, with_intercept=True)
    plain = np.column_stack([constants, coef])
    return np.asarray(np.linalg.solve(turn, plain.T).T)
