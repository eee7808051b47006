"""The result table as markdown: a summary that counts cells, then a table per family, relation and public rows."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from importlib import metadata

from benchmarks.accuracy import ours
from benchmarks.accuracy.cells import DELTA, RELATIONS, Cell, Table
from benchmarks.accuracy.methods import DIFFPRIVLIB_ENV, METHODS
from benchmarks.accuracy.problems import ALL_SETS, family_of
from benchmarks.accuracy.real_sets import REAL_SETS

AUTO = ours.PREFIX + "auto"
FAMILIES = ("linear", "logistic", "poisson")
LOSSES = {
    "linear": "test MSE as a share of the variance of y (1 - R^2)",
    "logistic": "test log-loss",
    "poisson": "mean test deviance",
}
NEAR_BEST = 1.02


@dataclass(frozen=True)
class Line:
    """A cell and the loss of each method that was run in it."""

    cell: Cell
    losses: dict[str, float]

    def best(self, tuned: bool) -> tuple[str, float] | None:
        """The best private method other than auto: peers without tuning, or everything."""
        found = {
            name: value
            for name, value in self.losses.items()
            if name != AUTO
            and (
                tuned
                if name not in METHODS
                else not METHODS[name].is_baseline and (tuned or not METHODS[name].is_tuned)
            )
        }
        return min(found.items(), key=lambda item: item[1]) if found else None

    def ratio(self, tuned: bool) -> float | None:
        """auto's loss over the best other one."""
        best = self.best(tuned)
        if best is None or AUTO not in self.losses:
            return None
        return self.losses[AUTO] / best[1] if best[1] > 0 else math.nan

    @property
    def public_ratio(self) -> float | None:
        if AUTO not in self.losses or "public-only" not in self.losses:
            return None
        return self.losses[AUTO] / self.losses["public-only"]


def is_baseline(name: str) -> bool:
    return name in METHODS and METHODS[name].is_baseline


def lines_of(table: Table) -> list[Line]:
    """In the order of the sets, then by epsilon."""
    lines: dict[Cell, dict[str, float]] = {}
    for (cell, method), result in table.items():
        lines.setdefault(cell, {})[method] = result.loss
    # A baseline is run once for every epsilon: cells that have nothing else were not asked for yet.
    lines = {cell: losses for cell, losses in lines.items() if any(not is_baseline(name) for name in losses)}
    order = sorted(lines, key=lambda cell: (ALL_SETS.index(cell.data_set), cell))
    return [Line(cell, lines[cell]) for cell in order]


def markdown(table: Table) -> str:
    lines = lines_of(table)
    draws = min((result.draws for result in table.values()), default=0)
    splits = min((len(result.medians) for result in table.values()), default=0)
    parts = [
        "# Accuracy\n",
        "`python -m benchmarks.accuracy` (`--only ours` or `--only peers` for a part)\n",
        *summary(lines),
        f"Figures are test losses: the median of at least {draws} noise draws on each of at least {splits} splits, "
        f"averaged over the splits; delta {DELTA:g}. Linear: {LOSSES['linear']}; logistic: "
        f"{LOSSES['logistic']}; Poisson: {LOSSES['poisson']}.\n",
        "Every method sees the same private rows, moved into the same declared bounds, and predicts the same test rows "
        "by a linear predictor. Without public rows, peers work in units where each declared interval is [-1, 1], and "
        "their row norm is that of the declared box. With m public rows (labelled), peers work on features and target "
        "standardised by those rows, at a row norm that nine of ten of them have; ours is given the rows as `public=`. "
        "The public rows are set aside in either case.\n",
        "A star marks what no user has: settings tuned on the test rows of the first split (oracle), or a constant "
        "chosen with hindsight (half radius). The other peers have the constants of their papers, or one choice for "
        "all sets. diffprivlib is pure epsilon-DP with a neighbour relation of its own, so it has the same figures in "
        "both relations. TukeyEM fails (no model) where its test of stability fails in most draws. Some constants of "
        "our own methods were chosen while looking at some of these data sets.\n",
        f"Fixed samples of the large sets: {samples()}.\n",
        f"{versions()}\n",
    ]
    for with_public in (False, True):
        for relation in RELATIONS:
            for family in FAMILIES:
                chosen = [
                    line
                    for line in lines
                    if line.cell.with_public == with_public
                    and line.cell.neighbours == relation
                    and family_of(line.cell.data_set) == family
                ]
                if chosen:
                    parts += table_of(chosen, family, relation, with_public)
    return "\n".join(parts)


def summary(lines: list[Line]) -> list[str]:
    judged = [line for line in lines if line.ratio(tuned=False) is not None]
    if not judged:
        return [f"{len(lines)} cells. Ours has not been run.\n"]
    ahead = sum(line.ratio(tuned=False) <= 1 for line in judged)
    near = sum(line.ratio(tuned=True) <= NEAR_BEST for line in judged)
    public = [line for line in judged if line.public_ratio is not None]
    not_worse = sum(line.public_ratio <= 1 for line in public)
    percent = 100 / len(judged)
    return [
        f"- `auto` is at or below the best untuned peer in {ahead} of {len(judged)} cells ({ahead * percent:.0f} %).",
        f"- `auto` is within 2 % of the best of all, tuned peers and our other solvers included, in {near} of "
        f"{len(judged)} cells ({near * percent:.0f} %).",
        f"- With public rows, `auto` is at or below the fit on the public rows alone in {not_worse} of {len(public)} "
        "cells.\n",
        *by_epsilon(judged),
    ]


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
                shown_cells.append(f"{ahead} and {near} of {len(chosen)}")
            rows.append(f"| {family}, {'' if with_public else 'no '}public rows | {' | '.join(shown_cells)} |")
    return [*rows, ""]


def table_of(lines: list[Line], family: str, relation: str, with_public: bool) -> list[str]:
    seen = {method for line in lines for method in line.losses}
    own = [ours.PREFIX + solver for solver in ours.SOLVERS[family]]
    columns = [name for name in METHODS if name in seen and METHODS[name].is_baseline]
    columns += [name for name in own if name in seen]
    columns += [name for name in METHODS if name in seen and not METHODS[name].is_baseline]
    title = "with public rows" if with_public else "no public rows"
    titles = [name + (" *" if name in METHODS and METHODS[name].is_tuned else "") for name in columns]
    head = ["data set", *(["m"] if with_public else []), "epsilon", *titles, "best untuned?", "within 2 % of best?"]
    rows = [
        f"## {family}, {title}, {relation}: {LOSSES[family]}\n",
        "| " + " | ".join(head) + " |",
        "|---" * len(head) + "|",
    ]
    for line in lines:
        first = [line.cell.data_set, *([str(line.cell.public_rows)] if with_public else []), f"{line.cell.epsilon:g}"]
        values = [shown(line.losses.get(name)) for name in columns]
        verdicts = [verdict(line.ratio(tuned=False), 1), verdict(line.ratio(tuned=True), NEAR_BEST)]
        rows.append("| " + " | ".join([*first, *values, *verdicts]) + " |")
    return [*rows, ""]


def verdict(ratio: float | None, limit: float) -> str:
    """yes or no, with how far above the other the loss is."""
    if ratio is None:
        return "–"
    return "yes" if ratio <= limit else f"**no** ({100 * (ratio - 1):+.1f} %)"


def shown(value: float | None) -> str:
    if value is None:
        return "–"
    if math.isinf(value):
        return "fails"
    return "> 10" if value > 10 else f"{value:.4f}"


def samples() -> str:
    chosen = {name: real.most_rows for name, real in REAL_SETS.items() if real.most_rows is not None}
    return ", ".join(f"{rows:,} rows of {name}" for name, rows in chosen.items())


def versions() -> str:
    found = [f"{name} {metadata.version(name)}" for name in ("discreet", "numpy", "scipy", "scikit-learn")]
    folders = [str(path) for path in DIFFPRIVLIB_ENV.glob("lib/*/site-packages")]
    apart = [d.version for d in metadata.distributions(name="diffprivlib", path=folders)]
    return ", ".join([f"Python {platform.python_version()}", *found, f"diffprivlib {apart[0] if apart else 'not run'}"])
