"""The last gradients: measurements of the optimum, two, or more if the start was far off; each from
a closer point.

The response of the gradient to a step (parts/response.py) is released with them: the curvature at
the second point (at the first as well where the link is curved), and the scores' second moment at
the last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.clipped_rows import DirectedScore, Direction
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.limits import Limits
from discreet.algorithms.parts.looks import Question, moved
from discreet.algorithms.parts.mean_score import MeanScore, mean_question
from discreet.algorithms.parts.measure import (
    DOUBT,
    Measurement,
    level_at,
    level_curvature,
    level_keeps,
    levels_together,
    lopsided,
    measure,
)
from discreet.algorithms.parts.newton_step import foreseen, limited
from discreet.algorithms.parts.noisy_matrix import (
    Seen,
    corrected,
    held,
    no_flatter,
    relative_change,
    relative_directions,
)
from discreet.algorithms.parts.rare_rows import cut_curvature, kept_curvature
from discreet.algorithms.parts.response import Response
from discreet.algorithms.parts.shrink import clear
from discreet.algorithms.parts.start import Start
from discreet.algorithms.steps.columns import hidden
from discreet.privacy import GDP
from discreet.rows import Answer, Floats, Query

# The smallest part of the dispersion that is expected to remain after a step.
_LEAST_LEFT = 0.3
# Clip norms fall with the dispersion while the noise variance is this many times
# the sampling variance.
_NOISE_PART = 2.0
# If the variance of labels is known from the model, that of scores is in every direction at least
# this part of it, relative to a typical direction.
_LEAST_VARIANCE = 0.5
# Up to this edge of the curvature's noise, models are without hidden columns. These have about that
# part of a typical variance at most, which is what predictions may lose.
_KNOWN = 0.02
# A point is far from the optimum if its errors besides noise add this part to the noise variance,
# and this part to the sampling variance.
_FAR, _FAR_FROM_SAMPLE = 0.5, 1e-9


@dataclass
class LastGradients:
    """All measurements so far, the current point, and the response there."""

    start: Start
    limits: Limits
    frame: Frame = field(init=False)
    phi: Floats = field(init=False)
    seen: list[Measurement] = field(default_factory=list)
    response: Response = field(init=False)
    # The part of each level above the clip norm that is clear of its noise.
    keeps: list[float] = field(default_factory=list)
    # How far noise moves the curvature's eigenvalues, relative to them: of the one released last,
    # or before that of the one to come, on which the next measurement will depend.
    doubt: float = field(init=False)
    # Whether only a part of the curvature is released.
    rough: bool = field(init=False)
    # The covariance of scores, and what model and histogram let expect.
    meat: Floats = field(init=False)
    expected_meat: Floats = field(init=False)
    mean_score: MeanScore | None = None
    # The sum of z / |z| of clipped rows, the direction that it shows, and the mean score along it.
    clipped: Answer | None = None
    direction: Direction | None = None
    directed_score: DirectedScore | None = None

    def __post_init__(self) -> None:
        self.frame, self.phi = self.start.frame, self.start.phi

    def measure(self) -> LastGradients:
        """Ask until the optimum is near or the budget is used.

        Privacy: gradients, one or more curvatures, a moment, and for some models a mean score and
        the dispersion; their number depends on released quantities alone.
        """
        plan, limits, start = self.start.plan, self.limits, self.start
        self.rough = self.frame.rough(self.phi, limits.bounds.clip, limits.longest, plan.curvature, limits.sizes)
        _, self.doubt = self._curvature(plan.curvature)
        most, share, second = plan.last_steps(self.rough, start.passes)
        self._begin()
        first, left = share, 1.0
        while left > 0:
            last = share == left
            beside = limits.mean_share + 2 * limits.clipped_share
            cost = start.gradients(share, beside)
            if last and self.direction is not None:
                # The last gradient pays for the score along the direction, at most half of its own.
                if (cost.mu / plan.budget.mu) ** 2 < 2 * shares.DIRECTED:
                    self.direction = None
                else:
                    cost = start.gradients(share, beside + shares.DIRECTED / share)
            self._measure_once(cost, last)
            left -= share
            if not last:
                more = len(self.seen) + 2 <= most and self._is_far(first)
                share = left * second if more else left
                self._move_to(self._next_point())
        return self

    def _begin(self) -> None:
        """The response that is foreseen; slopes of hidden columns start from 0."""
        frame, limits, white = self.frame, self.limits, self.start.white
        moment = None if white is None else frame.whitening_moment(white, self.phi)
        before = kept_curvature(frame, self.phi, limits.bounds.clip, limits.kept)
        self.response = Response.foreseen(before, moment, self.rough)
        if (absent := self.absent) is not None:
            self.phi = held(np.eye(frame.size), absent) @ self.phi
            self.response.move(before, kept_curvature(frame, self.phi, limits.bounds.clip, limits.kept))

    def _measure_once(self, cost: GDP, last: bool) -> None:
        """One measurement, with the curvature at the second point and the scores' second moment at
        the last.

        Where the link is curved the first step needs the curvature as well.
        """
        frame, phi, plan, limits, number = self.frame, self.phi, self.start.plan, self.limits, len(self.seen)
        clip = limits.bounds.clip
        more: list[Question] = []
        asks_clipped = limits.clipped_share > 0 and (number == 0 or last)
        here = last and plan.rehearses
        if with_curvature := here or number == 1 or (number == 0 and plan.curved):
            # A last point that has a curvature anyway gets that of the very last one as well.
            price = plan.part(2 * shares.CURVATURE) if here and number < 2 else plan.curvature
            query, self.doubt = self._curvature(price)
            more.append((query, price))
        if last:
            more.append((frame.scores_moment(phi, clip), plan.moment))
        if asks_clipped:
            more.append((frame.clipped_share(phi, clip), plan.part(limits.clipped_share)))
        if last:
            if self.direction is not None:
                more.append(self.direction.question(frame, phi, limits.sizes, plan.part(shares.DIRECTED)))
                directed = more[-1][0]
            if limits.mean_share:
                more.append(mean_question(frame, phi, limits.sizes, plan.part(limits.mean_share)))
            if plan.dispersion:
                more.append(frame.squares(phi, plan.part(plan.last_dispersion)))
        measurement, answers = measure(frame, phi, limits.bounds, cost, *more)
        self.seen.append(measurement)
        if last and plan.dispersion:
            *answers, squares = answers
            self.frame = frame.with_squares(more[-1], squares)
            self.seen = [one.with_dispersion(self.frame.dispersion) for one in self.seen]
        if last and limits.mean_share:
            *answers, mean = answers
            self.mean_score = MeanScore.read(self.frame, phi, mean, self.start.x_centre)
        if last and self.direction is not None:
            *answers, self.clipped, score = answers
            self.directed_score = self._directed_score(directed.left_norm, score)
        elif asks_clipped:
            *answers, self.clipped = answers
            self.direction = None if last else Direction.read(self.clipped, frame.constants)
        self._respond(frame, answers[0] if with_curvature else None, alone=here and limits.exact, last=last)
        if last:
            self.meat = self._meat(answers[-1])

    def _curvature(self, cost: GDP) -> tuple[Query, float]:
        """The query for the curvature at the current point, and its relative noise."""
        limits = self.limits
        return self.frame.curvature_question(self.phi, limits.bounds.clip, limits.longest, limits.kept, cost)

    def _directed_score(self, clip: float, score: Answer) -> DirectedScore | None:
        frame, direction, clipped = self.frame, self.direction, self.clipped
        if direction is None or clipped is None:
            return None
        value, noise_std = float(score.value[0, 0]) / frame.count, score.noise_std / frame.count
        bias = direction.hidden_beyond(self.limits.sizes, clip)
        return DirectedScore(frame, self.phi, direction.unit, value, noise_std, bias, clipped)

    def _respond(self, frame: Frame, curvature: Answer | None, *, alone: bool, last: bool) -> None:
        """Move the response to the last measurement, with the curvature that was released there.

        ``alone``: earlier gradients are left out. They show the response on the way, which differs
        from that at its end.
        """
        phi, plan, limits, seen = self.phi, self.start.plan, self.limits, self.seen
        clip, kept = limits.bounds.clip, limits.kept
        curve = kept_curvature(frame, phi, clip, kept)
        if len(seen) > 1:
            self.response.move(kept_curvature(frame, seen[-2].phi, clip, kept), curve)
        if curvature is not None:
            cut = cut_curvature(frame, phi, clip, kept, limits.longest)
            seen_here = frame.see_curvature(curvature, self.response.below, cut)
            self.response.see(*seen_here, len(seen), replaces=not plan.curved)
        self._keep_levels(phi, last)
        way = seen[-1:] if alone else seen
        above = self._above(phi)
        self.response.complete(curve, kept, above, self.doubt, way, self.keeps, self.nonlinearity, self.bend)

    def _keep_levels(self, phi: Floats, last: bool) -> None:
        """How much of each level counts, and whether later gradients have levels.

        Steps follow what levels show where they were measured, which is the distance to the optimum
        as well. The estimate follows what they would be at the optimum: 0 in a true model. If the
        first of them show nothing there, the budget of later ones goes to scores below the clip
        norm. Where noise hides the curvature the optimum is not known, and they stay. All of this
        depends on released numbers alone.
        """
        if not self.limits.bounds.levels:
            return
        first = len(self.seen) == 1
        at_optimum = self._levels_at_optimum(phi) if first or last else []
        if first and not self.start.last_search and not lopsided(at_optimum):
            bounds = replace(self.limits.bounds, levels=())
            self.limits = replace(self.limits, bounds=bounds)
            self.seen, self.keeps = [one.without_levels() for one in self.seen], []
        else:
            self.keeps = level_keeps(at_optimum if last else levels_together(self.seen))

    def _levels_at_optimum(self, phi: Floats) -> list[tuple[Floats, float]]:
        """The mean score of each level at the optimum by scores below the clip norm, and the
        variance of its errors in an entry.
        """
        goal = self.seen[-1].optimum(self.response.below, [0.0] * len(self.limits.bounds.levels))
        return [
            level_at(self.seen, number, goal, response, self.known) for number, response in enumerate(self.levels(phi))
        ]

    def _above(self, phi: Floats) -> Floats:
        """The curvature that the kept levels add to that below the clip norm."""
        levels = zip(self.keeps, self.levels(phi), strict=True)
        return np.asarray(sum((keep * level for keep, level in levels), np.zeros((self.frame.size, self.frame.size))))

    @property
    def curvature_of_rows(self) -> Seen:
        """All releases of the curvature together, for a single predictor."""
        size, free, released = self.frame.coordinates.size, self.frame.predictors, self.response.released()
        return replace(
            released, curvature=np.einsum("iaja->ij", released.curvature.reshape(size, free, size, free)) / free
        )

    @property
    def hidden(self) -> tuple[int, ...]:
        """The columns that may be too narrow within their bounds to be seen."""
        if not self.response.curvatures:  # index models have no white coordinates
            return ()
        released = self.curvature_of_rows
        return hidden(self.frame.coordinates, released.curvature, released.noise_std, self.start.columns.spread_out)

    @property
    def absent(self) -> Floats | None:
        """The normals of the slopes of hidden columns: nothing is known of these, and noise along
        them must not move others, so the model is without them.

        With a noisy curvature a column that matters may be hidden as well, and nothing is left out.
        """
        columns = self.hidden
        if not columns or self.start.plan.curvature_edge(self.frame.count, moved(self.frame.source)) > _KNOWN:
            return None
        slopes = self.frame.coordinates.matrix[:, 1:][:, list(columns)]
        return np.asarray(np.kron(slopes, np.eye(self.frame.predictors)), dtype=np.float64)

    def levels(self, phi: Floats) -> list[Floats]:
        """The curvature of each level."""
        frame, sizes = self.frame, self.limits.sizes

        def kept(clip: float) -> Floats:
            return kept_curvature(frame, phi, clip, sizes.kept(clip))

        return [kept(top) - kept(low) for low, top in self.limits.bounds.levels]

    def _meat(self, answer: Answer) -> Floats:
        """The covariance of scores as model and histogram let expect, corrected by the release."""
        frame, sizes = self.frame, self.limits.sizes
        ratio = sizes.score_variance_ratio(self.limits.bounds.clip) * frame.dispersion
        self.expected_meat = self.response.below * ratio
        seen = corrected(answer, frame.count, self.expected_meat)
        # The scores of a group with only one class seem to have no variance.
        if not self.start.plan.dispersion:
            typical = float(np.median(relative_directions(seen, self.expected_meat)[0]))
            seen = no_flatter(seen, self.expected_meat, _LEAST_VARIANCE * typical)
        levels = zip(self.keeps, self.limits.bounds.levels, strict=True)
        above = sum(keep**2 * (sizes.mean_square(top) - sizes.mean_square(low)) for keep, (low, top) in levels)
        return np.asarray(seen + above / frame.size * np.eye(frame.size))

    def nonlinearity(self, step: Floats) -> float:
        """The change of scores by a step, in clip norms: up to 1 they respond about
        proportionally.
        """
        weight = float(np.trace(self.response.below)) / (self.frame.size * self.limits.kept)
        return weight * float(np.linalg.norm(step)) * self.frame.root_size / self.limits.bounds.clip

    def bend(self, phi: Floats, goal: Floats) -> float:
        """The relative error of the response along a step: clipped scores respond less, and the
        weights of long rows change more than those of typical ones, if they lie along the step.
        """
        step = goal - phi
        row = self.frame.root_size * math.sqrt(self.limits.longest)
        curved = self.start.plan.curved
        change = self.frame.foresight.sharpness(phi) * row * float(np.linalg.norm(step)) if curved else 0.0
        return math.hypot(min(self.nonlinearity(step) / 2, 1.0), min(change / 2, 1.0))

    @property
    def known(self) -> float:
        """The square of the response's relative error where it was released."""
        return DOUBT**2 + self.response.wrong(self.doubt)

    def limited(self, phi: Floats, goal: Floats) -> Floats:
        """The goal, or a shorter step; for the identity link the limit is where clipped scores
        still respond.
        """
        if self.start.plan.curved:
            return limited(self.frame, phi, goal)
        return phi + (goal - phi) / max(self.nonlinearity(goal - phi), 1.0)

    def _is_far(self, first: float) -> bool:
        """Whether the error of one more measurement would still exceed its noise."""
        said, phi = self.seen[-1].optimum(self.response.full, self.keeps, self.absent), self.seen[-1].phi
        curvature = self.frame.foresight.curvature
        change = relative_change(curvature(phi), curvature(self._next_point()))
        wrong = self.known + change**2 + self.bend(phi, said.phi) ** 2
        distance = float((said.phi - phi) @ (said.phi - phi)) / len(phi)
        ahead = said.variance * first / (1 - first)
        sampling = self.limits.sampling_variance * float(np.trace(said.inverse @ said.inverse)) / len(phi)
        return wrong * (said.variance + wrong * distance) > max(_FAR * ahead, _FAR_FROM_SAMPLE * sampling)

    def _next_point(self) -> Floats:
        """As close to the optimum as the last measurement is clear of its noise."""
        one, start = self.seen[-1], self.start
        if start.filter is not None and start.filter.leads:
            return start.filter.believed(self.frame, self.seen, self.keeps, self.kept_above).theta
        if start.plan.curved and self.doubt > 1:  # only the foreseen curvature is known
            gradient, noise_std = one.gradient(self.keeps)
            kept = self.kept_above
            return foreseen(self.frame, self.phi, gradient / kept, noise_std / kept, start.label.scale**2, self.doubt)
        said = one.optimum(self.response.cautious, self.keeps, self.absent)
        step = said.phi - one.phi
        return self.limited(one.phi, one.phi + step * clear(step, said.variance))

    @property
    def kept_above(self) -> float:
        """The part of the curvature that the clip norm and the kept levels above it keep."""
        limits = self.limits
        return limits.kept + level_curvature(limits.sizes, limits.bounds, self.keeps)

    def _move_to(self, phi: Floats) -> None:
        """Set the next point, and smaller bounds for scores if the step explains labels."""
        plan, last = self.start.plan, self.seen[-1]
        if plan.dispersion:
            frame, step, limits = self.frame, phi - last.phi, self.limits
            said = last.optimum(self.response.cautious, self.keeps, self.absent).phi - last.phi
            # A mean of the wrong level makes squares relative to it smaller as well as larger.
            first = frame.constants if plan.curved else 0
            curve = frame.foresight.curvature(phi)[first:, first:]
            explained = float((2 * said - step)[first:] @ curve @ step[first:])
            left = min(max(1 - explained / frame.dispersion, _LEAST_LEFT), 1.0)
            # A smaller clip norm pays only if noise exceeds the sampling error.
            noise = limits.noise_per_clip * limits.bounds.clip / limits.kept
            worth = _NOISE_PART * limits.sampling_variance * left / max(noise**2, 1e-300)
            self.frame = replace(frame, dispersion=frame.dispersion * left)
            self.limits = limits.scaled(math.sqrt(left), math.sqrt(min(max(worth, left), 1.0)))
        # Extreme noise may have overflowed in the step.
        self.phi = np.where(np.isfinite(phi), phi, last.phi)
