"""Linear models from one noisy second moment: a cheap first look to centre and
scale, then one release.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.algorithms.steps.first_look import XScaling, first_look
from discreet.algorithms.steps.second_moment import plan_moment
from discreet.privacy import Budget
from discreet.rows import Answer, RowsUsed, SecondMoment, Source

# The share of mu^2 for the first look: at x and y, and at y alone if public rows give x.
FIRST_LOOK_SHARE = 0.12
LABEL_LOOK_SHARE = 0.04


@dataclass(frozen=True)
class MomentRelease:
    """The released second moment of the row (weight_1, u, weight_y v), and the
    query that defines u and v.
    """

    query: SecondMoment
    answer: Answer
    used: RowsUsed


def release_moments(
    source: Source, budget: Budget, *, width: int, x_radius: float, known: XScaling | None = None
) -> MomentRelease:
    """The second moment of (1, x, y), released once; ``known``: x's centre
    and scale from public rows.

    Privacy: two sums; their joint cost is the budget.
    """
    share = FIRST_LOOK_SHARE if known is None else LABEL_LOOK_SHARE
    first, second = budget.split([share, 1 - share])
    scaling = first_look(source, first, width, x_radius, known)
    query = plan_moment(source, second, x_radius, scaling)
    return MomentRelease(query, source.sum(query, second), scaling.used(source.public_rows))
