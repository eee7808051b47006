"""Errors of our estimators beside the minimax lower bounds for private methods.

Run from the root: python -m experiments.attack_lower_bounds [--repeats 20] [--only gamma,survival].
Writes experiments/attack_lower_bounds.md and .svg; with ``--only`` the table's lines of other models
stay as they are. Coefficients are drawn from the prior of the bounds, cos^2 on a box of half-width
1/sqrt(d); sparse ones have equal height on a random support, and the worst of three heights counts.
x is uniform on [-1, 1]^d; the mean squared error of the coefficients is held against
``discreet.planning``. Cells that come near a bound are measured five times as often. Ends with exit
code 1 if a mean is below a bound by more than four standard errors.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.planning import LowerBound
from discreet.report.figure_style import MARKERS, OURS, OURS_LIGHT, key, styled, svg
from experiments.attack_lower_bound_models import DELTA, MODELS, SPARSITY, Model
from experiments.pages import write_page

OUT = Path(__file__).with_suffix(".md")
ROWS, EPSILONS = (2000, 20_000), (0.3, 1.0, 4.0)
# As near as this, chance could put a mean below its bound.
NEAR = 2.0


def draw_coefficients(d: int, rng: np.random.Generator) -> np.ndarray:
    """From cos^2(pi t / 2b) / b, by rejection."""
    coef = np.empty(0)
    while len(coef) < d:
        tried = rng.uniform(-1, 1, 4 * d)
        coef = np.concatenate([coef, tried[rng.random(4 * d) < np.cos(math.pi * tried / 2) ** 2]])
    return coef[:d] / math.sqrt(d)


def draw_sparse(d: int, height: float, rng: np.random.Generator) -> np.ndarray:
    coef = np.zeros(d)
    coef[rng.choice(d, SPARSITY, replace=False)] = height * rng.choice([-1.0, 1.0], SPARSITY)
    return coef


@dataclass
class Cell:
    """One model at one size and epsilon: errors measured so far, for each height, without privacy, and the bound."""

    model: Model
    n: int
    d: int
    epsilon: float
    errors: dict[float, list[float]]
    plain: dict[float, list[float]]

    @classmethod
    def of(cls, model: Model, n: int, d: int, epsilon: float) -> Cell:
        return cls(model, n, d, epsilon, {h: [] for h in model.heights}, {h: [] for h in model.heights})

    @property
    def bound(self) -> LowerBound:
        return self.model.bound(self.n, self.d, self.epsilon)

    def measure(self, repeats: int) -> None:
        """Over fresh coefficients, rows and noise."""
        rng = np.random.default_rng([self.n, self.d, int(100 * self.epsilon), len(self.errors[self.model.heights[0]])])
        for height, errors in self.errors.items():
            for _ in range(repeats):
                truth = draw_sparse(self.d, height, rng) if height else draw_coefficients(self.d, rng)
                X = rng.uniform(-1, 1, (self.n, self.d))
                y = self.model.labels(X @ truth, rng)
                estimate = np.ravel(self.model.fit(X, y, self.epsilon))
                errors.append(float(np.sum((estimate - truth) ** 2)))
                self.plain[height].append(float(np.sum((self.model.plain(X, y) - truth) ** 2)))

    @property
    def error(self) -> tuple[float, float]:
        """The mean of the worst height, and its standard error."""
        e = self.errors[self.worst]
        return float(np.mean(e)), float(np.std(e) / math.sqrt(len(e) - 1))

    @property
    def worst(self) -> float:
        """The height with the largest error."""
        return max(self.errors, key=lambda height: float(np.mean(self.errors[height])))

    @property
    def is_below(self) -> bool:
        mean, spread = self.error
        return mean + 4 * spread < self.bound.value

    def line(self) -> str:
        (error, spread), bound = self.error, self.bound
        return (
            f"| {self.model.name} | {self.n} | {self.d} | {self.epsilon:g} | {error:.3g} +- {spread:.1g} | "
            f"{bound.value:.3g} | {bound.privacy:.3g} | {bound.statistics:.3g} | {error / bound.value:.3g} | "
            f"{np.mean(self.plain[self.worst]):.3g} |"
        )


def figure(lines: list[str]) -> str:
    """Measured errors and bounds against epsilon, a panel for each model, of the table's lines."""
    from matplotlib.figure import Figure

    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    with styled():
        drawn = Figure(figsize=(14.0, 9.0), layout="constrained")
        panels = drawn.subplots(3, -(-len(MODELS) // 3)).ravel()
        for axes, model in zip(panels, MODELS, strict=False):
            own = [row for row in rows if row[0] == model.name]
            widths = list(dict.fromkeys(row[2] for row in own))
            for n, d in dict.fromkeys((row[1], row[2]) for row in own):
                here = [row for row in own if (row[1], row[2]) == (n, d)]
                # Rows tell the colour and columns the dash, in every panel alike.
                colour, place = (OURS, OURS_LIGHT)[ROWS.index(int(n))], widths.index(d)
                _drawn(axes, here, colour, place, f"n {int(n):,}, {('first', 'second')[place]} d")
            words = model.name.replace(", 4 of them", f", {SPARSITY} of them not 0")
            axes.set(xscale="log", yscale="log", xlabel="epsilon", title=f"{words}, d {' and '.join(widths)}")
            axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
            axes.minorticks_off()
        for axes in panels[len(MODELS) :]:
            axes.set_axis_off()
        drawn.supylabel("squared error of the coefficients", fontsize=9)
        panels[0].plot([], [], color="#444444", linestyle=":", label="no private method is below")
        key(drawn, panels[0], columns=5)
    return svg(drawn)


def _drawn(axes: Any, rows: list[list[str]], colour: str, place: int, label: str) -> None:
    """Mean errors with two standard errors to each side, and the bound."""
    epsilons = [float(row[3]) for row in rows]
    means, spreads = np.array([list(map(float, row[4].split("+-"))) for row in rows]).T
    spreads = np.minimum(2 * spreads, 0.9 * means)  # the axis is logarithmic
    look = {"linestyle": ("-", "--")[place], "marker": ("o", *MARKERS)[place]}
    axes.plot(epsilons, means, color=colour, label=label, **look)
    axes.fill_between(epsilons, means - spreads, means + spreads, color=colour, alpha=0.15, linewidth=0)
    axes.plot(epsilons, [float(row[5]) for row in rows], color=colour, linestyle=":")


def _name(line: str) -> str:
    """The model of a line of the table; other lines have none."""
    return line.split("|")[1].strip() if line.startswith("| ") else ""


def _kept(models: tuple[Model, ...]) -> list[str]:
    """The table's lines of all other models."""
    names = {model.name for model in MODELS} - {model.name for model in models}
    text = OUT.read_text(encoding="utf-8").splitlines() if OUT.exists() else []
    return [line for line in text if _name(line) in names]


def _in_order(lines: list[str]) -> list[str]:
    names = [model.name for model in MODELS]
    return sorted(lines, key=lambda line: names.index(_name(line)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--only", help="models with one of these in their names, as gamma,survival")
    asked = parser.parse_args()
    repeats = asked.repeats
    wanted = (asked.only or "").split(",")
    models = tuple(model for model in MODELS if any(part in model.name for part in wanted))
    head = [
        "# Measured errors beside the lower bounds\n",
        f"Made by `python -m experiments.attack_lower_bounds --repeats {repeats}`; delta {DELTA:g}, replace_one. Of a "
        "mean, its standard error; cells near their bound were measured five times as often. The plain fit, to the "
        "same rows, has no privacy. Of sparse models the worst of three heights of coefficients counts. With 20,000 "
        "rows of a logistic model it is the lowest: there the plain fit chooses wrong columns as often as the "
        "private one does, so that the error does not fall with epsilon. Large means of the sigmoid index come "
        "from few fits, whose coefficients are several times too long.\n",
        "![measured errors and lower bounds](attack_lower_bounds.svg)\n",
        "| model | n | d | epsilon | measured | bound | by privacy | by statistics | measured / bound | plain fit |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines = _kept(models)
    cells = [Cell.of(model, n, d, e) for model in models for n in ROWS for d in model.columns for e in EPSILONS]
    for number, cell in enumerate(cells, 1):
        cell.measure(repeats)
        if cell.error[0] < NEAR * cell.bound.value:
            cell.measure(4 * repeats)
        lines.append(cell.line())
        print(f"[{number}/{len(cells)}] {lines[-1]}", file=sys.stderr, flush=True)
        write_page(OUT, "\n".join([*head, *_in_order(lines)]) + "\n")
    # Also without a cell, as after a change of the text or the figure.
    write_page(OUT, "\n".join([*head, *_in_order(lines)]) + "\n")
    OUT.with_suffix(".svg").write_text(figure(lines), encoding="utf-8")
    if below := sum(cell.is_below for cell in cells):
        raise SystemExit(f"{below} measured errors are below a bound")


if __name__ == "__main__":
    main()
