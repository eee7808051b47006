"""Pages of measurements: lines of prose within 100 characters, figures whose panels can be read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from experiments.drawing import _line, spaced
from experiments.nldp.accuracy import Setting, people
from experiments.pages import WIDTH, wrapped

PAGES = sorted((Path(__file__).parents[3] / "experiments").rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_prose_has_lines_of_at_most_100_characters(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > WIDTH and not line.startswith("|")] == []


def test_long_lines_are_filled_and_code_and_tables_are_kept():
    code = f"`python -m experiments {'--only pmt ' * 6}--quick`"
    table = f"| {'a' * 120} |"
    text = f"# Title\n\n{'some words ' * 9}\nand {code} {'more words ' * 5}\n\n{table}\n\nshort\nlines\n"
    found = wrapped(text)
    assert found.split() == text.split()
    assert code in found
    assert table in found
    assert "\n\nshort\nlines\n" in found
    assert all(len(line) <= WIDTH for line in found.splitlines() if not line.startswith("|"))


def drawn(runs):
    """The medians of the drawn curve ``paper`` over n, with gaps."""
    from matplotlib.figure import Figure as Drawing

    figure = SimpleNamespace(curves=("paper", "unit"))
    place = Drawing().subplots()
    _line(place, [(n, np.array(values)) for n, values in runs.items()], figure, "paper")
    return [line.get_ydata().tolist() for line in place.lines]


def test_a_curve_has_a_gap_where_half_of_the_runs_have_no_answer():
    """The median of the runs with an answer was drawn: one of three was enough."""
    (medians,) = drawn({1: [3.0, 1.0, 2.0], 2: [1.0, np.inf, np.inf], 3: [5.0, 4.0, np.inf]})
    assert medians[0] == 2.0
    assert np.isnan(medians[1])
    assert medians[2] == 5.0
    assert drawn({1: [np.nan, np.nan]}) == drawn({1: [np.inf]}) == []


def test_a_median_between_two_answers_is_the_tables_although_a_run_has_none():
    """The lower of the two was drawn: with one run without an answer a curve fell below another."""
    (medians,) = drawn({1: [1.0, 2.0, 4.0, np.inf], 2: [1.0, 2.0, np.inf]})
    assert medians == [3.0, 2.0]


def test_a_curve_of_one_point_has_a_marker_and_its_value_is_the_tick():
    from matplotlib.figure import Figure as Drawing

    place = Drawing().subplots()
    _line(place, [(0, np.array([0.8]))], SimpleNamespace(curves=("unit", "no privacy")), "no privacy")
    (line,) = place.lines
    assert line.get_marker() not in ("", "None")
    assert spaced({"7000"}, log_axis=False) == ["7000"]


@pytest.mark.parametrize("p", [5, 10, 20])
def test_rows_of_nldp_with_covariance_u_and_i_have_all_directions(p):
    """U of a QR decomposition is a reflection for every even p, and U + I then singular."""
    for seed in range(5):
        found = people(Setting(500, p, 4.0, public=10, covariance="turned"), seed)
        assert np.linalg.cond(found.rows) < 1e6
