"""The search finds worst neighbours; every estimator of discreet is in the catalogue."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import LinearRegression
from discreet.audit import catalogue, worst_neighbours
from discreet.audit.rows import Box, Candidate
from discreet.audit.transcript import TranscriptAttack, World


def model(**more):
    settings = {"epsilon": 4.0, "delta": 1e-6, "bounds_X": (-1, 1), "bounds_y": (-1, 1), "solver": "moments"}
    return LinearRegression(**{**settings, **more})


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
def test_the_search_finds_rows_that_lose_nearly_all_that_is_claimed(neighbours):
    worst = worst_neighbours(model(neighbours=neighbours), rows=250, climbs=80)
    assert worst.passed, str(worst)
    assert 0.75 <= worst.efficiency <= 1, str(worst)  # searches have given 0.84 to 0.96
    assert [row["label"] for row in worst.rows] == [release.label for release in worst.report.releases]
    assert worst.rows[0]["label"] == "first look"
    assert max(row["efficiency"] for row in worst.rows) > 0.85
    sizes = len(worst.data[1]), len(worst.neighbour[1])
    assert sizes == ((250, 250) if neighbours == "replace_one" else (250, 249))


def test_the_search_takes_the_declared_domain():
    shifted = model(bounds_X=(100.0, 104.0), bounds_y=(-7.0, 3.0))
    worst = worst_neighbours(shifted, rows=250, climbs=40)
    assert worst.passed, str(worst)
    assert worst.efficiency > 0.7, str(worst)
    assert np.all(worst.data[0][1:] == 102.0)
    assert np.all(worst.data[1][1:] == -2.0)


def test_a_ball_is_a_domain_too():
    assert worst_neighbours(model(bounds_X=None, data_norm=2.0), rows=250, climbs=40).efficiency > 0.7


def test_rows_in_units_of_the_box():
    box = Box.of(model(bounds_X=([0, 10], [2, 30]), bounds_y=(1, 3)), 2)
    x, y = box.row(Candidate(np.array([1.0, -1.0]), 0.5, -1.0))
    assert np.array_equal(x, [1.5, 15.0])
    assert y == 1.0


def test_the_attack_on_transcripts_knows_both_data_sets():
    """Its log-likelihood ratio has the mean mu^2 / 2 on one side and -mu^2 / 2 on the other; 5
    standard errors.
    """
    worst = worst_neighbours(model(), rows=250, climbs=40)
    attack = TranscriptAttack(model())
    worlds = World(worst.data, worst.neighbour, True), World(worst.neighbour, worst.data, False)
    first, second = ([attack(world)[0] for _ in range(40)] for world in worlds)
    expected, spread = worst.realised_mu**2 / 2, worst.realised_mu / np.sqrt(40)
    assert abs(np.mean(first) - expected) < 5 * spread + 0.1 * expected
    assert abs(np.mean(second) + expected) < 5 * spread + 0.1 * expected


def test_every_public_estimator_is_in_the_catalogue_and_can_be_made_ready():
    found = catalogue.estimators()
    assert {"LinearRegression", "Ridge"} <= set(found)
    for kind in found.values():
        for relation in catalogue.relations(kind):
            assert catalogue.ready(kind, 1.0, 1e-6, relation).epsilon == 1.0


def test_losses_stand_beside_the_releases_that_lost_them():
    """An adaptive fit's fresh replay asks other questions: no share of a release may be counted
    against its cost.
    """
    default = model(epsilon=1.0, solver="auto", neighbours="add_or_remove_one")
    worst = worst_neighbours(default, rows=60, climbs=0, features=2)
    assert len(worst.rows) == len(worst.losses)
    assert max(row["efficiency"] for row in worst.rows) <= 1 + 1e-9
    assert np.sqrt(sum(row["mu"] ** 2 for row in worst.rows)) == pytest.approx(worst.claimed_mu, rel=1e-6)
