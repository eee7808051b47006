"""Test R^2 of private linear regression, side by side with AdaSSP and diffprivlib on the same
declared bounds.

Run from the repository's root: ``python -m benchmarks.linear_accuracy [--draws 50] [--quick]
[--only ours|peers]``. Peers' scores are cached by data, parameters and source, so that ours can be
run again alone while it is tuned.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import platform
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.data import ROOT, Cell, cells
from benchmarks.names import title_of
from benchmarks.peers.scores import DELTA, DIFFPRIVLIB_ENV, PEERS, Setting, peer_medians, r2
from rich.progress import track
from threadpoolctl import threadpool_limits

from discreet.report import figure_style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EPSILONS = (0.1, 0.3, 1.0, 3.0)
RELATIONS = ("replace_one", "add_or_remove_one")
QUICK_DRAWS = 5

RESULTS = ROOT / "benchmarks" / "results"
# What the verdict is about. The half-radius variant is ours as much as anybody's: shown, and
# counted apart.
JUDGED_PEERS = ("AdaSSP", "AdaSSP-GDP", "diffprivlib")
OURS = "ours"
STYLES = {
    "AdaSSP": {"color": style.PEERS[0], "marker": "s", "markersize": 3, "linewidth": 1},
    "AdaSSP-GDP": {"color": style.PEERS[1], "marker": "D", "markersize": 3, "linewidth": 1},
    "AdaSSP-GDP half radius": {"color": style.PEERS[2], "marker": "v", "markersize": 3, "linewidth": 1},
    "diffprivlib": {"color": style.PEERS[4], "marker": "^", "markersize": 3, "linewidth": 1},
    OURS: {"color": style.OURS, "marker": "o", "markersize": 4, "linewidth": 2},
}
COLUMNS = ("OLS", "constant mean", *PEERS, OURS)


@dataclass(frozen=True)
class Line:
    """A setting and the median test R^2 of each method; methods that were not run are absent."""

    setting: Setting
    medians: dict[str, float]

    def is_ahead_of(self, peers: tuple[str, ...]) -> bool | None:
        """Whether our test error is at or below every one of these; None unless all were run."""
        if not self.medians.keys() >= {OURS, *peers}:
            return None
        return self.medians[OURS] >= max(self.medians[peer] for peer in peers)


def ols_score(cell: Cell) -> float:
    """Least squares without privacy, on the same clipped rows as every other method."""
    centre = cell.X_train.mean(axis=0)
    design = np.column_stack([cell.X_train - centre, np.ones(len(cell.X_train))])
    weights = np.linalg.lstsq(design, cell.y_train, rcond=None)[0]
    return r2(cell.y_test, (cell.X_test - centre) @ weights[:-1] + weights[-1])


def our_scores(cell: Cell, setting: Setting, draws: int) -> list[float]:
    from discreet import LinearRegression

    scores = []
    for _ in range(draws):
        model = LinearRegression(
            epsilon=setting.epsilon,
            delta=DELTA,
            bounds_X=(cell.low, cell.high),
            bounds_y=(cell.y_low, cell.y_high),
            neighbours=setting.neighbours,
        )
        scores.append(r2(cell.y_test, model.fit(cell.X_train, cell.y_train).predict(cell.X_test)))
    return scores


def measure(draws: int, only: str) -> list[Line]:
    data = cells()
    settings = [Setting(*choice) for choice in itertools.product(data, RELATIONS, EPSILONS)]
    with_ours = only != "peers" and ours_is_importable()
    baselines = {
        name: {"OLS": ols_score(cell), "constant mean": r2(cell.y_test, np.full(len(cell.y_test), cell.y_train.mean()))}
        for name, cell in data.items()
    }
    lines = []
    for setting in track(settings, description="linear accuracy"):
        cell = data[setting.data_set]
        medians = dict(baselines[setting.data_set])
        medians.update(peer_medians(cell, setting, draws, may_run=only != "ours"))
        if with_ours:
            medians[OURS] = float(np.median(our_scores(cell, setting, draws)))
        lines.append(Line(setting, medians))
    return lines


def ours_is_importable() -> bool:
    try:
        from discreet import LinearRegression  # noqa: F401
    except ImportError as error:
        print(f"discreet.LinearRegression cannot be imported ({error}): peers only", file=sys.stderr)
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=50, help="noise draws per cell (default 50)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_DRAWS} draws: a smoke test")
    parser.add_argument("--only", choices=("all", "ours", "peers"), default="all", help="'ours' takes peers from cache")
    options = parser.parse_args()
    draws = QUICK_DRAWS if options.quick else options.draws
    if not DIFFPRIVLIB_ENV.exists():
        print("diffprivlib is left out: run benchmarks/peers/make_diffprivlib_env.sh first", file=sys.stderr)

    # Small matrices: threads cost more than they give.
    with threadpool_limits(1):
        lines = measure(draws, options.only)
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_csv(lines, RESULTS / "linear_accuracy.csv")
    report = markdown(lines, draws)
    (RESULTS / "linear_accuracy.md").write_text(report)
    plot(lines, RESULTS / "linear_accuracy.svg")
    print(report)


def write_csv(lines: list[Line], path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["data_set", "neighbours", "epsilon", *COLUMNS])
        for line in lines:
            setting = line.setting
            values = [line.medians.get(column, "") for column in COLUMNS]
            writer.writerow([setting.data_set, setting.neighbours, setting.epsilon, *values])


def markdown(lines: list[Line], draws: int) -> str:
    command = " ".join(["python -m benchmarks.linear_accuracy", *sys.argv[1:]])
    parts = [
        "# Linear regression: test R^2\n",
        f"`{command}`\n",
        f"Median of {draws} noise draws, delta {DELTA:g}, rows and features clipped to the same declared bounds for "
        "every method, predictions unclipped. diffprivlib is pure epsilon-DP with a neighbour relation of its own, so "
        "it has the same figures in both tables: the better of original and centred units.\n",
        "Our method's constants were chosen while looking at these data sets and splits; the peers have none to "
        "choose, apart from the half radius, which was chosen in the same way.\n",
        f"{versions()}\n",
        f"Ours at or above AdaSSP, AdaSSP-GDP and diffprivlib in {count(lines, JUDGED_PEERS)} cells, and above the "
        f"half-radius variant as well in {count(lines, PEERS)}.\n",
    ]
    for relation in RELATIONS:
        parts += [f"## {relation}\n", "| data set | epsilon | " + " | ".join(COLUMNS) + " | ours >= best peer? |"]
        parts.append("|---" * (len(COLUMNS) + 3) + "|")
        for line in lines:
            if line.setting.neighbours == relation:
                cells_of_line = [shown(line.medians.get(column)) for column in COLUMNS]
                verdict = {True: "yes", False: "**no**", None: "–"}[line.is_ahead_of(JUDGED_PEERS)]
                parts.append(
                    f"| {line.setting.data_set} | {line.setting.epsilon:g} | {' | '.join(cells_of_line)} | {verdict} |"
                )
        parts.append("")
    return "\n".join(parts)


def count(lines: list[Line], peers: tuple[str, ...]) -> str:
    verdicts = [verdict for line in lines if (verdict := line.is_ahead_of(peers)) is not None]
    return f"{sum(verdicts)} of {len(verdicts)}"


def shown(value: float | None) -> str:
    if value is None:
        return "–"
    return "< -10" if value < -10 else f"{value:.4f}".replace("-0.0000", "0.0000")


def versions() -> str:
    names = ("discreet", "numpy", "scipy", "scikit-learn")
    found = [f"{name} {metadata.version(name)}" for name in names]
    folders = [str(path) for path in DIFFPRIVLIB_ENV.glob("lib/*/site-packages")]
    apart = [d.version for d in metadata.distributions(name="diffprivlib", path=folders)]
    return ", ".join([f"Python {platform.python_version()}", *found, f"diffprivlib {apart[0] if apart else 'not run'}"])


def plot(lines: list[Line], path: Path) -> None:
    """R^2 against epsilon: a panel per data set, a row of panels per relation."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(line.setting.data_set for line in lines))
    with style.styled():
        figure = Figure(figsize=(15, 5.8), layout="constrained")
        panels = figure.subplots(len(RELATIONS), len(names), sharex=True, sharey="col")
        for row, relation in zip(panels, RELATIONS, strict=True):
            for panel, name in zip(row, names, strict=True):
                own = [one for one in lines if (one.setting.data_set, one.setting.neighbours) == (name, relation)]
                draw_panel(panel, own)
                panel.set_title(title_of(name) if relation == RELATIONS[0] else "")
            row[0].set_ylabel(f"{relation.replace('_', ' ')}\ntest R²")
        style.x_title(panels, "epsilon (▼: below the axis)")
        style.key(figure, panels[0, 0], columns=7)
    style.save(figure, path)


def draw_panel(panel: Axes, lines: list[Line]) -> None:
    top = lines[0].medians["OLS"]
    floor = -0.25 * top
    panel.axhline(top, color="black", linestyle="--", linewidth=0.8, label="OLS, not private")
    panel.axhline(0, color="grey", linestyle=":", linewidth=0.8, label="constant mean")
    for method, look in STYLES.items():
        points = [(line.setting.epsilon, line.medians[method]) for line in lines if method in line.medians]
        if points:
            # Scores far below the constant mean would flatten all others: a triangle on the axis
            # stands for them.
            panel.plot(*zip(*points, strict=True), label=method, **look)
            below = [epsilon for epsilon, score in points if score < floor]
            if below:
                panel.plot(below, [floor] * len(below), "v", color=look["color"], markersize=5, clip_on=False)
    panel.set_ylim(floor, 1.08 * top)
    panel.set_xscale("log")
    panel.set_xticks([line.setting.epsilon for line in lines], [f"{line.setting.epsilon:g}" for line in lines])
    panel.minorticks_off()


if __name__ == "__main__":
    main()
