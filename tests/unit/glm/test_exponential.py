"""An exponential of additions and multiplications: accurate, and the same in every loop."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.glm.exponential import exponential
from discreet.rows import exp_loops, kernels

X = np.concatenate([np.random.default_rng(0).uniform(-708, 709, 2000), np.linspace(-1, 1, 2001)])
ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, -708.0, -709.0, -745.0, 709.0, 5e-324])


def test_it_is_accurate_to_a_unit_in_the_last_place():
    off = [abs(Fraction(float(ours)) - Fraction(math.exp(x))) for x, ours in zip(X, exponential(X), strict=True)]
    assert all(error <= 2 * Fraction(math.ulp(math.exp(x))) for x, error in zip(X, off, strict=True))


def test_its_ends():
    found = exponential(ODD)
    assert np.isnan(found[0])
    assert found[[2, 6, 8, 9]].tolist() == [0.0] * 4
    assert found[[3, 4, 11]].tolist() == [1.0] * 3
    assert found[1] == found[5] == found[10] == pytest.approx(math.exp(709.0))
    assert exponential(np.asarray(1.0)) == pytest.approx(math.e)


@pytest.mark.parametrize("compiled", [False, True])
def test_loops_have_its_bits(compiled):
    x, loop = np.concatenate([X, ODD]), exp_loops.exp_line
    if compiled:
        numba = pytest.importorskip("numba")
        kernels._register_callees()
        loop = numba.njit(error_model="numpy")(exp_loops.exp_line)
    out = np.empty_like(x)
    with np.errstate(all="ignore"):
        loop(x, np.empty_like(x), out)
        assert np.array_equal(out, exponential(x), equal_nan=True)
