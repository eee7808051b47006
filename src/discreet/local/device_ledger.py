"""What one device has answered: never the same question twice with fresh noise, never more than its owner allows."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from discreet.errors import BudgetError, LedgerCorrupt
from discreet.local.cost import Cost, together
from discreet.local.task import Task

_MAKE = """
CREATE TABLE IF NOT EXISTS answers (
    owner TEXT NOT NULL, question TEXT NOT NULL, task TEXT NOT NULL, mu REAL NOT NULL CHECK (mu > 0),
    body BLOB NOT NULL, epsilon REAL, PRIMARY KEY (owner, question)
) WITHOUT ROWID
"""


class DeviceLedger:
    """Reports by question, in one SQLite file (or in memory), with a cap on what all of them reveal together.

    The report is stored, durably, before it is handed out: a crash between the two repeats it and draws nothing new.
    A question is a task, or the task that it continues: a device answers one of the two.
    owner: whose record it is, where one ledger serves several people.
    """

    def __init__(self, folder: str | PathLike[str] | None, cap: tuple[float, float], owner: str = "") -> None:
        self._cap = cap
        self._owner = owner
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        self._where = ":memory:" if folder is None else str(Path(folder) / "answers.db")
        self._open: sqlite3.Connection | None = None

    def answer(self, task: Task, make: Callable[[], bytes]) -> bytes:
        """The stored report of this task, or a new one that is stored first."""
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                body = self._stored_or_new(connection, task, make)
                connection.execute("COMMIT")
                return body
            except BaseException:
                connection.execute("ROLLBACK")
                raise
        except sqlite3.DatabaseError as error:
            raise LedgerCorrupt("the device's ledger cannot be read or written; nothing was reported") from error

    def _stored_or_new(self, connection: sqlite3.Connection, task: Task, make: Callable[[], bytes]) -> bytes:
        found = "SELECT task, body FROM answers WHERE owner = ? AND question = ?"
        row = connection.execute(found, (self._owner, task.question)).fetchone()
        if row is not None:
            if row[0] != task.digest:
                raise BudgetError("this device has answered another task of the same collection already")
            return bytes(row[1])
        cost = Cost.of(task)
        self._check_cap(connection, cost)
        body = make()
        values = (self._owner, task.question, task.digest, cost.mu, body, cost.epsilon)
        connection.execute(
            "INSERT INTO answers (owner, question, task, mu, body, epsilon) VALUES (?, ?, ?, ?, ?, ?)", values
        )
        return body

    def _check_cap(self, connection: sqlite3.Connection, cost: Cost) -> None:
        rows = connection.execute("SELECT mu, epsilon FROM answers WHERE owner = ?", (self._owner,)).fetchall()
        spent = [Cost(mu, math.inf if epsilon is None else epsilon) for mu, epsilon in rows]
        if not together([*spent, cost]).within(*self._cap):
            epsilon, delta = self._cap
            raise BudgetError(
                f"this report would cost {cost} on top of {together(spent)}: together more than this device's cap, "
                f"epsilon {epsilon:g} at delta {delta:g}"
            )

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = sqlite3.connect(self._where, timeout=30.0, isolation_level=None)
            self._open.execute("PRAGMA synchronous = FULL")
            self._open.execute(_MAKE)
            if "epsilon" not in {row[1] for row in self._open.execute("PRAGMA table_info(answers)")}:
                # A ledger from before pure epsilons: what stands in it still counts.
                self._open.execute("ALTER TABLE answers ADD COLUMN epsilon REAL")
        return self._open
