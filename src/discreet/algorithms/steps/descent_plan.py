"""How a gradient descent shares its budget, and how far it cuts, by public quantities alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from discreet.privacy import GDP, Budget
from discreet.rows import Source

_SHARES = ("whitening", "start", "warm_up", "curvature", "descent", "mixture")
_LEAST_MIXTURE, _MOST_MIXTURE = 0.12, 0.5
_EASY = 10.0
_MOST_GROWTH = 5.0


@dataclass(frozen=True)
class DescentPlan:
    """Shares of mu^2, numbers of steps and rounds, and bounds in units of what is typical.

    ``radius`` and the clips are multiples of sqrt(size), the typical length of a white row. ``clip`` is for scores that
    a cut can bias, ``corrected_clip`` for those that are given back what the cut takes, ``binary_clip`` for two labels.
    """

    ease: float
    whitening: float
    rounds: int
    start: float
    warm_up: float
    warm_up_steps: int
    curvature: float
    descent: float
    steps: int
    step: float
    radius: float
    moment_radius: float
    clip: float
    corrected_clip: float
    binary_clip: float
    slope_norm: float
    mixture: float = 0.0

    @property
    def caution(self) -> float:
        """What the noise's variance is multiplied by where it is large: clipped scores pull back less from far out."""
        return 1 + (4 / max(self.ease, 1e-3)) ** 2

    @property
    def sees_slopes(self) -> bool:
        """Below an ease of 2 noise in all directions would add more to the loss than any model could take from it."""
        return self.ease >= 2

    @staticmethod
    def look_share(x_is_known: bool) -> float:
        return 0.03 if x_is_known else 0.08

    @classmethod
    def of(
        cls,
        source: Source,
        budget: Budget | GDP,
        count: float,
        size: int,
        steps: int | None,
        *,
        two_starts: bool = False,
    ) -> DescentPlan:
        """The plan for so many rows and coefficients.

        ``ease`` is how many noise standard deviations one typical row is, summed over all rows, per coefficient: the
        squared relative noise of the fit is about 1 / ease^2.
        """
        halved = 2.0 if source.public_rows is not None else 1.0
        ease = budget.mu * count / (size * halved)
        # The noise in a second moment that takes a fifth of the budget, in units of its eigenvalues.
        blur = 2.25 * size * math.sqrt(2 * size) * math.sqrt(halved) / (math.sqrt(0.2) * budget.mu * count)
        # In proportion to ease the noise stays at about a thousandth of the loss; beyond that, both fall together.
        # Rows ten times as long as usual and scores 25 times as large are cut at any budget: room for more would only
        # be filled by noise, above all in the curvature.
        growth = min(_MOST_GROWTH, ease / 200 if ease < 300 else 1.5 * math.sqrt(ease / 300))
        radius, moment_radius = max(0.8, 2 * growth), 0.8 * min(_MOST_GROWTH, max(1.0, (ease / 100) ** 0.3))
        least_clip = max(0.5, min(0.7, ease / 15))
        plan = cls(
            ease=ease,
            whitening=0.2,
            rounds=1 if blur > 0.5 else 2 if blur > 0.05 else 3,
            start=0.0,
            warm_up=0.15,
            warm_up_steps=5,
            curvature=0.1,
            descent=0.55,
            steps=10,
            step=0.6,
            radius=radius,
            moment_radius=moment_radius,
            # Where noise is most of the error a score's sign is worth more than its size. A cut that biases is lifted
            # sooner: a skewed error that is cut at its standard deviation costs more than the noise that this saves.
            clip=max(least_clip, min(ease / 30, 7.5 * math.sqrt(ease / 300), 5 * _MOST_GROWTH)),
            corrected_clip=max(least_clip, 5 * growth),
            binary_clip=max(0.25, min(0.5, ease / 50), growth),
            # Steps are only as safe as the curvature is complete: far rows that pull must be seen there, too.
            slope_norm=max(1.5, 0.75 * radius / moment_radius),
        )
        if blur > 2:  # little is to be seen of the curvature: spend on the descent, and tread softly
            plan = replace(plan, warm_up_steps=4, curvature=0.05, descent=0.6, steps=6, step=0.4)
        if two_starts:
            plan = replace(plan, start=0.05, warm_up=plan.warm_up - 0.05)
        if steps is not None:
            early = max(1, steps // 3)
            plan = replace(plan, warm_up_steps=early, steps=max(1, steps - early))
        return plan

    def mixing(self) -> DescentPlan:
        """The same plan with a share for the mixture of candidates at the end: the more, the less a descent can see.

        Beyond an ease of 10 noise is a hundredth of the loss, and to shrink by its known size costs nothing.
        """
        if self.ease > _EASY:
            return self
        share = min(_MOST_MIXTURE, max(_LEAST_MIXTURE, 1 / max(self.ease, 1.0)))
        return replace(self.within(1 - share), mixture=share)

    def within(self, share: float) -> DescentPlan:
        """The same plan with a part of the budget."""
        return replace(self, **{name: getattr(self, name) * share for name in _SHARES})
