"""The first steps of a descent for single-index models: a look, white coordinates, small steps.

Least squares about a curved mean has scores that mean little far from the optimum. GLMtron (Kakade
et al. 2011; RELU, Algorithm 1) moves by the mean of (y - mean(eta)) z and leaves out the slope of
the mean, so that a ReLU is found from anywhere. Near the end the slope is put back (for a ReLU:
only rows with eta > 0 are looked at).

Each answer is a measurement of where the optimum lies. A Kalman filter weighs it against what is
known so far: early answers are forgotten as far as they are worse, late ones are averaged, and with
little budget the model stays near the constant one. From there the descent goes on as that of every
model, with the filter in the place of a start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtr

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.filter import Filter
from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.index_plan import WHITENING, IndexPlan
from discreet.algorithms.parts.looks import Columns
from discreet.algorithms.parts.start import Start
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.algorithms.steps.index_look import Seen, look
from discreet.algorithms.steps.index_model import gaussian_curvature, likely_middle, likely_spread
from discreet.algorithms.steps.kalman import Belief
from discreet.algorithms.steps.whitening import LabelScale
from discreet.privacy import GDP
from discreet.rows import Floats, SecondMoment, Source
from discreet.rows.index_sums import IndexGradient

# The residuals' size is known to this part of itself at first, and this part of it is forgotten at
# each step.
_FIRST_DOUBT, _FORGET = 0.35, 0.06
# Before looking, this share of y's variance is taken for explained.
_EXPLAINED = 0.6
# Rows are shortened to this multiple of their typical norm before a gradient is clipped, and to
# more as noise falls.
_RADIUS, _LONGER = 1.3, 0.3
# The gradient's clip norm, in typical residuals times a row's typical norm, grows once the noise's
# variance is below this multiple of the sampling variance of so many steps.
_LEAST_CLIP, _CLIP_GROWTH, _STEPS = 0.4, 0.1, 10
# The residuals' size rides along with each gradient, for so much of its length.
_SIZE_LENGTH = 0.2
# White coordinates stretch no direction that has less than this part of the mean variance.
_FLATTEST = 0.003
# How much of the spread of eta is still believed in where the slopes are short.
_SPREAD_LEFT = 0.2
# The filter leads among the last gradients as well if noise moves eigenvalues by more than this
# part of them.
_CLEAR_EDGE = 0.3
# A step was too long if the next one takes this part of it back.
_TAKEN_BACK = 0.5


@dataclass
class Residual:
    """What is believed of the residuals' standard deviation, which is never above ``most``."""

    size: float
    variance: float
    most: float

    def see(self, query: IndexGradient, seen: float, noise: float) -> None:
        """A mean size, as far as it is precise."""
        to_std = math.sqrt(math.pi / 2)
        measured = to_std * (seen / query.size_weight + query.size_bound / 2)
        error = (to_std * noise / query.size_weight) ** 2
        gain = self.variance / (self.variance + error)
        # It falls from step to step, by an amount that nobody knows: some of what is known is
        # forgotten each time.
        self.variance = self.variance * (1 - gain) + (_FORGET * self.size) ** 2
        self.size = float(np.clip(self.size + gain * (measured - self.size), 0.3 * self.size, self.most))


@dataclass
class IndexApproach:
    """As ``Approach``, for least squares about a curved mean."""

    source: Source
    model: GlmModel
    plan: IndexPlan
    guess: Guess | None

    seen: Seen = field(init=False)
    coordinates: Coordinates = field(init=False)
    belief: Belief = field(init=False)
    residual: Residual = field(init=False)
    # The mean of z: that of the constant alone, or without one where columns stay away from 0.
    mean: Floats = field(init=False)
    # The standard deviation of eta, as far as it is known.
    eta_spread: float = 0.0

    def look(self, x_radius: float) -> None:
        """Number of rows, place of y, lengths of rows: one pass over histograms."""
        public = self.guess is not None and self.guess.coordinates is not None
        cost, model = self.plan.part(shares.LOOK), self.model
        self.seen = look(self.source, cost, model.labels, model.width, x_radius, with_norms=not public)
        self.plan = self.plan.for_rows(self.seen.count, public=public)

    def whiten(self) -> None:
        """Coordinates in which rows are white: of public rows, or of a noisy second moment if it
        is no mere noise.
        """
        model, seen = self.model, self.seen
        if self.guess is not None and self.guess.coordinates is not None:
            self.coordinates = self.guess.coordinates
            self.mean = np.zeros(self.coordinates.size)
            self.mean[: int(self.coordinates.constant)] = 1.0
            return
        if self.plan.whitens:
            mean, covariance = self._moments()
            floor = _FLATTEST * float(np.trace(covariance)) / model.width
        else:
            mean, floor = np.zeros(model.width), 0.0
            covariance = np.eye(model.width) * seen.x_norm**2 / model.width
        self.coordinates = Coordinates.white(mean, covariance, floor, model.origin)
        self.mean = self.coordinates.matrix @ np.concatenate([[1.0], mean])

    def _moments(self) -> tuple[Floats, Floats]:
        """Mean and covariance of encoded x from a noisy second moment, cut off where the noise
        begins.
        """
        width, radius = self.model.width, 1.2 * self._longer * self.seen.x_norm
        query = SecondMoment(np.zeros(width), 1.0, radius, 0.0, 1.0, 1.0, 0.5 * radius, 0.0, "second moment of (1, x)")
        answer = self.source.sum(query, self.plan.part(WHITENING))
        moment = answer.value[:-1, :-1].copy()
        moment[0] /= query.weight_1
        moment[:, 0] /= query.weight_1
        mass = max(float(moment[0, 0]), answer.noise_std / query.weight_1**2)
        shift = moment[0, 1:] / mass
        covariance = moment[1:, 1:] / mass - np.outer(shift, shift)
        edge = answer.noise_std * math.sqrt(2 * width) / mass
        values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        return shift, (vectors * np.maximum(values, 0.5 * edge)) @ vectors.T

    @property
    def _longer(self) -> float:
        """How much longer than usual rows may be, as noise falls."""
        return float(max(1.0, (_LONGER / self.plan.edge) ** 0.25))

    def warm_up(self) -> Start:
        """The filter's steps: the first ones GLMtron's, then least squares'."""
        plan, constant = self.plan, self.coordinates.constant
        self._start()
        unit, last = self.eta_spread, np.zeros(len(self.mean))
        for number in range(plan.steps):
            before = self.belief.theta
            self._step(plan.filter_step, 1 if number < plan.trons else 2)
            step = self.belief.theta - before
            # A step that takes most of the last one back shows that it was too long: the link is
            # not as flat as with this spread. Steps would grow, each on the other side.
            if float(step @ last) < -_TAKEN_BACK * float(last @ last):
                self.eta_spread /= 2
            last = step
            across = self.belief.theta - self.mean * float(self.mean @ self.belief.theta)
            length = float(np.linalg.norm(across))
            self.eta_spread = min(self.eta_spread, 2 * length + _SPREAD_LEFT * self.eta_spread)
        foresight = Foresight(self.model, constant, unit=unit, least_spread=self.eta_spread / 2)
        seen, labels = self.seen, self.model.labels
        return Start(
            plan,
            Frame(self.source, self.model, self.coordinates, foresight, seen.count, self.residual.size**2),
            self.belief.theta,
            LabelScale(labels, seen.y_middle, seen.y_spread),
            Columns(np.zeros(self.model.width), None),  # only curvatures tell
            seen.used,
            np.zeros(self.model.width),
            filter=Filter(self.belief, leads=plan.edge > _CLEAR_EDGE),
        )

    def _start(self) -> None:
        """The constant model, and how far the truth may be from it."""
        model, seen, mean = self.model, self.seen, self.mean
        middle = likely_middle(model.link, seen.y_middle, 0.3 * seen.y_spread) if np.any(mean) else 0.0
        self.eta_spread = spread = likely_spread(model.link, middle, _EXPLAINED * seen.y_spread**2)
        # Without an intercept the mean of z takes its place, as far as it is one: |mean| <= 1.
        theta, constancy = middle * mean, float(mean @ mean)
        variance = np.eye(model.size) * spread**2 / model.width
        variance += np.outer(mean, mean) * spread**2 * (1 - 1 / model.width)
        size = math.hypot(seen.y_spread, (1 - min(constancy, 1.0)) * seen.y_middle)
        self.belief = Belief(theta, variance, [theta])
        self.residual = Residual(size, (_FIRST_DOUBT * size) ** 2, size)

    def _step(self, cost: GDP, power: int) -> None:
        """One gradient, with the residuals' size."""
        link, belief, count = self.model.link, self.belief, self.seen.count
        norm = math.sqrt(self.coordinates.size)
        query = IndexGradient(
            self.coordinates.map(belief.theta),
            self.model.labels,
            link.mean,
            link.slope if power == 2 else None,
            self._longer * _RADIUS * norm,
            clip=1.0,
        )
        noise = self.source.noise_std(query, cost) / count
        reach = _LEAST_CLIP * max(1.0, (_CLIP_GROWTH * _STEPS / (noise**2 * count * len(belief.theta))) ** 0.25)
        clip, bound = reach * norm * self.residual.size, 4 * self.residual.size
        query = replace(query, clip=clip, size_bound=bound, size_weight=_SIZE_LENGTH * 2 * clip / bound)
        answer = self.source.sum(query, cost)
        noise = answer.noise_std / count
        # Of normal residuals a clip at c standard deviations leaves 2 Phi(c) - 1 of the answer to a
        # small change.
        left = 2 * float(ndtr(reach)) - 1
        response = left * gaussian_curvature(link, belief.theta, self.mean, self.eta_spread, power)
        belief.see_gradient(answer.value[:-1, 0] / count, response, noise)
        self.residual.see(query, float(answer.value[-1, 0]) / count, noise)
