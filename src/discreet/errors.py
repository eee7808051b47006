"""Everything discreet raises or warns.

    DiscreetError
    ├── DomainError(ValueError)      a public declaration is missing or wrong
    ├── BudgetError                  the charge does not fit into what is left
    ├── GuaranteeError(ValueError)   the noise asked for does not give the guarantee asked for
    └── LedgerError                  the ledger cannot be trusted, so nothing is spent
        ├── LedgerCorrupt            a byte, a row or the order of entries was altered
        └── LedgerRolledBack         this copy is older than one that was already used

    PrivacyLeakWarning(UserWarning)  an explicit opt-out of privacy, such as ``random_state``

A message names public facts only (a parameter, its value, the rule it breaks), never a row's value.
"""


class DiscreetError(Exception):
    """Base of every error that discreet raises on purpose."""


class DomainError(DiscreetError, ValueError):
    """A public declaration (bounds, categories, norm) is missing or contradictory."""


class BudgetError(DiscreetError):
    """The charge does not fit into what is left of the budget; nothing was spent."""


class GuaranteeError(DiscreetError, ValueError):
    """The requested noise does not give the requested guarantee; nothing was spent."""


class LedgerError(DiscreetError):
    """The ledger cannot be read or trusted; nothing was spent."""


class LedgerCorrupt(LedgerError):
    """The ledger's bytes are not the ones that discreet wrote."""


class LedgerRolledBack(LedgerError):
    """The ledger is older than one that was already used: a restored copy would spend twice."""


class PrivacyLeakWarning(UserWarning):
    """The caller opted out of privacy explicitly, for instance with ``random_state``."""
