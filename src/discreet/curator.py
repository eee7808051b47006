"""The one door: the only code that sees rows and draws noise.

Everything that privacy rests on is here and in ``grid_noise.py``: what one person can move (``reach``), the noise for
it, and the order of steps. The charge is durable before a row is read, so that a crash wastes budget and never leaks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from discreet.choice import Choice
from discreet.grid_noise import GridNoise, Integers
from discreet.minimum import Minimum, ObjectiveNoise, find_minimum, smoothed
from discreet.noise import Bits, SystemBits
from discreet.noise.order import random_order
from discreet.noise.ranking import RankNoise
from discreet.parts import Part
from discreet.privacy import (
    GDP,
    Approximate,
    Guarantee,
    Ledger,
    Perturbed,
    Release,
    Repeated,
    Split,
    Unit,
    check_neighbours,
    shuffled_mu,
)
from discreet.rows import (
    Answer,
    Block,
    Floats,
    LogisticLoss,
    Parts,
    Picked,
    Query,
    Ranking,
    Residues,
    candidates,
    exact_sum,
    product_parts,
    query_sum,
    ranked_parts,
    ranking_reach,
    ranking_unit,
)
from discreet.rows.logistic_loss import WholeTheta


class Engine(Protocol):
    """Whatever can add up a function of blocks of rows."""

    @property
    def rows(self) -> int: ...

    def sum_rows(self, function: Callable[[Block, NDArray[np.bool_] | None], Parts], every: int = 1) -> Parts: ...


class PartEngine(Protocol):
    """An engine that can also add up over a part of its rows."""

    def sum_rows(
        self,
        function: Callable[[Block, NDArray[np.bool_] | None], Parts],
        every: int = 1,
        part: Residues | None = None,
    ) -> Parts: ...


class Tape(Protocol):
    """Listens at the door for the replay audit: gets the exact sums, says what is released."""

    def release(self, release: Release, noise: GridNoise, exact: Integers, noisy: Integers) -> Integers: ...

    def select(self, choice: Choice, picked: Picked) -> Picked: ...

    def minimise(self, minimum: Minimum, whole: Integers) -> Integers: ...

    def order(self, drawn: NDArray[np.intp]) -> NDArray[np.intp]: ...


listening: ContextVar[Tape | None] = ContextVar("listening", default=None)


class Curator:
    """Answers queries about rows that nobody else sees, and keeps count of what that costs."""

    def __init__(
        self,
        engine: Engine,
        *,
        neighbours: str = "replace_one",
        rows_per_person: int = 1,
        grouped: bool = False,
        ledger: Ledger | None = None,
        job: str | None = None,
        bits: Bits | None = None,
    ) -> None:
        self._engine = engine
        self._neighbours = check_neighbours(neighbours)
        self._rows_per_person = rows_per_person
        self._grouped = grouped
        self._ledger = ledger
        self._job = job
        self._bits = SystemBits() if bits is None else bits
        self._seeded = bits is not None
        self._releases: list[Release] = []
        self._splits = 0

    @property
    def guarantee(self) -> Guarantee:
        """What all answers given so far promise together."""
        return Guarantee(
            tuple(self._releases), self._neighbours, self._rows_per_person, grouped=self._grouped, seeded=self._seeded
        )

    def noise_std(self, query: Query, cost: GDP) -> float:
        """The noise that ``sum`` would add, from public facts alone: asking this is free."""
        return self._noise(query, cost).release(query.label, cost).noise_std

    def _noise(self, query: Query, cost: GDP) -> GridNoise:
        return GridNoise.covering(query, cost, self._neighbours, self._rows_per_person)

    @property
    def public_rows(self) -> int | None:
        """The number of rows, where the guarantee counts it as public: one row replaced, and rows not grouped."""
        return self._engine.rows if self._neighbours == "replace_one" and not self._grouped else None

    @property
    def one_row_each(self) -> bool:
        """Whether no person has more than one row, as ``minimise`` needs it."""
        return self._rows_per_person == 1

    @property
    def replaces_rows(self) -> bool:
        """Whether the guarantee is about a row replaced, rather than one added or removed."""
        return self._neighbours == "replace_one"

    def sum(self, query: Query, cost: GDP, *, every: int = 1) -> Answer:
        """The query's sum over all rows, with discrete Gaussian noise that makes it cost exactly ``cost``.

        ``every`` > 1 sums rows 0, every, 2 * every, ... only. A replaced row keeps its place, so its reach is the same;
        an added one would move all others, so this is refused where the number of rows is private.
        """
        if every != 1 and self.public_rows is None:
            raise ValueError("a subset of rows by position needs a public number of rows")
        release = self._noise(query, cost).release(query.label, cost)
        return self._answer(query, cost, release, lambda: self._engine.sum_rows(partial(product_parts, query), every))

    def selection_scale(self, query: Ranking, cost: Repeated) -> float:
        """The noise scale of ``select``, from public facts alone: asking this is free."""
        noise = RankNoise.covering(ranking_reach(self._neighbours, self._rows_per_person), cost)
        return noise.scale * ranking_unit(query) * 2.0**noise.shift

    def select(self, query: Ranking, cost: Repeated, *, values: Repeated | None = None) -> Picked:
        """The columns with the largest scores: ``cost.times`` picks, each of the range that ``cost`` names.

        ``values``: also release the chosen columns' sums, with Laplace noise of this cost, as COST prints it.
        """
        noise = RankNoise.covering(ranking_reach(self._neighbours, self._rows_per_person), cost)
        candidates_left = query.width - len(query.excluded)
        if not 1 <= cost.times <= candidates_left:
            raise ValueError(f"cannot pick {cost.times} of {candidates_left} columns")
        if values is not None and query.sides != "absolute":
            raise ValueError("values belong to columns: they come with a ranking by absolute value only")
        unit = ranking_unit(query) * 2.0**noise.shift
        planned = noise.releases(query.label, unit, cost, values)
        keys = [f"{self._job}/{len(self._releases) + i}" for i in range(len(planned))]
        if self._ledger is not None:
            for release, key in zip(planned, keys, strict=True):
                self._ledger.charge(release.cost, label=release.label, key=None if self._job is None else key)
            if self._job is not None and (stored := self._ledger.stored(keys[0])) is not None:
                self._releases += planned
                return Picked.of(stored, unit)
        self._releases += planned
        sums = exact_sum(self._engine.sum_rows(partial(ranked_parts, query)))
        indices, exact = candidates(query, sums)
        choice = Choice(tuple(planned), query, noise, noise.rounded(sums), indices, noise.coarse(exact))
        picked = Picked(indices[noise.choose(choice.scores, self._bits)], unit)
        if values is not None:
            picked = picked.with_values(noise.noisy_values(choice.sums[picked.indices], values, self._bits))
        if (tape := listening.get()) is not None:
            picked = tape.select(choice, picked)
        if self._ledger is not None and self._job is not None:
            picked = Picked.of(self._ledger.store(keys[0], picked.to_dict()), unit)
        return picked

    def minimise(self, query: LogisticLoss, cost: Perturbed) -> Answer:
        """The coefficients that minimise the rows' loss with a random linear term, which hides every single row.

        The curator draws the term, adds the penalty that the cost needs, and bounds the rows: docs/papers/objective.md.
        """
        if cost.replaced != (self._neighbours == "replace_one") or not self.one_row_each:
            raise ValueError("an objective's cost must be that of this curator's neighbours, with one row per person")
        noise = ObjectiveNoise.covering(query, cost, self.public_rows)
        release = noise.release(self._neighbours)
        key = None if self._job is None else f"{self._job}/{len(self._releases)}"
        if self._ledger is not None:
            key = self._ledger.charge(cost, label=query.label, key=key)
            if self._job is not None and (stored := self._ledger.stored(key)) is not None:
                self._releases.append(release)
                return noise.answer(np.array(stored["whole"], dtype=object))
        self._releases.append(release)

        def look(theta: WholeTheta) -> tuple[Floats, Floats]:
            return query.read(exact_sum(self._engine.sum_rows(partial(query.parts, theta))))

        minimum = find_minimum(release, noise, look, self._bits)
        whole = smoothed(minimum, self._bits)
        if (tape := listening.get()) is not None:
            whole = tape.minimise(minimum, whole)
        if self._ledger is not None and self._job is not None and key is not None:
            whole = np.array(self._ledger.store(key, {"whole": whole.tolist()})["whole"], dtype=object)
        return noise.answer(whole)

    def split(self, widths: Sequence[int], cost: GDP) -> list[Part]:
        """Sources over disjoint parts of the rows; everything asked of any of them costs ``cost`` together, once.

        Of each sum(widths) consecutive rows the first widths[0] go to the first part, and so on. A replaced row stands
        in one part, so the others' answers tell nothing of it (privacy/parallel.py), and each part may cost ``cost``.
        """
        split = self._open_split(len(widths), cost, cost, shuffled=False)
        return [Part(self, split, number, rows) for number, rows in enumerate(Residues.side_by_side(widths))]

    def shuffle(self, each: GDP, epsilon: float, delta: float) -> list[Part]:
        """Sources over single rows, in a secret random order: asked once each, they cost (epsilon, delta) together."""
        n = self._count_for_parts()
        if self._job is not None:
            raise ValueError("a shuffled pass gives an answer for each row, too many to keep: fit without job=")
        if each.mu > shuffled_mu(epsilon, delta, n).mu:
            raise ValueError(f"{n} shuffled answers of mu {each.mu:.6g} cost more than epsilon {epsilon} at {delta}")
        split = self._open_split(n, Approximate(epsilon, delta), each, shuffled=True)
        order = random_order(n, self._bits)
        if (tape := listening.get()) is not None:
            order = tape.order(order)
        return [Part(self, split, i, Residues(n, row, row + 1)) for i, row in enumerate(order.tolist())]

    def _open_split(self, parts: int, cost: Unit, each: GDP, *, shuffled: bool) -> Split:
        """Pay for all answers from all parts before any is asked."""
        if self._count_for_parts() < parts:
            raise ValueError(f"n_samples={self._engine.rows} rows are too few to be split into {parts} parts")
        split = Split(self._splits, parts, cost, each, shuffled)
        self._splits += 1
        if self._ledger is not None:
            key = None if self._job is None else f"{self._job}/split {split.number}"
            self._ledger.charge(cost, label=str(split), key=key)
        return split

    def _count_for_parts(self) -> int:
        if self.public_rows is None:
            raise ValueError(
                "disjoint parts of the rows, by their positions, need neighbours='replace_one' and one row per person: "
                "an added row would move others into other parts, and one person's rows could lie in several"
            )
        return self.public_rows

    def ask_part(
        self, split: Split, number: int, queries: Sequence[Query], pieces: Sequence[Residues], cost: GDP
    ) -> Answer:
        """One sum in which the rows of each piece are asked a query of their own; the pieces are disjoint.

        A row stands in one piece and all queries have one bound, so its reach is that of a single query.
        """
        first, engine = queries[0], cast(PartEngine, self._engine)
        if len({(query.geometry, query.shape, query.left_norm, query.right_norm) for query in queries}) > 1:
            raise ValueError("queries that are added up must have the same shape and bounds")
        if first.geometry == "mapped" and len(queries) > 1:
            raise ValueError("rows that are mapped after they are added up must have one map")
        release = replace(self._noise(first, cost).release(first.label, cost), split=split, part=number)

        def add_up() -> Parts:
            asked = zip(queries, pieces, strict=True)
            return sum_of([engine.sum_rows(partial(product_parts, query), 1, piece) for query, piece in asked])

        return self._answer(first, cost, release, add_up)

    def _answer(self, query: Query, cost: GDP, release: Release, add_up: Callable[[], Parts]) -> Answer:
        """Charge, then look: noise on what ``add_up`` finds, stored under the job's key if there is one."""
        noise = self._noise(query, cost)
        key = None if self._job is None else f"{self._job}/{len(self._releases)}"
        if self._ledger is not None and (release.split is None or self._job is not None):
            # A split was paid for when it was opened; in a job its answers have entries of no cost, to be kept under.
            key = self._ledger.charge(cost if release.split is None else GDP(0.0), label=query.label, key=key)
            if self._job is not None and (stored := self._ledger.stored(key)) is not None:
                self._releases.append(release)
                return noise.answer(np.array(stored["whole"], dtype=object))
        self._releases.append(release)
        exact = noise.coarse(query_sum(query, add_up()))
        noisy = exact + noise.draw(self._bits)
        if (tape := listening.get()) is not None:
            noisy = tape.release(release, noise, exact, noisy)
        if self._ledger is not None and self._job is not None and key is not None:
            noisy = np.array(self._ledger.store(key, {"whole": noisy.tolist()})["whole"], dtype=object)
        return noise.answer(noisy)


def sum_of(parts: Sequence[Parts]) -> Parts:
    """Two 64-bit integers for each sum, worth 2^26 and 1, hold far more rows than there are: no carry is needed."""
    return np.asarray(np.sum(np.stack(parts), axis=0))
