"""The start of a model with one linear predictor: scales of labels, a linear fit, a line search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts import plan as shares
from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.labels import look_again, octaves
from discreet.algorithms.parts.line_search import along, profile, profile_along, relative_noise
from discreet.algorithms.parts.looks import Columns, Question, columns_question, moved
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.parts.start import start
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.exposure import offset_of
from discreet.algorithms.steps.first_look import Scaling, look_twice
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.whitening import LabelScale, Whitening, whiten_labels
from discreet.privacy import GDP
from discreet.rows import ExposureSum, Floats, Source


@dataclass(frozen=True, eq=False)
class OnePredictor:
    """What a look at the rows tells, and how the model starts from there."""

    source: Source
    model: GlmModel
    plan: Plan
    scaling: Scaling
    label: LabelScale
    columns: Columns
    # The share of the budget that a second look at labels cost.
    spent: float
    # The logarithm of the mean exposure.
    offset: float

    @classmethod
    def look(cls, source: Source, model: GlmModel, plan: Plan, x_radius: float) -> OnePredictor:
        """Number of rows, location of x and y, mean exposure: one pass."""
        more = columns_question(model.width, plan)
        histogram = octaves(model)
        if histogram is not None:
            more.append((histogram, plan.part(shares.OCTAVES)))
        if model.exposure is not None:
            more.append((ExposureSum(model.exposure[1]), plan.part(shares.EXPOSURE)))
        cost, share = plan.part(shares.LOOK), shares.LABEL_SHARE
        scaling, rest = look_twice(source, cost, model.width, x_radius, label_share=share, more=more)
        columns, answers = Columns.read(model, scaling, rest)
        counts = None if histogram is None else answers.pop(0)
        scaling, label, spent = look_again(source, model, plan, x_radius, scaling, counts)
        offset = 0.0 if model.exposure is None else offset_of(answers.pop(0), model.exposure, scaling.count)
        return cls(source, model, plan, scaling, label, columns, spent, offset)

    @property
    def last_search(self) -> float:
        """The share of a search along the last predictor, if noise will hide the curvature."""
        model, plan, label, count = self.model, self.plan, self.label, self.scaling.count
        query = profile_along(model, np.zeros(model.width + 1), label)
        noise_std = self.source.noise_std(query, plan.part(shares.LAST_SEARCH))
        foresight = Foresight(model, True, self.offset)
        level = foresight.constant_for(model.sensible_mean(label.centre), np.zeros(1))
        unit = 1.0 if plan.curved else label.scale
        noise = relative_noise(query, noise_std, unit * count * foresight.slope(np.array([level, 0.0])))
        return shares.LAST_SEARCH if plan.searches_last(noise, plan.curvature_edge(count, moved(self.source))) else 0.0

    def whitened(
        self, coordinates: Coordinates, share: float, rounds: int, length: float, *, narrow: bool, typical: bool
    ) -> tuple[Whitening, Frame, Floats]:
        """White coordinates, and a start that corresponds to the linear fit in them; ``narrow``:
        whether more rounds follow for columns that are narrow within their bounds.
        """
        source, label, columns = self.source, self.label, self.columns
        linear = whiten_labels(
            source,
            self.plan.part(share),
            rounds,
            coordinates,
            label,
            length,
            self.scaling.count,
            columns.spread_out if narrow else None,
            columns.rare,
            typical,
        )
        return linear.white, *start(source, self.model, label, linear, self.offset, self.scaling.count)

    def line_searched(self, frame: Frame, phi: Floats, cost: GDP, step_noise: float) -> tuple[Frame, Floats] | None:
        """The point that a line search finds; None if none is done.

        It does not pay if a gradient of the same cost has less noise: that finds the direction as
        well. With two classes it is always the safer one: a group may have only one class.
        """
        plan, label = self.plan, self.label
        if not plan.curved or not np.any(phi[frame.constants :]):  # there is no direction
            return None
        query = profile(frame, phi, label)
        slope = frame.count * frame.foresight.slope(phi)
        noise = relative_noise(query, self.source.noise_std(query, cost), slope)
        quieter = self.model.family.label_free or noise <= step_noise
        if not (plan.searches(noise) and quieter):
            return None
        # The mean of clipped skewed scores depends on the dispersion, which a linear fit of
        # clipped labels misses.
        squares = shares.EARLY_DISPERSION if plan.dispersion else 0.0
        questions: list[Question] = [(query, plan.part(shares.WARM_UP - squares))]
        if squares:
            questions.append(frame.squares(phi, plan.part(squares)))
        answer, *rest = frame.ask(*questions)
        phi = along(frame, phi, query, answer, label)
        return frame.with_squares(questions[-1], rest[0]) if rest else frame, phi

    def constants(self, frame: Frame, phi: Floats) -> tuple[Floats, float]:
        """The constant that gives the mean label with phi's slopes, and its noise variance."""
        eta = frame.foresight.constant_for(self.model.sensible_mean(self.label.centre), phi[1:])
        slope = max(float(self.model.link.slope(eta + self.offset)), 1e-12)
        return np.array([eta]), (self.label.noise_std / slope) ** 2
