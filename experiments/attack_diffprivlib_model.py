"""diffprivlib 0.6.6 for an audit: run by the Python of .venv-diffprivlib, which has no discreet.

Its linear regression perturbs the diagonal of X^T X with noise for the squared *lower* bound of a
column, taken twice where the upper one was meant. With a lower bound of 0 there is no noise at all,
and the model shows whether a row's x is 0 or 1.
"""

from __future__ import annotations

import numpy as np


def make_model(epsilon):
    from diffprivlib.models import LinearRegression

    return LinearRegression(epsilon=epsilon, bounds_X=(0.0, 1.0), bounds_y=(-1.0, 1.0), fit_intercept=False)


def make_control(epsilon):
    """The same with a lower bound of -1, whose square is right: nothing may be found."""
    from diffprivlib.models import LinearRegression

    return LinearRegression(epsilon=epsilon, bounds_X=(-1.0, 1.0), bounds_y=(-1.0, 1.0), fit_intercept=False)


def make_pair():
    """One row of x = 0.05 and one of 0, which in the neighbour is 1: noise on x y is divided by
    0.0025 or by 1.0025.
    """
    X, other, y = np.array([[0.05], [0.0]]), np.array([[0.05], [1.0]]), np.zeros(2)
    return (X, y), (other, y)
