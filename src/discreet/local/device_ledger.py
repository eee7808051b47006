"""The reports that one device has made.

No question is answered twice with fresh noise, and the total cost stays below the owner's cap.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence
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

_ASKED = 500  # owners in one query; SQLite allows 999 values


class DeviceLedger:
    """Reports by owner and question in one SQLite file (or in memory), with a cap on each owner's
    cost.

    A report is on disk before it is returned. After a crash between the two the same report is
    returned. A question is a task, or the task that it continues: a device answers one of the two.
    """

    def __init__(self, folder: str | PathLike[str] | None, cap: tuple[float, float]) -> None:
        self._cap = cap
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        self._where = ":memory:" if folder is None else str(Path(folder) / "answers.db")
        self._open: sqlite3.Connection | None = None

    def answers(self, task: Task, owners: Sequence[str], make: Callable[[list[int]], Sequence[bytes]]) -> list[bytes]:
        """The report of each owner: the stored one, or a new one.

        New reports are stored first, in one transaction. ``make`` returns new reports for the
        owners at the given positions.
        """
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                bodies = self._stored_or_new(connection, task, owners, make)
                connection.execute("COMMIT")
                return bodies
            except BaseException:
                connection.execute("ROLLBACK")
                raise
        except sqlite3.DatabaseError as error:
            raise LedgerCorrupt("the device's ledger cannot be read or written; nothing was reported") from error

    def _stored_or_new(
        self,
        connection: sqlite3.Connection,
        task: Task,
        owners: Sequence[str],
        make: Callable[[list[int]], Sequence[bytes]],
    ) -> list[bytes]:
        bodies, spent = self._earlier(connection, task, owners)
        new: dict[str, int] = {}  # an owner who occurs twice gives one report
        for place, owner in enumerate(owners):
            if owner not in bodies:
                new.setdefault(owner, place)
        cost = Cost.of(task)
        for before in {spent.get(owner, ()) for owner in new}:
            self._check_cap(before, cost)
        made = make(list(new.values()))
        rows = [
            (owner, task.question, task.digest, cost.mu, body, cost.epsilon)
            for owner, body in zip(new, made, strict=True)
        ]
        insert = "INSERT INTO answers (owner, question, task, mu, body, epsilon) VALUES (?, ?, ?, ?, ?, ?)"
        connection.executemany(insert, rows)
        bodies.update(zip(new, made, strict=True))
        return [bodies[owner] for owner in owners]

    def _earlier(
        self, connection: sqlite3.Connection, task: Task, owners: Sequence[str]
    ) -> tuple[dict[str, bytes], dict[str, tuple[Cost, ...]]]:
        """The stored reports of this task, and what each owner has spent in all."""
        bodies: dict[str, bytes] = {}
        spent: dict[str, tuple[Cost, ...]] = {}
        for start in range(0, len(owners), _ASKED):
            some = owners[start : start + _ASKED]
            places = ",".join("?" * len(some))
            found = f"SELECT owner, question, task, mu, epsilon, body FROM answers WHERE owner IN ({places})"
            for owner, question, digest, mu, epsilon, body in connection.execute(found, some):
                spent[owner] = (*spent.get(owner, ()), Cost(mu, math.inf if epsilon is None else epsilon))
                if question == task.question:
                    if digest != task.digest:
                        raise BudgetError("this device has answered another task of the same collection already")
                    bodies[owner] = bytes(body)
        return bodies, spent

    def _check_cap(self, spent: Sequence[Cost], cost: Cost) -> None:
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
                # A ledger from before pure epsilons were stored: its entries still count.
                self._open.execute("ALTER TABLE answers ADD COLUMN epsilon REAL")
        return self._open
