"""The guarantee and the verdict of a result in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.privacy import Guarantee
from discreet.results.numbers import odds_factor
from discreet.rows import RowsUsed

if TYPE_CHECKING:
    from discreet.results.results import Results

# How many columns a note names.
_NAMED = 6
_SIGNALS = {
    "clear": "",
    "faint": "faint: effects stand out of the privacy noise together, hardly one by one; ",
    "drowned": "drowned: what is shown may be privacy noise alone; ",
}


def price_in_words(guarantee: Guarantee, delta: float) -> str:
    """The guarantee's two numbers."""
    epsilon = guarantee.epsilon(delta)
    return f"epsilon {epsilon:.4g}" + (f" at delta {delta:.3g}" if delta else "")


def promise_in_words(guarantee: Guarantee, delta: float, trust: str = "central") -> str:
    """What the guarantee means for one person, in words."""
    factor = odds_factor(guarantee.epsilon(delta))
    chance = f", except with probability {delta:.3g}" if delta else ""
    if trust == "local":
        reports = "report" if len(guarantee.releases) == 1 else "reports of both rounds"
        return (
            f"whatever anybody, the collector included, concludes from one device's {reports} is at most {factor} "
            f"times as likely with its true record as with any other{chance}"
        )
    whose = "person's rows" if guarantee.grouped else "row"
    change = "replaced by any other" if guarantee.neighbours == "replace_one" else "added or left out"
    return f"if one {whose} had been {change}, no outcome would be more than {factor} times as likely{chance}"


def rows_in_words(rows: int | None, used: RowsUsed | None, trust: str = "central") -> str:
    """How many rows there are, where that is public, and how many contributed, by a noisy count."""
    unit = {"central": "rows", "local": "reports", "parties": "people"}[trust]
    public = [] if rows is None else [f"{rows:,} {unit} (public)"]
    if used is None:
        return public[0] if public else f"the number of {unit} is private, and this solver releases no count of them"
    if used.none or used.unclear:
        return "; ".join([*public, f"used: {used}"])
    count = f"{used.count:,.0f} used (noisy, std err {used.spread})"
    if public and used.of is None and trust == "central":  # the sum of weights, or of a row's several records
        count = f"counted by weight or record, {count}"
    return "; ".join([*public, count] if public else [count, f"the number of {unit} is private"])


def clear_effects(results: Results) -> tuple[int, int]:
    """How many slopes have a 95 % interval without 0, and how many slopes there are."""
    slopes = results.slopes
    if results.covariance is None:
        return 0, len(slopes)
    return int(np.sum(np.abs(results.z_scores[slopes]) > 1.959964)), len(slopes)


def verdict(results: Results) -> str:
    """Whether effects are clear despite the noise, in words."""
    signal = _SIGNALS.get(results.signal or "", "")
    if results.covariance is None:
        return f"{signal}unknown, as there are no standard errors"
    clear, all_ = clear_effects(results)
    if signal:
        return f"{signal}{clear or 'none'} of {all_} intervals exclude{'s' if clear < 2 else ''} 0"
    if all_ == 1:
        said = "the effect is clear despite the noise" if clear else "the effect is not clear of the noise"
    elif clear == all_:
        said = f"{'both' if all_ == 2 else f'all {all_}'} effects are clear despite the noise"
    else:
        said = f"{clear or 'none'} of {all_} effects {'is' if clear == 1 else 'are'} clear despite the noise"
    return said


def note_of_narrow(names: Sequence[str]) -> tuple[str, ...]:
    """A note about columns that may be too narrow within their bounds to be seen, if any."""
    if not names:
        return ()
    more = len(names) - _NAMED
    listed = ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return (
        f"Noise hides how much these columns vary within their bounds, so nothing is known of their slopes: {listed}. "
        "Other slopes are those of a model without them. Narrower bounds, from public knowledge, would help, as would "
        "more rows or a larger epsilon.",
    )
