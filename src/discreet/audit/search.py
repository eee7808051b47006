"""The search for the worst neighbours: the two rows with the largest privacy loss.

One fit is recorded; its outputs are then replayed with one candidate row after another in the same
place. The exact answers of two candidates differ by the rows' own contributions, so their distance
in noise standard deviations is the privacy loss of this pair given these outputs. This takes one
fit per candidate and none per pair. The distance is a function of the rows without noise, which a
hill climb can maximise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audit.replay import Data, Replay, replay
from discreet.audit.rows import Box, Candidate, column_count, first_candidates, steps
from discreet.audit.runs import Bar
from discreet.audit.tried import Tried
from discreet.privacy import Release

# Random rows per unit of mu, enough for a model that is not constant.
_ROWS_TO_SAY_SOMETHING = 4000
# About how many fits the fixed parts of a search take; for the progress bar only.
_STARTS, _SCANS = 32, 42


@dataclass(frozen=True)
class Worst:
    """The pair with the largest loss, its loss given the searched outputs, and its audit on fresh
    ones.

    Attributes
    ----------
    data : tuple
        The first table of the pair that lost most.
    neighbour : tuple
        Its neighbour.
    realised_mu : float
        What the pair lost along the searched outputs.
    claimed_mu : float
        What was allowed.
    losses : tuple of float
        The loss of each release, in mu.
    candidates : int
        How many rows were tried.
    report : Replay
        The audit of the pair on fresh outputs.
    releases : tuple of Release
        Those of the searched outputs, as for ``losses``: fresh outputs may lead to other queries.

    Examples
    --------
    >>> from discreet.audit import Replay, Worst
    >>> report = Replay(
    ...     claimed_mu=0.5, realised_mu=0.4, losses=(0.4,), labels=("first look",), problems=()
    ... )
    >>> worst = Worst(
    ...     data=(),
    ...     neighbour=(),
    ...     realised_mu=0.4,
    ...     claimed_mu=0.5,
    ...     losses=(0.4,),
    ...     candidates=32,
    ...     report=report,
    ...     releases=(),
    ... )
    >>> worst.efficiency
    0.8
    """

    data: Data
    neighbour: Data
    realised_mu: float
    claimed_mu: float
    losses: tuple[float, ...]
    candidates: int
    report: Replay
    releases: tuple[Release, ...]

    @property
    def efficiency(self) -> float:
        """Realised over claimed: above 1 is a leak; well below 1 means wasted noise, or a search
        that ended early.
        """
        return self.realised_mu / self.claimed_mu

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong; empty if the promise was kept on the worst pair."""
        if self.realised_mu <= self.claimed_mu * (1 + 1e-9) or self.report.problems:
            return self.report.problems
        return (
            f"searched data sets are told apart with mu {self.realised_mu:.4g}, only {self.claimed_mu:.4g} was claimed",
        )

    @property
    def passed(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One record per release: its label, reach, noise and cost, and the loss of this pair."""
        return [
            {
                "label": release.label,
                "reach": release.sensitivity,
                "noise_std": release.noise_std,
                "mu": release.cost.mu,
                "lost": loss,
                "efficiency": loss / release.cost.mu if release.cost.mu > 0 else 0.0,
            }
            for release, loss in zip(self.releases, self.losses, strict=False)
        ]

    def __str__(self) -> str:
        lines = [
            f"worst of {self.candidates} candidate rows: {self.realised_mu:.6g} of {self.claimed_mu:.6g} claimed "
            f"({self.efficiency:.4f})"
        ]
        for label in dict.fromkeys(row["label"] for row in self.rows):
            lines.append(f"  {_together([row for row in self.rows if row['label'] == label])}")
        lines += [f"PROBLEM: {problem}" for problem in self.problems] or ["passed"]
        return "\n".join(lines)


def _together(rows: list[dict[str, Any]]) -> str:
    """Releases with one label in one line: a descent has twenty gradients."""
    cost, lost = (math.sqrt(math.fsum(row[name] ** 2 for row in rows)) for name in ("mu", "lost"))
    times = f" ({len(rows)} times)" if len(rows) > 1 else ""
    share = f", {lost / cost:.4f} of it" if 0 < cost < math.inf else ""
    return f"{rows[0]['label']}{times}: mu {cost:.4g}, lost {lost:.4g}{share}"


def worst_neighbours(
    estimator: Any,
    *,
    background: Data | None = None,
    target: str | None = None,
    features: int = 4,
    rows: int = 1000,
    climbs: int = 100,
    seed: int = 0,
    until_leak: bool = True,
    progress: str | None = None,
) -> Worst:
    """Search for the neighbours with the largest privacy loss, and audit them.

    Parameters
    ----------
    estimator
        Unfitted, with bounds_X, data_norm or a domain declared. Its ledger, if any, is charged for
        every fit.
    background : Data, optional
        Rows that both neighbours share, ``(X, y)``. By default ``rows`` rows at the centre of the
        domain, where one row counts most; and scattered rows, to see that nothing but the releases
        shows.
    target : str, optional
        Which column of a domain is the label.
    features : int, default 4
        How many columns, where the bounds hold for any number.
    rows : int, default 1000
        Number of generated background rows where none are given.
    climbs : int, default 100
        Fits for improving the best pair, after about seventy on corners, axes, zero, odd and
        mirrored rows; with 0 only corners, axes, zero and odd rows are tried.
    seed : int, default 0
        Seeds the search; the noise of fits stays fresh.
    until_leak : bool, default True
        End with the first pair that loses more than is claimed, instead of looking for the worst
        such pair.
    progress : str, optional
        Show a bar of this name on stderr, where that is a terminal.

    Returns
    -------
    Worst
        The worst pair that was found, with its audit.

    Examples
    --------
    >>> from discreet import LinearRegression
    >>> from discreet.audit import worst_neighbours
    >>> model = LinearRegression(
    ...     epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1), solver="moments"
    ... )
    >>> worst = worst_neighbours(model, features=1, rows=100, climbs=0)
    >>> worst.passed, 0 < worst.efficiency <= 1
    (True, True)
    """
    rng = np.random.default_rng(seed)
    two_labels = has_two_labels(estimator)
    box = Box.of(estimator, column_count(estimator, features) if background is None else _width(background), target)
    if background is None:
        background = box.centre_rows(rows, two_labels)
        scattered = _Search(estimator, box, box.scattered_rows(rows, two_labels, rng), two_labels, rng, until_leak)
        many = min(int(_ROWS_TO_SAY_SOMETHING / max(scattered.claimed, 0.01)), 5 * rows)
        if many > rows:
            scattered = _Search(estimator, box, box.scattered_rows(many, two_labels, rng), two_labels, rng, until_leak)
        scattered.start(few=True)
        if scattered.done:
            return scattered.worst()
    search = _Search(estimator, box, background, two_labels, rng, until_leak)
    search.bar = Bar(progress or "", _STARTS + (_SCANS + climbs if climbs else 0), -1 if progress is None else 0)
    search.start()
    if climbs:
        search.scan()
        search.climb(climbs)
    search.bar.close()
    return search.worst()


def _width(background: Data) -> int:
    return int(np.shape(background[0])[1])


def has_two_labels(estimator: Any) -> bool:
    """Whether labels are 0 and 1 only."""
    from sklearn.base import is_classifier

    return bool(is_classifier(estimator)) or getattr(estimator, "family", None) in ("binomial", "bernoulli", "logistic")


class _Search:
    """The best pair among the candidates tried so far."""

    def __init__(
        self, estimator: Any, box: Box, background: Data, two_labels: bool, rng: np.random.Generator, until_leak: bool
    ) -> None:
        self._estimator, self._rng, self._two_labels = estimator, rng, two_labels
        self._until_leak = until_leak
        self._tried = Tried(estimator, box, background)
        self._best: tuple[Candidate | None, Candidate | None] = (None, None)
        self._reached = 0.0
        self.bar = Bar("", 1, -1)

    @property
    def claimed(self) -> float:
        return self._tried.claimed

    @property
    def done(self) -> bool:
        """Whether the search may end."""
        leaks = not self._reached <= self.claimed * (1 + 1e-9)
        return leaks and (self._until_leak or math.isinf(self._reached))

    def worst(self) -> Worst:
        """The best pair, audited."""
        one, other = self._best
        data, neighbour = self._tried.table(one), self._tried.table(other)
        report = replay(self._estimator, data, neighbour)
        losses, releases = self._tried.losses(one, other), self._tried.releases
        return Worst(data, neighbour, self._reached, self.claimed, losses, len(self._tried), report, releases)

    def start(self, few: bool = False) -> None:
        candidates: list[Candidate] = list(first_candidates(self._tried.columns, self._rng, self._two_labels))
        if few:
            candidates = [*candidates[:2], *candidates[-4:]]
        others: list[Candidate | None] = [None] if self._tried.adds else [*candidates]
        for one in candidates:
            for other in others:
                self._try(one, other)
                if self.done:
                    return

    def scan(self) -> None:
        """Mirror images at every distance, then a finer grid around the best one, because of
        clipping.
        """
        ones = np.ones(self._tried.columns)
        scales = np.geomspace(0.02, 2.0, 12)
        for _ in range(2):
            at = 0.0
            for scale in scales:
                one, other = Candidate(ones, float(scale), 1.0), Candidate(-ones, float(scale), 1.0)
                if self._try(one, None if self._tried.adds else other):
                    at = float(scale)
                if self.done:
                    return
            if at == 0.0:
                return
            scales = at * np.geomspace(0.7, 1.4, 9)

    def climb(self, fits: int) -> None:
        """A hill climb: small random steps of either row that increase the distance; failures
        shorten steps.
        """
        stride = 0.5
        for _ in range(fits):
            if self.done:
                return
            pair = list(self._best)
            place = 0 if self._tried.adds else int(self._rng.integers(2))
            moved = pair[place]
            assert moved is not None
            pair[place] = turned = steps(moved, self._rng, stride, self._two_labels)
            if (twin := pair[1 - place]) is not None and self._rng.random() < 0.5:
                # Worst pairs are often mirror images, so both rows get the same scale.
                pair[1 - place] = Candidate(twin.pattern, turned.scale, twin.label)
            better = self._try(pair[0], pair[1])
            stride = min(1.0, stride * 1.5) if better else max(0.003, stride * 0.93)

    def _try(self, one: Candidate | None, other: Candidate | None) -> bool:
        distance = self._tried.distance(one, other)
        self.bar.show(len(self._tried))
        if distance > self._reached:
            self._best, self._reached = (one, other), distance
            return True
        return False
