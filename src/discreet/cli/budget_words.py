"""What is left of a budget, in words and as a bar: one line for each fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.privacy.budget import Budget
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger_history import Entry
from discreet.results.numbers import percent

# Smaller shares of the budget count as nothing: rounding leaves a tiny rest after the last fit.
_NOTHING = 1e-6
_BAR = 12
_NEWEST = 40


def share_left(left: Budget, total: Budget) -> float:
    """The remaining share of the budget, in mu^2, which adds up; epsilon does not."""
    share = left.mu**2 / total.mu**2
    return 0.0 if share < _NOTHING else share


def left_in_words(left: Budget, total: Budget, verb: str = "is") -> str:
    """How much of a budget is (or would be) left, in words."""
    share = share_left(left, total)
    if share == 0:
        return f"nothing {verb} left of epsilon {total.epsilon:.4g} at delta {total.delta:.3g}"
    return f"{percent(share)} {verb} left: epsilon {left.epsilon:.3g} of {total.epsilon:.4g} at delta {total.delta:.3g}"


def more_fits(left: Budget, total: Budget, last: Entry | None) -> str:
    """About how many more fits like the last one can be paid."""
    if last is None:
        return ""
    cost = last.cost.mu
    if share_left(left, total) == 0 or not (math.isfinite(cost) and cost > 0):
        return ""
    fits = math.floor(left.mu**2 / cost**2 * (1 + 1e-9))
    if fits == 0:
        return "not enough for another fit like the last one"
    return f"about {fits:,} more {'fit' if fits == 1 else 'fits'} like the last one"


def fit_rows(ledger: Ledger, entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """Time, model, own epsilon, remaining share and its bar for each fit; the newest is last."""
    total = ledger.total
    rows: list[tuple[str, ...]] = []
    account = ledger.opened_account()
    skipped = max(0, len(entries) - _NEWEST)
    for number, entry in enumerate(entries):
        account = account.charged(entry.costs)
        if number < skipped:
            continue
        share = share_left(account.remaining, total)
        when = entry.time.removesuffix("+00:00").replace("T", " ")[:16]
        rows.append((when, entry.label, f"{entry.cost.epsilon(total.delta):.3g}", percent(share), bar(share)))
    if skipped:
        rows.insert(0, ("earlier", f"{skipped} fits (--releases lists all)", "", "", ""))
    return rows


def bar(share: float) -> str:
    """The share as a bar of up to 12 marks; a share above 0 has at least one."""
    full = min(_BAR, max(int(share > 0), round(share * _BAR)))
    return "#" * full + "." * (_BAR - full)
