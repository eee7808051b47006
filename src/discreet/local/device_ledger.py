"""What one device has answered: never the same task twice with fresh noise, never more than its owner allows."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from discreet.errors import BudgetError, LedgerCorrupt
from discreet.local.plan import gaussian_delta_bound

_MAKE = """
CREATE TABLE IF NOT EXISTS answers (
    owner TEXT NOT NULL, task TEXT NOT NULL, mu REAL NOT NULL CHECK (mu > 0), body BLOB NOT NULL,
    PRIMARY KEY (owner, task)
) WITHOUT ROWID
"""


class DeviceLedger:
    """Reports by task, in one SQLite file (or in memory), with a cap on what all of them reveal together.

    The report is stored, durably, before it is handed out: a crash between the two repeats it and draws nothing new.
    owner: whose record it is, where one ledger serves several people.
    """

    def __init__(self, folder: str | PathLike[str] | None, cap: tuple[float, float], owner: str = "") -> None:
        self._cap = cap
        self._owner = owner
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        self._where = ":memory:" if folder is None else str(Path(folder) / "answers.db")
        self._open: sqlite3.Connection | None = None

    def answer(self, task: str, mu: float, make: Callable[[], bytes]) -> bytes:
        """The stored report of this task, or a new one that is stored first."""
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                body = self._stored_or_new(connection, task, mu, make)
                connection.execute("COMMIT")
                return body
            except BaseException:
                connection.execute("ROLLBACK")
                raise
        except sqlite3.DatabaseError as error:
            raise LedgerCorrupt("the device's ledger cannot be read or written; nothing was reported") from error

    @property
    def spent_mu(self) -> float:
        """What all answers so far cost together."""
        rows = self._connection().execute("SELECT mu FROM answers WHERE owner = ?", (self._owner,)).fetchall()
        return math.sqrt(math.fsum(mu**2 for (mu,) in rows))

    def _stored_or_new(self, connection: sqlite3.Connection, task: str, mu: float, make: Callable[[], bytes]) -> bytes:
        found = "SELECT body FROM answers WHERE owner = ? AND task = ?"
        row = connection.execute(found, (self._owner, task)).fetchone()
        if row is not None:
            return bytes(row[0])
        epsilon, delta = self._cap
        total = math.hypot(self.spent_mu, mu)
        if gaussian_delta_bound(epsilon, total) > delta:
            raise BudgetError(
                f"this report would cost {mu:.4g}-GDP on top of {self.spent_mu:.4g}: together more than this "
                f"device's cap, epsilon {epsilon:g} at delta {delta:g}"
            )
        body = make()
        connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", (self._owner, task, mu, body))
        return body

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = sqlite3.connect(self._where, timeout=30.0, isolation_level=None)
            self._open.execute("PRAGMA synchronous = FULL")
            self._open.execute(_MAKE)
        return self._open
