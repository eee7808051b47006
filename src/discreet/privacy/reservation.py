"""The total cost of a fit, decided before a row is read, and what its releases have left of it.

A reservation is a list of costs: Gaussian ones, which count as one, and others one by one
(a minimised objective, a shuffled pass). Whatever is drawn from it, the releases together
cost no more than the list:

* A release with a finite mu is drawn from the Gaussian part, in exact fractions of mu^2, and
  refused if the sum would exceed it. A release of finite mu is dominated by Gaussian noise of that
  mu. Releases that are mu-GDP and whose mu^2 stay within a bound that was fixed beforehand are
  together GDP with that bound, even if each mu depends on earlier answers (Smith and Thakurta,
  "Fully adaptive composition for Gaussian differential privacy", 2022).
* Picks may count on later releases (``Repeated.followed_by``), and are granted only if as much is
  left after them. Later releases draw on it or do not: in either case they are dominated by
  Gaussian noise of the mu that is left, before which the picks add at most their own mu^2
  (docs/papers/cost_sparse.md).
* Any other release takes the place of one reserved cost, which is equal to it, or is an
  (epsilon, delta) with neither number smaller. So the trade-off curve of the release is
  nowhere below the reserved one.
* Composition is monotone: releases that are each no worse than their place in a list are
  together no worse than the list.

Shares of a budget are rounded, so their squares may exceed the total by 1e-16. A release
that asks for slightly more than is left gets what is left: its noise is then slightly
larger, and the sum is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from discreet.errors import BudgetError
from discreet.privacy.repeated import Repeated
from discreet.privacy.squares import root_below, sum_of_squares
from discreet.privacy.units import GDP, Approximate, Pure, Unit

U = TypeVar("U", bound=Unit)

# How far a request may exceed what is left, relative to its own mu^2: far more than the rounding of
# shares, and far less than is visible in the noise.
_TOLERANCE = Fraction(1, 10**9)


class Reservation:
    """Costs that were charged together, and what is left of them."""

    def __init__(self, costs: Sequence[Unit], within: Reservation | None = None) -> None:
        """``within``: the reservation of which this one is a part; what it has left comes later."""
        self.costs = tuple(costs)
        self._within = within
        self._square = sum_of_squares(cost for cost in costs if isinstance(cost, GDP))
        self._others = [cost for cost in costs if not isinstance(cost, GDP)]

    @property
    def left(self) -> GDP:
        """The largest Gaussian release that fits."""
        return GDP(root_below(self._square))

    def grant(self, costs: Sequence[U]) -> list[U]:
        """The costs at which these releases may be made, one after another; nothing is drawn.

        As asked, or slightly less if slightly less is left. Raises
        BudgetError if there is not enough.
        """
        trial = copy(self)
        trial._others = list(self._others)
        granted: list[U] = []
        for cost in costs:
            granted.append(trial._granted(cost))
            trial.draw(granted[-1])
        return granted

    def _granted(self, cost: U) -> U:
        if self._place(cost) is not None:
            return cost
        if math.isfinite(cost.mu):
            square = Fraction(cost.mu) ** 2
            self._check_left_after(cost, square)
            if square <= self._square:
                return cost
            if square * (1 - _TOLERANCE) <= self._square:
                return _within(cost, self.left.mu)
        raise BudgetError(
            f"a release of mu {cost.mu:.6g} was asked for, but {self.left.mu:.6g} is left of what was reserved; "
            "it was not made"
        )

    def _check_left_after(self, cost: Unit, square: Fraction) -> None:
        """Refuse picks that count on more than is left for later releases."""
        later = cost.followed_by if isinstance(cost, Repeated) else 0.0
        left = max(self._square - square, Fraction(0)) + (self._within._square if self._within else 0)
        if Fraction(later) ** 2 > left:
            raise BudgetError(
                f"picks that count on later releases of mu {later:.6g} were asked for, but {root_below(left):.6g} "
                "would be left for these; they were not made"
            )

    def draw(self, cost: Unit) -> None:
        """Take a cost that ``grant`` returned."""
        if self._granted(cost) != cost:
            raise BudgetError(f"a release must be drawn at the cost that was granted, got mu {cost.mu!r}")
        place = self._place(cost)
        if place is not None:
            del self._others[place]
        else:
            self._square -= Fraction(cost.mu) ** 2

    def _place(self, cost: Unit) -> int | None:
        """The index of the other reserved cost whose place this one can take."""
        return next((i for i, reserved in enumerate(self._others) if _covers(reserved, cost)), None)


def _covers(reserved: Unit, cost: Unit) -> bool:
    if isinstance(reserved, Approximate) and isinstance(cost, Approximate):
        return cost.parameter <= reserved.parameter and cost.slack <= reserved.slack
    return reserved == cost


def _within(cost: U, mu: float) -> U:
    """The same kind of cost with at most this mu, which is slightly below its own."""
    smaller: Unit = GDP(mu) if isinstance(cost, GDP) else cost
    while smaller.mu > mu:  # mu is nearly proportional to epsilon: a few rounds
        smaller = _scaled(smaller, mu / smaller.mu * (1 - 1e-13))
    return smaller  # type: ignore[return-value]


def _scaled(cost: Unit, factor: float) -> Unit:
    if isinstance(cost, Repeated):
        return replace(cost, each=replace(cost.each, parameter=cost.each.parameter * factor))
    if isinstance(cost, Pure):
        return replace(cost, parameter=cost.parameter * factor)
    raise BudgetError(f"{cost} cannot be made slightly smaller")
