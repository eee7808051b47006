"""The durable record of what was spent on one data set."""

from __future__ import annotations

import math
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.errors import BudgetError, LedgerError
from discreet.privacy.budget import Budget
from discreet.privacy.composition import Composition
from discreet.privacy.ledger_account import (
    Account,
    Charge,
    Releases,
    account_of,
    charge_entry,
    opening_entry,
    releases_entry,
    result_entry,
    result_key,
)
from discreet.privacy.ledger_file import Chain, LedgerFile
from discreet.privacy.units import Unit, unit_from_dict


@dataclass(frozen=True)
class Entry:
    """What was paid in one go: when, for what, how much, under which key, and whether a result is kept in the ledger.

    A fit is one entry: its ``costs`` were reserved before it began, and ``releases`` are what it then drew from them,
    with the cost of each; empty for a fit that has not ended, and for a charge that is one release.
    """

    number: int
    time: str
    label: str
    costs: tuple[Unit, ...]
    key: str
    stored: bool
    releases: Releases = ()

    @property
    def cost(self) -> Unit | Composition:
        """All costs together."""
        return self.costs[0] if len(self.costs) == 1 else Composition(self.costs)


class Ledger:
    """The privacy budget of one data set: a file that every release pays from before it looks at a row.

    A fit reserves all that it may cost in one charge, and its releases draw on that (reservation.py). A release goes
    ``charge -> draw -> store -> return what store returned``. The charge is on disk before a row is read, so a crash
    wastes budget and never leaks. After a crash between charge and store, the same key draws again at no cost: the lost
    draw was returned to nobody, so observers see one answer per charge. Of two retries that run at the same time, both
    return the result that was stored first.

    A ledger object holds nothing but the path: copies, clones, pickles and other processes pay from the same file.
    Every use verifies the whole file, and one that was altered, cut or restored from an older copy is refused. Beside
    the file lie ``<path>.mark``, which belongs to it and moves with it, and ``<path>.lock``.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).resolve()
        self._account()

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, epsilon: float, delta: float, note: str = "") -> Ledger:
        """A new ledger; never overwrites one."""
        total = Budget.of(epsilon, delta)
        if not math.isfinite(total.mu):
            raise ValueError(f"a ledger's epsilon must be finite and its delta < 1, got {epsilon!r} and {delta!r}")
        opening = opening_entry(total, ledger_id=uuid.uuid4().hex, note=str(note), time=_now())
        LedgerFile(Path(path).resolve()).create(opening)
        return cls(path)

    @property
    def total(self) -> Budget:
        return self._account().total

    @property
    def spent(self) -> Budget:
        """What all charges cost together."""
        return self._account().spent

    @property
    def remaining(self) -> Budget:
        """What one more Gaussian release, or several splitting it, may cost."""
        return self._account().remaining

    @property
    def note(self) -> str:
        return self._account().note

    @property
    def history(self) -> list[Entry]:
        """Every charge, oldest first."""
        account = self._account()
        return [
            Entry(
                number,
                charge.time,
                charge.label,
                charge.costs,
                charge.key,
                account.keeps(charge.key),
                account.released(charge.key),
            )
            for number, charge in enumerate(account.charges.values(), start=1)
        ]

    def charge(self, cost: Unit, *, label: str, key: str | None = None) -> str:
        """Pay for one release; on disk when this returns. A key that has paid already is not charged again.

        Two releases with the same key are one release, so a key must name the query, its parameters and the data.
        """
        return self.reserve([cost], label=label, key=key)

    def reserve(self, costs: Sequence[Unit], *, label: str, key: str | None = None) -> str:
        """Pay for all that a fit may release, in one charge: all of it or, with a BudgetError, nothing."""
        key = uuid.uuid4().hex if key is None else key
        # The decision is made on the costs as they will be read back.
        charge = Charge(_now(), str(label), tuple(unit_from_dict(cost.to_dict()) for cost in costs), str(key))

        def entry(chain: Chain) -> str | None:
            account = account_of(chain)
            earlier = account.charges.get(charge.key)
            if earlier is not None:
                self._check_same(charge, earlier)
                return None
            if not account.fits(*charge.costs):
                raise BudgetError(self._refusal(charge, account))
            return charge_entry(charge)

        self._file.append(entry)
        return charge.key

    def store(self, key: str, result: dict[str, Any], *, part: str = "", releases: Releases = ()) -> dict[str, Any]:
        """Keep a result of a charge; returns the one kept first, which is the one to hand out.

        part: which of the results of a fit this is; releases: what was released with it, and at which costs.
        """
        place = result_key(key, part)

        def entry(chain: Chain) -> str | None:
            account = account_of(chain)
            if key not in account.charges:
                raise LedgerError(f"key {key!r} was never charged in ledger {self.path}, so it has no result to store")
            if place in account.results:
                return None
            return result_entry(place, releases, result, _now())

        kept = account_of(self._file.append(entry)).result(place)
        assert kept is not None  # the entry was there or was appended
        return kept

    def finish(self, key: str, releases: Releases) -> None:
        """Write down what a fit has drawn from its charge, once."""

        def entry(chain: Chain) -> str | None:
            account = account_of(chain)
            return None if key in account.made else releases_entry(key, releases, _now())

        self._file.append(entry)

    def paid(self, key: str) -> str | None:
        """When this key was charged, None if it was not."""
        charge = self._account().charges.get(key)
        return None if charge is None else charge.time

    def stored(self, key: str, *, part: str = "", releases: Releases = ()) -> dict[str, Any] | None:
        """The result kept under this key, None before there is one; refused if it is one of other releases."""
        account, place = self._account(), result_key(key, part)
        if releases and place in account.results and account.stored_releases(place) != releases:
            raise LedgerError(
                f"the answer that ledger {self.path} keeps as {place!r} is not one to {releases[0][0]!r} at this cost: "
                "it was made by another version of discreet, or on another kind of machine; nothing was released"
            )
        return account.result(place)

    @property
    def _file(self) -> LedgerFile:
        return LedgerFile(self.path)

    def _account(self) -> Account:
        return account_of(self._file.read())

    def _check_same(self, charge: Charge, earlier: Charge) -> None:
        if (charge.label, charge.costs) != (earlier.label, earlier.costs):
            raise LedgerError(
                f"key {charge.key!r} names another release in ledger {self.path}: {earlier.label!r} was charged under "
                f"it, not {charge.label!r} at this cost; nothing was spent"
            )

    def _refusal(self, charge: Charge, account: Account) -> str:
        left, delta = account.remaining, account.total.delta
        cost = Composition(charge.costs)
        asked = Budget(cost.epsilon(delta), delta, cost.mu)
        # Where the difference is in the last digits, a rounded message would contradict itself.
        more = f"; exactly, mu {asked.mu!r} of {left.mu!r}" if f"{asked.mu:.4g}" == f"{left.mu:.4g}" else ""
        return (
            f"{charge.label!r} asks for {asked}, but {left} is left of {account.total} in ledger {self.path}{more}; "
            "nothing was spent"
        )

    def __eq__(self, other: object) -> bool:
        return self.path == other.path if isinstance(other, Ledger) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
