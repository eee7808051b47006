"""What a fit paid, and to which ledger: enough to find the charge again, and to say what was left."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.privacy.budget import Budget


@dataclass(frozen=True)
class Payment:
    """One charge: the ledger's own id and its file's name (no path), the key of the charge, and the budget around it.

    ``before`` and ``after`` are what was left then; another process may have paid between the two.
    """

    ledger: str
    file: str
    key: str
    time: str
    total: Budget
    before: Budget
    after: Budget
