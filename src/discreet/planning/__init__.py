"""Accuracy for a given budget, from public numbers alone: forecasts and
lower bounds for all methods.
"""

from discreet.planning.asking import plan
from discreet.planning.attacker import Attacker
from discreet.planning.fisher_bounds import family_information, fisher_lower_bound
from discreet.planning.forecast import Forecast
from discreet.planning.lower_bounds import LowerBound, glm_lower_bound, relu_excess_risk, relu_lower_bound
from discreet.planning.sparse_bounds import sparse_glm_lower_bound

__all__ = [
    "Attacker",
    "Forecast",
    "LowerBound",
    "family_information",
    "fisher_lower_bound",
    "glm_lower_bound",
    "plan",
    "relu_excess_risk",
    "relu_lower_bound",
    "sparse_glm_lower_bound",
]
