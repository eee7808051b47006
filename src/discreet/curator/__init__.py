"""The curator: the only code that reads rows. It prices a query, charges it and adds noise."""

from discreet.curator.accountant import Accountant, Rehearsal, Rehearsed, disclosure
from discreet.curator.curator import Curator
from discreet.curator.protocols import Codec, Tape, listening

__all__ = ["Accountant", "Codec", "Curator", "Rehearsal", "Rehearsed", "Tape", "disclosure", "listening"]
