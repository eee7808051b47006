"""Multinomial logistic regression: whitened gradient descent on bounded scores that bias nothing, averaged at the end.

1. A first look: how many rows, where x lies; then how many rows each class has.
2. Rounds of noisy second moments of (z, class): coordinates in which rows are white, and a linear fit to start from.
3. A few steps, then one look at the information there, where it is small enough to be seen.
4. More steps. Each noisy gradient g_t at psi_t says where the optimum is, psi_t - curvature^-1 g_t; the estimate is the
   mean of what they say. For prediction it is shrunk by what is known of the noise.

The curvature is foreseen for normal rows (steps/class_curvature.py), which costs nothing, and corrected by step 3. How
the budget is shared and how far scores are cut follows from public and released quantities alone.
docs/papers/multinomial.md has the sensitivities and the measurements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.steps.class_curvature import Curvature, calibrated, contrasts, foreseen
from discreet.algorithms.steps.class_path import ClassPath, within_reach
from discreet.algorithms.steps.class_shrinkage import likeliest_size, shrunk
from discreet.algorithms.steps.class_whitening import ClassStart, class_shares, whiten_classes
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.descent_plan import DescentPlan
from discreet.algorithms.steps.first_look import Scaling, first_look
from discreet.algorithms.steps.glm_model import Guess
from discreet.privacy import GDP, Budget
from discreet.rows import Floats, Labels, LinearMap, RowsUsed, Source
from discreet.rows.class_scores import ClassInformation, ClassScores

# The part of mu^2 that the classes' counts get.
_COUNTS = 0.02
# Rarer classes than this do not make bounds tighter: noise hides what is special about them anyway.
_LEAST_SHARE = 0.02
# A linear start is cut to this length, in standard deviations of a contrast's predictor.
_FARTHEST_START = 1.5
# The information has at most this many entries a side, and is looked at if its eigenvalues exceed its noise.
_LARGEST_INFORMATION = 200
# Steps are long as long as a gradient's noise costs less than this much loss for each contrast.
_QUIET = 0.003
# Rounding must not make costs add up to more than the budget.
_MARGIN = 1 - 1e-13


@dataclass(frozen=True, eq=False)
class MultinomialFit:
    """Coefficients of (1, x) encoded, a row per class, which add up to zero over the classes.

    ``coef`` is for prediction (shrunk), ``estimate`` for inference. ``noise_std`` and ``sampling_std`` are the standard
    errors of each estimate's entry from the privacy noise and from the rows. The covariances are those of the estimate
    read row by row, kept where there are at most a few hundred coefficients.
    """

    coef: Floats
    estimate: Floats
    noise_std: Floats
    sampling_std: Floats
    count: float
    iterations: int
    shares: Floats
    used: RowsUsed
    noise_covariance: Floats | None = None
    sampling_covariance: Floats | None = None


def descend_multinomial(
    source: Source,
    budget: Budget,
    *,
    classes: int,
    labels: Labels,
    width: int,
    x_radius: float,
    penalty: Floats,
    origin: Floats | None = None,
    guess: Guess | None = None,
    steps: int | None = None,
) -> MultinomialFit:
    """Fit class probabilities softmax(coef (1, x)).

    labels: turn the encoded target into a class's index, 0 to classes - 1; a row without a number there counts nothing.
    penalty: on half the squared coefficient of each encoded feature, for the sum of losses; the same for every class.
    origin: where x = 0 lies, encoded, for a model without an intercept.
    guess: what public data says; its coefficients, if any, have a row per class.
    steps: overrides the number of gradient steps.

    Privacy: a number of sums that depends on public and released quantities alone, whose costs together are the budget.
    """
    if classes < 2:
        raise ValueError(f"classes must be at least 2, got {classes}")
    if penalty.shape != (width,):
        raise ValueError(f"penalty must have one entry per feature ({width}), got shape {penalty.shape}")
    run = _Run(source, budget, labels, classes, penalty, origin, guess)
    return run.fit(x_radius, steps)


class _Run:
    """One fit; holds what all its steps share."""

    def __init__(
        self,
        source: Source,
        budget: Budget,
        labels: Labels,
        classes: int,
        penalty: Floats,
        origin: Floats | None,
        guess: Guess | None,
    ) -> None:
        self.source, self.budget, self.labels, self.classes = source, budget, labels, classes
        self.penalty, self.origin, self.guess = penalty, origin, guess
        self.contrasts = contrasts(classes)

    def fit(self, x_radius: float, steps: int | None) -> MultinomialFit:
        known = None if self.guess is None else self.guess.scaling
        look = DescentPlan.look_share(known is not None)
        scaling = first_look(self.source, self._cost(look), len(self.penalty), x_radius, known)
        self.count, self.used = scaling.count, scaling.used(self.source.public_rows)
        self.shares = class_shares(self.source, self._cost(_COUNTS), self.classes, self.labels)
        size = len(self.penalty) + (self.origin is None)
        plan = self._plan(size, steps)
        self.plan = plan.within(1 - look - _COUNTS)
        self.radius = plan.radius * math.sqrt(size)
        self.clip = min(plan.binary_clip * math.sqrt(size), math.sqrt(2) * self.radius)
        self.moment_radius = plan.moment_radius * math.sqrt(size)
        start = self._start(scaling)
        return self._from(start, size)

    def _plan(self, size: int, steps: int | None) -> DescentPlan:
        """As for one predictor, except that bounds follow the noise, which rare classes make dearer.

        What noise of a given size costs is the trace of the inverse curvature: 4 for one balanced predictor.
        """
        values = np.linalg.eigvalsh(self.contrasts.T @ np.diag(self.shares) @ self.contrasts)
        dearer = math.sqrt(max(float(np.sum(1 / np.maximum(values, _LEAST_SHARE))) / 4, 1.0))
        bounds = DescentPlan.of(self.source, self.budget, self.count / dearer, size, steps)
        plan = DescentPlan.of(self.source, self.budget, self.count, size, steps)
        return replace(plan, radius=bounds.radius, binary_clip=bounds.binary_clip)

    def _from(self, start: ClassStart, size: int) -> MultinomialFit:
        plan = self.plan
        self.coordinates = start.coordinates
        psi = self._first_psi(start)
        curvature = self._foreseen(psi)
        path = self._descend(psi, curvature, plan.warm_up, plan.warm_up_steps)
        psi = path.near
        curvature = self._foreseen(psi)
        share = plan.descent
        if size * self.classes <= _LARGEST_INFORMATION and self._visible(psi):
            curvature = self._informed(psi, curvature)
        else:
            share += plan.curvature
        path = self._descend(psi, curvature, share, plan.steps, plan.warm_up_steps)
        return self._finish(path)

    def _cost(self, share: float) -> GDP:
        return GDP(self.budget.mu * math.sqrt(share) * _MARGIN)

    def _start(self, scaling: Scaling) -> ClassStart:
        if self.guess is not None and self.guess.coordinates is not None:
            coordinates = self.guess.coordinates
        elif self.origin is None:
            coordinates = Coordinates.scaled(scaling.x_centre, scaling.x_scale)
        else:
            away = float(np.sqrt(np.mean((self.origin - scaling.x_centre) ** 2)))
            coordinates = Coordinates.through_origin(self.origin, math.hypot(scaling.x_scale, away))
        cost, rounds = self._cost(self.plan.whitening), self.plan.rounds
        return whiten_classes(
            self.source, cost, rounds, coordinates, self.labels, self.shares, self.moment_radius, self.count
        )

    def _first_psi(self, start: ClassStart) -> Floats:
        """One Newton step from the model without slopes, damped by the noise, then constants that fit the shares."""
        size = start.coordinates.size
        about = np.diag(self.shares) - np.outer(self.shares, self.shares)
        block = self.contrasts.T @ about @ self.contrasts
        curvature = Curvature(np.repeat(block[np.newaxis], size, axis=0))
        psi = curvature.solve_damped(start.cross @ self.contrasts, start.noise_std**2 * size)
        first = int(start.coordinates.constant)
        psi[:first] = 0.0
        lengths = np.sqrt(np.sum(psi**2, axis=0))
        psi *= min(1.0, _FARTHEST_START / max(float(np.max(lengths)), 1e-300))
        return calibrated(psi, self.shares) if first else psi

    def _foreseen(self, psi: Floats, norm: float = math.inf) -> Curvature:
        curvature = foreseen(psi, self.coordinates.constant, self.radius, self.clip, norm)
        return curvature.plus_penalty(self._penalty(), self.classes - 1)

    def _penalty(self) -> Floats:
        """The second derivative of the user's penalty in these coordinates, per row."""
        matrix = self.coordinates.matrix[:, 1:]
        return np.asarray((matrix * self.penalty) @ matrix.T / self.count)

    def _map(self, psi: Floats) -> LinearMap:
        """The predictors of all classes, then z."""
        matrix = self.coordinates.matrix
        return LinearMap(np.vstack([self.contrasts @ psi.T @ matrix, matrix]))

    def _descend(self, psi: Floats, curvature: Curvature, share: float, steps: int, before: int = 0) -> ClassPath:
        each, size = GDP(self._cost(share).mu / math.sqrt(steps)), len(psi)
        penalty, points, noise_std = self._penalty(), [psi], 0.0
        gradients: list[Floats] = []
        for number in range(steps):
            query = ClassScores(self._map(psi), self.labels, self.classes, self.radius, self.clip)
            answer = self.source.sum(query, each)
            noise_std = answer.noise_std / self.count
            gradient = answer.value @ self.contrasts / self.count + penalty @ psi
            if gradients:
                # Where rows are not normal the loss may be steeper than foreseen, and steps would overshoot.
                move, change = psi - points[-2], gradient - gradients[-1]
                rise = float(np.sum(move * change)) - 2 * math.sqrt(2) * noise_std * float(np.linalg.norm(move))
                curvature = curvature.not_below(move, rise)
            # All steps together see the gradient with the noise of one that has the budget of all; a slope is expected
            # to have the variance of a predictor of spread 1 that is shared by all coordinates.
            step = self._step(number + before, curvature.trace_of_inverse * noise_std**2 / 2)
            psi = within_reach(psi - step * curvature.solve_damped(gradient, noise_std**2 / steps * size))
            points.append(psi)
            gradients.append(gradient)
        return ClassPath(points, gradients, noise_std, curvature)

    def _step(self, number: int, loss_noise: float) -> float:
        """The share of all that is known which the next gradient brings; more where its noise is of no account."""
        return min(self.plan.step, max(1 / (number + 1.5), _QUIET * (self.classes - 1) / loss_noise))

    def _information(self, psi: Floats) -> ClassInformation:
        norm = min(self.moment_radius, self.clip)
        return ClassInformation(self._map(psi), self.labels, self.classes, self.radius, self.clip, norm)

    def _visible(self, psi: Floats) -> bool:
        """Whether the information would stand out of its noise, by what is foreseen of it."""
        query = self._information(psi)
        noise_std = self.source.noise_std(query, self._cost(self.plan.curvature)) / self.count
        typical = float(np.trace(self._foreseen(psi, query.norm).blocks[0])) / psi.size
        return math.sqrt(2 * psi.size) * noise_std < typical

    def _informed(self, psi: Floats, curvature: Curvature) -> Curvature:
        query = self._information(psi)
        answer = self.source.sum(query, self._cost(self.plan.curvature))
        turn = np.kron(np.eye(len(psi)), self.contrasts)
        seen = Curvature((turn.T @ answer.value @ turn / self.count)[np.newaxis])
        seen = seen.plus_penalty(self._penalty(), self.classes - 1)
        return curvature.corrected(seen.blocks[0], self._foreseen(psi, query.norm), answer.noise_std / self.count)

    def _finish(self, path: ClassPath) -> MultinomialFit:
        psi, variance = path.target()
        inverse = np.linalg.pinv(path.curvature.blocks, hermitian=True)
        noise = np.asarray(inverse @ inverse * variance)
        # Scores are weighed by at most 1, so their covariance is at most the curvature: errors are never too small.
        sampling = np.asarray(inverse / self.count)
        goal, first = self._goal(psi)
        best = shrunk(psi, goal, noise, likeliest_size(psi - goal, noise, first), first)
        noise_std, noise_covariance = self._errors(noise)
        sampling_std, sampling_covariance = self._errors(sampling)
        return MultinomialFit(
            coef=self._coefficients(best),
            estimate=self._coefficients(psi),
            noise_std=noise_std,
            sampling_std=sampling_std,
            count=self.count,
            iterations=self.plan.warm_up_steps + self.plan.steps,
            shares=self.shares,
            used=self.used,
            noise_covariance=noise_covariance,
            sampling_covariance=sampling_covariance,
        )

    def _goal(self, psi: Floats) -> tuple[Floats, int]:
        """What prediction is shrunk towards, and how many of its rows are constants, which are seen better."""
        goal, first = np.zeros_like(psi), int(self.coordinates.constant)
        if self.guess is not None and self.guess.coefficients is not None:
            goal = self._psi(self.guess.coefficients)
        goal[:first] = psi[:first]
        return goal, first

    def _coefficients(self, psi: Floats) -> Floats:
        return np.asarray(self.contrasts @ psi.T @ self.coordinates.matrix)

    def _psi(self, coefficients: Floats) -> Floats:
        return self.coordinates.phi(coefficients.T) @ self.contrasts

    def _errors(self, covariance: Floats) -> tuple[Floats, Floats | None]:
        """Standard errors of the coefficients and, where psi has one covariance, that of them all, class by class."""
        turn, matrix = self.contrasts, self.coordinates.matrix
        if len(covariance) > 1:
            classes = np.einsum("ka,jab,kb->kj", turn, covariance, turn, optimize=True)
            return np.sqrt(classes @ matrix**2), None
        stacked = np.einsum("ka,ji->kija", turn, matrix).reshape(self.classes * matrix.shape[1], -1)
        full = stacked @ covariance[0] @ stacked.T
        return np.sqrt(np.maximum(np.diag(full), 0.0)).reshape(self.classes, -1), full
