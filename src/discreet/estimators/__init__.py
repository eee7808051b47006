"""scikit-learn classes: they check input, build a curator, call one algorithm and
store the result.
"""

from discreet.estimators.domain_encoder import DomainEncoder
from discreet.estimators.glm import GammaRegressor, GeneralizedLinearRegressor, PoissonRegressor
from discreet.estimators.hard_threshold import HardThreshold, noisy_hard_threshold
from discreet.estimators.linear import LinearRegression, Ridge
from discreet.estimators.logistic import LogisticRegression
from discreet.estimators.moments import collect_moments
from discreet.estimators.relu import ReLURegressor, SingleIndexRegressor
from discreet.estimators.search import PrivateGridSearchCV
from discreet.estimators.search_price import SearchPrice, price_of_search
from discreet.estimators.second_moment import SecondMomentResult, private_second_moment
from discreet.estimators.sparse import (
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
    SparseRegressor,
)
from discreet.estimators.survival import PiecewiseExponentialRegressor
from discreet.estimators.threshold import Threshold, dp_threshold

__all__ = [
    "DomainEncoder",
    "GammaRegressor",
    "GeneralizedLinearRegressor",
    "HardThreshold",
    "LinearRegression",
    "LogisticRegression",
    "PiecewiseExponentialRegressor",
    "PoissonRegressor",
    "PrivateGridSearchCV",
    "ReLURegressor",
    "Ridge",
    "SearchPrice",
    "SecondMomentResult",
    "SingleIndexRegressor",
    "SparseLinearRegression",
    "SparseLogisticRegression",
    "SparsePoissonRegressor",
    "SparseRegressor",
    "Threshold",
    "collect_moments",
    "dp_threshold",
    "noisy_hard_threshold",
    "price_of_search",
    "private_second_moment",
]
