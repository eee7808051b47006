"""All errors and warnings of discreet.

    DiscreetError
    ├── DomainError(ValueError)      a public declaration is missing or wrong
    │   └── ReadError                a table cannot be read to its end
    ├── ChangedError                 the rows were not the same in two passes over them
    ├── BudgetError                  the charge does not fit into what is left
    ├── GuaranteeError(ValueError)   the noise asked for does not give the guarantee asked for
    ├── NoErrorsError(AttributeError) a fit without standard errors was asked for them
    ├── ReleaseError                 a party's release is damaged, altered or of another plan
    ├── LedgerError                  the ledger cannot be trusted, so nothing is spent
    │   ├── LedgerCorrupt            a byte, a row or the order of entries was altered
    │   ├── LedgerRolledBack         this copy is older than one that was already used
    │   └── LedgerBusy               another process holds its lock and does not give it back
    └── StoreError                   the collector's storage failed, so nothing is acknowledged
        ├── StoreCorrupt             a stored report or sum is not what was written
        └── StoreFull                no room is left for another report

    PrivacyLeakWarning(UserWarning)  no privacy (``random_state``), or a leak beside the model
    RollbackWarning(UserWarning)     an older copy of the ledger would not be noticed
    StoredResultWarning(UserWarning) answers of an earlier fit of this name, from the ledger
    UnusableRowsWarning(UserWarning) no row was usable, as far as a noisy count can tell
    WeakGuaranteeWarning(UserWarning) an epsilon or delta that protects next to nobody

A message names public facts only (a parameter, its value, the rule it breaks), never a row's value.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent)


def warn_user(message: str, category: type[Warning]) -> None:
    """A warning that points to the line outside of discreet from which it was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class DiscreetError(Exception):
    """Base of every error that discreet raises on purpose."""


class DomainError(DiscreetError, ValueError):
    """A public declaration (bounds, categories, norm) is missing or contradictory."""


class ReadError(DomainError):
    """A table could not be read completely. The reader's own message might quote cells, so it is
    not shown.
    """


class ChangedError(DiscreetError):
    """The rows changed between two passes over them, so their sums do not belong together."""


class BudgetError(DiscreetError):
    """The charge does not fit into what is left of the budget; nothing was spent."""


class GuaranteeError(DiscreetError, ValueError):
    """The requested noise does not give the requested guarantee; nothing was spent."""


class NoErrorsError(DiscreetError, AttributeError):
    """A fit without standard errors was asked for them; to ``hasattr`` and ``dir`` it has no such
    attribute.
    """


class ReleaseError(DiscreetError):
    """A party's release cannot be used: damaged, altered, or made under another plan."""


class NoSolutionError(DiscreetError, ValueError):
    """The equation that defines the model has no root for these noisy answers; asking again costs
    nothing.
    """


class LedgerError(DiscreetError):
    """The ledger cannot be read or trusted; nothing was spent."""


class LedgerCorrupt(LedgerError):
    """The ledger's bytes are not the ones that discreet wrote."""


class LedgerRolledBack(LedgerError):
    """The ledger is older than one that was already used: a restored copy would spend twice."""


class LedgerBusy(LedgerError):
    """Another process holds the ledger's lock, and did not give it back in time;
    nothing was spent.
    """


class StoreError(DiscreetError):
    """The collector's storage cannot be used; nothing was acknowledged."""


class StoreCorrupt(StoreError):
    """A stored report or a running sum is not what the collector wrote."""


class StoreFull(StoreError):
    """The disk or the quota is full; what was acknowledged before is safe."""


class PrivacyLeakWarning(UserWarning):
    """The caller opted out of privacy, with ``random_state`` or by fitting a pipeline's steps to
    private rows.
    """


class RollbackWarning(UserWarning):
    """A ledger was charged, but no mark could be written outside its folder: a restored copy would
    go unnoticed.
    """


class StoredResultWarning(UserWarning):
    """A fit returned stored answers of an earlier job of the same name. The rows were
    not compared.
    """


class UnusableRowsWarning(UserWarning):
    """By its noisy count, the fit used no row or hardly any. The warning depends on the released
    count alone.
    """


class WeakGuaranteeWarning(UserWarning):
    """A guarantee with this epsilon or delta is worth next to nothing."""
