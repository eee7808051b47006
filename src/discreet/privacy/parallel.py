"""Parallel composition: queries to disjoint parts of the rows are charged once.

Parts are determined by the rows' positions, and neighbours replace one record by another, so
the record is in one part only. Given all earlier answers, the answers from every other part
have the same distribution before and after the change. They add nothing, and the whole costs as
much as the most expensive part. If rows can be added or removed, positions shift, and a row's
part depends on the presence of other rows; this is refused. It is also refused if one person
may have rows in several parts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.errors import BudgetError
from discreet.privacy.reservation import Reservation
from discreet.privacy.units import GDP, Unit


@dataclass(frozen=True)
class Split:
    """One division of the rows into disjoint parts, numbered within its guarantee.

    ``cost`` is the joint cost of all answers from all parts, ``each`` the largest cost of one
    part's answers. The two are equal unless the rows were first put into a secret random order,
    which makes ``cost`` smaller than ``each``.
    """

    number: int
    parts: int
    cost: Unit
    each: GDP
    shuffled: bool = False

    def renumbered(self, number: int) -> Split:
        return replace(self, number=number)

    def __str__(self) -> str:
        order = "in secret order, " if self.shuffled else ""
        return f"{self.parts} disjoint parts, {order}at most mu {self.each.mu:.4g} each"


class Spending:
    """The spending of one part: at most ``each``."""

    def __init__(self, split: Split) -> None:
        self._split = split
        self._reservation = Reservation([split.each])
        self._answers = 0

    def spend(self, cost: GDP) -> GDP:
        """The cost at which an answer is made: as asked, or slightly less if
        slightly less is left.
        """
        try:
            (granted,) = self._reservation.grant([cost])
        except BudgetError as error:
            raise ValueError(
                f"one part of the rows may cost mu {self._split.each.mu:.6g} in all; an answer of mu {cost.mu:.6g} is "
                f"too much after {self._answers} others"
            ) from error
        self._reservation.draw(granted)
        self._answers += 1
        return GDP(granted.mu)
