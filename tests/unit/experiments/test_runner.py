"""The runner of the papers' figures: every cell once, resumable, with a table and a plot of what
there is.
"""

from __future__ import annotations

import csv
import importlib

import pytest
from experiments.__main__ import PAPERS, figures
from experiments.runner import Figure, main, read, seed_of, table

CELLS = [{"set": name, "n": n} for name in ("a", "b") for n in (10, 20)]


def figure(run, **more):
    asked = {"cells": CELLS, "quick": CELLS[:1], "curves": ("ours", "theirs"), "axis": "n", "repeats": 3}
    return Figure(name="figure0", title="T", says="S.", run=run, **asked | more)


def run(cell, seed):
    return {"ours": cell["n"] + seed % 2, "theirs": float("nan")}


def lines(folder):
    with (folder / "results" / "figure0.csv").open() as file:
        return list(csv.DictReader(file))


def test_every_cell_is_run_once_and_a_second_run_adds_what_is_missing(tmp_path):
    asked = ["--out", str(tmp_path), "--workers", "1"]
    main(figure(run), "experiments/x/figure0.py", [*asked, "--quick", "--repeats", "2"])
    assert len(lines(tmp_path)) == 1 * 2 * 2
    main(figure(run), "experiments/x/figure0.py", asked)
    kept = [(line["set"], line["n"], line["repeat"], line["curve"]) for line in lines(tmp_path)]
    assert len(kept) == len(set(kept)) == 4 * 3 * 2
    before = (tmp_path / "results" / "figure0.csv").read_bytes()
    main(figure(run), "experiments/x/figure0.py", asked)
    assert (tmp_path / "results" / "figure0.csv").read_bytes() == before


def test_the_table_says_what_was_refused_and_how_many_repeats_there_are(tmp_path):
    main(figure(run), "experiments/x/figure0.py", ["--out", str(tmp_path), "--workers", "1"])
    text = (tmp_path / "figure0.md").read_text()
    assert "python -m experiments.x.figure0" in text
    assert text.count("| refused | 3 |") == 4
    assert (tmp_path / "figure0.svg").stat().st_size > 1000
    runs = read(figure(run), tmp_path / "results" / "figure0.csv")
    assert len(runs["ours"]) == 4
    assert table(figure(run), runs, "x").count("| 3 |") == 4


def test_seeds_are_those_of_the_cell_and_the_repeat():
    one = figure(run)
    seeds = {seed_of(one, cell, repeat) for cell in CELLS for repeat in range(3)}
    assert len(seeds) == 12
    assert seed_of(one, {"n": 10, "set": "a"}, 0) == seed_of(one, {"set": "a", "n": 10}, 0)


@pytest.mark.parametrize("module", [f"{paper}.{name}" for paper in PAPERS for name in figures(paper)])
def test_every_figure_has_cells_of_one_shape_and_a_small_grid(module):
    one = importlib.import_module(f"experiments.{module}").FIGURE
    assert all(list(cell) == one.keys for cell in [*one.cells, *one.quick])
    assert one.axis in one.keys
    assert 0 < len(one.quick) <= len(one.cells)


def test_one_run_of_a_papers_figure_gives_a_number_for_each_curve():
    one = importlib.import_module("experiments.cost.figure1").FIGURE
    found = one.run({"panel": "c", "n": 2000, "d": 5, "epsilon": 2.0, "step": 10}, 1)
    assert set(found) == set(one.curves)
    assert found["no noise"] < found["paper"]
