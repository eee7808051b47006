"""scikit-learn classes: check, build a curator, call one algorithm, store the result."""

from discreet.estimators.linear import LinearRegression, Ridge
from discreet.estimators.moments import collect_moments

__all__ = ["LinearRegression", "Ridge", "collect_moments"]
