"""The first steps of a descent (algorithms/descent.py): scales of rows and labels,
white coordinates, a start.

These need not be exact. Gradients that are released later correct the remaining error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.labels import clear_cells, combined, label_scale, octaves
from discreet.algorithms.parts.line_search import along, nearest, profile, profile_along, relative_noise
from discreet.algorithms.parts.noisy_matrix import inverse
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.parts.shrink import clear
from discreet.algorithms.parts.start import first_coordinates, resembles_public, start
from discreet.algorithms.steps.columns import column_histograms, rare_columns, spread_out
from discreet.algorithms.steps.first_look import Scaling, look_at_labels, look_twice, power_sums
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.algorithms.steps.rare import RareColumns
from discreet.algorithms.steps.whitening import LabelScale, Whitening, whiten_labels
from discreet.privacy import GDP
from discreet.rows import Answer, ExposureSum, Floats, Query, RowsUsed, Source
from discreet.rows.gradient import LabelProfile

Question = tuple[Query, GDP]

# The longest step for a curved link, in standard deviations of eta.
_LONGEST_STEP = 1.5
# The predictor of a rare category, which hardly changes that standard deviation, may move this many
# times as far.
_GROUP = 2.0


@dataclass
class Approach:
    """What is known of a model so far, and the current point; every method queries the source."""

    source: Source
    model: GlmModel
    plan: Plan
    guess: Guess | None

    scaling: Scaling = None  # type: ignore[assignment]
    label: LabelScale = None  # type: ignore[assignment]
    offset: float = 0.0
    frame: Frame = None  # type: ignore[assignment]
    phi: Floats = None  # type: ignore[assignment]
    white: Whitening | None = None
    # Passes beyond the planned ones, mostly rounds of whitening, because noise hid a direction.
    more_rounds: int = 0
    # By how many standard deviations of the noise a histogram of each column shows that it is wide.
    spread_out: Floats = None  # type: ignore[assignment]
    # Which columns may be indicators of rare categories.
    rare: RareColumns | None = None
    # How far noise moves the curvature's eigenvalues, relative to them.
    doubt: float = 0.0
    # The share of a search along the last predictor.
    last_search: float = 0.0

    @property
    def moved(self) -> float:
        """The sensitivity of a sum of unit vectors."""
        return 1.0 if self.source.public_rows is None else 2.0

    @property
    def used(self) -> RowsUsed | None:
        """How many rows contributed."""
        return self.scaling.used(self.source.public_rows)

    @property
    def path(self) -> Sequence[Floats]:
        """Where steps of a plain iteration have led."""
        return ()

    def look(self, x_radius: float) -> None:
        """Number of rows, location of x and y, mean exposure: one pass."""
        model = self.model
        more: list[Question] = self._columns_question()
        histogram = octaves(model)
        if histogram is not None:
            more.append((histogram, self.plan.part(shares.OCTAVES)))
        if model.exposure is not None:
            more.append((ExposureSum(model.exposure[1]), self.plan.part(shares.EXPOSURE)))
        cost = self.plan.part(shares.LOOK)
        self.scaling, rest = look_twice(
            self.source, cost, model.width, x_radius, label_share=shares.LABEL_SHARE, more=more
        )
        answers = self._columns_seen(rest)
        counts = None if histogram is None else answers.pop(0)
        self.label = label_scale(model, self.scaling, counts)
        self.saved = -self._look_at_labels(x_radius, counts)
        if model.exposure is not None:
            low, high = model.exposure
            mean = float(answers.pop(0).value[0, 0]) * high / self.scaling.count
            self.offset = math.log(min(max(mean, low), high))

    def _columns_question(self) -> list[Question]:
        """Where the rows of each column lie."""
        width = self.model.width
        return [(column_histograms(width), self.plan.part(self.plan.columns))] if width else []

    def _columns_seen(self, answers: Sequence[Answer]) -> list[Answer]:
        """Reads the answer to ``_columns_question``; returns the others."""
        width, scaling = self.model.width, self.scaling
        self.spread_out = np.zeros(width)
        if width:
            count, noise_std = scaling.seen_count, scaling.count_noise_std
            query = column_histograms(width)
            self.spread_out = spread_out(query, answers[0], count, noise_std)
            self.rare = rare_columns(query, answers[0], count, scaling.x_centre)
        return list(answers[1 if width else 0 :])

    def _look_at_labels(self, x_radius: float, counts: Answer | None) -> float:
        """Look at labels again if their mean is too uncertain; returns the share of
        the budget that it cost.
        """
        if counts is not None and (share := self._look_at_octaves(counts)):
            return share
        label, width, half_width = self.label, self.model.width, self.model.labels.half_width
        query = power_sums(self.source, width, x_radius, with_x=False)
        noise = half_width * self.source.noise_std(query, self.plan.part(1.0)) / self.scaling.count
        # If noise hides a spread, the noisy one is too large.
        spread = min(label.scale, half_width / math.sqrt(3))
        share = self.plan.labels(noise / spread, label.noise_std / spread)
        # If a histogram gives the mean more precisely than sums of labels could,
        # these are not asked for.
        if share == 0 or noise / math.sqrt(share) > label.noise_std:
            return 0.0
        self.scaling = look_at_labels(self.source, self.plan.part(share), width, x_radius, self.scaling)
        self.label = label_scale(self.model, self.scaling, counts)
        return share

    def _look_at_octaves(self, counts: Answer) -> float:
        """One more histogram of labels, if noise hides the first and not this one; returns its
        share of the budget.

        Of the octaves below the labels' bound, few hold labels, and a mean over these has less
        noise than a sum over the whole range.
        """
        query, count = octaves(self.model), self.scaling.count
        assert query is not None  # it was asked
        if clear_cells(counts, count) is not None:
            return 0.0
        share = self.plan.octaves_again(self.source.noise_std(query, self.plan.part(1.0)) / count)
        if share:
            again = self.source.sum(query, self.plan.part(share))
            self.label = label_scale(self.model, self.scaling, combined([counts, again]))
        return share

    def whiten(self) -> None:
        """White coordinates, and a start."""
        count, model = self.scaling.least_count, self.model
        if self.guess is not None and not resembles_public(
            self.source, self.plan.part(shares.PUBLIC / 2), model, self.scaling, self.label, self.guess
        ):
            self.guess = None
        looked_twice = self.saved < 0  # the second look was a pass as well
        self.rounds = max(self.plan.rounds(count, self.moved) - looked_twice, 1)
        self._plan_last_search()
        white = self._whitened(self.rounds, self.plan.row_length(count, self.moved))
        self.saved += shares.WHITENING * (1 - white.spent)
        self.planned_rounds, self.white = white.rounds, white
        self.more_rounds = max(white.rounds - self.rounds, 0)
        if looked_twice and self.last_search:
            self.more_rounds += 1  # the last search is a pass as well
        if np.any(model.penalty):  # the linear fit had no penalty
            curve = self.frame.foresight.curvature(self.phi)
            self.phi = inverse(curve + self.frame.penalty) @ curve @ self.phi
        self._consider_public_fit()

    def _whitened(self, rounds: int, length: float) -> Whitening:
        """White coordinates, and a start that corresponds to the linear fit in them."""
        scaling, label = self.scaling, self.label
        cost, coordinates = (
            self.plan.part(shares.WHITENING),
            first_coordinates(self.model, scaling, self.guess, self.rare),
        )
        columns = self.spread_out, self.rare, bool(self.last_search)
        linear = whiten_labels(self.source, cost, rounds, coordinates, label, length, scaling.count, *columns)
        self.frame, self.phi = start(self.source, self.model, label, linear, self.offset, scaling.count)
        return linear.white

    @property
    def public_phi(self) -> Floats | None:
        if self.guess is None or self.guess.coefficients is None:
            return None
        return self.frame.coordinates.phi(self.guess.coefficients)

    def _consider_public_fit(self) -> None:
        """Start from the public fit if the gradient there is smaller than at the linear fit."""
        public = self.public_phi
        if public is None:
            return
        frame, candidates = self.frame, (self.phi, public)
        cost = self.plan.part(shares.PUBLIC / 4)
        clip = shares.WARM_UP_CLIP * frame.typical_norm(self.phi)
        answers = frame.ask(*((frame.gradient(phi, clip), cost) for phi in candidates))
        norms = [float(answer.value[:, 0] @ answer.value[:, 0]) for answer in answers]
        self.phi = candidates[int(np.argmin(norms))]

    @property
    def caution(self) -> float:
        """The factor of a step for an uncertain curvature: E[c] / E[c^2].

        The root mean square by which noise moves the curvature's eigenvalues is half of the edge.
        """
        return 1 / (1 + (self.doubt / 2) ** 2)

    def warm_up(self) -> None:
        """Move to a point with about the curvature of the optimum: by a line search,
        or a gradient if it pays.
        """
        frame, phi, cost = self.frame, self.phi, self.plan.part(shares.WARM_UP)
        clip = shares.WARM_UP_CLIP * frame.typical_norm(phi)
        weight = float(np.trace(frame.foresight.curvature(phi))) / frame.size
        noise_std = self.source.noise_std(frame.gradient(phi, clip), cost) / frame.count
        unit = 1.0 if self.plan.curved else math.sqrt(frame.dispersion)
        step_noise = noise_std / weight * frame.root_size / unit
        self.steps = 1
        if not self._line_searched(cost, step_noise):
            self.steps = self.plan.warm_up_steps(self.planned_rounds, step_noise)
            if self.steps:
                self._warm_up_step(cost)

    def _line_searched(self, cost: GDP, step_noise: float) -> bool:
        """Do a line search if it pays; returns whether it was done.

        It does not if a gradient of the same cost has less noise: that finds the direction as well.
        With two classes it is always the safer one: a group may have only one class.
        """
        frame, phi = self.frame, self.phi
        if not self.plan.curved or not np.any(phi[frame.constants :]):  # there is no direction
            return False
        query = profile(frame, phi, self.label)
        slope = frame.count * frame.foresight.slope(phi)
        noise = relative_noise(query, self.source.noise_std(query, cost), slope)
        quieter = self.model.family.label_free or noise <= step_noise
        pays = self.plan.searches(noise) and quieter
        if pays:
            self._line_search(query)
        return pays

    def _line_search(self, query: LabelProfile) -> None:
        # The mean of clipped skewed scores depends on the dispersion, which a linear fit of
        # clipped labels misses.
        squares = shares.EARLY_DISPERSION if self.plan.dispersion else 0.0
        questions: list[Question] = [(query, self.plan.part(shares.WARM_UP - squares))]
        if squares:
            questions.append(self.frame.squares(self.phi, self.plan.part(squares)))
        answer, *rest = self.frame.ask(*questions)
        self.phi = along(self.frame, self.phi, query, answer, self.label)
        if rest:
            self.frame = self.frame.with_squares(questions[-1], rest[0])

    def _plan_last_search(self) -> None:
        """Save the cost of a search along the last predictor, if noise will hide the curvature."""
        model, plan, label, count = self.model, self.plan, self.label, self.scaling.count
        query = profile_along(model, np.zeros(model.width + 1), label)
        noise_std = self.source.noise_std(query, plan.part(shares.LAST_SEARCH))
        foresight = Foresight(model, True, self.offset)
        level = foresight.constant_for(model.sensible_mean(label.centre), np.zeros(1))
        unit = 1.0 if plan.curved else label.scale
        noise = relative_noise(query, noise_std, unit * count * foresight.slope(np.array([level, 0.0])))
        if plan.searches_last(noise, plan.curvature_edge(count, self.moved)):
            self.last_search = shares.LAST_SEARCH
            self.saved -= self.last_search

    def searched(self, way: Floats, guess: Floats) -> Floats:
        """The predictor in the direction of ``way`` with a length and constant that labels along it
        allow, close to those of the guess.
        """
        query = profile(self.frame, way, self.label)
        (answer,) = self.frame.ask((query, self.plan.part(self.last_search)))
        return nearest(self.frame, way, guess, query, answer, self.label)

    def _warm_up_step(self, cost: GDP) -> None:
        frame, phi = self.frame, self.phi
        clip = shares.WARM_UP_CLIP * frame.typical_norm(phi)
        # The dispersion is needed early if a family's clipped mean depends on it.
        part = shares.EARLY_DISPERSION / shares.WARM_UP if self.plan.dispersion else 0.0
        questions: list[Question] = [(frame.gradient(phi, clip), GDP(cost.mu * math.sqrt(1 - part)))]
        if part:
            questions.append(frame.squares(phi, GDP(cost.mu * math.sqrt(part))))
        answers = frame.ask(*questions)
        kept = frame.foresight.kept(phi, clip / frame.root_size, frame.dispersion)
        gradient, noise_std = answers[0].value[:, 0] / frame.count, answers[0].noise_std / frame.count
        self.phi = self.foreseen(gradient / kept, noise_std / kept)
        if part:
            self.frame = frame.with_squares(questions[-1], answers[1])

    def foreseen(self, gradient: Floats, noise_std: float) -> Floats:
        """The optimum by the foreseen curvature, from the part of the gradient
        that is clear of its noise.
        """
        frame, phi = self.frame, self.phi
        gradient = gradient + frame.penalty @ phi
        gradient = gradient * clear(gradient, noise_std**2) * self.caution
        if self.plan.curved and self.model.link == self.model.family.canonical_link:
            return self.limited(phi, frame.foresight.solve(phi, gradient, self.label.scale**2))
        return self.limited(phi, phi - inverse(frame.foresight.curvature(phi) + frame.penalty) @ gradient)

    def limited(self, phi: Floats, goal: Floats) -> Floats:
        """The goal, or a shorter step: the curvature is known only near the current point."""
        step = goal - phi
        if not self.plan.curved:
            return goal
        frame = self.frame
        longest = _LONGEST_STEP * math.sqrt(frame.predictors) * frame.foresight.unit
        groups = [abs(float(one.row @ step)) / _GROUP for one in frame.rare_directions]
        return phi + step * min(1.0, longest / max(frame.length(step, phi), *groups, 1e-300))
