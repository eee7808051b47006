"""Columns that are narrow within their declared bounds, and what is then known of their slopes.

The slope of a column whose variance noise hides is unknown. The column's contribution to the linear
predictor is bounded, but the standard deviation by which it must be divided may be anything down
to 0. An estimate that takes the column to be as wide as the noise allows would be near 0, with a
small standard error.
"""

from __future__ import annotations

# A column is hidden unless evidence of its variance has this many standard deviations.
SEEN = 4.0
# The smallest standard deviation of a column, relative to half of its declared range. It only
# limits how wide the intervals of hidden columns are.
NARROWEST = 1e-6
