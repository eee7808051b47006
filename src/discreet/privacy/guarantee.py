"""The guarantee of a result for each person in the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from discreet.privacy.composition import Composition
from discreet.privacy.parallel import Split
from discreet.privacy.units import Approximate, Unit

Neighbours = Literal["replace_one", "add_or_remove_one"]

_IN_WORDS = {
    "replace_one": "one {unit}'s data replaced by any other; the number of {unit}s is public",
    "add_or_remove_one": "one {unit}'s data added or removed; the number of {unit}s is private",
}


def check_neighbours(neighbours: str) -> Neighbours:
    if neighbours not in get_args(Neighbours):
        raise ValueError(f"neighbours must be one of {', '.join(get_args(Neighbours))}, got {neighbours!r}")
    return neighbours  # type: ignore[return-value]


@dataclass(frozen=True)
class Release:
    """One noisy answer: its label, sensitivity, noise standard deviation and cost.

    ``split`` and ``part`` say which part of the rows was asked, if not all. A split is charged as a
    whole.
    """

    label: str
    sensitivity: float
    noise_std: float
    cost: Unit
    split: Split | None = None
    part: int = 0

    def __str__(self) -> str:
        return (
            f"{self.label}: sensitivity {self.sensitivity:.4g}, noise std {self.noise_std:.4g}, mu {self.cost.mu:.4g}"
        )


@dataclass(frozen=True, repr=False)
class Guarantee:
    """The joint guarantee of a list of releases, against an observer who sees every one of them.

    ``unit`` is what one neighbour changes: a row, or a person with up to ``rows_per_person`` rows.
    ``seeded`` marks a result whose noise came from ``random_state``: reproducible, so not private.

    Attributes
    ----------
    releases : tuple of Release
        Every release, with its cost.
    neighbours : str
        ``'replace_one'`` or ``'add_or_remove_one'``.
    rows_per_person : int
        Rows of a person that are used at most.
    grouped : bool
        Whether the guarantee is about persons rather than rows.
    seeded : bool
        Whether the noise came from ``random_state``: reproducible, so not private.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import LinearRegression
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 1))
    >>> model = LinearRegression(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-2, 2)).fit(
    ...     X, X[:, 0]
    ... )
    >>> round(model.privacy_.epsilon(1e-6), 4) <= 1.0
    True
    >>> model.privacy_.unit
    'row'
    """

    releases: tuple[Release, ...]
    neighbours: Neighbours
    rows_per_person: int = 1
    grouped: bool = False
    seeded: bool = False

    @property
    def unit(self) -> str:
        """What one neighbour changes: ``'row'`` or ``'person'``."""
        return "person" if self.grouped else "row"

    @property
    def mu(self) -> float:
        """The mu of Gaussian DP of all releases together; infinite if there is none."""
        return self._cost.mu

    @property
    def rho(self) -> float:
        """The rho of zero-concentrated DP of all releases together; infinite if there is none."""
        return self._cost.rho

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon that holds at this delta.

        Parameters
        ----------
        delta : float
            The delta.

        Returns
        -------
        float
            The epsilon.
        """
        return self._cost.epsilon(delta)

    def delta(self, epsilon: float) -> float:
        """The smallest delta that holds at this epsilon.

        Parameters
        ----------
        epsilon : float
            The epsilon.

        Returns
        -------
        float
            The delta.
        """
        return self._cost.delta(epsilon)

    @property
    def _cost(self) -> Composition:
        # A split counts once, when it is first asked: picks count on later releases only.
        costs: dict[object, Unit] = {}
        for number, release in enumerate(self.releases):
            if release.split is None:
                costs[number] = release.cost
            else:
                costs.setdefault(("split", release.split.number), release.split.cost)
        return Composition(tuple(costs.values()))

    @property
    def splits(self) -> tuple[Split, ...]:
        """The divisions of the rows into disjoint parts that releases were made from."""
        return tuple({r.split.number: r.split for r in self.releases if r.split is not None}.values())

    @property
    def in_words(self) -> str:
        """The neighbour relation as a sentence."""
        return _IN_WORDS[self.neighbours].format(unit=self.unit)

    @property
    def _shown_delta(self) -> float:
        # A shuffled pass has a guarantee at one delta only, and no mu.
        return max([1e-6, *(split.cost.slack for split in self.splits if isinstance(split.cost, Approximate))])

    def __repr__(self) -> str:
        change = "replace" if self.neighbours == "replace_one" else "add or remove"
        count = f"{len(self.releases)} release{'' if len(self.releases) == 1 else 's'}"
        seeded = ", NOT PRIVATE" if self.seeded else ""
        promise = f"epsilon {self.epsilon(self._shown_delta):.4g} at delta {self._shown_delta:.3g}"
        return f"Guarantee({promise}, {change} one {self.unit}, {count}{seeded})"

    def __str__(self) -> str:
        delta = self._shown_delta
        gdp = f"{self.mu:.4g}-GDP (epsilon" if math.isfinite(self.mu) else "(epsilon"
        lines = [f"{gdp} {self.epsilon(delta):.4g} at delta {delta:.4g}), per {self.unit}: {self.in_words}"]
        if self.grouped:
            lines.append(f"at most {self.rows_per_person} rows of each person were used")
        if self.seeded:
            lines.append("NOT PRIVATE: the noise came from random_state and can be computed again")
        lines += [f"  {release}" for release in self.releases if release.split is None]
        for split in self.splits:
            inside = [release for release in self.releases if release.split == split]
            labels = ", ".join(dict.fromkeys(release.label for release in inside))
            lines.append(f"  {labels}: {len(inside)} answers from {split}")
        return "\n".join(lines)


def joint(guarantees: Sequence[Guarantee]) -> Guarantee:
    """The guarantee of several results about the same people, taken together, in the order in which
    they were made.
    """
    first = guarantees[0]
    if any((g.neighbours, g.grouped) != (first.neighbours, first.grouped) for g in guarantees):
        raise ValueError("guarantees with different neighbours or units cannot be combined")
    releases: list[Release] = []
    splits = 0
    for g in guarantees:
        # Splits of different results are different, although their numbers may be equal.
        releases += [
            r if r.split is None else replace(r, split=r.split.renumbered(r.split.number + splits)) for r in g.releases
        ]
        splits += 1 + max([split.number for split in g.splits], default=-1)
    return Guarantee(
        releases=tuple(releases),
        neighbours=first.neighbours,
        rows_per_person=max(g.rows_per_person for g in guarantees),
        grouped=first.grouped,
        seeded=any(g.seeded for g in guarantees),
    )
