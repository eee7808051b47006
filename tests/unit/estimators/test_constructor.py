"""Constructors are made from the fields of a class, unless it has written or inherits one."""

from __future__ import annotations

import inspect

import pytest
from sklearn.base import clone

from discreet import LinearRegression, PoissonRegressor, Ridge, SparseLogisticRegression

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


class Written(Ridge):
    def __init__(self, budget):
        super().__init__(epsilon=budget, delta=1e-6)
        self.budget = budget


class Inherited(Written):
    pass


class WithField(LinearRegression):
    rounds: int = 3


def test_arguments_are_stored_unchanged_and_errors_name_the_class():
    bounds = [-1, 1]
    model = clone(WithField(**BUDGET, bounds_X=bounds, rounds=5))
    assert (model.rounds, model.bounds_X, model.alpha) == (5, bounds, 0.0)
    assert Ridge(**BUDGET).alpha == 1.0
    with pytest.raises(TypeError, match=r"^WithField\.__init__\(\).*'delta'"):
        WithField(epsilon=1.0)
    with pytest.raises(TypeError, match=r"^PoissonRegressor\.__init__\(\).*'family'"):
        PoissonRegressor(**BUDGET, family="gamma")
    with pytest.raises(TypeError):
        LinearRegression(1.0, 1e-6)


def test_a_written_constructor_stays_also_in_classes_below_it():
    for kind in (Written, Inherited):
        assert list(inspect.signature(kind).parameters) == ["budget"]
        assert kind(2.0).epsilon == 2.0


def test_models_have_only_the_parameters_that_they_read():
    asked = inspect.signature(SparseLogisticRegression).parameters
    assert {"sparsity", "classes", "radius"} < set(asked)
    assert not {"public", "bounds_y", "alpha", "data_norm"} & set(asked)
