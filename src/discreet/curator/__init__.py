"""The one door to the rows: what may be asked of them, what it costs, and the noise that hides everybody."""

from discreet.curator.accountant import Accountant, Rehearsal, Rehearsed, telling
from discreet.curator.door import Curator
from discreet.curator.protocols import Codec, Tape, listening

__all__ = ["Accountant", "Codec", "Curator", "Rehearsal", "Rehearsed", "Tape", "listening", "telling"]
