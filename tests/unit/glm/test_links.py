"""Links agree with statsmodels, stay finite at any eta, and keep their promised bounds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.genmod.families import links as sm

from discreet.errors import DomainError
from discreet.glm import Link, Logit, link
from discreet.glm.index_links import Boosting
from discreet.glm.links import LINKS

MAPS = ["mean", "slope", "relative_slope"]
PEERS = {"identity": sm.Identity, "logit": sm.Logit, "probit": sm.Probit, "cloglog": sm.CLogLog, "log": sm.Log}
EXTREMES = np.array([0.0, 1.0, 30.0, 37.0, 40.0, 500.0, 700.0, 745.0, 800.0, 1e5, 1e100, 1e300, 1.7e308, np.inf])


def grid(one: Link) -> np.ndarray:
    """Moderate etas at which every derivative is well scaled."""
    return np.linspace(-6.0, -0.3, 301) if one.name == "negative_inverse" else np.linspace(-4.0, 1.8, 301)


@pytest.fixture(params=list(LINKS.values()), ids=list(LINKS))
def one(request: pytest.FixtureRequest) -> Link:
    return request.param


@pytest.mark.parametrize("name", PEERS)
def test_values_and_derivatives_are_those_of_statsmodels(name: str) -> None:
    ours, theirs, eta = link(name), PEERS[name](), grid(link(name))
    np.testing.assert_allclose(ours.mean(eta), theirs.inverse(eta), rtol=1e-10)
    np.testing.assert_allclose(ours.slope(eta), theirs.inverse_deriv(eta), rtol=1e-10)
    mean = theirs.inverse(eta)
    np.testing.assert_allclose(ours.predictor(mean), theirs(mean), rtol=1e-10, atol=1e-14)


def test_the_canonical_gamma_link_is_minus_the_inverse() -> None:
    eta = grid(link("negative_inverse"))
    np.testing.assert_allclose(link("negative_inverse").mean(eta), sm.InversePower().inverse(-eta), rtol=1e-14)


def test_derivatives_are_those_of_finite_differences(one: Link) -> None:
    eta, step = grid(one), 1e-3
    pairs = [(one.mean, one.slope)]
    if one.name in ("identity", "logit", "log", "negative_inverse"):
        pairs.append((one.cumulant, one.mean))
    for value, derivative in pairs:
        # Richardson's combination of central differences: its error is of order step^4 times a
        # fifth derivative.
        wide = (value(eta + 2 * step) - value(eta - 2 * step)) / (4 * step)
        narrow = (value(eta + step) - value(eta - step)) / (2 * step)
        np.testing.assert_allclose((4 * narrow - wide) / 3, derivative(eta), rtol=1e-7, atol=1e-9)


def test_the_predictor_undoes_the_mean(one: Link) -> None:
    eta = grid(one)
    np.testing.assert_allclose(one.predictor(one.mean(eta)), eta, rtol=1e-11, atol=1e-12)


def test_the_relative_slope_is_the_slope_over_the_natural_variance(one: Link) -> None:
    eta = grid(one)
    mean, variance = one.mean(eta), np.ones_like(eta)
    if one.name in ("logit", "probit", "cloglog"):
        variance = mean * (1 - mean)
    elif one.name != "identity":
        variance = mean
    np.testing.assert_allclose(one.relative_slope(eta), one.slope(eta) / variance, rtol=1e-11)


def test_the_relative_slope_keeps_its_digits_in_the_tails() -> None:
    # phi(t) / (1 - Phi(t)) = t + 1/t - 2/t^3 + 10/t^5 - ...
    tail = np.array([-60.0, 60.0])
    np.testing.assert_allclose(link("probit").relative_slope(tail), 60 + 1 / 60 - 2 / 60**3 + 10 / 60**5, rtol=1e-11)
    np.testing.assert_allclose(link("cloglog").relative_slope(-500.0), 1.0, rtol=1e-14)
    np.testing.assert_allclose(link("softplus").relative_slope([-650.0, 1e6]), [1.0, 1e-6], rtol=1e-14)


def test_any_eta_gives_finite_values_without_a_warning(one: Link) -> None:
    eta = np.concatenate([-EXTREMES, EXTREMES])
    maps = [*MAPS, "cumulant"] if hasattr(one, "cumulant") else MAPS
    with warnings.catch_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
        warnings.simplefilter("error")
        for name in maps:
            assert np.all(np.isfinite(getattr(one, name)(eta))), name
        for mean in ([0.0, 1.0], [-np.inf, np.inf], one.mean(eta)):
            assert np.all(np.isfinite(one.predictor(mean)))


def test_the_mean_never_falls(one: Link) -> None:
    eta = np.sort(np.concatenate([-EXTREMES, EXTREMES, np.linspace(-50, 50, 1001)]))
    mean = one.mean(eta)
    assert np.all(np.diff(mean) >= -1e-15 * np.abs(mean[1:]))


def test_nan_has_a_nan_mean_and_no_message(one: Link) -> None:
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert np.isnan(one.mean(np.nan))
        assert np.isnan(one.predictor(np.nan))
        for name in MAPS:
            getattr(one, name)(np.nan)


@pytest.mark.parametrize("name", [*MAPS, "predictor"])
def test_a_value_does_not_depend_on_its_neighbours(one: Link, name: str) -> None:
    value = getattr(one, name)
    eta = np.random.default_rng(0).normal(size=1003) * 5
    whole = value(eta)
    for step in (1, 7, 64):
        parts = np.concatenate([value(eta[start : start + step]) for start in range(0, len(eta), step)])
        np.testing.assert_array_equal(parts, whole)
    np.testing.assert_array_equal(value(eta[::3]), whole[::3])
    np.testing.assert_array_equal([float(value(float(x))) for x in eta[:50]], whole[:50])


@given(
    name=st.sampled_from(list(LINKS)),
    ends=st.tuples(st.floats(-60, 60), st.floats(-60, 60)),
    inside=st.lists(st.floats(0, 1), min_size=1, max_size=20),
)
def test_bounds_hold_inside_the_interval(name: str, ends: tuple[float, float], inside: list[float]) -> None:
    one, (low, high) = link(name), sorted(ends)
    if name == "negative_inverse":
        low, high = -abs(low) - abs(high) - 1e-3, -min(abs(low), abs(high)) - 1e-3
    eta = np.clip(low + np.array(inside) * (high - low), low, high)
    room = 1 + 1e-12
    least, greatest = one.mean_bounds(low, high)
    assert np.all((one.mean(eta) >= least - 1e-12 * abs(least)) & (one.mean(eta) <= greatest + 1e-12 * abs(greatest)))
    assert np.all(one.slope(eta) <= one.slope_bound(low, high) * room)
    assert np.all(one.relative_slope(eta) <= one.relative_slope_bound(low, high) * room)


@pytest.mark.parametrize(("low", "high"), [(-5.0, 5.0), (-5.0, -0.5), (0.7, 1.5), (2.0, 4.0), (-1.0, 0.2)])
def test_bounds_are_attained(one: Link, low: float, high: float) -> None:
    if one.name == "negative_inverse":
        low, high = low - 6.0, high - 6.0
    eta = np.linspace(low, high, 20001)
    np.testing.assert_allclose(one.slope(eta).max(), one.slope_bound(low, high), rtol=1e-6)
    np.testing.assert_allclose(one.relative_slope(eta).max(), one.relative_slope_bound(low, high), rtol=1e-12)


def test_bounds_work_on_many_intervals_at_once(one: Link) -> None:
    low, high = np.array([-9.0, -4.0]), np.array([-3.0, -1.0])
    for bound in (one.slope_bound, one.relative_slope_bound):
        np.testing.assert_array_equal(bound(low, high), [bound(a, b) for a, b in zip(low, high, strict=True)])


def test_what_is_no_interval_is_refused() -> None:
    with pytest.raises(DomainError, match=r"low <= high, got 2\.0 and 1\.0"):
        link("log").mean_bounds(2.0, 1.0)
    with pytest.raises(DomainError):
        link("log").slope_bound(float("nan"), 1.0)
    with pytest.raises(DomainError, match="needs eta < 0"):
        link("negative_inverse").slope_bound(-1.0, 0.0)


def test_lookup_by_name() -> None:
    assert link("logit") == Logit()
    assert link(Logit()) == link("logit") != link("log")
    names = "identity, logit, probit, cloglog, log, softplus, negative_inverse"
    with pytest.raises(ValueError, match=f"link must be one of {names}, got 'loggit'"):
        link("loggit")


def test_the_boosting_link_and_its_inverse():
    link, eta = Boosting(), np.array([-1e300, -50.0, -1.0, 0.0, 0.3, 50.0, 1e300])
    assert np.allclose(link.mean(eta[1:-1]), 0.5 + eta[1:-1] / (4 * np.sqrt(1 + eta[1:-1] ** 2 / 4)), rtol=1e-12)
    assert link.mean(eta)[[0, -1]].tolist() == [0.0, 1.0]
    assert np.all(link.slope(eta)[[0, -1]] < 1e-200)
    assert np.allclose(link.predictor(link.mean(eta[1:-1])), eta[1:-1])
    assert np.isfinite(link.predictor(np.array([-1.0, 0.0, 1.0, 2.0]))).all()
    assert float(link.slope_bound(-3.0, 2.0)) == 0.25
