"""The questions that a plan asks of a party, answered by its curator or by its release file.

The curator answers when the party releases; afterwards the file holds the answers.

Both go through ``asked``. A file holds only the noisy answers. Centres, scales, noise and the
guarantee are computed from them and from the plan by the same code, so a file cannot claim other
ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.curator.noise import GridNoise
from discreet.errors import ReleaseError
from discreet.parties.looks import (
    centres,
    column_sums,
    column_weights,
    kept_shares,
    scales,
    shares,
    spread_radius,
)
from discreet.parties.plan import Party, Plan, radius_factor
from discreet.parties.printed_release import as_printed
from discreet.parties.queries import Kept, Mixes, Spread
from discreet.parties.slots import Roster, Rows
from discreet.privacy import GDP, Guarantee, Release
from discreet.rows import Answer, Query

Floats = NDArray[np.float64]

# Noise beyond this many standard deviations has a probability below 1e-500, so such a value is
# refused.
_MOST_NOISE_STDS = 50.0


class Answering(Protocol):
    """A source of answers to a plan's questions."""

    def sum(self, query: Query, cost: GDP) -> Answer: ...

    def scatter(self, query: Rows, cost: GDP) -> Answer: ...

    def roster(self) -> Roster: ...


def asked(source: Answering, plan: Plan, party: Party, rows: int) -> dict[str, Any]:
    """The fields of a PartyRelease: the answers to the plan's questions, and what follows from
    them.
    """
    return (as_printed if plan.calibration == "paper" else _tight)(source, plan, party, rows)


def _tight(source: Answering, plan: Plan, party: Party, rows: int) -> dict[str, Any]:
    sums_cost, spread_cost, kept_cost, mixes_cost = party.budget.split(shares(party, rows))
    sums_query = column_sums(plan, party)
    sums = source.sum(sums_query, sums_cost)
    count, centre = centres(sums_query, sums, rows)
    noise = plan.correlation_error(party, rows)
    spread = source.sum(Spread(centre, spread_radius(party, centre, noise)), spread_cost)
    scale = scales(spread, count)
    weight = column_weights(plan, party)
    radius = radius_factor(noise) * math.sqrt(float(weight @ weight))
    kept_query = Kept(centre, weight / scale, radius)
    kept = kept_shares(kept_query, source.sum(kept_query, kept_cost), weight, count)
    if plan.method == "dgm":
        mixes = source.scatter(Rows(plan.mixes, centre, weight / scale, radius), mixes_cost)
    else:
        mixes = source.sum(Mixes(plan.mixes, centre, weight / scale, radius), mixes_cost)
    return {
        "count": count,
        "centre": centre,
        "centre_noise": sums.noise_std / sums_query.weights / count,
        "scale": scale,
        "weight": weight,
        "kept": kept,
        "spread": spread,
        "mixes": mixes,
        "roster": None,
    }


@dataclass
class Recording:
    """A party's curator, with a record of its answers for the file."""

    curator: Any
    answers: list[Answer] = field(default_factory=list)

    def sum(self, query: Query, cost: GDP) -> Answer:
        return self._kept(self.curator.sum(query, cost))

    def scatter(self, query: Rows, cost: GDP) -> Answer:
        return self._kept(self.curator.scatter(query, cost))

    def roster(self) -> Roster:
        roster: Roster = self.curator.roster()
        return roster

    def _kept(self, answer: Answer) -> Answer:
        self.answers.append(answer)
        return answer


@dataclass
class Stored:
    """Answers read from a file; a question that they do not answer is refused."""

    values: Sequence[tuple[Floats, float]]  # each with the noise that the file states
    mark: str | None
    rows: int
    seeded: bool
    source: str
    releases: list[Release] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee computed from the plan, as the party's curator did; a file
        cannot state it.
        """
        return Guarantee(tuple(self.releases), "replace_one", seeded=self.seeded)

    def sum(self, query: Query, cost: GDP) -> Answer:
        return self._next(query, cost, query.shape)

    def scatter(self, query: Rows, cost: GDP) -> Answer:
        return self._next(query, cost, (query.slots, query.shape[1]))

    def roster(self) -> Roster:
        return Roster(None, self.mark or "")

    def _next(self, query: Query, cost: GDP, shape: tuple[int, int]) -> Answer:
        noise = GridNoise.covering(query, cost, "replace_one", 1)
        release = noise.release(query.label, cost)
        number = len(self.answers)
        if number >= len(self.values):
            raise ReleaseError(f"{self.source} lacks the answer {query.label!r}, which its plan needs")
        value, stated = self.values[number]
        self._check(value, query, shape, noise)
        if not math.isclose(stated, release.noise_std, rel_tol=1e-9):
            raise ReleaseError(
                f"{self.source} states another noise than its plan needs for {query.label!r}: "
                f"{stated:.6g} instead of {release.noise_std:.6g}"
            )
        answer = Answer(value, release.noise_std, query.geometry == "square")
        self.releases.append(release)
        self.answers.append(answer)
        return answer

    def _check(self, value: Floats, query: Query, shape: tuple[int, int], noise: GridNoise) -> None:
        """Raise unless the plan's rows and noise can have produced this value."""
        if value.shape != shape:
            raise ReleaseError(f"{self.source}: {query.label!r} must have the shape {shape}, not {value.shape}")
        # One row adds at most this to an entry; the left factor of mixes and slots is a sign.
        left = 1.0 if query.geometry == "signs" else query.left_norm
        most = self.rows * left * query.right_norm + _MOST_NOISE_STDS * float(noise.scales.max()) * noise.unit
        if not (np.abs(value) <= most).all():
            raise ReleaseError(f"{self.source}: {query.label!r} holds numbers that no release of this plan can hold")
        if query.geometry == "square" and not np.array_equal(value, value.T):
            raise ReleaseError(f"{self.source}: {query.label!r} must be symmetric")

    def check_used_up(self) -> None:
        if len(self.answers) < len(self.values):
            raise ReleaseError(f"{self.source} holds more answers than its plan asks for")
