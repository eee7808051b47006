"""The shares of a descent's budget: every constant, with its reason, in one table.

Quantities that depend on the rows (clip norms, levels, the number of warm-up steps) are not here.
They are predicted from released quantities, by the functions that ``discreet plan`` uses
(parts/sizes.py). The shares were chosen on simulated designs alone: normal, skewed and heavy-tailed
columns, condition 1 to 10,000, rates of 2 to 50 %, 500 to 200,000 rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from discreet.privacy import GDP, Budget

# Shares of mu^2; shares of queries that a model does not need go to the last gradients.
LOOK = 0.05  # location of x and y: errors of a tenth of a standard deviation are corrected later
EXPOSURE = 0.01  # one number
OCTAVES = 0.01  # a histogram of labels
PUBLIC = 0.02  # whether public and private rows are alike, and which of their fits is better
WHITENING = 0.13  # noise here makes coordinates less white; below 0.1 the starts were too poor
WARM_UP = 0.08  # steps to a point with the right curvature
EARLY_DISPERSION = 0.02  # part of WARM_UP, for one number
LAST_SEARCH = 0.04  # counts and sums of labels, if noise hides the curvature
HISTOGRAM = 0.015  # counts, whose noise is far below that of gradients
LENGTHS = 0.005  # counts as well, and less depends on them
LAST_DISPERSION = 0.01  # one number, without the misfit of the start
DISPERSION = 0.02  # one number, on which the mean of clipped skewed scores depends
CURVATURE = 0.04  # a matrix, for the last steps and standard errors; twice for a curved link
MOMENT = 0.03  # a matrix, for the standard errors only
MEAN = 0.05  # one number, if scores are clipped: the constant of skewed labels
CLIPPED = 0.03  # of the last gradients: clipped rows by direction, twice; counts have little noise
DIRECTED = 0.05  # one number, if more rows are clipped in one direction: the slope along it
FIRST = 1 / 4  # of the rest: the first of the last gradients, farthest from the optimum
SECOND = 1 / 3  # of the rest then: the second one, if a third is needed
# Gradients at the end: two, and a third one if it is needed and keeps a fit within eight passes.
# More would leave less for the last one, which is the most precise. A budget above this mu protects
# nobody, and more passes are spent on accuracy: more gradients, and for a curved link all of the
# last steps twice, the first time with this part of the budget, to find a better point. Gradients
# have little noise then, and standard errors get a larger share.
_PASSES, _LEAST_GRADIENTS, _GRADIENTS, _NOMINAL_GRADIENTS, _NOMINAL_MU = 8, 2, 3, 12, 10.0
REHEARSAL, _NOMINAL_DISPERSION, _NOMINAL_MOMENT = 0.2, 0.04, 0.15
# If noise hides the classes' part of the curvature, steps must be short, and there are
# more: passes and shares.
_ROUGH_PASSES, _ROUGH_SHARES = 15, (0.1, 0.15)
# The share of the look for y and the number of rows alone.
LABEL_SHARE = 0.25
# If the noise in a mean label is larger than this, in standard deviations of labels, it is measured
# again with at most this share: with labels measured from a wrong centre all scores are clipped,
# and gradients are uninformative.
_LABEL_NOISE, _LABELS = 0.25, 0.3
# A histogram of labels is asked for again if noise hides them: the noise of a count that it needs,
# in all rows, the largest one with which it tells anything, and its largest share.
_OCTAVES_NOISE, _OCTAVES_USELESS, _MOST_OCTAVES = 0.015, 0.03, 0.1
# A histogram of each column shows whether it is narrow within its bounds: the noise of a count that
# it needs, in all rows, and its smallest and largest share. The latter is that of an unknown number
# of rows, too.
_COLUMNS_NOISE, _COLUMNS = 0.06, (0.005, 0.05)
# Rounds of whitening by their predicted noise, relative to the eigenvalues: more rounds reach
# flatter directions, but each has less budget.
_ONE_ROUND, _TWO_ROUNDS = 0.5, 0.05
# Rows are clipped at this multiple of their typical length in second moments, and at
# more as the noise falls.
_LENGTH, _LENGTH_GROWTH, _LONGEST = 0.8, 0.3, 5.0
# Where noise hides the curvature, a filter of cheap gradients (parts/filtered_approach.py) takes
# the place of a start: from this edge of the curvature's noise on, for a straight and for a curved
# link, which has a line search.
_FILTERED, _FILTERED_CURVED = 0.4, 1.0
# The filter's share of what is left of the budget, and of each of its steps that of the squares
# beside the gradient; its clip norm, in typical norms of scores.
FILTER, FILTER_SQUARES, FILTER_CLIP = 1 / 3, 1 / 6, 0.5
# Coordinates matter more for want of a curvature: the share of whitening, and the noise up to which
# it has two rounds. With them the filter takes this many passes; the last one is the histogram's.
FILTER_WHITENING, _FILTER_TWO_ROUNDS, _FILTER_PASSES = 0.2, 2.0, 5
# The clip norm of warm-up gradients, in typical norms of scores.
WARM_UP_CLIP = 1.2
# A line search pays if the noise of its length, in standard deviations of the linear
# predictor, is below this.
_LINE_SEARCH_NOISE = 0.4
# The same for a search along the last predictor, which is done if noise moves the curvature's
# eigenvalues by more than this many times their size.
_LAST_SEARCH_NOISE, _HIDES = 0.25, 2.0
# A warm-up step pays if its noise, in the same unit, is below this.
_WARM_UP_NOISE = 0.5


@dataclass(frozen=True)
class Plan:
    """The costs of all queries, for a number of coefficients and a (noisy) number of rows."""

    budget: Budget
    size: int
    curved: bool
    dispersion: bool
    exposure: bool
    octaves: bool
    public: bool
    # The number of linear predictors per row; there are as many times ``size`` coefficients.
    predictors: int = 1
    # The number of rows, if it is public.
    rows: int | None = None

    def part(self, share: float) -> GDP:
        return self.budget.part(share)

    def reduced(self, part: float) -> Plan:
        """The same with a part of the budget."""
        return replace(self, budget=replace(self.budget, mu=self.budget.mu * math.sqrt(part)))

    def last_steps(self, rough: bool, passes: int) -> tuple[int, float, float]:
        """The largest number of last gradients, the share of the first, and of the
        rest those of the next ones.

        ``rough``: whether only a part of the curvature will be released; ``passes``: all others.
        """
        if self.nominal:
            return _NOMINAL_GRADIENTS, FIRST, SECOND
        if rough:
            return max(_ROUGH_PASSES - passes, _LEAST_GRADIENTS), *_ROUGH_SHARES
        return min(max(_PASSES - passes, _LEAST_GRADIENTS), _GRADIENTS), FIRST, SECOND

    @property
    def nominal(self) -> bool:
        """Whether the budget protects nobody."""
        return self.budget.mu > _NOMINAL_MU

    @property
    def rehearses(self) -> bool:
        """Whether the last steps are done twice, with the curvature at the very last point."""
        return self.nominal and self.curved

    @property
    def curvature(self) -> GDP:
        """The cost of one curvature."""
        return self.part(CURVATURE)

    @property
    def asks_dispersion(self) -> bool:
        """Whether the dispersion is asked for before the last gradients."""
        return self.dispersion

    @property
    def last_dispersion(self) -> float:
        """The share of the last dispersion, which makes all standard errors."""
        return _NOMINAL_DISPERSION if self.nominal else LAST_DISPERSION

    @property
    def moment(self) -> GDP:
        """The cost of the second moment of scores."""
        return self.part(self._moment)

    @property
    def _moment(self) -> float:
        return _NOMINAL_MOMENT if self.nominal else MOMENT

    @property
    def early(self) -> float:
        """The share of everything before the last gradients."""
        asked = (
            (LOOK + self.columns, True),
            (EXPOSURE, self.exposure),
            (OCTAVES, self.octaves),
            (PUBLIC, self.public),
            (WHITENING, True),
            (HISTOGRAM + LENGTHS, True),
            (DISPERSION + self.last_dispersion, self.dispersion),
            (CURVATURE, True),
            (CURVATURE, self.curved),
            (CURVATURE, self.rehearses),
            (self._moment, True),
        )
        return sum(share for share, needed in asked if needed)

    @property
    def columns(self) -> float:
        """The share of a histogram of each column."""
        least, most = _COLUMNS
        if self.rows is None:
            return most
        noise = math.sqrt(2 * self.size) / (self.budget.mu * max(self.rows, 1))
        return min(max((noise / _COLUMNS_NOISE) ** 2, least), most)

    def labels(self, noise: float, relative_noise: float) -> float:
        """The share of a second look at labels; 0 if the first look's noise is small enough.

        ``noise``: of a look at labels with the whole budget; ``relative_noise``: of the first look.
        Both in standard deviations of labels.
        """
        if relative_noise <= _LABEL_NOISE:
            return 0.0
        return min((noise / _LABEL_NOISE) ** 2, _LABELS)

    def octaves_again(self, noise: float) -> float:
        """The share of a second histogram of labels; 0 if it would tell nothing.

        ``noise``: that of a count with the whole budget, in all rows.
        """
        share = min((noise / _OCTAVES_NOISE) ** 2, _MOST_OCTAVES)
        return share if noise <= _OCTAVES_USELESS * math.sqrt(share) else 0.0

    def gradients(self, share: float, warm_up_steps: int, saved: float = 0.0) -> GDP:
        """The cost of a share of the last gradients, which get the rest of the
        budget and what was saved.
        """
        left = 1 - self.early + saved - (WARM_UP if warm_up_steps else 0.0)
        return self.part(share * left)

    def _noise(self, count: float, moved: float) -> float:
        """The noise of a second moment of whole rows with a fifth of the budget,
        relative to its eigenvalues.
        """
        reach = math.sqrt(moved) * 2.25 * self.size
        return reach * math.sqrt(2 * self.size) / (math.sqrt(0.2) * self.budget.mu * count)

    def filters(self, count: float, moved: float) -> bool:
        """Whether noise will hide the curvature, so that a filter of cheap gradients is better."""
        edge = self.curvature_edge(count, moved)
        return not self.nominal and edge > (_FILTERED_CURVED if self.curved else _FILTERED)

    def filter_steps(self, passes: int) -> int:
        """The filter's gradients; ``passes``: those of whitening and second looks."""
        return max(_FILTER_PASSES - passes, 1)

    def rounds(self, count: float, moved: float, *, filtered: bool = False) -> int:
        """Rounds of whitening; ``moved``: the sensitivity of a sum of unit vectors."""
        noise = self._noise(count, moved)
        if filtered:
            return 1 if noise > _FILTER_TWO_ROUNDS else 2
        most = 2 if self.curved else 3  # a line search is a pass as well
        return 1 if noise > _ONE_ROUND else 2 if noise > _TWO_ROUNDS else most

    def row_length(self, count: float, moved: float) -> float:
        """The clip of rows in second moments."""
        growth = (self.budget.mu * count / (100 * self.size * moved)) ** _LENGTH_GROWTH
        return float(_LENGTH * min(_LONGEST, max(1.0, growth)) * math.sqrt(self.size))

    def searches(self, noise: float) -> bool:
        """Whether a line search pays; ``noise``: of its length, in standard deviations of eta."""
        return noise <= _LINE_SEARCH_NOISE

    def searches_last(self, noise: float, doubt: float) -> bool:
        """Whether to search along the last predictor; ``doubt``: how far noise moves the
        curvature's eigenvalues, relative to them.
        """
        single = self.predictors == 1 and not self.nominal
        return single and noise <= _LAST_SEARCH_NOISE and doubt > _HIDES

    def warm_up_steps(self, rounds: int, step_noise: float) -> int:
        """0 if a step would be noise, if the number of passes is near eight, or if a
        linear fit is exact; else 1.

        ``step_noise``: of a step, in standard deviations of eta or, for the
        identity link, of the residuals.
        """
        exact = not self.curved and rounds == 1
        return int(step_noise <= _WARM_UP_NOISE and rounds < 3 and not exact)

    def curvature_edge(self, count: float, moved: float) -> float:
        """How far noise moves a curvature's eigenvalues, relative to them, if rows are
        clipped at typical length.
        """
        edge = math.sqrt(moved) * self.size * math.sqrt(2 * self.size) / (self.curvature.mu * count)
        return self.predictors * edge
