"""The durable record of what was spent on one data set."""

from __future__ import annotations

import json
import os
import uuid
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from discreet.errors import BudgetError, LedgerError, RollbackWarning, warn_user
from discreet.privacy.budget import Budget
from discreet.privacy.composition import Composition
from discreet.privacy.ledger_account import (
    CHARGE,
    RELEASES,
    RESULT,
    Account,
    Charge,
    Releases,
    opening_entry,
    releases_entry,
    releases_of,
    result_entry,
    result_key,
)
from discreet.privacy.ledger_chain import View
from discreet.privacy.ledger_entry import Entry as Written
from discreet.privacy.ledger_file import LedgerFile
from discreet.privacy.ledger_history import Entry, history_of
from discreet.privacy.ledger_repair import LenientFile, Repair, RepairFile
from discreet.privacy.units import Unit, unit_from_dict

T = TypeVar("T")


class Ledger:
    """The privacy budget of one data set: a file that every release pays from before it looks at a row.

    A fit reserves all that it may cost in one charge, and its releases draw on that (reservation.py). A release goes
    ``charge -> draw -> store -> return what store returned``. The charge is on disk before a row is read, so a crash
    wastes budget and never leaks. After a crash between charge and store, the same key draws again at no cost: the lost
    draw was returned to nobody, so observers see one answer per charge. Of two retries that run at the same time, both
    return the result that was stored first.

    A ledger object holds nothing but the path: copies, clones, pickles and other processes pay from the same file.
    Every use checks the newest entry, the running totals and that nobody else has touched the file; one that was
    altered, cut or restored from an older copy is refused. Beside the file lie ``<path>.mark`` and, after many charges
    in a few seconds, ``<path>.tail``, which belong to it and move with it, and ``<path>.lock``.

    Parameters
    ----------
    path : str or path
        The ledger's file.

    Privacy
    -------
    A charge is on disk before a row is read, so a crash wastes budget and never leaks.

    Examples
    --------
    >>> import tempfile
    >>> from discreet import Ledger
    >>> ledger = Ledger.create(tempfile.mkdtemp() + "/budget.ledger", epsilon=3, delta=1e-6, note="board of May")
    >>> ledger.charges, ledger.note
    (0, 'board of May')
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).resolve()
        self._account()

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, epsilon: float, delta: float, note: str = "") -> Ledger:
        """A new ledger; never overwrites one.

        Parameters
        ----------
        path : str or path
            A new file.
        epsilon : float
            What may be spent in all, at ``delta``.
        delta : float
            The probability with which epsilon may be exceeded; well below 1 over the number of
            people.
        note : str, optional
            Who decided it, and about which data.

        Returns
        -------
        Ledger
            The new ledger.
        """
        total = Budget.of(epsilon, delta)
        total.warn()
        opening = opening_entry(total, ledger_id=uuid.uuid4().hex, note=str(note), time=_now())
        file = LedgerFile(Path(path).resolve(), Account)
        file.create(opening)
        _warn_if_forgotten(file)
        return cls(path)

    @classmethod
    def read_only(cls, path: str | os.PathLike[str]) -> ReadOnlyLedger:
        """Read a ledger, also one that cannot be charged; ``doubts`` says why it cannot, and is empty if it can.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        ReadOnlyLedger
            What can be read.
        """
        return ReadOnlyLedger(path)

    @property
    def total(self) -> Budget:
        """All that may be spent."""
        return self._account().total

    @property
    def spent(self) -> Budget:
        """What all charges cost together."""
        return self._account().spent

    @property
    def remaining(self) -> Budget:
        """What further Gaussian releases may cost together."""
        return self._account().remaining

    @property
    def note(self) -> str:
        """What ``create`` was told about the decision."""
        return self._account().note

    @property
    def id(self) -> str:
        """The unique id of this ledger, wherever its file is."""
        return str(self._account().opening["id"])

    @property
    def charges(self) -> int:
        """How often the ledger was charged."""
        return self._account().charges

    def opened_account(self) -> Account:
        """The account as it was when the ledger was created, to compute what was left after each charge.

        Returns
        -------
        Account
            The account.
        """
        return Account(self._account().opening)

    @property
    def history(self) -> list[Entry]:
        """Every charge, oldest first."""
        return self._read(history_of)

    def verify(self) -> int:
        """Check every entry that was ever written, every link and every total; returns the number of entries.

        LedgerCorrupt if one is not what was written.

        Returns
        -------
        int
            The number of entries.
        """
        return self._file.verify()

    @staticmethod
    def repair(path: str | os.PathLike[str]) -> Repair:
        """Repair a ledger that is refused, as far as this returns no budget.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        Repair
            What was mended and what was not.
        """
        return RepairFile(Path(path).resolve(), Account).repair()

    @staticmethod
    def sign(path: str | os.PathLike[str]) -> None:
        """Sign the marks of a ledger with the key that DISCREET_LEDGER_KEY or DISCREET_LEDGER_KEY_FILE names.

        Parameters
        ----------
        path : str or path
            The file.
        """
        RepairFile(Path(path).resolve(), Account).sign()

    def charge(self, cost: Unit, *, label: str, key: str | None = None) -> str:
        """Pay for one release; on disk when this returns. A key that has paid already is not charged again.

        Two releases with the same key are one release, so a key must name the query, its parameters and the data.

        Parameters
        ----------
        cost : Unit
            A unit of privacy, such as ``GDP(0.2)``.
        label : str
            What ``history`` calls it.
        key : str, optional
            What names the release.

        Returns
        -------
        str
            The key of the charge.
        """
        return self.reserve([cost], label=label, key=key)

    def reserve(self, costs: Sequence[Unit], *, label: str, key: str | None = None) -> str:
        """Pay for all that a fit may release, in one charge. A BudgetError means that nothing was charged.

        Parameters
        ----------
        costs : sequence of Unit
            What the fit may release.
        label : str
            What ``history`` calls it.
        key : str, optional
            What names the fit.

        Returns
        -------
        str
            The key of the charge.
        """
        key = uuid.uuid4().hex if key is None else key
        # The decision is made on the costs as they will be read back.
        charge = Charge(_now(), str(label), tuple(unit_from_dict(cost.to_dict()) for cost in costs), str(key))

        def entry(view: View) -> Written | None:
            earlier = view.find(CHARGE, charge.key)
            if earlier is not None:
                self._check_same(charge, Charge.read(earlier.facts))
                # What is not found among its results is drawn again, so all of them must be where they were put.
                view.verify(Account)
                return None
            account = Account.read(view.state)
            if not account.fits(*charge.costs):
                raise BudgetError(self._refusal(charge, account))
            return charge.entry

        self._append(entry)
        return charge.key

    def store(self, key: str, result: dict[str, Any], *, part: str = "", releases: Releases = ()) -> dict[str, Any]:
        """Store a result of a charge. If one is stored already, that one is returned and must be used.

        Parameters
        ----------
        key : str
            The name of the charge: the query, its parameters and the data.
        result : dict
            What to keep.
        part : str, default ''
            Which of the results of a fit this is.
        releases : Releases, default ()
            What was released with it, and at which costs.

        Returns
        -------
        dict
            What was kept first.
        """
        kept = result_entry(result_key(key, part), releases, result, _now())

        def entry(view: View) -> Written | None:
            nonlocal kept
            if view.find(CHARGE, key) is None:
                raise LedgerError(f"key {key!r} was never charged in ledger {self.path}, so it has no result to store")
            earlier = view.find(RESULT, kept.key)
            kept = earlier or kept
            return None if earlier else kept

        self._append(entry)
        return _result(kept)

    def finish(self, key: str, releases: Releases) -> None:
        """Write down what a fit has drawn from its charge, once.

        Parameters
        ----------
        key : str
            The name of the charge: the query, its parameters and the data.
        releases : sequence
            What was released with it, and at which costs.
        """
        made = releases_entry(key, releases, _now())
        self._append(lambda view: None if view.find(RELEASES, key) else made, last=True)

    def paid(self, key: str) -> str | None:
        """When this key was charged, None if it was not.

        Parameters
        ----------
        key : str
            The name of the charge: the query, its parameters and the data.

        Returns
        -------
        str or None
            The time of the charge, in UTC.
        """
        found = self._read(lambda view: view.find(CHARGE, key))
        return None if found is None else Charge.read(found.facts).time

    def stored(self, key: str, *, part: str = "", releases: Releases = ()) -> dict[str, Any] | None:
        """The result stored under this key, or None. A result of other releases is refused.

        Parameters
        ----------
        key : str
            The name of the charge: the query, its parameters and the data.
        part : str, optional
            Which of the results of a fit.
        releases : sequence, optional
            What was released with it, and at which costs.

        Returns
        -------
        dict or None
            The stored result.
        """
        place = result_key(key, part)
        found = self._read(lambda view: view.find(RESULT, place))
        if found is None:
            return None
        if releases and releases_of(found.facts) != releases:
            raise LedgerError(
                f"the answer that ledger {self.path} keeps as {place!r} is not one to {releases[0][0]!r} at this cost: "
                "it was made by another version of discreet, or on another kind of machine; nothing was released"
            )
        return _result(found)

    @property
    def _file(self) -> LedgerFile:
        return LedgerFile(self.path, Account)

    def _read(self, work: Callable[[View], T]) -> T:
        return self._file.read(work)

    def _account(self) -> Account:
        return self._read(lambda view: Account.read(view.state))

    def _append(self, entry: Callable[[View], Written | None], *, last: bool = False) -> None:
        file = self._file
        file.append(entry, last=last)
        _warn_if_forgotten(file)

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
        try:
            account = ReadOnlyLedger(self.path)._account()
        except (LedgerError, OSError):
            return f"Ledger({str(self.path)!r})"
        share, total = account.remaining.mu**2 / account.total.mu**2, account.total
        left = "nothing" if share < 1e-6 else f"{share:.0%}"
        return f"Ledger({str(self.path)!r}, {left} left of epsilon {total.epsilon:.4g} at delta {total.delta:.3g})"


class ReadOnlyLedger(Ledger):
    """A ledger that is looked at and cannot be charged: without its mark, in a read-only folder, as an older copy."""

    doubts: str = ""

    def _read(self, work: Callable[[View], T]) -> T:
        file = LenientFile(self.path, Account)
        found = file.read(work)
        self.doubts = file.doubts
        return found

    def _append(self, entry: Callable[[View], Written | None], *, last: bool = False) -> None:
        raise LedgerError(f"ledger {self.path} was opened for reading only; nothing was spent")


def _warn_if_forgotten(file: LedgerFile) -> None:
    if file.forgotten is not None:
        warn_user(
            f"nothing outside of its folder remembers ledger {file.path} ({file.forgotten}): if the ledger and its "
            "mark were restored from an older copy, it spends the same budget twice, unnoticed; where containers or "
            "machines come and go, set DISCREET_STATE to a folder that lasts and is not restored with the ledger",
            RollbackWarning,
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _result(kept: Written) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(kept.payload or "null")
    return result


warnings.filterwarnings("always", category=RollbackWarning, append=True)
