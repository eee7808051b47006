"""The curator: the only code that sees rows and draws noise.

All parts that privacy depends on are in this package: the sensitivity (``reach``) and the noise for
it (noise.py), the charge (accountant.py), and the order of steps (``Curator._release``). The charge
is durable before a row is read, so a crash can waste budget but cannot leak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.curator.accountant import Accountant
from discreet.curator.choice import Choice
from discreet.curator.minimum import ObjectiveNoise, find_minimum, smoothed
from discreet.curator.noise import GridNoise, Integers
from discreet.curator.parts import Part
from discreet.curator.protocols import WHOLE, Codec, Hear, Held, listening
from discreet.curator.walk import RowByRow
from discreet.curator.watch import answered, passed, without_progress
from discreet.engines.engine import Engine, Function
from discreet.noise import Bits, SystemBits
from discreet.noise.order import random_order
from discreet.noise.ranking import RankNoise
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
    Floats,
    Indices,
    LogisticLoss,
    Parts,
    Picked,
    Query,
    Ranking,
    Residues,
    candidates,
    count_units,
    exact_sum,
    on_columns,
    parts_of_each,
    product_parts,
    query_sum,
    ranked_parts,
    ranking_reach,
    ranking_unit,
    several_parts,
)
from discreet.rows.logistic_loss import WholeTheta
from discreet.rows.walk import Walk


class Curator:
    """Answers queries about rows that no other code sees, and records what the answers cost."""

    def __init__(
        self,
        engine: Engine,
        *,
        neighbours: str = "replace_one",
        rows_per_person: int = 1,
        grouped: bool = False,
        weighted: bool = False,
        ledger: Ledger | None = None,
        job: str | None = None,
        accountant: Accountant | None = None,
        bits: Bits | None = None,
    ) -> None:
        self._engine = engine
        self._neighbours = check_neighbours(neighbours)
        self._rows_per_person = rows_per_person
        self._grouped = grouped
        self._weighted = weighted
        self._records = 1
        self._accountant = Accountant(ledger, job=job) if accountant is None else accountant
        self._bits = SystemBits() if bits is None else bits
        self._seeded = bits is not None
        self._releases: list[Release] = []
        self._split_keys: list[str | None] = []

    def expand(self, records: int) -> None:
        """Declare that each row is asked as up to this many records, so that all records
        of a person are covered.

        Privacy: a person's k rows make k * records contributions, each within its query's bound.
        ``reach`` holds for sums of any number of them, so they count as that many rows.
        """
        if records < 1 or self._releases:
            raise ValueError("the number of records of a row must be declared before the first release")
        self._records = records

    @property
    def guarantee(self) -> Guarantee:
        """The joint guarantee of all answers given so far."""
        return Guarantee(
            tuple(self._releases), self._neighbours, self._rows_per_person, grouped=self._grouped, seeded=self._seeded
        )

    @property
    def job(self) -> str | None:
        """The key under which this fit is charged and its answers are stored."""
        return self._accountant.job

    def finish(self) -> Guarantee:
        """End the fit: record its releases in the ledger and return its guarantee."""
        self._accountant.finish()
        return self.guarantee

    def noise_std(self, query: Query, cost: GDP) -> float:
        """The noise that ``sum`` would add.

        It is computed from public facts alone, so it is free.
        """
        return self._noise(query, cost).release(query.label, cost).noise_std

    def _noise(self, query: Query, cost: GDP) -> GridNoise:
        return GridNoise.covering(query, cost, self._neighbours, self._rows_per_person * self._records)

    @property
    def table_rows(self) -> int | None:
        """The number of rows where it is public: under ``replace_one`` with
        rows that are not grouped.
        """
        return self._engine.rows if self._neighbours == "replace_one" and not self._grouped else None

    @property
    def public_rows(self) -> int | None:
        """The number of rows where sums may be divided by it: it is public and all rows count once.

        None if rows have weights or several records: the sum of these is private.
        """
        return None if self._weighted or self._records > 1 else self.table_rows

    @property
    def one_row_each(self) -> bool:
        """Whether every person has at most one row, as ``minimise`` requires."""
        return self._rows_per_person * self._records == 1

    @property
    def replaces_rows(self) -> bool:
        """Whether neighbours replace a row, rather than add or remove one."""
        return self._neighbours == "replace_one"

    def sum(self, query: Query, cost: GDP, *, columns: Indices | None = None) -> Answer:
        """The query's sum over all rows, with discrete Gaussian noise such that
        it costs exactly ``cost``.

        ``columns``: of a wide table, the query sees only these. Its bounds
        depend on the query alone.
        """
        return self.sums([(query, cost)], columns=columns)[0]

    def sums(self, questions: Sequence[tuple[Query, GDP]], *, columns: Indices | None = None) -> list[Answer]:
        """Several sums over all rows from one pass, each with its own noise and cost."""
        queries = [query for query, _ in questions]
        costs = self._accountant.grant([cost for _, cost in questions])
        function = partial(several_parts, queries)
        if columns is not None:
            function = partial(on_columns, columns, function)

        @cache
        def one_pass() -> list[Parts]:
            """Made when the first answer is needed: those of a job may all be stored."""
            return parts_of_each(queries, self._summed(function))

        return [
            self._noisy_sum(query, cost, partial(lambda number: one_pass()[number], number))
            for number, (query, cost) in enumerate(zip(queries, costs, strict=True))
        ]

    def require_positions(self) -> None:
        """Refuse, before anything is charged, to address rows by position if
        they have no fixed order.
        """
        if not self._engine.ordered:
            raise ValueError(
                "this solver addresses rows by position, and the rows of this table have no fixed order: use the "
                "default solver, or a Parquet or CSV file or a frame in memory"
            )

    def selection_scale(self, query: Ranking, cost: Repeated) -> float:
        """The noise scale of ``select``. It is computed from public facts alone, so it is free."""
        noise = RankNoise.covering(ranking_reach(self._neighbours, self._rows_per_person * self._records), cost)
        return noise.scale * ranking_unit(query) * 2.0**noise.shift

    def select(self, query: Ranking, cost: Repeated, *, values: Repeated | None = None) -> Picked:
        """The columns with the largest scores:
        ``cost.times`` picks, each of the range given by ``cost``.

        ``values``: also release the chosen columns' sums, with Laplace noise of this
        cost, as printed in COST.
        """
        candidates_left = query.width - len(query.excluded)
        if not 1 <= cost.times <= candidates_left:
            raise ValueError(f"cannot pick {cost.times} of {candidates_left} columns")
        if values is not None and query.sides != "absolute":
            raise ValueError("values can be released only with a ranking by absolute value")
        cost, *rest = self._accountant.grant([cost] if values is None else [cost, values])
        values = rest[0] if rest else None
        noise = RankNoise.covering(ranking_reach(self._neighbours, self._rows_per_person * self._records), cost)
        unit = ranking_unit(query) * 2.0**noise.shift
        planned = noise.releases(query.label, unit, cost, values)

        def look() -> tuple[Picked, Hear[Picked]]:
            sums = exact_sum(self._summed(partial(ranked_parts, query)))
            indices, exact = candidates(query, sums)
            choice = Choice(tuple(planned), query, noise, noise.rounded(sums), indices, noise.coarse(exact))
            picked = Picked(indices[noise.choose(choice.scores, self._bits)], unit)
            if values is not None:
                picked = picked.with_values(noise.noisy_values(choice.sums[picked.indices], values, self._bits))
            return picked, lambda tape: tape.select(choice, picked)

        return self._release(planned, look, Codec(Picked.to_dict, lambda stored: Picked.of(stored, unit)))

    def reserve(self, *costs: Unit) -> None:
        """Reserve the cost of a fit that is not all Gaussian, instead of the budget's mu."""
        self._accountant.reserve(costs)

    def minimise(self, query: LogisticLoss, cost: Perturbed) -> Answer:
        """The coefficients that minimise the rows' loss plus a random linear term
        (objective perturbation).

        The curator draws the term, adds the penalty that the cost requires and bounds the rows
        (docs/papers/objective.md).
        """
        if cost.replaced != (self._neighbours == "replace_one") or not self.one_row_each:
            raise ValueError("an objective's cost must have this curator's neighbours, with one row per person")
        (cost,) = self._accountant.grant([cost])
        noise = ObjectiveNoise.covering(query, cost, self.public_rows)
        release = noise.release(self._neighbours)

        def gradient(theta: WholeTheta) -> tuple[Floats, Floats]:
            return query.read(exact_sum(self._engine.sum_rows(partial(query.parts, theta))))

        def look() -> tuple[Integers, Hear[Integers]]:
            with without_progress():  # the number of passes is private
                minimum = find_minimum(release, noise, gradient, self._bits)
            passed()
            whole = smoothed(minimum, self._bits)
            return whole, lambda tape: tape.minimise(minimum, whole)

        return noise.answer(self._release([release], look, WHOLE))

    def split(self, widths: Sequence[int], cost: GDP) -> list[Part]:
        """Sources over disjoint parts of the rows; all their answers together cost ``cost``, once.

        Of each sum(widths) consecutive rows the first widths[0] go to the first part, and so on. A
        replaced row lies in one part, so the answers of the other parts do not depend on it
        (privacy/parallel.py), and each part may cost ``cost``.
        """
        (cost,) = self._accountant.grant([cost])
        split = self._open_split(len(widths), cost, cost, shuffled=False)
        return [Part(self, split, number, rows) for number, rows in enumerate(Residues.side_by_side(widths))]

    def _open_secret(self, n: int, each: GDP, epsilon: float, delta: float) -> tuple[Split, NDArray[Any]]:
        """Charge a pass in a secret order, and draw the order."""
        if self._accountant.keeps:
            raise ValueError("a shuffled pass gives one answer per row, too many to store: fit without job=")
        if each.mu > shuffled_mu(epsilon, delta, n).mu:
            raise ValueError(f"{n} shuffled answers of mu {each.mu:.6g} cost more than epsilon {epsilon} at {delta}")
        self._accountant.reserve([Approximate(epsilon, delta)])
        split = self._open_split(n, Approximate(epsilon, delta), each, shuffled=True)
        order = random_order(n, self._bits)
        if (tape := listening.get()) is not None:
            order = tape.order(order)
        return split, order

    def walk(self, walk: Walk, each: GDP, secret: tuple[float, float] | None = None) -> RowByRow:
        """Ask each row once: in a secret order at (epsilon, delta) in total, or in
        table order at ``each``.

        The guarantee is that of privacy/shuffling.py, whose randomizers see their record once, or
        of ``split`` with one part per row.
        """
        n = self._count_for_parts()
        if secret is None:
            (each,) = self._accountant.grant([each])
            split, order = self._open_split(n, each, each, shuffled=False), np.arange(n)
        else:
            split, order = self._open_secret(n, each, *secret)
        return RowByRow(walk, each, split, order.tolist(), self._engine, self._bits, self._release_row)

    def _release_row(
        self, release: Release, noise: GridNoise, exact: Callable[[], Integers], drawn: Integers
    ) -> Integers:
        def look() -> tuple[Integers, Hear[Integers]]:
            sums = exact()
            noisy = sums + drawn
            return noisy, lambda tape: tape.release(release, noise, sums, noisy)

        return self._release([release], look, WHOLE)

    def _open_split(self, parts: int, cost: Unit, each: GDP, *, shuffled: bool) -> Split:
        """Charge all answers from all parts before any is asked."""
        if self._count_for_parts() < parts:
            raise ValueError(f"n_samples={self._engine.rows} rows are too few to be split into {parts} parts")
        split = Split(len(self._split_keys), parts, cost, each, shuffled)
        place = f"split {split.number}"
        self._split_keys.append(self._accountant.pay(str(split), [(str(split), cost)], place))
        return split

    def _count_for_parts(self) -> int:
        if self.public_rows is None:
            raise ValueError(
                "splitting rows by position needs neighbours='replace_one' and one row per person: an added row would "
                "move others into other parts, and one person's rows could lie in several parts"
            )
        self.require_positions()
        return self.public_rows

    def ask_part(
        self, split: Split, number: int, queries: Sequence[Query], pieces: Sequence[Residues], cost: GDP
    ) -> Answer:
        """One sum in which each piece of the rows is asked its own query; the pieces are disjoint.

        A row lies in one piece and all queries have the same bound, so the
        sensitivity is that of one query.
        """
        first = queries[0]
        bounds = {(one.geometry, one.shape, one.left_norm, one.right_norm, count_units(one)) for one in queries}
        if len(bounds) > 1:
            raise ValueError("queries whose sums are added must have the same shape and bounds")
        if first.geometry == "mapped" and len(queries) > 1:
            raise ValueError("pieces whose rows are mapped after summation must have the same map")

        def add_up() -> Parts:
            asked = zip(queries, pieces, strict=True)
            parts = [self._summed(partial(product_parts, query), piece) for query, piece in asked]
            # Pairs of 64-bit integers, worth 2^26 and 1, hold far more rows than exist: no carry.
            return np.asarray(np.sum(parts, axis=0))

        return self._noisy_sum(first, cost, add_up, split, number)

    def _summed(self, function: Function, part: Residues | None = None) -> Parts:
        """One pass over the rows."""
        parts = self._engine.sum_rows(function, part)
        passed()
        return parts

    def _noisy_sum(
        self, query: Query, cost: GDP, add_up: Callable[[], Parts], split: Split | None = None, part: int = 0
    ) -> Answer:
        noise = self._noise(query, cost)
        release = noise.release(query.label, cost, split, part)

        def look() -> tuple[Integers, Hear[Integers]]:
            exact = noise.coarse(query_sum(query, add_up()))
            noisy = exact + noise.draw(self._bits)
            return noisy, lambda tape: tape.release(release, noise, exact, noisy)

        return noise.answer(self._release([release], look, WHOLE))

    def _release(
        self, planned: Sequence[Release], look: Callable[[], tuple[Held, Hear[Held]]], codec: Codec[Held]
    ) -> Held:
        """The order of steps: charge, look for a stored answer, read the rows, notify
        the audit, store, return.

        ``look`` draws the answer and returns how a tape records it. Answers of a job are stored
        before anyone sees them, and the first stored answer is the one returned. Parts of the rows
        were charged when they were made.
        """
        if not self._releases:
            self._accountant.warn_if_weak(self.table_rows)
        place, split = str(len(self._releases)), planned[0].split
        if split is None:
            paid = [(release.label, release.cost) for release in planned]
            key = self._accountant.pay(planned[0].label, paid, place)
        else:
            key = self._split_keys[split.number]
        self._releases += planned
        if (stored := self._accountant.stored(key, place, planned)) is not None:
            return codec.unpack(stored)
        found, hear = look()
        answered()
        if (tape := listening.get()) is not None:
            found = hear(tape)
        if self._accountant.keeps:
            found = codec.unpack(self._accountant.keep(key, place, planned, codec.pack(found)))
        return found
