"""Charts of README and the page on accuracy, drawn from the tables of ``benchmarks.efficiency`` and
``benchmarks.real_sets``.

python -m benchmarks.dot_charts
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.names import title_of

from discreet.report.figure_style import LIMIT, OURS, PEERS, key, log_ticks, save, styled

RESULTS = Path(__file__).parent / "results"
# Numbers of rows with a panel for each epsilon.
SHOWN = ("20,000", "200,000")


def table(path: Path) -> list[dict[str, str]]:
    """The first table of a Markdown file, by its headings."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def efficiency(rows: list[dict[str, str]]) -> Any:
    """What privacy costs an estimate: a panel for each number of rows and epsilon, a line for each
    model.
    """
    from matplotlib.figure import Figure

    models = list(dict.fromkeys(row["model"] for row in rows))
    sizes, epsilons = (list(dict.fromkeys(row[name] for row in rows)) for name in ("n", "epsilon"))
    with styled():
        figure = Figure(figsize=(9.0, 4.6), layout="constrained")
        panels = figure.subplots(len(sizes), len(epsilons), sharex=True, sharey=True, squeeze=False)
        for line, n in zip(panels, sizes, strict=True):
            for axes, epsilon in zip(line, epsilons, strict=True):
                here = {row["model"]: row for row in rows if (row["n"], row["epsilon"]) == (n, epsilon)}
                places = range(len(models))
                ours = [float(here[model]["error / least"]) for model in models]
                axes.axvline(1, color=PEERS[2], linewidth=1, label="without privacy")
                limits = [float(here[model]["limit"]) for model in models]
                axes.plot(limits, places, "|", color=LIMIT, markersize=13, markeredgewidth=2, label="limit")
                axes.plot(ours, places, "o", color=OURS, markersize=7, label="discreet")
                axes.set_title(f"{n} rows, epsilon {epsilon}")
                axes.set_yticks(places, [model[0].upper() + model[1:] for model in models])
        panels[0, 0].set_ylim(len(models) - 0.5, -0.5)
        panels[0, 0].set_xscale("log")
        log_ticks(panels[0, 0].xaxis)
        panels[-1, panels.shape[1] // 2].set_xlabel("squared error, times that of a fit without privacy")
        key(figure, panels[0, 0])
    return figure


def price(rows: list[dict[str, str]]) -> Any:
    """The squared error against the number of rows: a line for each model, dashed ones for their
    limits.
    """
    from matplotlib.figure import Figure

    models = list(dict.fromkeys(row["model"] for row in rows))
    with styled():
        figure = Figure(figsize=(7.0, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.axhline(1, color=PEERS[2], linewidth=1, label="without privacy")
        for number, model in enumerate(models):
            here = [row for row in rows if row["model"] == model]
            n = [int(row["n"].replace(",", "")) for row in here]
            errors = [float(row["over the plain fit's"].split()[0]) for row in here]
            (line,) = axes.plot(n, errors, "o-", color=f"C{number}", label=model)
            axes.plot(n, [float(row["limit"]) for row in here], ":", color=line.get_color())
        axes.set_xscale("log")
        axes.set_yscale("log")
        log_ticks(axes.yaxis)
        axes.set_xlabel("rows")
        axes.set_ylabel("squared error, times that\nof a fit without privacy")
        key(figure, axes, columns=3)
    return figure


def real_sets(rows: list[dict[str, str]]) -> Any:
    """Test losses over that without privacy: one line for each data set, a dot for each epsilon."""
    from matplotlib.figure import Figure

    epsilons = [name for name in rows[0] if name not in ("set", "rows", "without privacy")]
    # One colour, from light to dark with the budget.
    shades = [0.25 + 0.75 * i / (len(epsilons) - 1) for i in range(len(epsilons))]
    with styled():
        figure = Figure(figsize=(8.0, 4.4), layout="constrained")
        axes = figure.subplots()
        places = range(len(rows))
        axes.axvline(1, color=PEERS[2], linewidth=1, label="without privacy")
        for epsilon, shade in zip(epsilons, shades, strict=True):
            ratios = [float(row[epsilon]) / float(row["without privacy"]) for row in rows]
            axes.plot(ratios, places, "o", color=OURS, alpha=shade, markersize=7, label=f"epsilon {epsilon}")
        names = [f"{title_of(row['set'].removesuffix(' (seen)'))}, {row['rows']}" for row in rows]
        axes.set_yticks(places, names)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xscale("log")
        log_ticks(axes.xaxis)
        axes.set_xlabel("test loss, times that of a fit without privacy")
        axes.set_ylabel("data set, private rows")
        key(figure, axes, columns=4)
    return figure


def main() -> None:
    found = [row for row in table(RESULTS / "efficiency.md") if row["d"] == "8" and row["relation"] == "replace_one"]
    save(efficiency([row for row in found if row["n"] in SHOWN]), RESULTS / "efficiency.svg")
    save(price([row for row in found if row["epsilon"] == "1"]), RESULTS / "price.svg")
    save(real_sets(table(RESULTS / "real_sets.md")), RESULTS / "real_sets.svg")


if __name__ == "__main__":
    main()
