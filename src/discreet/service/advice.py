"""Which effects a number of reports can show: one line for the decision how long to collect."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from discreet.service.numbers import rough
from discreet.service.snapshot import Coefficient

_MOST = 10_000_000_000  # number of reports: more than the world's population


def advice(
    effects: Sequence[Coefficient],
    half_width: Callable[[int], float],
    *,
    goal: int,
    counted: int,
    closed: bool,
) -> str:
    """One or two sentences.

    effects: those of the newest fit, over half of each feature's range; empty before the first fit.
    half_width: the typical 95 % half-width of an effect at a number of reports.
    """
    until, when = (counted, "With these reports") if closed or counted >= goal else (goal, "At the goal")
    least = half_width(until)
    line = f"{when} effects below {rough(least)} cannot be detected"
    uncertain = [abs(effect.value) for effect in effects if not effect.certain and abs(effect.value) < least]
    # The largest effect whose interval contains zero; if none is above least / 4, least / 2.
    wanted = max([size for size in uncertain if size > least / 4], default=least / 2)
    floor = half_width(_MOST)
    if floor >= wanted:
        return f"{line}; more reports alone would show none below {rough(floor)}, because public rows are few."
    needed = reports_for(wanted, half_width)
    return f"{line}; about {needed:,} reports would show effects of {rough(wanted)}."


def reports_for(effect: float, half_width: Callable[[int], float]) -> int:
    """The number of reports, to two digits, at which an interval's half-width equals
    this effect.
    """
    low, high = 0, 1
    while high < _MOST and half_width(high) > effect:
        low, high = high, 2 * high
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (middle, high) if half_width(middle) > effect else (low, middle)
    return int(float(f"{high:.2g}"))
