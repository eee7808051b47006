"""The durable record of what was spent on one data set."""

from __future__ import annotations

import math
import os
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.errors import BudgetError, LedgerError
from discreet.privacy.budget import Budget
from discreet.privacy.ledger_account import Account, Charge, account_of, charge_entry, opening_entry, result_entry
from discreet.privacy.ledger_file import Chain, LedgerFile
from discreet.privacy.units import Unit, unit_from_dict


@dataclass(frozen=True)
class Entry:
    """One charge: when, for what, how much, under which key, and whether its result is kept in the ledger."""

    number: int
    time: str
    label: str
    cost: Unit
    key: str
    stored: bool


class Ledger:
    """The privacy budget of one data set: a file that every release pays from before it looks at a row.

    A release goes ``charge -> draw -> store -> return what store returned``. The charge is on disk before the noise is
    drawn, so a crash wastes budget and never leaks. After a crash between charge and store, the same key draws again
    at no cost: the lost draw was returned to nobody, so observers see one answer per charge. Of two retries that run
    at the same time, both return the result that was stored first.

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
            Entry(number, charge.time, charge.label, charge.cost, charge.key, charge.key in account.results)
            for number, charge in enumerate(account.charges.values(), start=1)
        ]

    def charge(self, cost: Unit, *, label: str, key: str | None = None) -> str:
        """Pay for one release; on disk when this returns. A key that has paid already is not charged again.

        Two releases with the same key are one release, so a key must name the query, its parameters and the data.
        """
        key = uuid.uuid4().hex if key is None else key
        # The decision is made on the cost as it will be read back.
        charge = Charge(_now(), str(label), unit_from_dict(cost.to_dict()), str(key))

        def entry(chain: Chain) -> str | None:
            account = account_of(chain)
            earlier = account.charges.get(charge.key)
            if earlier is not None:
                self._check_same(charge, earlier)
                return None
            if not account.fits(charge.cost):
                raise BudgetError(self._refusal(charge, account))
            return charge_entry(charge)

        self._file.append(entry)
        return charge.key

    def store(self, key: str, result: dict[str, Any]) -> dict[str, Any]:
        """Keep the result of a charged release; returns the one kept first, which is the one to hand out."""

        def entry(chain: Chain) -> str | None:
            account = account_of(chain)
            if key not in account.charges:
                raise LedgerError(f"key {key!r} was never charged in ledger {self.path}, so it has no result to store")
            if key in account.results:
                return None
            return result_entry(key, result, _now())

        kept = account_of(self._file.append(entry)).result(key)
        assert kept is not None  # the entry was there or was appended
        return kept

    def stored(self, key: str) -> dict[str, Any] | None:
        """The result kept under this key, None before there is one."""
        return self._account().result(key)

    @property
    def _file(self) -> LedgerFile:
        return LedgerFile(self.path)

    def _account(self) -> Account:
        return account_of(self._file.read())

    def _check_same(self, charge: Charge, earlier: Charge) -> None:
        if (charge.label, charge.cost) != (earlier.label, earlier.cost):
            raise LedgerError(
                f"key {charge.key!r} names another release in ledger {self.path}: {earlier.label!r} was charged under "
                f"it, not {charge.label!r} at this cost; nothing was spent"
            )

    def _refusal(self, charge: Charge, account: Account) -> str:
        left, delta = account.remaining, account.total.delta
        asked = Budget(charge.cost.epsilon(delta), delta, charge.cost.mu)
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
