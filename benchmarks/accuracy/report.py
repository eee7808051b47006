"""The result table as markdown: a summary that counts cells, then a table per family, relation and
public rows.
"""

from __future__ import annotations

import math
import platform
from importlib import metadata

from benchmarks.accuracy import ours
from benchmarks.accuracy.cells import DELTA, RELATIONS, Table
from benchmarks.accuracy.lines import NEAR_BEST, Line, lines_of, percent_above
from benchmarks.accuracy.methods import DIFFPRIVLIB_ENV, METHODS
from benchmarks.accuracy.problems import ALL_SETS, Size, family_of, size_of
from benchmarks.accuracy.real_sets import REAL_SETS
from benchmarks.accuracy.summary import FAMILIES, summary

LOSSES = {
    "linear": "test MSE as a share of the variance of y (1 - R^2)",
    "logistic": "test log-loss",
    "poisson": "mean test deviance",
}


NOTES = (
    "Every method sees the same private rows, moved into the same declared bounds, and predicts the same test rows "
    "by a linear predictor. Without public rows, peers work in units where each declared interval is [-1, 1], and "
    "their row norm is that of the declared box. With m public rows (labelled), peers work on features and target "
    "standardised by those rows, at a row norm that nine of ten of them have; ours is given the rows as `public=`. "
    "The public rows are set aside in either case.\n",
    "A star marks what no user has: settings tuned on the test rows of the first split (oracle), or a constant "
    "chosen with hindsight (half radius, for the declared box only). The oracle tries every setting of a grid on "
    "two noise draws, and the best six on sixteen. The other peers have the constants of their papers, or one "
    "choice for all sets. Some constants of our own methods were chosen while looking at some of these data sets.\n",
    "diffprivlib is pure epsilon-DP (it has no delta to use) for one row replaced, and has the same figures in both "
    "tables. Its linear model is fitted where every column's interval, declared or that of the public rows, is [-1, "
    "1], the best for it of the units tried. Its logistic model takes the row norm where the curvature has the "
    "norm's square, less noise than its guarantee needs, and is left so. BoostedAdaSSP can diverge where its "
    "penalty is 0 and its noise is not small. TukeyEM costs the same in both relations, so it has one figure too; "
    "it fails (no model) where its test of stability fails in most draws.\n",
    "Excess in the pictures: 0 is the non-private fit to the private rows, 1 the constant.\n",
)


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
        *NOTES,
        *sizes(),
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
        verdicts = [verdict(line, tuned=False, limit=1), verdict(line, tuned=True, limit=NEAR_BEST)]
        rows.append("| " + " | ".join([*first, *values, *verdicts]) + " |")
    return [*rows, ""]


def verdict(line: Line, tuned: bool, limit: float) -> str:
    """yes or no, with how far above the other the loss is, and which that is."""
    best, ratio = line.best(tuned), line.ratio(tuned)
    if best is None or ratio is None:
        return "–"
    return "yes" if ratio <= limit else f"**no** (+{percent_above(ratio)}, {best[0]})"


def shown(value: float | None) -> str:
    if value is None:
        return "–"
    if math.isinf(value):
        return "fails"
    return "> 10" if value > 10 else f"{value:.4f}"


def sizes() -> list[str]:
    """Rows and columns of each set."""
    rows = ["| data set | family | private rows | public rows | columns | test rows | |", "|---" * 7 + "|"]
    for name in ALL_SETS:
        size: Size = size_of(name)
        sampled = REAL_SETS[name].most_rows if name in REAL_SETS else None
        note = "" if sampled is None else f"a fixed sample of {sampled:,} rows of the file"
        rows.append(
            f"| {name} | {family_of(name)} | {size.private:,} | {size.public:,} | {size.columns} | {size.test:,} "
            f"| {note} |"
        )
    return [*rows, ""]


def versions() -> str:
    found = [f"{name} {metadata.version(name)}" for name in ("discreet", "numpy", "scipy", "scikit-learn")]
    folders = [str(path) for path in DIFFPRIVLIB_ENV.glob("lib/*/site-packages")]
    apart = [d.version for d in metadata.distributions(name="diffprivlib", path=folders)]
    return ", ".join([f"Python {platform.python_version()}", *found, f"diffprivlib {apart[0] if apart else 'not run'}"])
