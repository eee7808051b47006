"""What a result promises to each person in the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from discreet.privacy.composition import Composition
from discreet.privacy.units import Unit

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
    """One noisy answer: what was asked, how far one person could move it, how much noise hid that, what it cost."""

    label: str
    sensitivity: float
    noise_std: float
    cost: Unit

    def __str__(self) -> str:
        return (
            f"{self.label}: sensitivity {self.sensitivity:.4g}, noise std {self.noise_std:.4g}, mu {self.cost.mu:.4g}"
        )


@dataclass(frozen=True)
class Guarantee:
    """The joint guarantee of a list of releases, against an observer who sees every one of them.

    ``unit`` is what one neighbour changes: a row, or a person with up to ``rows_per_person`` rows.
    ``seeded`` marks a result whose noise came from ``random_state``: reproducible, therefore not private.
    """

    releases: tuple[Release, ...]
    neighbours: Neighbours
    rows_per_person: int = 1
    grouped: bool = False
    seeded: bool = False

    @property
    def unit(self) -> str:
        return "person" if self.grouped else "row"

    @property
    def mu(self) -> float:
        return self._cost.mu

    @property
    def rho(self) -> float:
        return self._cost.rho

    def epsilon(self, delta: float) -> float:
        """The least epsilon that holds at this delta."""
        return self._cost.epsilon(delta)

    def delta(self, epsilon: float) -> float:
        """The least delta that holds at this epsilon."""
        return self._cost.delta(epsilon)

    @property
    def _cost(self) -> Composition:
        return Composition(tuple(release.cost for release in self.releases))

    @property
    def in_words(self) -> str:
        """The neighbour relation as a sentence."""
        return _IN_WORDS[self.neighbours].format(unit=self.unit)

    def __str__(self) -> str:
        lines = [
            f"{self.mu:.4g}-GDP (epsilon {self.epsilon(1e-6):.4g} at delta 1e-06), per {self.unit}: {self.in_words}"
        ]
        if self.grouped:
            lines.append(f"at most {self.rows_per_person} rows of each person were used")
        if self.seeded:
            lines.append("NOT PRIVATE: the noise came from random_state and can be computed again")
        lines += [f"  {release}" for release in self.releases]
        return "\n".join(lines)


def joint(guarantees: Sequence[Guarantee]) -> Guarantee:
    """The guarantee of several results about the same people, taken together."""
    first = guarantees[0]
    if any((g.neighbours, g.grouped) != (first.neighbours, first.grouped) for g in guarantees):
        raise ValueError("guarantees about different neighbours or units have no joint one")
    return Guarantee(
        releases=tuple(release for g in guarantees for release in g.releases),
        neighbours=first.neighbours,
        rows_per_person=max(g.rows_per_person for g in guarantees),
        grouped=first.grouped,
        seeded=any(g.seeded for g in guarantees),
    )
