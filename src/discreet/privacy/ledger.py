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
    """The privacy budget of one data set: a file that is charged before any row is read.

    A fit reserves all that it may cost in one charge, and its releases draw on that
    (reservation.py). A release goes ``charge -> draw -> store -> return what store returned``. The
    charge is on disk before a row is read, so a crash can waste budget but cannot leak. After a
    crash between charge and store, the same key draws again at no cost: the lost draw was returned
    to nobody, so observers see one answer per charge. If two retries run at the same time, both
    return the result that was stored first.

    A ledger object holds only the path: copies, clones, pickles and other processes charge the same
    file. Every use checks the newest entry, the running totals and that nothing else has changed
    the file. A file that was altered, truncated or restored from an older copy is refused. The
    files ``<path>.mark`` and, after many charges in a few seconds, ``<path>.tail`` belong to the
    ledger and must be moved with it. ``<path>.lock`` is the lock.

    Parameters
    ----------
    path : str or path
        The ledger's file.

    Privacy
    -------
    A charge is on disk before a row is read, so a crash can waste budget but cannot leak.

    Examples
    --------
    >>> import tempfile
    >>> from discreet import Ledger
    >>> ledger = Ledger.create(
    ...     tempfile.mkdtemp() + "/budget.ledger", epsilon=3, delta=1e-6, note="board of May"
    ... )
    >>> ledger.charges, ledger.note
    (0, 'board of May')
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).resolve()
        self._account()

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, epsilon: float, delta: float, note: str = "") -> Ledger:
        """Create a ledger. An existing one is never overwritten.

        Parameters
        ----------
        path : str or path
            The path of the new file.
        epsilon : float
            The total that may be spent, at ``delta``.
        delta : float
            The probability with which epsilon may be exceeded; well below 1 over the number of
            people.
        note : str, optional
            Who decided on the budget, and for which data.

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
        """Open a ledger for reading, also one that cannot be charged.

        ``doubts`` says why it cannot be charged, and is empty if it can.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        ReadOnlyLedger
            The ledger, for reading only.
        """
        return ReadOnlyLedger(path)

    @property
    def total(self) -> Budget:
        """The total budget."""
        return self._account().total

    @property
    def spent(self) -> Budget:
        """The joint cost of all charges."""
        return self._account().spent

    @property
    def remaining(self) -> Budget:
        """The largest joint cost of further Gaussian releases."""
        return self._account().remaining

    @property
    def note(self) -> str:
        """The note given to ``create``."""
        return self._account().note

    @property
    def id(self) -> str:
        """The unique id of this ledger. It does not depend on where the file is."""
        return str(self._account().opening["id"])

    @property
    def charges(self) -> int:
        """The number of charges."""
        return self._account().charges

    def opened_account(self) -> Account:
        """The account at the creation of the ledger, to compute what was left after each charge.

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
        """Check every entry that was ever written, every link and every total.

        Raises LedgerCorrupt if an entry is not what was written.

        Returns
        -------
        int
            The number of entries.
        """
        return self._file.verify()

    @staticmethod
    def repair(path: str | os.PathLike[str]) -> Repair:
        """Repair a ledger that is refused, as far as this returns no budget to it.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        Repair
            What was repaired and what was not.
        """
        return RepairFile(Path(path).resolve(), Account).repair()

    @staticmethod
    def sign(path: str | os.PathLike[str]) -> None:
        """Sign the marks of a ledger.

        The key is in DISCREET_LEDGER_KEY, or in the file that DISCREET_LEDGER_KEY_FILE names.

        Parameters
        ----------
        path : str or path
            The file.
        """
        RepairFile(Path(path).resolve(), Account).sign()

    def charge(self, cost: Unit, *, label: str, key: str | None = None) -> str:
        """Charge one release; on disk when this returns. A key is charged only once.

        Two releases with the same key are one release, so a key must name the query, its
        parameters and the data.

        Parameters
        ----------
        cost : Unit
            A unit of privacy, such as ``GDP(0.2)``.
        label : str
            The name of the release in ``history``.
        key : str, optional
            The key of the release. Default: a new random key.

        Returns
        -------
        str
            The key of the charge.
        """
        return self.reserve([cost], label=label, key=key)

    def reserve(self, costs: Sequence[Unit], *, label: str, key: str | None = None) -> str:
        """Charge, at once, everything that a fit may release.

        A BudgetError means that nothing was charged.

        Parameters
        ----------
        costs : sequence of Unit
            The costs of what the fit may release.
        label : str
            The name of the fit in ``history``.
        key : str, optional
            The key of the fit. Default: a new random key.

        Returns
        -------
        str
            The key of the charge.
        """
        key = uuid.uuid4().hex if key is None else key
        # The decision uses the costs as they will be read back from the file.
        charge = Charge(_now(), str(label), tuple(unit_from_dict(cost.to_dict()) for cost in costs), str(key))

        def entry(view: View) -> Written | None:
            earlier = view.find(CHARGE, charge.key)
            if earlier is not None:
                self._check_same(charge, Charge.read(earlier.facts))
                # A missing result is drawn again, so all results must still be
                # where they were stored.
                view.verify(Account)
                return None
            account = Account.read(view.state)
            if not account.fits(*charge.costs):
                raise BudgetError(self._refusal(charge, account))
            return charge.entry

        self._append(entry)
        return charge.key

    def store(self, key: str, result: dict[str, Any], *, part: str = "", releases: Releases = ()) -> dict[str, Any]:
        """Store a result of a charge.

        If one is already stored, that one is returned and must be used.

        Parameters
        ----------
        key : str
            The name of the charge: the query, its parameters and the data.
        result : dict
            The result.
        part : str, default ''
            Which result of the fit this is.
        releases : Releases, default ()
            The releases in this result, with their costs.

        Returns
        -------
        dict
            The result that was stored first.
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
        """Record, once, which releases a fit has drawn from its charge.

        Parameters
        ----------
        key : str
            The name of the charge: the query, its parameters and the data.
        releases : sequence
            The releases, with their costs.
        """
        made = releases_entry(key, releases, _now())
        self._append(lambda view: None if view.find(RELEASES, key) else made, last=True)

    def paid(self, key: str) -> str | None:
        """The time when this key was charged, or None.

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
        """The result stored under this key, or None.

        A result of other releases raises a LedgerError.

        Parameters
        ----------
        key : str
            The name of the charge: the query, its parameters and the data.
        part : str, optional
            Which result of the fit.
        releases : sequence, optional
            The releases that the result must consist of, with their costs.

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
                f"the answer stored in ledger {self.path} as {place!r} is not an answer to {releases[0][0]!r} at this "
                "cost: another version of discreet or another kind of machine made it; nothing was released"
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
                f"key {charge.key!r} is the key of another release in ledger {self.path}: it was charged for "
                f"{earlier.label!r}, not for {charge.label!r} at this cost; nothing was spent"
            )

    def _refusal(self, charge: Charge, account: Account) -> str:
        left, delta = account.remaining, account.total.delta
        cost = Composition(charge.costs)
        asked = Budget(cost.epsilon(delta), delta, cost.mu)
        # If only the last digits differ, a rounded message would contradict itself.
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
    """A ledger for reading only: without its mark, in a read-only folder, or an older copy."""

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
            f"no file outside of its folder records ledger {file.path} ({file.forgotten}): if the ledger and its "
            "mark were restored from an older copy, the same budget could be spent twice without notice; where "
            "containers or machines are temporary, set DISCREET_STATE to a permanent folder that is not restored "
            "with the ledger",
            RollbackWarning,
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _result(kept: Written) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(kept.payload or "null")
    return result


warnings.filterwarnings("always", category=RollbackWarning, append=True)
