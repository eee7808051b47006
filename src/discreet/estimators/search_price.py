"""The cost of a search or a cross-validation, from its settings alone, before anything is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from discreet.estimators.base import open_ledger
from discreet.estimators.search_plan import search_costs
from discreet.privacy import GDP, Budget, Composition, Unit


@dataclass(frozen=True)
class SearchPrice:
    """The number of fits at ``each``, which all rows pay; ``total`` at the same delta.

    Use ``print``.
    """

    fits: int
    each: Budget
    total: Budget
    notes: tuple[str, ...] = ()
    what: str = "fits"

    def __str__(self) -> str:
        return "\n".join([f"{self.fits} {self.what} at {self.each}", f"together {self.total}", *self.notes])


def price_of_search(search: Any, *, cv: Any = None) -> SearchPrice:
    """The price of a search or, with ``cv``, of the cross-validation of an estimator.

    The search may be scikit-learn's or a PrivateGridSearchCV. A person is in all training parts but
    one, or in all of them if parts overlap, so all fits are counted.

    Parameters
    ----------
    search : search or estimator
        What would be fitted. Nothing is fitted.
    cv : int or splitter, optional
        The cross-validation, for an estimator alone.

    Returns
    -------
    SearchPrice
        The number of fits and their joint cost; use ``print``.

    Examples
    --------
    >>> from discreet import Ridge, price_of_search
    >>> model = Ridge(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-5, 5))
    >>> print(price_of_search(model, cv=5))  # doctest: +ELLIPSIS
    5 fits...
    """
    from discreet.estimators.search import PrivateGridSearchCV

    if isinstance(search, PrivateGridSearchCV):
        return _price_of_private(search)
    if hasattr(search, "estimator") and (hasattr(search, "param_grid") or hasattr(search, "n_iter")):
        estimator, folds = search.estimator, _folds(search.cv)
        fits = _candidates(search) * folds + bool(search.refit)
    elif cv is not None:
        estimator, folds = search, _folds(cv)
        fits = folds
    else:
        raise TypeError("pass a search, or an estimator and cv=")
    each = estimator._check_parameters()
    total = _together(estimator._price(each), each, fits)
    note = (
        "NOT COUNTED: scikit-learn scores each fit on the held-out rows, without noise. Showing or using "
        "these scores is not private; PrivateGridSearchCV chooses privately, at the price of one fit"
    )
    return SearchPrice(fits, each, total, (note,))


def _together(costs: list[Unit], each: Budget, fits: int) -> Budget:
    """The joint cost of this many fits; at the sum of their deltas if no
    epsilon holds at one delta.
    """
    together = Composition(tuple(costs * fits))
    delta = each.delta
    if not math.isfinite(together.epsilon(delta)):
        delta = min(1.0, fits * each.delta * (1 + 1e-9))
    return Budget(together.epsilon(delta), delta, together.mu)


def _price_of_private(search: Any) -> SearchPrice:
    budget, candidates = search._check()
    *fits, choice, refit = search_costs(budget, len(candidates), search.shares)
    share = [math.sqrt(math.fsum(cost.mu**2 for cost in part)) for part in (fits, [choice], [refit])]
    names = (f"{len(fits)} candidates together", "the choice", "the refit")
    notes = [
        f"  {name}: mu {mu:.4g} (epsilon {GDP(mu).epsilon(budget.delta):.4g} alone)"
        for name, mu in zip(names, share, strict=True)
    ]
    if (ledger := open_ledger(search.estimator.ledger)) is not None:
        notes.append(f"left in ledger {ledger.path}: {ledger.remaining} of {ledger.total}")
    each = Budget.from_mu(fits[0].mu, budget.delta)
    return SearchPrice(len(fits), each, budget, tuple(notes), "candidates, then a choice and a refit: candidates")


def _folds(cv: Any) -> int:
    from sklearn.model_selection import check_cv

    return int(check_cv(cv).get_n_splits())


def _candidates(search: Any) -> int:
    from sklearn.model_selection import ParameterGrid

    return len(ParameterGrid(search.param_grid)) if hasattr(search, "param_grid") else int(search.n_iter)
