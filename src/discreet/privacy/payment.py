"""The charge of a fit: enough to find it in its ledger again, and to say what was left."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.privacy.budget import Budget


@dataclass(frozen=True)
class Payment:
    """One charge: the ledger's id and file name (no path), the key of the charge,
    and the budgets around it.

    ``before`` and ``after`` are the remaining budgets; another process may
    have paid between the two.
    """

    ledger: str
    file: str
    key: str
    time: str
    total: Budget
    before: Budget
    after: Budget
