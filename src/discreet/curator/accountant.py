"""How a curator's answers are paid for and stored: one charge for a whole fit, or one per release.

An estimator states what its fit may cost in total. This is reserved at the first release, durably
and before a row is read: a fit that the budget cannot cover to its end spends nothing, and bad
input is refused before the fit begins. The fit's releases then draw on the reservation, in memory.
privacy/reservation.py proves that they stay within it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

from discreet.curator.watch import watching
from discreet.errors import BudgetError, GuaranteeError, StoredResultWarning, warn_user
from discreet.privacy import (
    GDP,
    Approximate,
    Budget,
    Composition,
    Ledger,
    Payment,
    Release,
    Repeated,
    Reservation,
    Unit,
    gaussian_cover,
)

U = TypeVar("U", bound=Unit)

# How far the numerical composition of planned costs may exceed the epsilon
# asked for: its own error.
_ROUNDING = 1e-9


class Accountant:
    """Charges a ledger, if there is one, for what a curator releases, and stores
    the answers of a job there.

    asked: the budget of a fit, which is reserved as a whole; without one, every release is charged
    by itself. job: the name under which answers are stored; the same job gets them again and is not
    charged. quiet: the caller reports itself that stored answers were used.
    """

    def __init__(
        self,
        ledger: Ledger | None = None,
        *,
        job: str | None = None,
        asked: Budget | None = None,
        label: str = "fit",
        quiet: bool = False,
    ) -> None:
        self._ledger = ledger
        self.job = job
        self._asked = asked
        self._label = label
        self._quiet = quiet
        self._reservation = None if asked is None else Reservation([GDP(asked.mu)])
        self._key: str | None = None
        self._before: Budget | None = None
        self._made: list[tuple[str, Unit]] = []
        # For each answer of a job: whether it was already stored.
        self._asked_for: list[bool] = []
        self._whole: Accountant | None = None
        self._name = ""

    @property
    def keeps(self) -> bool:
        """Whether answers are stored for a later fit under the same name."""
        return self._ledger is not None and self.job is not None

    def warn_if_weak(self, rows: int | None) -> None:
        """Warn if the guarantee that was asked for protects little."""
        if self._asked is not None and self._whole is None:
            self._asked.warn(rows)

    def reserve(self, costs: Sequence[Unit]) -> None:
        """Reserve these costs instead of the budget's whole mu, for a fit that is not all Gaussian.

        Refused, before anything is spent, if together they exceed what was asked for.
        """
        if self._asked is None:
            return
        if self._key is not None or self._made:
            raise ValueError("the cost of a fit must be reserved before its first release")
        if self._whole is not None:
            assert self._reservation is not None
            if not _fits_into(costs, self._reservation):
                raise GuaranteeError(f"{self._name.rstrip('/')} would cost more than its part of the {self._label}")
            self._reservation = Reservation(costs)
            return
        together = Composition(tuple(costs)).epsilon(self._asked.delta)
        if together > self._asked.epsilon * (1 + _ROUNDING):
            raise GuaranteeError(
                f"this fit would cost epsilon {together:.6g} at delta {self._asked.delta:.3g}, more than the "
                f"{self._asked.epsilon:.6g} asked for; nothing was spent"
            )
        self._reservation = Reservation(costs)

    def part(self, name: str, costs: Sequence[Unit]) -> Accountant:
        """An accountant for one of several fits that are charged together: it
        gets these reserved costs.
        """
        assert self._reservation is not None  # only a fit that is charged as a whole has parts
        assert self._asked is not None
        granted = self._reservation.grant(costs)
        for cost in granted:
            self._reservation.draw(cost)
        part = Accountant(self._ledger, job=self.job, asked=self._asked)
        part._reservation = Reservation(granted, within=self._reservation)
        part._whole, part._name, part._label = self, f"{name}/", self._label
        return part

    def grant(self, costs: Sequence[U]) -> list[U]:
        """The costs at which releases are made: as asked, or slightly less at
        the end of a reservation.
        """
        return list(costs) if self._reservation is None else self._reservation.grant(costs)

    def pay(self, label: str, releases: Sequence[tuple[str, Unit]], place: str) -> str | None:
        """Charge releases at granted costs; durable when this returns the
        charge's key (None: no ledger).
        """
        if self._reservation is None:
            if self._ledger is None:
                return None
            key = None if self.job is None else f"{self.job}/{place}"
            # Nothing is reserved for later releases, so picks cannot count on them.
            costs = [cost.alone if isinstance(cost, Repeated) else cost for _, cost in releases]
            return self._ledger.reserve(costs, label=label, key=key)
        key = self._reserved()
        for name, cost in releases:
            self._reservation.draw(cost)
            self._note(name, cost)
        return key

    def _reserved(self) -> str | None:
        """The key of the charge for the whole fit, which is made on first use."""
        if self._whole is not None:
            return self._whole._reserved()
        if self._key is None and self._ledger is not None:
            assert self._reservation is not None
            self._before = self._ledger.remaining
            self._key = self._ledger.reserve(self._reservation.costs, label=self._label, key=self.job)
            if (watch := watching.get()) is not None and self._asked is not None:
                watch.reserved(self._asked, self._ledger, kept=self.job is not None)
        return self._key

    @property
    def payment(self) -> Payment | None:
        """The charge of the whole fit; None without a ledger, before the charge, and
        for a part of another fit.
        """
        if self._ledger is None or self._key is None or self._before is None:
            return None
        ledger, when = self._ledger, self._ledger.paid(self._key)
        assert when is not None
        return Payment(ledger.id, ledger.path.name, self._key, when, ledger.total, self._before, ledger.remaining)

    def _note(self, label: str, cost: Unit) -> None:
        if self._whole is not None:
            self._whole._note(f"{self._name}{label}", cost)
        self._made.append((label, cost))

    def stored(self, key: str | None, place: str, releases: Sequence[Release]) -> dict[str, Any] | None:
        """The answer that is stored for this job, if there is one."""
        if self._ledger is None or self.job is None or key is None:
            return None
        found = self._ledger.stored(key, part=f"{self._name}{place}", releases=_paid(releases))
        whole = self if self._whole is None else self._whole
        whole._asked_for.append(found is not None)
        return found

    def keep(self, key: str | None, place: str, releases: Sequence[Release], result: dict[str, Any]) -> dict[str, Any]:
        """Store an answer; returns the one that was stored first, which is the one to return."""
        assert self._ledger is not None
        assert key is not None
        return self._ledger.store(key, result, part=f"{self._name}{place}", releases=_paid(releases))

    def finish(self) -> None:
        """Record in the ledger what a fit has drawn from its charge."""
        if self._ledger is not None and self._key is not None:
            self._ledger.finish(self._key, tuple(self._made))
            if any(self._asked_for) and not self._quiet:
                since, kept = self._ledger.paid(self._key), f"{sum(self._asked_for)} of {len(self._asked_for)} answers"
                warn_user(
                    f"{kept} come from ledger {self._ledger.path}, which has stored them since this job was "
                    f"charged, {since}; rows were not read for them; use another job name for a new fit",
                    StoredResultWarning,
                )


class Rehearsed(Exception):
    """Raised when a fit reaches its first release in a rehearsal."""


class Rehearsal(Accountant):
    """Finds what a fit would reserve: stops the fit before anything is charged or read."""

    def __init__(self, asked: Budget, *, keeps: bool = False) -> None:
        super().__init__(asked=asked)
        self._keeps = keeps

    @property
    def keeps(self) -> bool:
        return self._keeps

    @property
    def costs(self) -> tuple[Unit, ...]:
        assert self._reservation is not None
        return self._reservation.costs

    def pay(self, label: str, releases: Sequence[tuple[str, Unit]], place: str) -> str | None:
        raise Rehearsed


def disclosure(slack: float) -> Approximate:
    """The cost of revealing everything with probability ``slack``, and nothing otherwise."""
    return Approximate(1e-12, slack)


def _fits_into(costs: Sequence[Unit], reserved: Reservation) -> bool:
    """Whether these costs are among the reserved ones, or dominated by their Gaussian
    part (privacy/cover.py).
    """
    try:
        reserved.grant(costs)
    except BudgetError:
        cover = gaussian_cover(costs)
        slack = math.fsum(cost.slack for cost in reserved.costs if isinstance(cost, Approximate))
        return cover.mu <= reserved.left.mu and cover.slack <= slack
    return True


def _paid(releases: Sequence[Release]) -> tuple[tuple[str, Unit], ...]:
    return tuple((release.label, release.cost) for release in releases)
