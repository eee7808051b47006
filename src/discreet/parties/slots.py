"""Rows released one by one (DGM): every person's row, with noise, in a slot of its own.

A person's slot is found in one of two ways. By hash (``calibration="tight"``): a public function of
seed and key, with a sign, so that membership is not revealed, people may be missing at a party, and
the signs of two people in one slot are independent. By rank (``calibration="paper"``): the position
among all keys' digests, one row each, as the paper has it; all parties must then hold the same
people, and who they are is public.

Privacy. Noise of one scale, mu to the reach of one row, is added to every slot on its own. By hash,
replacing a person, key included, takes a row of norm at most R from one slot and puts another into
one: the answer moves by at most 2R (both in the same slot and opposite). By rank and with the key
kept, one slot's row changes, again by at most 2R with R the radius about the centre.
docs/papers/mpr.md, Proposition 4.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.curator import Codec, Curator
from discreet.curator.noise import GridNoise
from discreet.curator.protocols import Hear
from discreet.errors import DomainError
from discreet.noise import discrete_gaussian
from discreet.parties.plan import Party, Plan
from discreet.parties.signs import slots
from discreet.privacy import GDP
from discreet.rows import Answer, Floats, Geometry, right_grid, scratch
from discreet.rows.kernels import place

Integers = NDArray[np.int64]
# The largest release: this many numbers take 240 MB in memory, and about as much in the ledger and
# the file.
MOST_CELLS = 30_000_000


@dataclass(frozen=True)
class Rows:
    """One row per slot: the sum of the +-(x - centre) * per_unit, shortened to ``radius``, of the
    people in it.

    ``roster`` holds the sorted digests of all people where slots are ranks; without it slots are
    hashed.
    """

    slots: int
    centre: Floats
    per_unit: Floats
    radius: float
    roster: NDArray[np.uint64] | None = None
    label: str = "rows"
    # The answer of one slot: its left factor is a sign.
    geometry: Geometry = "signs"
    left_norm: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return 1, len(self.centre)

    @property
    def right_norm(self) -> float:
        return self.radius

    def factors(self, block: Any) -> tuple[Any, Floats]:
        return self.places(block)[1][np.newaxis], self.rows(block)

    def rows(self, block: Any) -> Floats:
        """Each person's row before it is clipped."""
        right = scratch("factor", (self.shape[1], block.records))
        block.write_x(right)
        right -= self.centre[:, np.newaxis]
        right *= self.per_unit[:, np.newaxis]
        return right

    def places(self, block: Any) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Each person's slot, and the sign there."""
        if self.roster is None:
            return slots(block.states, self.slots)
        return np.searchsorted(self.roster, block.states[:, 0]), np.ones(block.records, dtype=np.bool_)


@dataclass(frozen=True)
class Roster:
    """The sorted digests of all people's keys, which the party keeps, and their hash, which is
    released.
    """

    people: NDArray[np.uint64] | None
    mark: str


class SlotCurator(Curator):
    """A party's curator, which also answers queries by slot."""

    def roster(self) -> Roster:
        """Who is in the data, for methods that make this public."""
        people = roster_of(self._engine)
        return Roster(people, roster_mark(people))

    def scatter(self, query: Rows, cost: GDP) -> Answer:
        """Every slot's sum, each with discrete Gaussian noise of its own; together they cost
        ``cost``.

        Privacy: see the module's text. Rounding to a coarser grid adds at most sqrt(d) units in
        each slot that changes: with one such slot the reach is 2R + sqrt(d), which GridNoise
        covers, and with two it is sqrt(2) (R + sqrt(d)), which is less as long as R is more than
        sqrt(d) units.
        """
        (cost,) = self._accountant.grant([cost])
        noise = self._noise(query, cost)
        release = noise.release(query.label, cost)

        def look() -> tuple[Integers, Hear[Integers]]:
            exact = self._by_slot(query)
            if noise.shift:
                # A slot holds few rows, so this happens only with mu below 2^-15.
                exact = (exact + ((1 << noise.shift) >> 1)) >> noise.shift
            noisy = exact + discrete_gaussian(float(noise.scales[0, 0]), exact.shape, bits=self._bits)
            everywhere = replace(noise, scales=np.full(exact.shape, noise.scales[0, 0]))
            return noisy, lambda tape: tape.release(release, everywhere, exact, noisy)

        return _answer(noise, self._release([release], look, Codec(_packed, _unpacked)))

    def _by_slot(self, query: Rows) -> Integers:
        total = np.zeros((query.shape[1], query.slots), dtype=np.int64)
        lock = Lock()
        scale = right_grid(query)[0]

        def add(block: Any, used: NDArray[np.bool_] | None) -> Integers:
            right = query.rows(block)
            where, plus = query.places(block)
            place(right, query.right_norm, scale, np.zeros(block.records))
            whole = np.where(plus, right, -right).astype(np.int64)
            with lock:
                for entry, values in zip(total, whole, strict=True):
                    np.add.at(entry, where, values)
            return np.zeros(1, dtype=np.int64)

        self._engine.sum_rows(add)
        return np.ascontiguousarray(total.T)


def check_cells(plan: Plan, party: Party, rows: int) -> None:
    """Refuse, before anything is spent, a release of single rows that would be too
    large to keep.
    """
    cells = max(plan.mixes, rows) * party.encoder.width
    if plan.method == "dgm" and cells > MOST_CELLS:
        raise DomainError(
            f"method 'dgm' would release {cells:,} numbers of {party.name}, more than {MOST_CELLS:,}; use 'rmgm'"
        )


def roster_of(engine: Any) -> NDArray[np.uint64]:
    """The sorted digests of all people's keys."""
    found: list[NDArray[np.uint64]] = []
    lock = Lock()

    def collect(block: Any, used: NDArray[np.bool_] | None) -> Integers:
        digests = block.states[:, 0].copy()
        with lock:
            found.append(digests)
        return np.zeros(1, dtype=np.int64)

    engine.sum_rows(collect)
    return np.sort(np.concatenate(found))


def roster_mark(roster: NDArray[np.uint64]) -> str:
    """A hash that is equal where two parties hold the same people; releasing it makes membership
    public.
    """
    return hashlib.sha256(roster.astype("<u8").tobytes()).hexdigest()


def _answer(noise: GridNoise, noisy: Integers) -> Answer:
    return Answer(noisy.astype(np.float64) * noise.unit, float(noise.scales[0, 0]) * noise.unit)


def _packed(whole: Integers) -> dict[str, Any]:
    data = zlib.compress(whole.astype("<i8").tobytes(), 1)
    return {"shape": list(whole.shape), "int64": base64.b64encode(data).decode()}


def _unpacked(entry: dict[str, Any]) -> Integers:
    data = zlib.decompress(base64.b64decode(entry["int64"]))
    return np.frombuffer(data, dtype="<i8").astype(np.int64).reshape(entry["shape"])
