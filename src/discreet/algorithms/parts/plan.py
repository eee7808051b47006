"""How a descent shares its budget: every constant of it, with its reason, in one table.

What depends on the rows (clip norms, levels, the number of warm-up steps) is not here but predicted from released
quantities, by the same functions that ``discreet plan`` asks (parts/sizes.py). The shares were chosen on simulated
designs alone: normal, skewed and heavy-tailed columns, condition 1 to 10,000, rates of 2 to 50 %, 500 to 200,000 rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.privacy import GDP, Budget

# Shares of mu^2, before those of questions that a model does not need go to the last gradients.
LOOK = 0.05  # where x and y lie: errors of a tenth of a standard deviation are mended later
EXPOSURE = 0.01  # one number
OCTAVES = 0.01  # a histogram of labels
PUBLIC = 0.02  # whether public rows lie where private ones do, and whether their fit is nearer than the linear one
WHITENING = 0.13  # noise here only makes coordinates less white; below a tenth it made starts too poor
WARM_UP = 0.08  # steps towards a point where the curvature is the right one
EARLY_DISPERSION = 0.02  # of that, for one number
HISTOGRAM = 0.015  # counts, whose noise is far below that of gradients
LENGTHS = 0.005  # the same, and less depends on it
LAST_DISPERSION = 0.01  # the same again, where the misfit of the start is gone
DISPERSION = 0.02  # one number, on which the mean of clipped skewed scores depends
CURVATURE = 0.04  # a matrix, which decides the last steps and the standard errors; twice where the link is curved
MOMENT = 0.03  # a matrix, for the standard errors only
FIRST = 1 / 4  # of what is left: the first of the last gradients, taken farther from the optimum than the others
SECOND = 1 / 3  # of what is left then: the second one, where a third is needed
# Gradients at the end: three keep a fit within eight passes. A budget of this mu protects nobody, and passes are spent
# on exactness.
_GRADIENTS, _NOMINAL_GRADIENTS, _NOMINAL_MU = 3, 12, 10.0
# Where noise hides how classes make up the curvature, steps must be short, and there are more: number and shares.
_ROUGH_STEPS = 10, 0.1, 0.15
# Of the look, what a look at y and the number of rows alone gets.
LABEL_SHARE = 0.25
# A mean label that the look leaves more uncertain than this, in standard deviations of labels, is looked at again, with
# at most this share: scores of labels measured from a wrong centre are all clipped, and gradients see little of them.
_LABEL_NOISE, _LABELS = 0.25, 0.3
# Rounds of whitening by their predicted noise, in units of the eigenvalues sought: more rounds reach flatter directions
# but each has less budget.
_ONE_ROUND, _TWO_ROUNDS = 0.5, 0.05
# Rows are shortened to this multiple of their typical length in second moments, and to more as noise falls.
_LENGTH, _LENGTH_GROWTH, _LONGEST = 0.8, 0.3, 5.0
# Clip norm of warm-up gradients, in typical norms of scores.
WARM_UP_CLIP = 1.2
# A line search pays if the noise of the length it finds, in standard deviations of the linear predictor, is below this.
_LINE_SEARCH_NOISE = 0.1
# A warm-up step pays if its noise, in the same unit, is below this.
_WARM_UP_NOISE = 0.5


@dataclass(frozen=True)
class Plan:
    """Costs of every question, for a model of so many coefficients and a (noisy) number of rows."""

    budget: Budget
    size: int
    curved: bool
    dispersion: bool
    exposure: bool
    octaves: bool
    public: bool
    # How many linear predictors a row has; there are as many times ``size`` coefficients.
    predictors: int = 1

    def part(self, share: float) -> GDP:
        return GDP(self.budget.mu * math.sqrt(share) * (1 - 1e-14))

    def last_steps(self, rough: bool) -> tuple[int, float, float]:
        """How many gradients there are at the end at most, the first one's share, and of what is left the next ones'.

        ``rough``: whether only a part of the curvature will be released.
        """
        if self.budget.mu > _NOMINAL_MU:
            return _NOMINAL_GRADIENTS, FIRST, SECOND
        return _ROUGH_STEPS if rough else (_GRADIENTS, FIRST, SECOND)

    @property
    def curvature(self) -> GDP:
        """The cost of one curvature."""
        return self.part(CURVATURE)

    @property
    def early(self) -> float:
        """The share of everything before the last gradients."""
        asked = (
            (LOOK, True),
            (EXPOSURE, self.exposure),
            (OCTAVES, self.octaves),
            (PUBLIC, self.public),
            (WHITENING, True),
            (HISTOGRAM + LENGTHS, True),
            (DISPERSION + LAST_DISPERSION, self.dispersion),
            (CURVATURE, True),
            (CURVATURE, self.curved),
            (MOMENT, True),
        )
        return sum(share for share, needed in asked if needed)

    def labels(self, noise: float, relative_noise: float) -> float:
        """The share of a second look at labels, whose mean the first leaves with this noise; 0 if it knows enough.

        ``noise``: of a look at labels that has the whole budget; ``relative_noise``: that of the first look. Both in
        standard deviations of labels.
        """
        if relative_noise <= _LABEL_NOISE:
            return 0.0
        return min((noise / _LABEL_NOISE) ** 2, _LABELS)

    def gradients(self, share: float, warm_up_steps: int, saved: float = 0.0) -> GDP:
        """The cost of a part of the last gradients, which get all that is left, and what earlier steps have saved."""
        left = 1 - self.early + saved - (WARM_UP if warm_up_steps else 0.0)
        return self.part(share * left)

    def _noise(self, count: float, moved: float) -> float:
        """The noise of a second moment of whole rows that has a fifth of the budget, in units of its eigenvalues."""
        reach = math.sqrt(moved) * 2.25 * self.size
        return reach * math.sqrt(2 * self.size) / (math.sqrt(0.2) * self.budget.mu * count)

    def rounds(self, count: float, moved: float) -> int:
        """Rounds of whitening; ``moved``: how far one person moves a sum of unit vectors."""
        noise = self._noise(count, moved)
        most = 2 if self.curved else 3  # a line search is a pass, too
        return 1 if noise > _ONE_ROUND else 2 if noise > _TWO_ROUNDS else most

    def row_length(self, count: float, moved: float) -> float:
        """What rows are shortened to in second moments."""
        growth = (self.budget.mu * count / (100 * self.size * moved)) ** _LENGTH_GROWTH
        return float(_LENGTH * min(_LONGEST, max(1.0, growth)) * math.sqrt(self.size))

    def searches(self, noise: float) -> bool:
        """Whether a line search pays; ``noise``: of the length that it would find, in standard deviations of eta."""
        return noise <= _LINE_SEARCH_NOISE

    def warm_up_steps(self, rounds: int, step_noise: float) -> int:
        """None where a step would be noise, after so many passes that eight are near, or where a linear fit is exact.

        ``step_noise``: of a step, in standard deviations of eta or, where the link is straight, of labels about it.
        """
        exact = not self.curved and rounds == 1
        return int(step_noise <= _WARM_UP_NOISE and rounds < 3 and not exact)

    def curvature_edge(self, count: float, moved: float) -> float:
        """How far noise moves a curvature's eigenvalues, relative to them, if rows are cut at their typical length."""
        edge = math.sqrt(moved) * self.size * math.sqrt(2 * self.size) / (self.curvature.mu * count)
        return self.predictors * edge
