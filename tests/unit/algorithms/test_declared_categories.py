"""Levels of declared categories: their variances follow from released shares."""

from __future__ import annotations

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from discreet import Categorical, Domain, LinearRegression, Numeric
from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.rare_rows import cut_curvature, kept_curvature
from discreet.algorithms.parts.start import _rare_groups
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.levels import Category, categories
from discreet.algorithms.steps.rare import RareColumns
from discreet.algorithms.steps.whitening import LabelScale
from discreet.domain import Encoder, FormulaEncoder
from discreet.glm import Gamma, Log, family, link
from discreet.rows import Labels

SHARES = np.array([0.5, 0.3, 0.15, 0.04, 0.01])
SEVEN = np.array([0.4, 0.25, 0.2, 0.1, 0.03, 0.012, 0.008])


def drawn(n, shares, seed):
    return np.random.default_rng(seed).choice(len(shares), size=n, p=shares)


def indicators(level, size):
    return (level[:, np.newaxis] == np.arange(1, size)).astype(float)


def category(shares, noise_std=1e-6):
    return Category.read(0, len(shares) - 1, shares[1:], noise_std)


@pytest.mark.parametrize("constant", [True, False])
def test_rows_of_a_level_have_the_length_that_their_share_says(constant):
    level = np.repeat(np.arange(5), (SHARES * 10_000).astype(int))
    one, x = category(SHARES), indicators(level, 5)
    z = (x - one.mean * constant) @ one.root(constant)
    assert z.T @ z / len(z) == pytest.approx(np.eye(4), abs=1e-9)
    squares = np.array([np.mean(np.sum(z[level == i] ** 2, axis=1)) for i in range(5)])
    assert squares == pytest.approx(1 / SHARES - 1 if constant else np.append(0, 1 / SHARES[1:]))


@pytest.mark.parametrize("constant", [True, False])
def test_a_change_of_slopes_moves_the_predictor_of_one_level(constant):
    one = category(SHARES)
    rows = np.vstack([np.zeros(4), np.eye(4)]) - one.mean * constant
    for share, away, change in one.levels(constant):
        moved = rows @ change
        place = int(np.flatnonzero(np.all(np.isclose(rows, away), axis=1))[0])
        assert share == pytest.approx(SHARES[place])
        assert moved[place] == pytest.approx(1.0)
        others = np.delete(moved, place)
        assert others == pytest.approx(np.full(4, -share / (1 - share) if constant else 0.0))


def test_a_level_that_noise_may_hide_is_stretched_no_further_than_the_noise_allows():
    one = Category.read(0, 3, np.array([0.4, 0.0, -0.02]), 0.01)
    assert one.shares[2:] == pytest.approx([0.015 / 1.05] * 2)  # the sum was .57 + .4 + .04 + .04
    assert one.shares.sum() == pytest.approx(1.0)
    assert one.clear[2:] == pytest.approx([0.0, 0.0])


def test_shares_are_positive_for_any_noise():
    random = np.random.default_rng(0)
    for noise in (1e-4, 1.0, 1e6):
        one = Category.read(0, 6, noise * random.normal(size=6), noise)
        assert np.all(one.shares > 0)
        assert np.all(np.isfinite(one.root(True)))


def test_a_moment_of_clipped_rows_gets_the_moments_of_its_categories():
    level, random = drawn(50_000, SHARES, 1), np.random.default_rng(2)
    x = np.column_stack([indicators(level, 5), 0.3 * random.normal(size=len(level)) + 0.2 * (level == 3)])
    one, none = category(SHARES), np.zeros(5, dtype=bool)
    here = Coordinates.scaled(x.mean(axis=0), 0.3)
    z = np.column_stack([np.ones(len(x)), x]) @ here.matrix.T
    radius = 0.8 * np.sqrt(z.shape[1])
    short = z * np.minimum(1, radius / np.linalg.norm(z, axis=1))[:, np.newaxis]
    moment = short.T @ short / len(z)
    whole = RareColumns(none, none, x.mean(axis=0), (one,)).restored(here, moment)
    found = (whole[1:, 1:] / whole[0, 0])[:4, :4] * 0.3**2
    shift = whole[0, 1:5] / whole[0, 0] * 0.3
    assert found - np.outer(shift, shift) == pytest.approx(one.moment(True), abs=1e-9)
    assert np.linalg.eigvalsh(whole)[0] > 0


def test_an_encoder_tells_which_columns_are_levels():
    columns = (Categorical("a", (1, 2, 3)), Numeric("x", 0, 1), Categorical("b", ("n", "y")))
    assert Encoder(Domain(columns)).categories == ((0, 2), (3, 4))
    assert Encoder(Domain(columns, data_norm=1.0)).categories == ()
    assert FormulaEncoder.of("y ~ a + x + b", Domain(columns), Numeric("y", 0, 1)).categories == ()


def table(seed, n, shares):
    """Three numbers and two categories, with steep slopes; and the design of the plain fit."""
    random = np.random.default_rng(seed)
    level, other = drawn(n, shares, seed + 1), drawn(n, np.array([0.97, 0.03]), seed + 2)
    x = np.clip(random.normal(size=(n, 3)), -4, 4)
    effects = np.linspace(-1.5, 1.0, len(shares))
    eta = x @ [0.4, -0.3, 0.3] + effects[level] - 1.2 * other - np.mean(effects[level])
    frame = pd.DataFrame(x, columns=list("uvw")).assign(level=level, other=other)
    levels = Categorical("level", tuple(range(len(shares)))), Categorical("other", (0, 1))
    domain = Domain((*(Numeric(name, -8, 8) for name in "uvw"), *levels))
    design = sm.add_constant(np.column_stack([x, indicators(level, len(shares)), other]))
    return frame, np.clip(eta + random.normal(size=n), -8, 8), domain, design


def fitted(seed, epsilon, n=20_000, shares=SEVEN):
    """Errors of all slopes, and standard errors, in standard errors of the plain fit."""
    frame, y, domain, design = table(seed, n, shares)
    plain = sm.OLS(y, design).fit()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = {"epsilon": epsilon, "delta": 1e-6, "domain": domain, "random_state": seed}
        results = LinearRegression(**asked, bounds_y=(-8, 8)).fit(frame, y).results_
    return tuple((np.ravel(part) / plain.bse)[1:] for part in (results.params - plain.params, results.bse))


def test_slopes_beside_rare_levels_are_near_the_plain_ones():
    """The root mean square of these six fits is .5, and of twelve others .45; it was 1.3 when levels
    were stretched by clipped moments. Seeds are fixed.
    """
    errors = np.concatenate([fitted(seed, epsilon=3.0)[0] for seed in range(6)])
    assert np.sqrt(np.mean(errors**2)) < 0.9


@pytest.mark.parametrize("differs", [-1.6, 3.0])
def test_the_start_of_a_level_is_the_nearer_of_two_predictors(differs):
    """The mean label of a linear fit may be nearly 0 or negative, and its logarithm far out."""
    mean, share = 1.7, 0.02
    one, none = category(np.array([1 - share, share])), np.zeros(1, dtype=bool)
    here = Coordinates.turned(one.root(True), one.mean)
    rare = RareColumns(none, none, one.mean, (one,))
    (level,) = rare.directions(here)
    label = LabelScale(Labels(0.0, 40.0), mean, 1.0)
    model = GlmModel(Gamma(), Log(), label.labels, np.zeros(1))
    foresight = Foresight(model, True)
    linear = differs * level.row / float(level.row @ level.row)
    fit = SimpleNamespace(white=SimpleNamespace(rare=rare, coordinates=here), phi=linear, noise_std=1e-6)
    slopes = np.array([math.log(mean), *(linear[1:] / mean)])
    found = _rare_groups(model, foresight, label, fit, slopes)
    expected = max(differs / mean, -1.0) if differs < 0 else math.log1p(differs / mean)
    assert float(level.row @ found) == pytest.approx(expected, rel=0.05)


def test_slopes_have_wide_intervals_where_noise_hides_the_reference_level():
    shares = np.array([0.002, 0.3, 0.25, 0.2, 0.15, 0.098])
    fits = [fitted(seed, epsilon=1.0, n=4_000, shares=shares) for seed in range(6)]
    largest = [np.max(np.abs(errors[3:8]) / widths[3:8]) for errors, widths in fits]
    assert max(largest) < 2.6  # errors of the reference: all five slopes share them
    assert np.median([np.median(widths[3:8]) for _, widths in fits]) > 3


def test_rows_of_many_levels_do_not_empty_a_direction_together():
    """Where other columns stretch a direction that many rare levels share, the foreseen curvature
    along it was negative, and predictions of good estimates were shrunk to the constant model.
    """
    random, levels = np.random.default_rng(0), 40
    means = np.concatenate([[0.5, 0.3], np.zeros(levels - 3)]) + 0.01 * random.normal(size=levels - 1)
    declared, none = categories([(0, levels - 1)], means, 0.01), np.zeros(levels - 1, dtype=bool)
    shared = np.full(levels - 1, 1 / math.sqrt(levels - 1))
    matrix = np.eye(levels)
    matrix[1:, 1:] = (np.eye(levels - 1) + 3 * np.outer(shared, shared)) @ declared[0].root(True)
    matrix[1:, 0] = -matrix[1:, 1:] @ declared[0].mean
    model = GlmModel(family("bernoulli"), link("logit"), Labels(0.5, 0.5), np.zeros(levels - 1))
    rare, seen = RareColumns(none, none, means, declared), Foresight(model, True)
    frame = Frame(None, model, Coordinates(matrix), seen, 15_000.0, 1.0, rare=rare)  # type: ignore[arg-type]
    phi, clip = np.zeros(levels), 0.25 * frame.root_size
    kept = kept_curvature(frame, phi, clip, 0.6)
    left = kept - cut_curvature(frame, phi, clip, 0.6, 1.4)
    assert np.linalg.eigvalsh(kept)[0] > 0.1 * frame.weight(phi)
    assert np.linalg.eigvalsh(left)[0] > 0.1 * frame.weight(phi)
