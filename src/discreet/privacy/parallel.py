"""Parallel composition: questions to disjoint parts of the rows are paid for once.

Parts are fixed by the rows' positions, and one record is replaced by another, so the record stands in one part only.
Given all earlier answers, the answers from every other part have the same distribution before and after the change:
they add nothing, and the whole costs what the dearest part costs. Where rows can be added or removed, positions shift
and a row's part would change with its neighbours' presence; there, and where one person may have rows in several
parts, this is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.errors import BudgetError
from discreet.privacy.reservation import Reservation
from discreet.privacy.units import GDP, Unit


@dataclass(frozen=True)
class Split:
    """One division of the rows into disjoint parts, numbered within its guarantee.

    ``cost`` is what all answers from all parts cost together, ``each`` what one part's answers may cost. The two are
    the same unless the rows were first put into a secret random order, which makes ``cost`` smaller than ``each``.
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
    """What was asked of one part so far: never more than ``each`` allows, and of a shuffled part one answer.

    A shuffled row must be asked once: the theorem is about randomizers that see their record one time.
    """

    def __init__(self, split: Split) -> None:
        self._split = split
        self._reservation = Reservation([split.each])
        self._answers = 0

    def spend(self, cost: GDP) -> GDP:
        """What an answer that asks for this much is made at: a hair less at the end, where a hair less is left."""
        try:
            if self._split.shuffled and self._answers:
                raise BudgetError
            (granted,) = self._reservation.grant([cost])
        except BudgetError as error:
            raise ValueError(
                f"one part of the rows may cost mu {self._split.each.mu:.6g} in all"
                f"{', in one answer' if self._split.shuffled else ''}; an answer of mu {cost.mu:.6g} is too much after "
                f"{self._answers} others"
            ) from error
        self._reservation.draw(granted)
        self._answers += 1
        return GDP(granted.mu)
