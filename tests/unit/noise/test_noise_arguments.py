"""Arguments mean what they say, and impossible ones raise with the name, the value and the rule."""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet.noise as noise

DRAWS = pytest.mark.parametrize("draw", [noise.discrete_gaussian, noise.discrete_laplace])


@DRAWS
@pytest.mark.parametrize("scale", [0, 0.0, -1.0, math.nan, math.inf, -math.inf, 2.0**40 + 1, 10**400])
def test_impossible_scale_raises(draw, scale):
    with pytest.raises(ValueError, match=r"scale must be finite, > 0 and <= 2\*\*40, got"):
        draw(scale)


@DRAWS
def test_scale_of_another_type_raises(draw):
    with pytest.raises(TypeError, match="scale must be a real number, got str"):
        draw("1.0")


@DRAWS
def test_size_gives_the_shape(draw):
    assert type(draw(3.0)) is int
    assert draw(3.0, 5).shape == (5,)
    assert draw(3.0, (2, 3)).shape == (2, 3)
    assert draw(3.0, 0).shape == (0,)
    assert draw(3.0, ()).shape == ()
    assert draw(np.float32(3.0), 5).dtype == np.int64


@DRAWS
def test_vanishing_scale_gives_zeros(draw):
    # At scale 0.02 the first nonzero value has a chance of 4e-22 or less.
    assert not draw(0.02, 1_000).any()
    assert not draw(5e-324, 1_000).any()


def test_public_names_are_what_is_importable():
    assert all(hasattr(noise, name) for name in noise.__all__)


def test_selection_checks_its_arguments():
    for scores in ([], [[1.0]]):
        with pytest.raises(ValueError, match="scores must be a non-empty vector, got shape"):
            noise.gumbel_top(scores, 1, 1.0)
    for s in (0, 3):
        with pytest.raises(ValueError, match=f"s must be between 1 and the number of candidates 2, got {s}"):
            noise.gumbel_top([1.0, 2.0], s, 1.0)
    for scale in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="scale must be finite and > 0, got"):
            noise.permute_and_flip([1.0, 2.0], scale)
    with pytest.raises(TypeError, match="scale must be a real number"):
        noise.permute_and_flip([1.0, 2.0], None)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_the_error_about_scores_names_no_score(bad):
    with pytest.raises(ValueError) as caught:
        noise.permute_and_flip([0.25, bad], 1.0)
    assert str(caught.value) == "scores must be finite"
