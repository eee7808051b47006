"""Best subset selection by the exponential mechanism over all subsets (after arXiv 2510.22062,
method "top-R").

A subset's loss is min over |beta| <= r of |y - X_S beta|^2 / (2 n) + ridge |beta|^2 / (2 n), with
cells cut at b_x and labels at b_y. A replaced row moves it by at most D = (b_y + b_x r
sqrt(s))^2 / (2 n): each row's term lies in [0, n D] for every beta of the ball, and a minimum moves
no more than its function. "top-R" replaces every loss beyond the R-th smallest by that one.
min(loss, R-th smallest) moves by at most D as well (an order statistic moves no more than its
entries), so drawing S with probability proportional to exp(-epsilon loss / (2 D)) is pure
epsilon-DP, without conditions. The paper finds the R best by integer programming; here all subsets
are enumerated, which gives the same law and limits the size. "mistakes", its other method, is not
here: its loss depends on the distance from the best subset, which is itself private, and the
condition of its theorem could not be read.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

# Of the authors' published settings.
CELL, LABEL, RADIUS, RIDGE = 1.0, 1.0, 1.1, 100.0
_BLOCK = 50_000


def losses(X: np.ndarray, y: np.ndarray, s: int) -> tuple[np.ndarray, np.ndarray]:
    """All subsets of s columns, one a line, and their losses."""
    X, y = np.clip(X, -CELL, CELL), np.clip(y, -LABEL, LABEL)
    second, cross, square = X.T @ X, X.T @ y, float(y @ y)
    subsets = np.array(list(combinations(range(X.shape[1]), s)), dtype=np.int16)
    found = [_block(second, cross, square, subsets[i : i + _BLOCK]) for i in range(0, len(subsets), _BLOCK)]
    return subsets, np.concatenate(found) / (2 * len(y))


def _block(second: np.ndarray, cross: np.ndarray, square: float, subsets: np.ndarray) -> np.ndarray:
    """The losses times 2 n; the ball's multiplier by bisection, for all subsets at once."""
    matrices = second[subsets[:, :, np.newaxis], subsets[:, np.newaxis, :]]
    values, vectors = np.linalg.eigh(matrices)
    turned = np.einsum("abc,ab->ac", vectors, cross[subsets])
    low = np.zeros(len(subsets))
    norm = np.sqrt(np.sum((turned / (values + RIDGE)) ** 2, axis=1))
    high = np.where(norm > RADIUS, np.linalg.norm(turned, axis=1) / RADIUS, 0.0)
    for _ in range(50):
        middle = (low + high) / 2
        outside = np.sum((turned / (values + (RIDGE + middle)[:, np.newaxis])) ** 2, axis=1) > RADIUS**2
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    beta = turned / (values + (RIDGE + high)[:, np.newaxis])
    return np.asarray(square + np.sum(values * beta**2 - 2 * turned * beta + RIDGE * beta**2, axis=1))


def drawn(
    subsets: np.ndarray, loss: np.ndarray, rows: int, epsilon: float, rng: np.random.Generator, best: int | None = None
) -> np.ndarray:
    """One subset by the exponential mechanism; ``best`` is R, None for all."""
    s = subsets.shape[1]
    if best is not None:
        loss = np.minimum(loss, np.partition(loss, best - 1)[best - 1])
    reach = (LABEL + CELL * RADIUS * math.sqrt(s)) ** 2 / (2 * rows)
    return np.asarray(subsets[np.argmax(-epsilon * loss / (2 * reach) + rng.gumbel(size=len(loss)))])
