"""Noisy gradients as measurements of the optimum: the default fit of every
generalized linear model.

1. A look: the number of rows, location and scale of x and y.
2. Rounds of noisy second moments: coordinates z in which rows are white, and a
   linear fit to start from.
3. For a curved link, a line search along the start's direction, or a cheap gradient.
4. A histogram of the norms of scores. It predicts the error for every clip norm, and the best one
   is used. Octaves above it that may hold more than noise are released separately, and kept as far
   as they are clear of it.
5. Two gradients and their derivative in the coefficients (the curvature). Each gives an
   estimate of the optimum, phi - curvature^-1 gradient; the final estimate is their mean,
   weighted by their precision.
6. The second moment of the clipped scores: with the curvature, it gives the sandwich covariance.
   Where scores are clipped, their mean with a far larger clip: it corrects the constant.

Steps 1 to 3 are in parts/approach.py. As the budget grows the clip norm grows, and the estimate
becomes the non-private one; where a budget protects nobody, steps 4 to 6 are done twice.
docs/papers/descent.md has the sensitivities and measurements; parts/plan.py has the shares of the
budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.approach import Approach, Question
from discreet.algorithms.parts.class_approach import ClassApproach
from discreet.algorithms.parts.frame import FARTHEST, Frame
from discreet.algorithms.parts.index_approach import IndexApproach
from discreet.algorithms.parts.labels import octaves
from discreet.algorithms.parts.mean_score import MeanScore, mean_question
from discreet.algorithms.parts.measure import (
    DOUBT,
    LEVEL_SHARE,
    Bounds,
    Measurement,
    level_curvature,
    level_keeps,
    measure,
    together,
)
from discreet.algorithms.parts.noisy_matrix import (
    Seen,
    corrected,
    inverse,
    no_flatter,
    relative_change,
    relative_directions,
)
from discreet.algorithms.parts.plan import IndexPlan, Plan
from discreet.algorithms.parts.rare_rows import clipped_groups, cut_curvature, faded_groups, kept_curvature
from discreet.algorithms.parts.response import Response
from discreet.algorithms.parts.shrink import clear, nearer, shrunk, signal
from discreet.algorithms.parts.sizes import Sizes
from discreet.algorithms.parts.uncertain import Spread, fading, spread
from discreet.algorithms.steps.columns import hidden, plausible, unknown_slopes
from discreet.algorithms.steps.glm_model import GlmFit, GlmModel, Guess
from discreet.algorithms.steps.kalman import Belief
from discreet.privacy import GDP, Budget
from discreet.rows import Answer, Floats, Source

# The smallest part of the dispersion that is expected to remain after a step.
_LEAST_LEFT = 0.3
# Clip norms fall with the dispersion while the noise variance is this many times
# the sampling variance.
_NOISE_PART = 2.0
# Noise that moves the curvature's eigenvalues by this many times their size hides it.
_HIDDEN = 4.0
# Noise that moves the curvature's eigenvalues by this part of them is negligible.
_NO_NOISE = 0.01

# Index models use the last gradients in place of the filter if noise moves eigenvalues by less than
# this part of them.
_CLEAR_EDGE = 0.3

# If the variance of labels is known from the model, that of scores is in every direction at least
# this part of it, relative to a typical direction.
_LEAST_VARIANCE = 0.5

# A point is far from the optimum if its errors besides noise add this part to the noise variance,
# and this part to the sampling variance.
_FAR, _FAR_FROM_SAMPLE = 0.5, 1e-9


def descend(source: Source, budget: Budget, model: GlmModel, *, x_radius: float, guess: Guess | None = None) -> GlmFit:
    """Fit the model.

    Privacy: the number of sums depends on public and released quantities alone; their
    joint cost is the budget.
    """
    kind = _IndexDescent if model.single_index else _Descent if model.classes == 2 else _ClassDescent
    plan = (IndexPlan if model.single_index else Plan)(
        budget,
        model.size,
        curved=not model.link.is_identity,
        dispersion=not model.family.dispersion_known,
        exposure=model.exposure is not None,
        octaves=octaves(model) is not None or model.classes > 2,
        public=guess is not None,
        predictors=model.classes - 1,
        rows=source.public_rows,
    )
    descent = kind(source, model, plan, guess)  # type: ignore[arg-type]
    with np.errstate(all="ignore"):  # noisy answers may be anything; results are bounded
        descent.look(x_radius)
        descent.whiten()
        descent.warm_up()
        if plan.rehearses:
            descent.rehearse()
        descent.choose_bounds()
        descent.measure()
        return descent.fit()


@dataclass
class _Descent(Approach):
    """From a start to the fit; each method is a step of the module's docstring."""

    bounds: Bounds = None  # type: ignore[assignment]
    # The number of gradients of a rehearsal.
    rehearsed: int = 0
    # The share of the mean score, and its answer at the last point.
    mean_share: float = 0.0
    mean_score: MeanScore | None = None

    def rehearse(self) -> None:
        """Choose bounds and measure with a part of the budget, to repeat it from a better point."""
        plan = self.plan
        self.plan = plan.reduced(shares.REHEARSAL)
        self.choose_bounds()
        self.measure()
        self.plan, self.phi = plan.reduced(1 - shares.REHEARSAL), self.estimate.phi
        self.rehearsed = self.measurements

    def choose_bounds(self) -> None:
        """The clip norm with the smallest predicted error, and levels above it."""
        frame, phi, plan = self.frame, self.phi, self.plan
        unit = frame.typical_norm(phi)
        questions: list[Question] = [
            (frame.histogram(phi, unit), plan.part(shares.HISTOGRAM)),
            (frame.lengths(phi, weighted=plan.nominal), plan.part(shares.LENGTHS)),
        ]
        if plan.asks_dispersion:
            questions.append(frame.squares(phi, plan.part(shares.DISPERSION)))
        histogram, lengths, *squares = frame.ask(*questions)
        edge = plan.curvature_edge(frame.count, self.moved)
        rows = Sizes.read(lengths.value[:, 0], lengths.noise_std, frame.root_size, label_free=True)
        self.longest, self.longest_seen = rows.best_cut(edge), rows.top
        # Weights make rows longer than their lengths say.
        self.exact = plan.nominal and edge * self.longest < _NO_NOISE
        if self.exact:
            self.longest = _NO_NOISE / edge
        if squares:
            self.frame = frame = frame.with_squares(questions[-1], squares[0])
        label_free = self.model.family.label_free
        self.sizes = sizes = Sizes.read(histogram.value[:, 0], histogram.noise_std, unit, label_free)
        variance = frame.dispersion * frame.weight(phi) if label_free else sizes.mean_square() / frame.size
        last = plan.gradients(1.0, self.steps, self.saved)
        noise = self.source.noise_std(frame.gradient(phi, 1.0), last) / frame.count
        clip = sizes.best_clip(noise, variance, frame.count)
        if plan.nominal:
            clip = sizes.nearly_none_clipped(clip, noise, variance, frame.count)
        self.sampling_variance, self.noise_per_clip = variance / frame.count, noise
        risk = sizes.risk(clip, noise, variance, frame.count) * sizes.kept(clip) ** 2
        # As the budget grows the fit becomes the plain one: the model is not asked for the mean of
        # scores that nothing clips, and labels in the declared range are as they are.
        self.frame = replace(frame, centred=not sizes.all_within(clip))
        self.bounds = Bounds(clip, tuple(sizes.levels(clip, noise / math.sqrt(LEVEL_SHARE), risk, frame.size)))
        self.mean_share = shares.MEAN if self.bounds.levels and self._has_a_constant else 0.0
        self.mean_score = None

    @property
    def _has_a_constant(self) -> bool:
        """Whether the model has one, and skewed labels could move it."""
        model = self.model
        return self.frame.constants == 1 and not model.family.label_free and not model.single_index

    def measure(self) -> None:
        """Measurements of the optimum: two, or more if the start was far off;
        each from a closer point.
        """
        plan = self.plan
        seen: list[Measurement] = []
        self.rough = self.frame.rough(self.phi, self.bounds.clip, self.longest, plan.curvature, self.sizes)
        most, share, second = plan.last_steps(self.rough)
        most -= self.more_rounds  # about as many passes as planned
        first, left = share, 1.0
        while left > 0:
            last = share == left
            self._measure_once(seen, plan.gradients(share, self.steps, self.saved - self.mean_share), last)
            left -= share
            if not last:
                more = len(seen) + 2 <= most and self._is_far(seen, first)
                share = left * second if more else left
                self._move_to(self._next_point(seen), seen[-1])
        curves = [self.frame.foresight.curvature(one.phi) for one in seen]
        known = DOUBT**2 + min(self.doubt / 2, 1.0) ** 2  # half of the edge is its root mean square
        said = [one.optimum(self.response.full, self.keeps) for one in seen]
        limited = [self.limited(there.phi, one.phi) for one, there in zip(said, seen, strict=True)]
        cut = [one.phi - phi for one, phi in zip(said, limited, strict=True)]
        said = [replace(one, phi=phi) for one, phi in zip(said, limited, strict=True)]
        bends = [self._bend(one.phi, said[-1].phi) for one in seen]
        wrong = [
            math.sqrt(known + relative_change(curve, curves[-1]) ** 2 + bend**2)
            for curve, bend in zip(curves, bends, strict=True)
        ]
        self.estimate = together(said, [one.phi for one in seen], wrong, cut, curves[-1])
        self.inverse, self.measurements, self.last_gradients = said[-1].inverse, len(seen), seen
        if plan.rehearses:
            self.inverse = inverse(self.response.seen + self.frame.penalty)
        inverses = self.response.inverses(self.frame.penalty, levels=bool(self.bounds.levels))
        self.spread = spread(self.estimate, seen, self.keeps, inverses, self.meat, self._hidden())
        self.faded = self._faded(self.estimate.phi - seen[-1].phi)
        if self.mean_score is not None:
            self._move_constant(self.mean_score)

    def _move_constant(self, mean: MeanScore) -> None:
        """The constant follows the mean score, as far as it is clear of the noise."""
        sizes, clip = self.sizes, self.bounds.clip
        clipped = sizes.mean_square(clip) / max(sizes.mean_square() * sizes.kept(clip) ** 2, 1e-300)
        constant = mean.constant(self.estimate.phi, self.estimate.noise, clipped)
        self.estimate = replace(self.estimate, phi=constant.moved(self.estimate.phi))
        self.spread, self.faded = constant.spread(self.spread), constant.spread(self.faded)

    def _move_to(self, phi: Floats, last: Measurement) -> None:
        """Set the next point, and smaller bounds for scores if the step explains labels."""
        if self.plan.dispersion:
            frame, step = self.frame, phi - last.phi
            said = last.optimum(self.response.cautious, self.keeps).phi - last.phi
            # A mean of the wrong level makes squares relative to it smaller as well as larger.
            first = frame.constants if self.plan.curved else 0
            curve = frame.foresight.curvature(phi)[first:, first:]
            explained = float((2 * said - step)[first:] @ curve @ step[first:])
            left = min(max(1 - explained / frame.dispersion, _LEAST_LEFT), 1.0)
            # A smaller clip norm pays only if noise exceeds the sampling error.
            noise = self.noise_per_clip * self.bounds.clip / self.sizes.kept(self.bounds.clip)
            worth = _NOISE_PART * self.sampling_variance * left / max(noise**2, 1e-300)
            factor = math.sqrt(min(max(worth, left), 1.0))
            self.frame = replace(frame, dispersion=frame.dispersion * left)
            self.sizes, self.bounds = self.sizes.scaled(factor), self.bounds.scaled(factor)
        # Extreme noise may have overflowed in the step.
        self.phi = np.where(np.isfinite(phi), phi, last.phi)

    def _measure_once(self, seen: list[Measurement], cost: GDP, last: bool) -> None:
        """One measurement, with the curvature at the second point and the scores'
        second moment at the last.

        Where the link is curved the first step needs the curvature as well.
        """
        frame, phi, plan, number = self.frame, self.phi, self.plan, len(seen)
        more: list[Question] = []
        here = last and plan.rehearses
        if with_curvature := here or number == 1 or (number == 0 and plan.curved):
            kept = self.sizes.kept(self.bounds.clip)
            # A last point that has a curvature anyway gets that of the very last one as well.
            price = plan.part(2 * shares.CURVATURE) if here and number < 2 else plan.curvature
            query, self.doubt = frame.curvature_question(phi, self.bounds.clip, self.longest, kept, price)
            more.append((query, price))
        if last:
            more.append((frame.scores_moment(phi, self.bounds.clip), plan.moment))
            if self.mean_share:
                more.append(mean_question(frame, phi, self.sizes, plan.part(self.mean_share)))
            if plan.dispersion:
                more.append(frame.squares(phi, plan.part(plan.last_dispersion)))
        measurement, answers = measure(frame, phi, self.bounds, cost, *more)
        seen.append(measurement)
        if last and plan.dispersion:
            *answers, squares = answers
            self.frame = frame.with_squares(more[-1], squares)
            seen[:] = [one.with_dispersion(self.frame.dispersion) for one in seen]
        if last and self.mean_share:
            *answers, mean = answers
            self.mean_score = MeanScore.read(self.frame, phi, mean, self.scaling.x_centre)
        self._respond(frame, seen, answers[0] if with_curvature else None, alone=here and self.exact)
        if last:
            self.meat = self._meat(answers[-1])

    def _respond(self, frame: Frame, seen: list[Measurement], curvature: Answer | None, *, alone: bool) -> None:
        """Move the response to the last measurement, with the curvature that was released there.

        ``alone``: earlier gradients are left out. They show the response on the way, which differs
        from that at its end.
        """
        phi, plan, clip = seen[-1].phi, self.plan, self.bounds.clip
        kept = self.sizes.kept(clip)
        foreseen = kept_curvature(frame, phi, clip, kept)
        if len(seen) == 1:
            moment = None if self.white is None else frame.whitening_moment(self.white, phi)
            self.response = Response.foreseen(foreseen, moment, self.rough, plan.curved and plan.predictors == 1)
        else:
            self.response.move(kept_curvature(frame, seen[-2].phi, clip, kept), foreseen)
        if curvature is not None:
            cut = cut_curvature(frame, phi, clip, kept, self.longest)
            self.response.see(*frame.see_curvature(curvature, self.response.below, cut), len(seen))
        self.keeps = level_keeps(seen)
        way = seen[-1:] if alone else seen
        self.response.complete(
            foreseen, kept, self._above(phi), self.doubt, way, self.keeps, self._nonlinearity, self._bend
        )

    def _above(self, phi: Floats) -> Floats:
        """The curvature that the kept levels add to that below the clip norm."""
        frame, sizes = self.frame, self.sizes

        def kept(clip: float) -> Floats:
            return kept_curvature(frame, phi, clip, sizes.kept(clip))

        levels = zip(self.keeps, self.bounds.levels, strict=True)
        none = np.zeros((frame.size, frame.size))
        return np.asarray(sum((keep * (kept(top) - kept(low)) for keep, (low, top) in levels), none))

    def _nonlinearity(self, step: Floats) -> float:
        """The change of scores by a step, in clip norms: up to 1 they respond
        about proportionally.
        """
        weight = float(np.trace(self.response.below)) / (self.frame.size * self.sizes.kept(self.bounds.clip))
        return weight * float(np.linalg.norm(step)) * self.frame.root_size / self.bounds.clip

    def _bend(self, phi: Floats, goal: Floats) -> float:
        """The relative error of the response along a step: clipped scores respond
        less, and the weights of long
        rows change more than those of typical ones, if they lie along the step.
        """
        step = goal - phi
        row = self.frame.root_size * math.sqrt(self.longest)
        change = self.frame.foresight.sharpness(phi) * row * float(np.linalg.norm(step)) if self.plan.curved else 0.0
        return math.hypot(min(self._nonlinearity(step) / 2, 1.0), min(change / 2, 1.0))

    def _hidden(self) -> Floats:
        """The covariance of slopes along directions whose curvature noise hides.

        The gradient has no information there, so the prior variance is that of all slopes.
        """
        slopes = self.estimate.phi[self.frame.constants :]
        typical = float(np.mean(slopes**2)) if len(slopes) else 0.0
        effect = self.label.scale if self.model.link.is_identity else self.frame.farthest
        groups = clipped_groups(self.last_gradients[-1], effect)
        return np.asarray(typical * self.response.hidden + self._hidden_columns(effect) + groups)

    def _hidden_columns(self, effect: float) -> Floats:
        """The covariance of slopes of columns too narrow within their bounds to be seen."""
        frame, size, free = self.frame, self.frame.coordinates.size, self.frame.predictors
        released = self.response.released()
        rows = np.einsum("iaja->ij", released.curvature.reshape(size, free, size, free)) / free
        self.hidden = hidden(frame.coordinates, rows, released.noise_std, self.spread_out)
        return np.asarray(np.kron(unknown_slopes(frame.coordinates, self.hidden, effect), np.eye(free)))

    def _faded(self, step: Floats) -> Spread:
        """The covariances of the estimate, if the curvature may be smaller
        beyond the last point.
        """
        if not self.plan.curved:
            return self.spread
        foresight = self.frame.foresight
        farthest = max(self.frame.farthest, float(np.linalg.norm(self.estimate.phi)))
        # With bounded weights, a curvature below the foreseen one indicates that weights have
        # decreased, unless the longest rows are clipped and cut.
        longest, clip = self.longest_seen, self.bounds.clip
        middle = longest / 2**0.25  # of the last cell of the histogram of lengths
        cut = min(self.longest * (self.frame.root_size / middle) ** 2, 1.0)
        left = cut * foresight.kept(self.phi, clip / longest, self.frame.dispersion)
        bounded = self.model.family.label_free
        foreseen = self.response.steepest(left * foresight.curvature(self.phi) if bounded else self.response.seen)
        rate = max(foresight.sharpest(at) for at in (self.phi, self.phi + step)) * self.longest_seen
        seen = Seen(self.response.seen, self.response.curvatures[-1].noise_std)
        faded = fading(self.spread, step, seen, foreseen, rate, farthest)
        return faded_groups(self.frame, faded, self.phi, step, farthest)

    def _is_far(self, seen: list[Measurement], first: float) -> bool:
        """Whether the error of one more measurement would still exceed its noise."""
        said, phi = seen[-1].optimum(self.response.full, self.keeps), seen[-1].phi
        change = relative_change(
            self.frame.foresight.curvature(phi), self.frame.foresight.curvature(self._next_point(seen))
        )
        bend = self._bend(phi, said.phi)
        wrong = DOUBT**2 + min(self.doubt / 2, 1.0) ** 2 + change**2 + bend**2
        distance = float((said.phi - phi) @ (said.phi - phi)) / len(phi)
        ahead = said.variance * first / (1 - first)
        sampling = self.sampling_variance * float(np.trace(said.inverse @ said.inverse)) / len(phi)
        return wrong * (said.variance + wrong * distance) > max(_FAR * ahead, _FAR_FROM_SAMPLE * sampling)

    def _next_point(self, seen: list[Measurement]) -> Floats:
        """As close to the optimum as the last measurement is clear of its noise."""
        one, kept = seen[-1], self.sizes.kept(self.bounds.clip)
        if self.plan.curved and self.doubt > 1:  # only the foreseen curvature is known
            kept += level_curvature(self.sizes, self.bounds, self.keeps)
            gradient, noise_std = one.gradient(self.keeps)
            return self.foreseen(gradient / kept, noise_std / kept)
        said = one.optimum(self.response.cautious, self.keeps)
        step = said.phi - one.phi
        return self.limited(one.phi, one.phi + step * clear(step, said.variance))

    def limited(self, phi: Floats, goal: Floats) -> Floats:
        """As the base class; for the identity link the limit is where clipped
        scores still respond.
        """
        if self.plan.curved or self.bounds is None:
            return super().limited(phi, goal)
        return phi + (goal - phi) / max(self._nonlinearity(goal - phi), 1.0)

    def _meat(self, answer: Answer) -> Floats:
        """The covariance of scores: as expected by model and histogram,
        corrected by the release.
        """
        frame, sizes, clip = self.frame, self.sizes, self.bounds.clip
        ratio = sizes.score_variance_ratio(clip) * frame.dispersion
        self.expected_meat = self.response.below * ratio
        seen = corrected(answer, frame.count, self.expected_meat)
        # The scores of a group with only one class seem to have no variance.
        if not self.plan.dispersion:
            typical = float(np.median(relative_directions(seen, self.expected_meat)[0]))
            seen = no_flatter(seen, self.expected_meat, _LEAST_VARIANCE * typical)
        levels = zip(self.keeps, self.bounds.levels, strict=True)
        above = sum(keep**2 * (sizes.mean_square(top) - sizes.mean_square(low)) for keep, (low, top) in levels)
        return np.asarray(seen + above / frame.size * np.eye(frame.size))

    def fit(self) -> GlmFit:
        """Coefficients of (1, x): shrunk for prediction, and estimates with their covariances."""
        frame, first = self.frame, self.frame.constants
        estimate, noise = self.estimate.phi, self.spread.noise
        goal = np.concatenate([estimate[:first], np.zeros(frame.size - first)])
        public, free = self.public_phi, first
        if public is not None and (self.doubt > _HIDDEN or not nearer(estimate, noise, goal, public)):
            goal, free = public, 0
        turn = frame.turn
        # The usual correction for the degrees of freedom (HC1, and s^2 of least squares); a known
        # dispersion is not estimated from residuals.
        fitted_away = frame.count / max(frame.count - frame.size, 1.0)
        dispersion = frame.dispersion * (fitted_away if self.plan.dispersion else 1.0)
        model = self.inverse @ self.expected_meat @ self.inverse * dispersion / frame.dispersion
        used = self.used
        coef = turn @ self._prediction(goal, free, public)
        return GlmFit(
            coef=coef,
            estimate=turn @ estimate,
            count=frame.count,
            iterations=self.steps + self.rehearsed + self.measurements + max(len(self.path) - 1, 0),
            noise_covariance=turn @ self.faded.noise @ turn.T,
            sampling_covariance=turn @ self.faded.sampling @ turn.T * fitted_away,
            model_covariance=turn @ model @ turn.T / frame.count,
            dispersion=dispersion,
            used=used,
            signal=signal(estimate[first:], noise[first:, first:], used),
            hidden=self.hidden,
            path=tuple(turn @ phi for phi in self.path),
        )

    def _plausible(self, phi: Floats) -> Floats:
        """Phi without implausible slopes of columns that noise hides: nothing else limits these.

        For the identity link a column that is far narrower than its bounds may have any effect
        from one to the other, but two categories hardly differ by more than labels do.
        """
        frame, columns, most = self.frame, self.hidden, self.frame.farthest
        if self.model.link.is_identity:
            rare = np.zeros(0, dtype=int) if frame.rare is None else np.flatnonzero(frame.rare.at_an_end)
            columns, most = tuple(np.intersect1d(columns, rare).tolist()), FARTHEST * self.label.scale
        psi = phi.reshape(-1, frame.predictors)
        return plausible(frame.coordinates, psi, columns, most).reshape(-1)

    def _prediction(self, goal: Floats, free: int, public: Floats | None) -> Floats:
        """The estimate, shrunk to its goal by its noise.

        As far as noise hides the curvature, other errors shrink it as well, and the mean label of
        the look gives the constant more precisely than the gradients do.
        """
        hidden = min(1.0, (self.doubt / _HIDDEN) ** 2)
        # Other errors are upper bounds: simulated designs of many kinds showed about half of
        # their standard deviation.
        noise = self.estimate.noise + hidden / 4 * self.estimate.unsure
        phi = shrunk(self.estimate.phi, noise, goal, free)
        if goal is public:  # it is kept if nothing is known about the estimate
            phi = (1 - hidden) * phi + hidden * goal
        first = self.frame.constants
        if first:
            constants, variance = self._constants(phi)
            seen = np.diagonal(noise)[:first]
            phi[:first] += hidden * seen / (seen + variance) * (constants - phi[:first])
        if self.last_search:
            phi += hidden * (self.searched(self._direction(phi, goal, free, public), phi) - phi)
        return self._plausible(phi)

    def _direction(self, phi: Floats, goal: Floats, free: int, public: Floats | None) -> Floats:
        """The direction of a last search. Errors of the curvature change the length of steps most,
        and the search corrects it: only the noise of gradients shrinks them here.
        """
        if goal is public:
            return phi
        way = shrunk(self.estimate.phi, self.estimate.noise, goal, free)
        return way if np.any(way[self.frame.constants :]) else self.estimate.phi

    def _constants(self, phi: Floats) -> tuple[Floats, float]:
        """The constant that gives the mean label with phi's slopes, and the
        variance of its noise.
        """
        mean = self.model.sensible_mean(self.label.centre)
        eta = self.frame.foresight.constant_for(mean, phi[1:])
        slope = max(float(self.model.link.slope(eta + self.offset)), 1e-12)
        return np.array([eta]), (self.label.noise_std / slope) ** 2


@dataclass
class _ClassDescent(ClassApproach, _Descent):
    """The same with one predictor per class."""


@dataclass
class _IndexDescent(IndexApproach, _Descent):
    """The same for least squares about a curved mean: the filter goes on, with what the last
    gradients say.
    """

    @property
    def path(self) -> Sequence[Floats]:
        return [*self.belief.path, *(one.phi for one in self.last_gradients[1:]), self.predicted]

    def _faded(self, step: Floats) -> Spread:
        return self.spread  # a link of any shape: the curvature is not known to fall

    def _next_point(self, seen: list[Measurement]) -> Floats:
        return self._believed(seen).theta if self.plan.edge > _CLEAR_EDGE else super()._next_point(seen)

    def _believed(self, seen: list[Measurement]) -> Belief:
        """The filter after the last gradients; where noise hides the curvature, the
        foreseen response is the better one.
        """
        kept = self.sizes.kept(self.bounds.clip) + level_curvature(self.sizes, self.bounds, self.keeps)
        belief, response = replace(self.belief, path=[]), kept * self.frame.foresight.curvature(self.phi)
        for one in seen:
            gradient, noise_std = one.gradient(self.keeps)
            belief.see_gradient(-gradient - response @ (belief.theta - one.phi), response, noise_std)
        return belief

    def _prediction(self, goal: Floats, free: int, public: Floats | None) -> Floats:
        """What the filter believes with the last gradients; where these are clear, it is one more
        measurement.
        """
        if self.plan.edge > _CLEAR_EDGE:
            belief = self._believed(self.last_gradients)
        else:
            size, error = self.frame.size, self.spread.noise
            # Short clips lead to an optimum of their own: what both differ by, beyond their noise,
            # is bias.
            moved, known = self.estimate.phi - self.belief.theta, self.belief.covariance + self.spread.sampling / 2
            bias = max(float(moved @ moved) - float(np.trace(known + error)), 0.0)
            belief = replace(self.belief, covariance=known + bias / size * np.eye(size), path=[])
            belief.see_estimate(self.estimate.phi, error)
        self.predicted = belief.theta
        return belief.theta
