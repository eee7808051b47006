"""The runner of the papers' figures: every cell once, resumable, with a table and a plot of what
there is.
"""

from __future__ import annotations

import csv
import importlib

import pytest
from experiments.__main__ import OTHERS, PAPERS, figures, page_is_made
from experiments.checking import changed, forget
from experiments.drawing import plot
from experiments.runner import Figure, Job, main, one_run, read, seed_of, table
from experiments.status import line

CELLS = [{"set": name, "n": n} for name in ("a", "b") for n in (10, 20)]


def made(cell, seed):
    return seed % 2


def fit(curve, data, cell, seed):
    return cell["n"] + data if curve == "ours" else float("nan")


def figure(fit=fit, **more):
    asked = {"cells": CELLS, "quick": CELLS[:1], "curves": ("ours", "theirs"), "axis": "n", "repeats": 3}
    # Plots take most of a test's time; one test draws.
    asked |= {"draw": lambda *_: None}
    return Figure(name="figure0", title="T", says="S.", make=made, fit=fit, **asked | more)


def lines(folder):
    with (folder / "results" / "figure0.csv").open() as file:
        return list(csv.DictReader(file))


def test_every_cell_is_run_once_and_a_second_run_adds_what_is_missing(tmp_path):
    asked = ["--out", str(tmp_path), "--workers", "1"]
    main(figure(), "experiments/x/figure0.py", [*asked, "--quick", "--repeats", "2"])
    assert len(lines(tmp_path)) == 1 * 2 * 2
    main(figure(), "experiments/x/figure0.py", asked)
    kept = [(line["set"], line["n"], line["repeat"], line["curve"]) for line in lines(tmp_path)]
    assert len(kept) == len(set(kept)) == 4 * 3 * 2
    before = (tmp_path / "results" / "figure0.csv").read_bytes()
    main(figure(), "experiments/x/figure0.py", asked)
    assert (tmp_path / "results" / "figure0.csv").read_bytes() == before


def test_the_table_says_what_was_refused_and_how_many_repeats_there_are(tmp_path):
    main(figure(draw=plot), "experiments/x/figure0.py", ["--out", str(tmp_path), "--workers", "1"])
    text = (tmp_path / "figure0.md").read_text()
    assert "python -m experiments.x.figure0" in text
    assert text.count("| refused | 3 |") == 4
    assert (tmp_path / "figure0.svg").stat().st_size > 1000
    runs = read(figure(), tmp_path / "results" / "figure0.csv")
    assert len(runs["ours"]) == 4
    assert table(figure(), runs, "x").count("| 3 |") == 4


def test_a_run_that_stands_twice_in_the_file_counts_once(tmp_path):
    """Files of two clones that were put together had the same runs, which looked like more repeats."""
    run_in(tmp_path, figure())
    store = tmp_path / "results" / "figure0.csv"
    header, *runs = store.read_text().splitlines()
    text = (tmp_path / "figure0.md").read_text()
    before = line("x.figure0", figure(), store)
    store.write_text("\n".join([header, *runs, *runs[:7]]) + "\n")
    run_in(tmp_path, figure())
    assert (tmp_path / "figure0.md").read_text() == text
    assert line("x.figure0", figure(), store) == before


def test_seeds_are_those_of_the_cell_and_the_repeat():
    one = figure()
    seeds = {seed_of(one, cell, repeat) for cell in CELLS for repeat in range(3)}
    assert len(seeds) == 12
    assert seed_of(one, {"n": 10, "set": "a"}, 0) == seed_of(one, {"set": "a", "n": 10}, 0)


def test_an_entry_that_would_be_read_as_a_result_is_refused():
    with pytest.raises(ValueError, match="must differ"):
        figure(cells=[{"value": 1}], axis="value")


def run_in(folder, one, *more):
    main(one, "experiments/x/figure0.py", ["--out", str(folder), "--workers", "1", *more])


def test_curves_left_for_later_are_all_that_a_second_run_adds(tmp_path):
    run_in(tmp_path, figure(), "--without", "ours")
    assert {line["curve"] for line in lines(tmp_path)} == {"theirs"}
    run_in(tmp_path, figure())
    assert [line["curve"] for line in lines(tmp_path)].count("ours") == 4 * 3
    assert [line["curve"] for line in lines(tmp_path)].count("theirs") == 4 * 3


def test_one_fit_gives_all_points_of_its_path(tmp_path):
    calls = []

    def path(curve, data, cell, seed):
        calls.append(curve)
        return [1.0, 2.0, 3.0]

    one = figure(path, points=[{"step": t} for t in (1, 2, 3)], axis="step")
    found = one_run(one, Job(CELLS[0], 0, ("ours",)))
    assert calls == ["ours"]
    assert [line[:3] + line[5:6] for line in found] == [["a", "10", str(t), f"{t:g}"] for t in (1, 2, 3)]
    run_in(tmp_path, one)
    assert len(lines(tmp_path)) == 4 * 3 * 2 * 3


def test_runs_of_a_file_without_seeds_of_noise_count_for_nothing(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "figure0.csv").write_text("set,n,repeat,curve,value\na,10,0,ours,5.0\n")
    assert line("x.figure0", figure(), tmp_path / "results" / "figure0.csv")[0].split(" | ")[3] == "0"
    run_in(tmp_path, figure())
    assert len(lines(tmp_path)) == 4 * 3 * 2


def test_a_curve_whose_code_has_changed_is_noticed_and_forgotten(tmp_path):
    run_in(tmp_path, figure())
    store = tmp_path / "results" / "figure0.csv"
    assert changed(figure(), store) == []
    other = figure(lambda curve, data, cell, seed: 2 * fit(curve, data, cell, seed))
    assert changed(other, store) == ["ours"]
    # In one cell only, and not the cheapest.
    last = figure(lambda curve, data, cell, seed: fit(curve, data, cell, seed) + (cell == CELLS[-1]))
    assert changed(last, store) == ["ours"]
    forget(other, store, ["ours"])
    assert {line["curve"] for line in lines(tmp_path)} == {"theirs"}


def test_status_counts_repeats_and_the_time_that_is_missing(tmp_path):
    one = figure(fewer=lambda curve, cell: 2 if curve == "theirs" else 3)
    run_in(tmp_path, one, "--repeats", "1")
    store = tmp_path / "results" / "figure0.csv"
    text = store.read_text().splitlines()
    # One second for each run.
    store.write_text("\n".join([text[0], *(",".join([*row.split(",")[:-2], "1", "abc"]) for row in text[1:])]) + "\n")
    told, hours = line("x.figure0", one, store)
    assert hours == pytest.approx((4 * 2 + 4 * 1) / 3600 / 2)
    assert "| 1 to 2 | 3 | 8.0 |" in told
    run_in(tmp_path, one)
    assert line("x.figure0", one, store)[1] == 0.0


def test_a_page_of_the_same_command_is_not_made_again():
    assert not page_is_made("nldp.accuracy", ["3"])
    assert page_is_made("nldp.two_rounds", OTHERS["nldp.two_rounds"][1])


@pytest.mark.parametrize("module", [f"{paper}.{name}" for paper in PAPERS for name in figures(paper)])
def test_every_figure_has_cells_of_one_shape_and_a_small_grid(module):
    one = importlib.import_module(f"experiments.{module}").FIGURE
    assert all([*cell, *point] == one.keys for cell in [*one.cells, *one.quick] for point in one.points)
    assert one.axis in one.keys
    assert 0 < len(one.quick) <= len(one.cells)


def test_one_run_of_a_papers_figure_gives_a_number_for_each_curve_and_step():
    one = importlib.import_module("experiments.cost.figure1").FIGURE
    cell = {"panel": "c", "n": 2000, "d": 5, "epsilon": 2.0}
    found = {line[5:7][1] + line[4]: float(line[-2]) for line in one_run(one, Job(cell, 1, tuple(one.curves)))}
    assert len(found) == len(one.curves) * len(one.points)
    assert found["no noise10"] < found["paper10"]
    again = one_run(one, Job(cell, 1, ("paper",)))
    assert [float(line[-2]) for line in again] == [found[f"paper{step}"] for step in (1, 3, 5, 10)]
