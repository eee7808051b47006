"""The first steps of a descent (algorithms/descent.py): a look, white coordinates, a start.

These need not be exact. Gradients that are released later correct the remaining error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.filtered_approach import filtered
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.looks import Question, moved
from discreet.algorithms.parts.many_predictors import ManyPredictors
from discreet.algorithms.parts.newton_step import foreseen
from discreet.algorithms.parts.noisy_matrix import inverse
from discreet.algorithms.parts.one_predictor import OnePredictor
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.parts.start import Start, first_coordinates, resembles_public
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.privacy import GDP
from discreet.rows import Floats, Source


@dataclass
class Approach:
    """From a look to a start; every method queries the source."""

    source: Source
    model: GlmModel
    plan: Plan
    guess: Guess | None

    # What the look tells, and how a model of this kind starts from there.
    looked: OnePredictor | ManyPredictors = field(init=False)
    # The first point, and the rounds of whitening that it took.
    start: Start = field(init=False)
    rounds: int = field(init=False)
    # Whether noise will hide the curvature.
    filters: bool = field(init=False)

    def look(self, x_radius: float) -> None:
        """Scales of rows and labels."""
        asked = self.source, self.model, self.plan, x_radius
        self.looked = OnePredictor.look(*asked) if self.model.classes == 2 else ManyPredictors.look(*asked)

    def whiten(self) -> None:
        """White coordinates, and a first point in them."""
        model, plan, looked, scaling = self.model, self.plan, self.looked, self.looked.scaling
        count, reach = scaling.least_count, moved(self.source)
        if self.guess is not None and not resembles_public(
            self.source, plan.part(shares.PUBLIC / 2), model, scaling, looked.label, self.guess
        ):
            self.guess = None
        looked_twice = looked.spent > 0  # the second look was a pass as well
        self.filters = self.guess is None and model.classes == 2 and model.width > 0 and plan.filters(count, reach)
        rounds = max(plan.rounds(count, reach, filtered=self.filters) - looked_twice, 1)
        share = shares.FILTER_WHITENING if self.filters else shares.WHITENING
        last_search = looked.last_search
        coordinates = first_coordinates(model, scaling, self.guess, looked.columns.rare)
        length = plan.row_length(count, reach)
        white, frame, phi = looked.whitened(
            coordinates, share, rounds, length, narrow=not self.filters, typical=bool(last_search)
        )
        if self.filters:
            last_search = 0.0  # predictions are the filter's
        if np.any(model.penalty):  # the linear fit had no penalty
            curve = frame.foresight.curvature(phi)
            phi = inverse(curve + frame.penalty) @ curve @ phi
        public = None
        if self.guess is not None and self.guess.coefficients is not None:
            public = frame.coordinates.phi(self.guess.coefficients)
            phi = self._nearer_start(frame, phi, public)
        self.rounds = white.rounds
        self.start = Start(
            plan,
            frame,
            phi,
            looked.label,
            looked.columns,
            scaling.used(self.source.public_rows),
            scaling.x_centre,
            white,
            saved=-looked.spent - last_search + shares.WHITENING - share * white.spent,
            # Looks, rounds, a last search, and the histograms of sizes.
            passes=1 + looked_twice + white.rounds + (last_search > 0) + 1,
            last_search=last_search,
            public=public,
            constants=looked.constants,
        )

    def _nearer_start(self, frame: Frame, *candidates: Floats) -> Floats:
        """The point with the smaller gradient: the linear fit or the public one."""
        cost = self.plan.part(shares.PUBLIC / 4)
        clip = shares.WARM_UP_CLIP * frame.typical_norm(candidates[0])
        answers = frame.ask(*((frame.gradient(phi, clip), cost) for phi in candidates))
        norms = [float(answer.value[:, 0] @ answer.value[:, 0]) for answer in answers]
        return candidates[int(np.argmin(norms))]

    def warm_up(self) -> Start:
        """Move to a point with about the curvature of the optimum: by a line search,
        or a gradient if it pays.
        """
        plan, start = self.plan, self.start
        if self.filters:
            return filtered(start, plan.filter_steps(self.rounds + (self.looked.spent > 0)))
        frame, phi, cost = start.frame, start.phi, plan.part(shares.WARM_UP)
        clip = shares.WARM_UP_CLIP * frame.typical_norm(phi)
        weight = float(np.trace(frame.foresight.curvature(phi))) / frame.size
        noise_std = self.source.noise_std(frame.gradient(phi, clip), cost) / frame.count
        unit = 1.0 if plan.curved else math.sqrt(frame.dispersion)
        step_noise = noise_std / weight * frame.root_size / unit
        found = self.looked.line_searched(frame, phi, cost, step_noise)
        if found is None and plan.warm_up_steps(self.rounds, step_noise):
            found = self._stepped(frame, phi, clip, cost)
        if found is None:
            return start
        return replace(start, frame=found[0], phi=found[1], steps=1, passes=start.passes + 1)

    def _stepped(self, frame: Frame, phi: Floats, clip: float, cost: GDP) -> tuple[Frame, Floats]:
        """A step by one gradient and the foreseen curvature."""
        # The dispersion is needed early if a family's clipped mean depends on it.
        part = shares.EARLY_DISPERSION / shares.WARM_UP if self.plan.dispersion else 0.0
        questions: list[Question] = [(frame.gradient(phi, clip), GDP(cost.mu * math.sqrt(1 - part)))]
        if part:
            questions.append(frame.squares(phi, GDP(cost.mu * math.sqrt(part))))
        answers = frame.ask(*questions)
        kept = frame.foresight.kept(phi, clip / frame.root_size, frame.dispersion)
        gradient, noise_std = answers[0].value[:, 0] / frame.count, answers[0].noise_std / frame.count
        phi = foreseen(frame, phi, gradient / kept, noise_std / kept, self.looked.label.scale**2)
        return frame.with_squares(questions[-1], answers[1]) if part else frame, phi
