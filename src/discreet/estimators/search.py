"""Private choice of parameters: candidates are fitted and compared on held-out
rows, and one is refitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discreet.curator import Accountant
from discreet.docstrings import described, described_like, passed_on
from discreet.domain import as_floats
from discreet.engines import SeenThrough
from discreet.estimators.base import PrivateEstimator, open_ledger
from discreet.estimators.doc_link import LinkedToDocs
from discreet.estimators.evaluation import EvaluatedMethods
from discreet.estimators.formula import formula_rows
from discreet.estimators.held_out import Rows
from discreet.estimators.job import job_key
from discreet.estimators.search_loss import Comparison, check_comparable
from discreet.estimators.search_plan import Allowance, Planner, SearchPlan
from discreet.estimators.table_parts import TableRows
from discreet.estimators.tables import check_table, label_name
from discreet.estimators.vectors import NamedCells, check_target, type_name
from discreet.parameters import check_count, is_number
from discreet.privacy import Budget, Guarantee, joint
from discreet.report.methods import ReportMethods
from discreet.results import NamedMethods
from discreet.rows.loss_ranking import LossRanking

# Parameters that determine the rows' encoding or the costs; these are the same for all candidates.
_FIXED = {
    *("epsilon", "delta", "bounds_X", "bounds_y", "data_norm", "domain", "classes", "neighbours", "ledger"),
    *("rows_per_person", "random_state", "bounds_exposure", "bounds_weight", "formula"),
}


@dataclass(eq=False, repr=False)
class PrivateGridSearchCV(NamedMethods, ReportMethods, LinkedToDocs, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Private choice of parameters: fit candidates, choose by held-out loss, refit on all rows.

    The joint cost is the estimator's ``epsilon`` and ``delta``. The ``shares`` of mu^2 go to the
    candidates (in equal parts), the choice, and the refit. A solver whose cost has no mu
    (``"objective"``, ``"glmtron"``, ``"sgd"``) gets a smaller epsilon, at which Gaussian noise of
    its share covers it. All costs are computed before the first charge. The choice is an
    exponential mechanism over sums of held-out losses, each row's clipped to [0, ``loss_bound``].
    Scores are not released, because they would cost more budget.

    Parameters
    ----------
    estimator : estimator
        LinearRegression, Ridge, LogisticRegression (two classes), PoissonRegressor, GammaRegressor,
        GeneralizedLinearRegressor, ReLURegressor or SingleIndexRegressor. Its ``epsilon`` and
        ``delta`` are those of the whole search.
    param_grid : dict or list of dict
        As in scikit-learn; declarations of rows, budgets and the family must not vary.
    held_out : int, default 5
        One row in this many is held out for the choice.
    shares : tuple of three floats
        The shares of mu^2 for the candidates, the choice and the refit.
    loss_bound : float, optional
        Unit deviance (squared error for linear and index models) at which a row's loss is
        clipped. By default several times that of a typical row, from the family, the declared
        range and the candidates' releases.
    verbose : int, default 0
        If above 0, print the price before anything is spent.
    random_state : int, optional
        Seeds the noise. For tests only: the result is then not private.

    Attributes
    ----------
    best_params_ : dict
        The chosen parameters.
    best_index_ : int
        Their index among the candidates.
    best_estimator_ : estimator
        The refitted model.
    privacy_ : Guarantee
        All releases together: candidates, choice and refit.
    results_ : Results
        The results of the refitted model, with the guarantee of the whole search.

    Privacy
    -------
    All candidates' releases, one choice and the refit's releases, at the joint cost of the
    estimator's epsilon and delta.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 2))
    >>> from discreet import PrivateGridSearchCV, Ridge
    >>> y = X @ [1.0, -2.0] + rng.normal(0, 0.5, 2_000)
    >>> model = Ridge(epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-5, 5))
    >>> search = PrivateGridSearchCV(model, {"alpha": [0.1, 1000.0]}).fit(X, y)
    >>> sorted(search.best_params_)
    ['alpha']
    """

    estimator: Any
    param_grid: Any
    _: KW_ONLY
    held_out: int = 5
    shares: tuple[float, float, float] = (0.35, 0.05, 0.6)
    loss_bound: float | None = None
    verbose: int = 0
    random_state: int | None = None

    @property
    def epsilon(self) -> float:
        """The epsilon of the whole search."""
        return float(self.estimator.epsilon)

    @property
    def delta(self) -> float:
        """The delta of the whole search."""
        return float(self.estimator.delta)

    @property
    def neighbours(self) -> str:
        """The estimator's neighbour relation."""
        return str(self.estimator.neighbours)

    @described
    def fit(self, X: Any, y: Any = None, groups: Any = None, *, exposure: Any = None, job: str | None = None) -> Self:
        """Search and refit.

        Parameters
        ----------
        exposure : optional
            The exposure of each row, for models with a log link.
        job : str, optional
            A name for this search in the ledger; the same search under the same name gets the
            stored answers, and warns.

        Returns
        -------
        self
            The fitted search.

        Privacy
        -------
        All candidates' releases, one choice and the refit's releases, at the joint cost of
        the estimator's epsilon and delta. The rows are divided by a rule that uses one row (or
        person) at a time (held_out.py), so neighbouring tables have neighbouring parts.
        """
        budget, candidates = self._check()
        if exposure is not None:
            # Refuses an exposure that the model does not have or that is not declared.
            self.estimator._exposure(label_name(self.estimator, exposure))
        # Parts of the rows have no types, so the type of the labels is passed here.
        return self._search(Rows(*self._cells(X, y), groups, exposure), budget, candidates, job, type_name(y))

    @described_like(PrivateEstimator.fit_table)
    def fit_table(
        self,
        table: Any,
        *,
        target: str,
        features: Sequence[str] | None = None,
        groups: str | None = None,
        exposure: str | None = None,
        job: str | None = None,
    ) -> Self:
        """Search and refit on a table, as the estimators' ``fit_table``.

        Under ``replace_one`` rows are divided by position, so the table must have a fixed order.

        Parameters
        ----------
        target : str
            The column to predict.

        Returns
        -------
        self
            The fitted search.
        """
        budget, candidates = self._check()
        rows = TableRows.of(table, target, features, groups, exposure)
        rows.engine(clone(self.estimator))  # refuses missing columns, and types that do not match
        return self._search(rows, budget, candidates, job)

    def _search(
        self,
        rows: Rows | TableRows,
        budget: Budget,
        candidates: list[dict[str, Any]],
        job: str | None,
        labels: str | None = None,
    ) -> Self:
        accountant = self._accountant(budget, job, rows, labels)
        if self.verbose > 0:
            from discreet.estimators.search_price import price_of_search

            print(price_of_search(self))
        rest, kept = rows.parted(self.estimator, self.held_out)
        made = [clone(self.estimator).set_params(**params) for params in candidates]
        plan = Planner(made, budget, self.shares, rest, rows, accountant.keeps).plan()
        accountant.reserve(plan.costs)
        fitted = [
            self._fitted(rest, params, accountant.part(f"candidate {number}", allowed.costs), allowed, number)
            for number, (params, allowed) in enumerate(zip(candidates, plan.fits, strict=True))
        ]
        self.best_index_, chosen = self._choose(fitted, kept, accountant, plan)
        self.best_params_ = candidates[self.best_index_]
        allowed, part = plan.refits[self.best_index_], accountant.part("refit", plan.refit)
        self.best_estimator_ = self._fitted(rows, self.best_params_, part, allowed, len(candidates) + 1)
        accountant.finish()
        self.privacy_: Guarantee = joint([*(one.privacy_ for one in fitted), chosen, self.best_estimator_.privacy_])
        params = ", ".join(f"{name}={value!r}" for name, value in self.best_params_.items())
        results = self.best_estimator_.results_
        self.results_ = replace(
            results,
            model=f"PrivateGridSearchCV of {type(self.estimator).__name__}",
            privacy=self.privacy_,
            delta=self.delta,
            payment=accountant.payment,
            facts=(*results.facts, ("Chosen", f"{params} of {len(candidates)} candidates")),
        )
        self.n_features_in_ = self.best_estimator_.n_features_in_
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def _check(self) -> tuple[Budget, list[dict[str, Any]]]:
        if not (isinstance(self.estimator, PrivateEstimator) and hasattr(self.estimator, "_model")):
            raise TypeError(f"estimator must be a linear model of discreet, got {type(self.estimator).__name__}")
        if not self.estimator._searchable:
            raise TypeError(f"PrivateGridSearchCV has no loss to compare {type(self.estimator).__name__} models")
        if len(getattr(self.estimator, "classes", (0, 1))) > 2:
            raise ValueError("PrivateGridSearchCV compares two-class models only")
        candidates = list(ParameterGrid(self.param_grid))
        if len(candidates) < 2:
            raise ValueError(f"param_grid must have at least two candidates, got {len(candidates)}")
        if fixed := sorted(_FIXED & {name for params in candidates for name in params}):
            raise ValueError(f"param_grid must not vary {', '.join(fixed)}: rows and prices must be the same for all")
        check_count("held_out", self.held_out, 2)
        if len(self.shares) != 3 or not all(is_number(share) and 0 < share < np.inf for share in self.shares):
            raise ValueError(f"shares must be three numbers > 0, got {self.shares!r}")
        if self.loss_bound is not None and not (is_number(self.loss_bound) and 1e-50 < self.loss_bound < 1e50):
            raise ValueError(f"loss_bound must be a finite number > 0, got {self.loss_bound!r}")
        budget = self.estimator._check_parameters()
        made = [clone(self.estimator).set_params(**params) for params in candidates]
        for one in made:  # a wrong parameter must be found before anything is charged
            one._check_parameters()
        check_comparable(made, self.loss_bound)
        return budget, candidates

    def _accountant(self, budget: Budget, job: str | None, rows: Rows | TableRows, labels: str | None) -> Accountant:
        """The accountant of the search: everything is charged at once, before the first query."""
        ledger = open_ledger(self.estimator.ledger)
        if ledger is None and job is not None:
            raise ValueError("job names a search in a ledger: pass ledger= to the estimator as well")
        if job is not None:
            opener = clone(self.estimator).set_params(random_state=None)
            engine, encoder = rows.engine(opener)
            source = opener._curator(engine, encoder, rows.groups is not None, f"{job}/search")
            # Another grid or other shares make another search, for which stored
            # answers are not valid.
            asked = (self.param_grid, self.held_out, tuple(self.shares), self.loss_bound, labels)
            seeded = self.random_state is not None or self.estimator.random_state is not None
            job = job_key(str(source.job), asked, seeded)
        return Accountant(ledger, job=job, asked=budget, label=f"search of {type(self.estimator).__name__}")

    def _fitted(
        self, rows: Rows | TableRows, params: dict[str, Any], part: Accountant, allowed: Allowance, number: int
    ) -> Any:
        made = self._candidate(params, part, number).set_params(epsilon=allowed.epsilon, delta=allowed.delta)
        return rows.fit(made).set_params(ledger=self.estimator.ledger)

    def _cells(self, X: Any, y: Any) -> tuple[Any, Any]:
        """X and y in a form that can be divided: frames stay frames, and labels keep their name.

        Types are checked here. Parts are then untyped cells, because a cell of a part
        must not change its type.
        """
        opener, named = clone(self.estimator), None
        if opener.formula is not None:  # the labels may be among the columns
            X, y, named = formula_rows(opener, X, y)
        table = check_table(opener, X, reset=True)
        opener._read_labels(table, y, name=named)
        labels = check_target(opener, table, y)[0]
        untyped = as_floats(labels) if labels.dtype.kind in "fiub" else labels.astype(object)
        return table if isinstance(table, np.ndarray) else X, NamedCells.of(untyped, label_name(opener, y) or named)

    def _candidate(self, params: dict[str, Any], accountant: Accountant, number: int) -> Any:
        made = clone(self.estimator).set_params(**params, ledger=accountant)
        seed = made.random_state if self.random_state is None else self.random_state
        if isinstance(seed, (int, np.integer)):  # different noise for every fit
            made.set_params(random_state=int(seed) + number)
        return made

    def _choose(
        self, fitted: list[Any], rows: Rows | TableRows, accountant: Accountant, plan: SearchPlan
    ) -> tuple[int, Guarantee]:
        part = accountant.part("choice", plan.choices)
        opener, encoder = self._candidate({}, part, len(fitted)), fitted[0]._encoder
        engine, _ = rows.engine(opener)
        see = Comparison.of(encoder, fitted, self.loss_bound).see
        curator = opener._curator(SeenThrough(engine, see), encoder, rows.groups is not None, None)
        picked = curator.select(LossRanking(len(fitted)), plan.pick)
        return int(picked.indices[0]), curator.guarantee

    def _document(self) -> dict[str, Any]:
        from discreet.estimators.model_file import model_document

        results = self._fitted_results()
        content = model_document(self.best_estimator_, results)
        # The refit had a share of the budget; the guarantee is that of the whole search.
        content["parameters"] |= {"epsilon": self.epsilon, "delta": self.delta}
        return content

    def _spans(self) -> dict[str, float]:
        return dict(self.best_estimator_._spans())

    def _refitted(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @described
    def predict(self, X: Any, *, exposure: Any = None, extrapolate: bool = False) -> np.ndarray:
        """The predictions of the refitted model."""
        more = {} if exposure is None else {"exposure": exposure}
        return np.asarray(self._refitted().predict(X, extrapolate=extrapolate, **more))

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, extrapolate: bool = False) -> np.ndarray:
        return np.asarray(self._refitted().predict_proba(X, extrapolate=extrapolate))

    evaluate = passed_on(EvaluatedMethods.evaluate, "_refitted")
    evaluate_table = passed_on(EvaluatedMethods.evaluate_table, "_refitted")

    @described
    def score(self, X: Any, y: Any) -> float:
        """The score of the refitted model; not private on private rows.

        Parameters
        ----------
        y : array
            Labels, one for each row of X.

        Returns
        -------
        float
            The score.
        """
        return float(self._refitted().score(X, y))

    @property
    def classes_(self) -> np.ndarray:
        """The classes of the refitted classifier."""
        return np.asarray(self._refitted().classes_)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "input_tags", "target_tags"):
            setattr(tags, name, getattr(inner, name))
        return tags
