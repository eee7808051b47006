"""The counts above the tables: how often auto is ahead, near the best, and helped by public rows."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.accuracy.lines import NEAR_BEST, Line, percent_above
from benchmarks.accuracy.problems import family_of

FAMILIES = ("linear", "logistic", "poisson")


def summary(lines: list[Line]) -> list[str]:
    judged = [line for line in lines if line.ratio(tuned=False) is not None]
    if not judged:
        return [f"{len(lines)} cells. Ours has not been run.\n"]
    missing = len(lines) - len(judged)
    by_cell = {line.cell: line for line in lines}
    public = [ratio for line in judged if (ratio := line.public_ratio) is not None]
    gains = [ratio for line in judged if (ratio := line.gain(by_cell)) is not None]
    return [
        f"- `auto` is at or below the best untuned peer in {_share(line.ratio(tuned=False) <= 1 for line in judged)}.",
        "- `auto` is within 2 % of the best of all, tuned peers and our other solvers included, in "
        f"{_share(line.ratio(tuned=True) <= NEAR_BEST for line in judged)}.",
        *(
            [
                "- With public rows, `auto` is at or below the fit on the public rows alone in "
                f"{_share(ratio <= 1 for ratio in public)}, and at most 2 % above itself without public rows in "
                f"{_share(ratio <= NEAR_BEST for ratio in gains)}."
            ]
            if public
            else []
        ),
        f"- `auto` has not been run in {missing} of the {len(lines)} cells.\n" if missing else "",
        *by_epsilon(judged),
        *behind(judged),
    ]


def _share(verdicts: Iterable[bool]) -> str:
    known = list(verdicts)
    percent = f" ({100 * sum(known) / len(known):.0f} %)" if known else ""
    return f"{sum(known)} of {len(known)} cells{percent}"


def by_epsilon(lines: list[Line]) -> list[str]:
    """The same counts by family and epsilon."""
    epsilons = sorted({line.cell.epsilon for line in lines})
    rows = [
        "At or below the best untuned peer, and within 2 % of the best of all:\n",
        "| | " + " | ".join(f"epsilon {epsilon:g}" for epsilon in epsilons) + " |",
        "|---" * (len(epsilons) + 1) + "|",
    ]
    for family in FAMILIES:
        for with_public in (False, True):
            shown_cells = []
            for epsilon in epsilons:
                chosen = [
                    line
                    for line in lines
                    if family_of(line.cell.data_set) == family
                    and line.cell.epsilon == epsilon
                    and line.cell.with_public == with_public
                ]
                ahead = sum(line.ratio(tuned=False) <= 1 for line in chosen)
                near = sum(line.ratio(tuned=True) <= NEAR_BEST for line in chosen)
                shown_cells.append(f"{ahead} and {near} of {len(chosen)}" if chosen else "–")
            rows.append(f"| {family}, {'' if with_public else 'no '}public rows | {' | '.join(shown_cells)} |")
    return [*rows, ""]


def behind(lines: list[Line]) -> list[str]:
    """Where an untuned peer has less loss, by name."""
    found = [line for line in lines if line.ratio(tuned=False) > 1]
    if not found:
        return []
    rows = [
        "Where an untuned peer is ahead of `auto`:\n",
        "| data set | public rows | neighbours | epsilon | ahead | `auto` is above it by |",
        "|---" * 6 + "|",
    ]
    for line in found:
        name, _ = line.best(tuned=False)
        cell = line.cell
        rows.append(
            f"| {cell.data_set} | {cell.public_rows or 'none'} | {cell.neighbours} | {cell.epsilon:g} | {name} "
            f"| {percent_above(line.ratio(tuned=False))} |"
        )
    return [*rows, ""]
