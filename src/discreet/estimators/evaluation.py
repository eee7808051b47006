"""Private evaluation of a fitted model on held-out rows; its cost is charged like that of a fit."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from discreet.curator import Accountant, Curator
from discreet.docstrings import described, described_like
from discreet.estimators.base import PrivateEstimator, open_ledger, seeded_bits
from discreet.estimators.evaluation_questions import ask
from discreet.estimators.formula import reduced
from discreet.estimators.tables import check_table
from discreet.estimators.units import warn_of_none
from discreet.parameters import check_alpha
from discreet.privacy import Budget
from discreet.report.evaluation import Evaluation
from discreet.rows import RowsUsed


class EvaluatedMethods(PrivateEstimator):
    """``evaluate`` and ``evaluate_table``."""

    @described
    def evaluate(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        *,
        epsilon: float,
        delta: float,
        ledger: Any = None,
        exposure: Any = None,
        neighbours: str | None = None,
        rows_per_person: int | None = None,
        alpha: float = 0.05,
        random_state: Any = None,
    ) -> Evaluation:
        """Evaluate the model on private held-out rows, by noisy sums.

        Parameters
        ----------
        X, y, groups, exposure
            Rows, as for ``fit``; with a formula, y may be a column of X.
        epsilon, delta : float
            The cost of the evaluation, in addition to the fit's. These rows pay it.
        neighbours, rows_per_person : optional
            As for ``fit``; by default those of the model.

        Returns
        -------
        Evaluation
            ``r2`` and ``rmse`` (linear), ``log_loss``, ``deviance_explained`` and ``auc``
            (classes), ``deviance_explained`` and ``mean_deviance`` (others), each with a noise
            interval; a calibration table.

        Privacy
        -------
        Histograms of predictions and losses, and sums of clipped losses. rows/evaluation.py has
        each sensitivity.
        """
        opener = self._opener(epsilon, delta, neighbours, rows_per_person)
        engine, encoder = opener._rows_engine(self._evaluated_columns(X), y, groups, exposure)
        return self._evaluated(opener, engine, encoder, groups is not None, ledger, alpha, random_state)

    @described_like(evaluate)
    def evaluate_table(
        self,
        table: Any,
        *,
        epsilon: float,
        delta: float,
        target: str | None = None,
        groups: str | None = None,
        exposure: str | None = None,
        ledger: Any = None,
        neighbours: str | None = None,
        rows_per_person: int | None = None,
        alpha: float = 0.05,
        random_state: Any = None,
    ) -> Evaluation:
        """``evaluate`` on the rows of a table; columns are named as in ``fit_table``.

        Parameters
        ----------
        table
            Any table that ``fit_table`` accepts.
        target : str, optional
            The column of labels; by default that of the model.
        groups : str, optional
            The column of person ids.
        exposure : str, optional
            The column of exposures.

        Returns
        -------
        Evaluation

        Privacy
        -------
        As ``evaluate``: histograms and sums over these rows, reserved in one charge before a row is
        read.
        """
        opener = self._opener(epsilon, delta, neighbours, rows_per_person)
        features = None if opener.formula is not None else [column.name for column in self._encoder.domain.columns]
        assert self._encoder.target is not None
        name = self._encoder.target.name if target is None else target
        engine, encoder = opener._table_engine(table, name, features, groups, exposure)
        return self._evaluated(opener, engine, encoder, groups is not None, ledger, alpha, random_state)

    def _evaluated_columns(self, X: Any) -> Any:
        """The columns that the model reads; refuses rows of other columns than those of the fit."""
        if self.formula is None:
            check_table(self, reduced(self._encoder, X), reset=False)
        return X

    def _seen_by_evaluation(self, engine: Any, encoder: Any) -> tuple[Any, Any, Any]:
        """The model whose predictions are compared with labels, the rows, and their encoding."""
        return self, engine, encoder

    def _opener(self, epsilon: float, delta: float, neighbours: str | None, rows_per_person: int | None) -> Any:
        """An unfitted model with the same declarations, which opens rows and learns nothing."""
        check_is_fitted(self, "coef_")
        opener = clone(self)
        opener.set_params(epsilon=epsilon, delta=delta, ledger=None, random_state=None)
        if "public" in opener.get_params():
            opener.set_params(public=None)
        if neighbours is not None:
            opener.set_params(neighbours=neighbours)
        if rows_per_person is not None:
            opener.set_params(rows_per_person=rows_per_person)
        opener._check_parameters()
        return opener

    def _evaluated(
        self, opener: Any, engine: Any, encoder: Any, grouped: bool, ledger: Any, alpha: float, seed: Any
    ) -> Evaluation:
        check_alpha(alpha)
        budget = Budget.of(opener.epsilon, opener.delta)
        fitted, engine, encoder = self._seen_by_evaluation(engine, encoder)
        if list(encoder.names) != list(fitted.coef_names_):
            raise ValueError(f"these rows have other features than the fit, which used {', '.join(fitted.coef_names_)}")
        if opener.rows_per_person != 1 and not grouped:
            raise ValueError("rows_per_person needs groups: ids are needed to know each row's person")
        curator = Curator(
            engine,
            neighbours=opener.neighbours,
            rows_per_person=opener.rows_per_person,
            grouped=grouped,
            accountant=Accountant(open_ledger(ledger), asked=budget, label=f"evaluation of {type(self).__name__}"),
            bits=seeded_bits(seed),
        )
        opener._enough_rows(curator)
        found = ask(fitted, curator, encoder, budget, alpha)
        used = RowsUsed.seen(found["rows"], found["rows_std"], opener._public_rows)
        warn_of_none(used)
        found["measures"] = {name: one.within(used) for name, one in found["measures"].items()}
        return Evaluation(
            used=used,
            model=type(self).__name__,
            target=encoder.target.name,
            alpha=alpha,
            privacy=curator.finish(),
            epsilon=budget.epsilon,
            delta=budget.delta,
            **found,
        )
