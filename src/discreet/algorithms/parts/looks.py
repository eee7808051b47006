"""What a histogram of each column tells, asked beside the first look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.steps.columns import column_histograms, rare_columns, spread_out
from discreet.algorithms.steps.first_look import Scaling
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.levels import categories
from discreet.algorithms.steps.rare import RareColumns
from discreet.privacy import GDP
from discreet.rows import Answer, Floats, Query, Source

Question = tuple[Query, GDP]


@dataclass(frozen=True, eq=False)
class Columns:
    """By how many standard deviations of the noise each column is seen to be wide, and which may be
    indicators of rare categories.
    """

    spread_out: Floats
    rare: RareColumns | None

    @classmethod
    def read(cls, model: GlmModel, scaling: Scaling, answers: Sequence[Answer]) -> tuple[Columns, list[Answer]]:
        """From the answer to ``columns_question``; and the answers after it."""
        width = model.width
        if not width:
            return cls(np.zeros(0), None), list(answers)
        query, (answer, *others), count = column_histograms(width), answers, scaling.seen_count
        wide = spread_out(query, answer, count, scaling.count_noise_std)
        declared = categories(model.categories, scaling.x_mean, scaling.x_noise_std)
        for one in declared:
            wide[one.places] = np.hypot(wide[one.places], one.clear[1:])
        return cls(wide, rare_columns(query, answer, count, scaling.x_centre, declared)), others


def columns_question(width: int, plan: Plan) -> list[Question]:
    """Where the rows of each column lie."""
    return [(column_histograms(width), plan.part(plan.columns))] if width else []


def moved(source: Source) -> float:
    """The sensitivity of a sum of unit vectors."""
    return 1.0 if source.public_rows is None else 2.0
