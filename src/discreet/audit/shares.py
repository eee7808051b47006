"""How much of each release's claim one row can use: the largest loss of each over pairs of rows.

A fit's releases have different worst rows, so no pair reaches the claims of all. Whether a
sensitivity is loose shows only release by release. Given the outputs of one fit, this searches for
each release the pair of rows (or the row, where rows are added) that moves its exact answer most.
A share above 1 would be a leak. A share well below 1 means that the noise is more than the claim
needs, or that the search ended early: it is a lower bound on what is reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.replay import Recorded, comparable, loss_between
from discreet.audit.rows import Box, Candidate, column_count, first_candidates, steps
from discreet.audit.search import has_two_labels
from discreet.audit.tried import Tried

Floats = NDArray[np.float64]
Pair = tuple[Candidate | None, Candidate | None]
# The smallest and the largest distance of a random candidate from the centre, in half-widths.
_NEAREST, _FARTHEST = 0.02, 3.0


@dataclass(frozen=True)
class ReleaseShare:
    """The largest loss that was found for one release, over the release's own cost.

    Attributes
    ----------
    label : str
        What the release was.
    mu : float
        Its cost.
    share : float
        The largest loss over the cost: above 1 is a leak.

    Examples
    --------
    >>> from discreet.audit import ReleaseShare
    >>> ReleaseShare(label="first look", mu=0.1, share=0.9).share
    0.9
    """

    label: str
    mu: float
    share: float


def release_shares(
    estimator: Any,
    *,
    features: int = 2,
    rows: int = 100,
    random_rows: int = 200,
    climbs: int = 60,
    scattered: bool = False,
    seed: int = 0,
) -> list[ReleaseShare]:
    """For each release of a fit, the largest share of its cost that a pair of neighbours loses.

    Parameters
    ----------
    estimator
        Unfitted, with bounds_X, data_norm or a domain declared.
    features : int, default 2
        How many columns, where the bounds hold for any number. With two, random rows are dense.
    rows : int, default 100
        Rows that both neighbours share.
    random_rows : int, default 200
        Random candidates beside corners, axes, zero, incomplete and undeclared rows.
    climbs : int, default 60
        Steps of a hill climb for each release, from its best pair.
    scattered : bool, default False
        Whether the shared rows are scattered, with labels that depend on them, rather than at the
        centre of the domain.
    seed : int, default 0
        Seeds the search; the noise of the fit stays fresh.

    Returns
    -------
    list of ReleaseShare
        One for each release, in the order in which they were made.

    Examples
    --------
    >>> from discreet import LinearRegression
    >>> from discreet.audit import release_shares
    >>> bounds = {"bounds_X": (-1, 1), "bounds_y": (-1, 1)}
    >>> model = LinearRegression(epsilon=1.0, delta=1e-6, solver="moments", **bounds)
    >>> [one.share <= 1 for one in release_shares(model, features=1, random_rows=10, climbs=0)]
    [True, True]
    """
    rng, two_labels = np.random.default_rng(seed), has_two_labels(estimator)
    box = Box.of(estimator, column_count(estimator, features))
    shared = box.scattered_rows(rows, two_labels, rng) if scattered else box.centre_rows(rows, two_labels)
    tried = Tried(estimator, box, shared)
    candidates = [*first_candidates(tried.columns, rng, two_labels), *_incomplete(tried.columns)]
    candidates += [_random(tried.columns, rng, two_labels) for _ in range(random_rows)]
    found = []
    for number, release in enumerate(tried.releases):
        pair, loss = _best_pair(tried, candidates, number)
        for _ in range(climbs):
            moved = _moved(pair, rng, two_labels)
            if (further := tried.losses(*moved)[number]) > loss:
                pair, loss = moved, further
        candidates += [one for one in pair if one is not None]
        found.append(ReleaseShare(release.label, release.cost.mu, loss / release.cost.mu))
    return found


def _incomplete(columns: int) -> Iterator[Candidate]:
    """Rows with a missing cell or label, at corners."""
    ones = np.ones(columns)
    for label in (1.0, -1.0):
        yield Candidate(np.where(np.arange(columns) == 0, np.nan, ones), 1.0, label)
    for pattern in (ones, -ones):
        yield Candidate(pattern, 1.0, np.nan)


def _random(columns: int, rng: np.random.Generator, two_labels: bool) -> Candidate:
    pattern = rng.standard_normal(columns)
    if rng.random() < 0.3:
        pattern = np.sign(pattern)
    scale = float(np.exp(rng.uniform(np.log(_NEAREST), np.log(_FARTHEST))))
    label = float(rng.choice([-1.0, 1.0]))
    return Candidate(pattern, scale, label if two_labels or rng.random() < 0.7 else float(rng.uniform(-1, 1)))


def _moved(pair: Pair, rng: np.random.Generator, two_labels: bool) -> Pair:
    """One row of the pair, or both, a little elsewhere."""
    stride = float(np.exp(rng.uniform(np.log(0.01), 0.0)))
    one, other = (row and steps(row, rng, stride, two_labels) for row in pair)
    chosen = int(rng.integers(3))
    return (pair[0] if chosen == 1 else one), (pair[1] if chosen == 0 else other)


def _best_pair(tried: Tried, candidates: list[Candidate], number: int) -> tuple[Pair, float]:
    """The pair of candidates, or candidate and none, whose exact answers differ most."""
    if tried.adds:
        losses = [tried.losses(one, None)[number] for one in candidates]
        best = int(np.argmax(losses))
        return (candidates[best], None), losses[best]
    distances = _distances([tried.answers(one)[0][number] for one in candidates])
    first, second = np.unravel_index(int(np.argmax(distances)), distances.shape)
    return (candidates[first], candidates[second]), tried.losses(candidates[first], candidates[second])[number]


def _distances(heard: list[Any]) -> Floats:
    """The losses of all pairs, infinite where the noise differs."""
    if all(isinstance(one, Recorded) for one in heard) and all(comparable(heard[0], one) for one in heard):
        first = heard[0]
        moves = [((one.exact - first.exact).astype(np.float64) / first.scales)[first.independent] for one in heard]
        table = np.array(moves)
        squares = np.sum(table**2, axis=1)
        return np.asarray(np.sqrt(np.maximum(squares[:, np.newaxis] + squares - 2 * table @ table.T, 0.0)))
    return np.array([[loss_between(a, b) if comparable(a, b) else np.inf for b in heard] for a in heard])
