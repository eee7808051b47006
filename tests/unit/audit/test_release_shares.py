"""The share of each release's sensitivity that rows reach: all of it where it is tight, never more."""

from __future__ import annotations

import pytest

import discreet.curator.noise
from discreet import LinearRegression
from discreet.audit import release_shares


def moments(neighbours="replace_one"):
    bounds = {"bounds_X": (-1, 1), "bounds_y": (-1, 1)}
    return LinearRegression(epsilon=1.0, delta=1e-6, neighbours=neighbours, solver="moments", **bounds)


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
def test_both_releases_of_the_moments_solver_use_what_they_claim(neighbours):
    look, moment = release_shares(moments(neighbours), features=1, random_rows=25, climbs=0)
    assert (look.label, moment.label) == ("first look", "second moment of (1, x, y)")
    assert 0.999 < look.share <= 1
    assert 0.5 < moment.share <= 1


def test_a_release_with_half_of_its_noise_reaches_more_than_its_claim(monkeypatch):
    real = discreet.curator.noise.reach
    monkeypatch.setattr(discreet.curator.noise, "reach", lambda *arguments: real(*arguments) / 2)
    assert min(one.share for one in release_shares(moments(), features=1, random_rows=15, climbs=0)) > 1
