"""The plan of an index model's budget: its approach is a filter of many small gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from discreet.algorithms.parts.plan import FIRST, HISTOGRAM, LENGTHS, LOOK, SECOND, Plan
from discreet.privacy import GDP

# Shares of mu^2 that differ from parts/plan.py: many small steps need white coordinates.
WHITENING, _CURVATURE, _MOMENT = 0.22, 0.03, 0.02
_GRADIENTS = 2  # the last ones
# The filter's steps, the number of GLMtron steps among them, and its part of the budget for
# gradients. If noise hides the curvature, no single step leads far, and many small ones predict
# best.
_FILTER, _HIDDEN_FILTER = (9, 6, 0.7), (11, 6, 0.85)
# Rows are whitened, and the curvature decides steps, if noise moves eigenvalues by less than these
# multiples of them; the second is that of a moment with this share.
_MOST_EDGE, _HIDDEN_EDGE, _EDGE_SHARE = 1.5, 0.3, 0.07


@dataclass(frozen=True)
class IndexPlan(Plan):
    """The same for single-index models, whose approach is a filter of many small gradients."""

    # How far noise moves the eigenvalues of a second moment with a twentieth of the budget, and
    # what that allows.
    edge: float = 1.0
    whitens: bool = True

    def for_rows(self, count: float, *, public: bool) -> IndexPlan:
        """With a (noisy) number of rows; ``public``: whether public rows tell the coordinates."""
        width = max(self.size - 1, 1)
        edge = 3.2 * width * math.sqrt(2 * width) / (self.budget.mu * max(count, 1.0))
        whitens = not public and edge / math.sqrt(WHITENING) < _MOST_EDGE
        return replace(self, edge=edge / math.sqrt(_EDGE_SHARE), whitens=whitens)

    @property
    def _filter(self) -> tuple[int, int, float]:
        """The number of steps, how many of them are GLMtron's, and their part of the budget for
        gradients.
        """
        return _HIDDEN_FILTER if self.hidden else _FILTER

    @property
    def steps(self) -> int:
        return self._filter[0]

    @property
    def trons(self) -> int:
        return self._filter[1]

    @property
    def filter_step(self) -> GDP:
        """The cost of one of the filter's steps."""
        steps, _, share = self._filter
        return self.part(share / steps * (1 - self.early))

    def last_steps(self, rough: bool, filtered: bool = False) -> tuple[int, float, float]:
        if self.hidden:
            return 1, 1.0, SECOND
        return super().last_steps(rough) if self.nominal else (_GRADIENTS, FIRST, SECOND)

    @property
    def rehearses(self) -> bool:
        return False

    @property
    def hidden(self) -> bool:
        """Whether noise hides the curvature: then it decides no step, and makes standard errors
        wide.
        """
        return self.edge >= _HIDDEN_EDGE

    @property
    def curvature(self) -> GDP:
        return self.part(_CURVATURE)

    @property
    def asks_dispersion(self) -> bool:
        return False  # the filter has seen it on the way

    @property
    def moment(self) -> GDP:
        return self.part(_MOMENT)

    @property
    def early(self) -> float:
        matrices = (1 if self.hidden else 2) * _CURVATURE + _MOMENT
        whitening = WHITENING if self.whitens else 0.0
        return LOOK + whitening + HISTOGRAM + LENGTHS + self.last_dispersion + matrices

    def gradients(self, share: float, warm_up_steps: int, saved: float = 0.0) -> GDP:
        return self.part(share * (1 - self._filter[2]) * (1 - self.early + saved))
