"""NLDP's synthetic figures as curves over n, epsilon, p and m, with printed and tight noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from experiments.nldp.accuracy import NO_NOISE, Setting, one_error, people
from experiments.runner import Cell, Figure

Make = Callable[[Cell], Setting]
CURVES = ("paper", "gaussian", "unit", NO_NOISE)
SAYS = "The error falls with n and epsilon and rises with p; it hardly depends on m."
NOTES = (
    "`paper` is the printed noise through the product, `gaussian` the same model with exact Gaussian "
    "noise (tight), `unit` the default randomizer (auto). Where noisy moments have no root, the error is "
    "infinite; where half of the runs have none, the curve has a gap. `no noise` is the paper's estimator "
    "from the moments of all rows: what sampling, public rows and Stein's lemma leave. Gaussian rows have "
    "Sigma = I (the paper draws sigma in sigma^2 I from [0, 1]) or U + I."
)


def fewer(curve: str, _: Cell) -> int:
    """Five draws show what is left without noise."""
    return 5 if curve == NO_NOISE else 20


def by_rows(
    number: int,
    what: str,
    design: str,
    model: str,
    *,
    widths: Sequence[int] = (5, 10, 20),
    rows: Sequence[int] = (100_000, 200_000, 400_000, 700_000),
    epsilons: Sequence[float] = (4, 10, 20),
    covariance: str = "diagonal",
    found: str,
) -> Figure:
    """Panels by p and epsilon, curves over n."""

    def setting(cell: Cell) -> Setting:
        return Setting(cell["n"], cell["p"], cell["epsilon"], design, model, covariance=covariance)

    cells = [{"p": p, "epsilon": e, "n": n} for p in widths for e in epsilons for n in rows]
    quick = [{"p": widths[0], "epsilon": 10, "n": n} for n in rows[:2]]
    return _figure(number, f"{what}, by n", cells, quick, setting, "n", found)


def by_width_and_public(
    number: int,
    what: str,
    design: str,
    model: str,
    *,
    widths: Sequence[int] = (5, 10, 20, 40),
    rows: int = 200_000,
    public: Sequence[int] = (200, 500, 1000, 3000, 10_000),
    epsilons: Sequence[float] = (4, 10),
    covariance: str = "diagonal",
    found: str,
) -> Figure:
    """Panels by epsilon: over p with m = n / p^2, and over m with p = 10."""

    def setting(cell: Cell) -> Setting:
        p, m = (cell["size"], None) if cell["over"] == "p" else (10, cell["size"])
        return Setting(rows, p, cell["epsilon"], design, model, public=m, covariance=covariance)

    cells = [{"over": "p", "epsilon": e, "size": p} for e in epsilons for p in widths]
    cells += [{"over": "m", "epsilon": e, "size": m} for e in epsilons for m in public]
    quick = [{"over": "p", "epsilon": 10, "size": 5}, {"over": "m", "epsilon": 10, "size": 500}]
    return _figure(number, f"{what}, by p and m", cells, quick, setting, "size", found)


def _figure(
    number: int, title: str, cells: list[Cell], quick: list[Cell], setting: Make, axis: str, found: str
) -> Figure:
    return Figure(
        name=f"figure{number}",
        title=f"NLDP, figure {number}: {title}",
        says=SAYS,
        cells=cells,
        quick=quick,
        make=lambda cell, seed: people(setting(cell), seed),
        fit=lambda curve, found, cell, seed: one_error(setting(cell), curve, found, seed),
        curves=CURVES,
        axis=axis,
        repeats=20,
        fewer=fewer,
        measure="squared relative error",
        notes=NOTES,
        found=found,
    )
