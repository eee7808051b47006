"""What the user declares in public, and the encoding that follows from it."""

from discreet.domain.columns import Categorical, Column, Numeric, spelling
from discreet.domain.domain import HOW_TO_DECLARE, Domain, check_bounds
from discreet.domain.encoding import Encoder, cells
from discreet.domain.public import Public

__all__ = [
    "HOW_TO_DECLARE",
    "Categorical",
    "Column",
    "Domain",
    "Encoder",
    "Numeric",
    "Public",
    "cells",
    "check_bounds",
    "spelling",
]
