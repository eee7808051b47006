"""What sparse estimators share: a curator over a wide table, one algorithm, and
the chosen columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet.algorithms.sparse_frank_wolfe import frank_wolfe
from discreet.algorithms.sparse_iht import hard_threshold
from discreet.algorithms.sparse_iht_printed import printed_threshold
from discreet.algorithms.sparse_two_stage import select_then_fit
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.sparse_model import SparseFit
from discreet.curator import Curator
from discreet.docstrings import described
from discreet.domain import Domain, Encoder, FormulaEncoder, Numeric
from discreet.engines import Arrays, Engine, Layout, SeenThrough, open_engine
from discreet.errors import DomainError
from discreet.estimators.base import check_choice
from discreet.estimators.constructor import SolverParameters
from discreet.estimators.glm_results import GlmResultMethods, log_exposure
from discreet.estimators.moments import require_target
from discreet.estimators.pipelines import warn_of_fitted_steps
from discreet.estimators.solved import Solver
from discreet.estimators.solvers import check_options
from discreet.estimators.sparse_rows import check_wide, columns_of, wide_bounds, wide_columns
from discreet.estimators.tables import feature_domain, feature_names, named_target
from discreet.estimators.units import linear_result, store_facts, units
from discreet.estimators.vectors import check_groups, type_name
from discreet.parameters import is_whole
from discreet.privacy import Budget
from discreet.results import Results
from discreet.rows import Labels, WideEncoding, wide_block_rows

_STEPS = {"max_iter": "steps"}
_SOLVERS: dict[str, Solver] = {
    "auto": Solver(select_then_fit),
    "two_stage": Solver(partial(select_then_fit, once=True)),
    "iht": Solver(hard_threshold, _STEPS),
    "frank_wolfe": Solver(frank_wolfe, {**_STEPS, "radius": "radius"}),
}
_PRINTED = Solver(printed_threshold, {**_STEPS, "step": "step"})
_SELECTED = (
    "Standard errors treat the chosen columns as if they had been fixed in advance: a column that was chosen because "
    "it looked large in these rows has an estimate that is too large on average."
)
# The number of cells of a table is not known before it is read; large enough that
# compiling a loop pays.
_CELLS_OF_A_TABLE = 2**40


class SparseModel(SolverParameters, GlmResultMethods):
    """Checks parameters, builds a curator over a wide table, calls one
    algorithm and stores the result.

    ``bse``, ``pvalues`` and ``conf_int()`` have one entry per chosen column, in
    the order of ``support_``.
    """

    sparsity: int | str
    data_norm = None
    public = None
    # The encoding of the chosen columns, in a model that opens rows for their evaluation.
    _evaluated_encoder: Encoder | None = field(default=None, init=False)

    @described
    def fit(self, X: Any, y: Any = None, groups: Any = None, *, job: str | None = None) -> Self:
        """Fit on private rows: an array, a frame of numbers or a sparse matrix.

        Privacy
        -------
        Noisy sums and selections of columns, whose joint cost is at most ``epsilon`` at ``delta``.
        """
        return self._fit(X, y, groups, job)

    def _terms(self, engine: Engine, encoder: Encoder) -> tuple[Engine, Encoder]:
        """The rows of an engine as a wide table of the formula's terms.

        Privacy: terms are encoded from one row at a time, and clipped to [-1, 1] as any wide table
        is.
        """
        if not encoder.intercept:
            raise DomainError("sparse models have an intercept: remove '- 1' or '0 +' from the formula")
        self._check_sparsity(encoder.width)
        ends = np.ones(encoder.width)
        return SeenThrough(engine, WideEncoding(-ends, ends, -1.0, 1.0, _CELLS_OF_A_TABLE).see), encoder

    def _check_offset(self) -> None:
        raise DomainError("sparse models have no offset: remove offset(...) from the formula")

    def _rows_engine(
        self, X: Any, y: Any, groups: Any, exposure: Any = None, sample_weight: Any = None
    ) -> tuple[Engine, Encoder]:
        """The rows of a table of numbers, which is never copied, or of a formula's terms.

        To evaluate a model, those of its chosen columns, like any other.
        """
        if self._evaluated_encoder is not None:
            return super()._rows_engine(X, y, groups, exposure, sample_weight)
        if self.formula is not None:
            return self._terms(*super()._rows_engine(X, y, groups))
        self._fitted_before = warn_of_fitted_steps(self)
        table = check_wide(self, X, reset=True)
        target, _, labels = self._read_labels(table, y)
        encoder = Encoder(feature_domain(self, feature_names(self)), target)
        width = encoder.width
        encode = self._wide_encoding(encoder, len(table) * width).encode
        layout = Layout(encode, rows_per_person=self.rows_per_person, width=width, block_rows=wide_block_rows(width))
        beside = tuple(map(type_name, (y, groups)))
        arrays = Arrays(table, labels, check_groups(groups, len(labels)), beside)
        return open_engine(arrays, layout), encoder

    def _table_engine(
        self,
        table: Any,
        target: str | None,
        features: Sequence[str] | None = None,
        groups: str | None = None,
        exposure: str | None = None,
        sample_weight: str | None = None,
    ) -> tuple[Engine, Encoder]:
        if self._evaluated_encoder is not None:
            return super()._table_engine(table, target, features, groups, exposure, sample_weight)
        if sample_weight is not None:
            raise TypeError("sparse models have no sample_weight")
        if exposure is not None:
            raise DomainError("sparse models have no exposure")
        engine, encoder = super()._table_engine(table, target, features, groups)
        return (engine, encoder) if self.formula is None else self._terms(engine, encoder)

    def _table_layout(self, encoder: Encoder, labels: Callable[[Any], Any], **more: Any) -> Layout:
        layout = super()._table_layout(encoder, labels, **more)
        if self._evaluated_encoder is not None or self.formula is not None:
            return layout
        encode = partial(wide_columns, self._wide_encoding(encoder, _CELLS_OF_A_TABLE), labels)
        return replace(layout, encode=encode, block_rows=wide_block_rows(encoder.width))

    def _wide_encoding(self, encoder: Encoder, cells: int) -> WideEncoding:
        self._check_sparsity(encoder.width)
        target, (low, high) = require_target(encoder), wide_bounds(encoder.domain)
        return WideEncoding(low, high, target.low, target.high, cells)

    def _fit_source(self, source: Curator, encoder: Encoder, budget: Budget) -> Self:
        target = require_target(encoder)
        # The model's columns are not known yet.
        family, link = self._family()
        labels = Labels(target.centre, target.half_width)
        model = GlmModel(family.within(labels.low, labels.high), link, labels, penalty=np.zeros(0))
        sparsity = None if self.sparsity == "auto" else int(self.sparsity)
        options, solve = self._solver.asked(self), self._solver.called
        self._store(solve(source, model, budget, width=encoder.width, sparsity=sparsity, **options), encoder, source)
        return self

    @property
    def _solver(self) -> Solver:
        if self.calibration == "paper":
            return _PRINTED
        return _SOLVERS[self.solver if self._family()[0].has_likelihood else "iht"]

    def _store(self, sparse: SparseFit, encoder: Encoder, source: Curator) -> None:
        """Store the fit, from the encoded scale, x = centre + half_width *
        encoded, in the user's units.
        """
        self.support_, fit = sparse.columns, sparse.fit
        self._encoder = chosen = self._chosen_encoder(encoder)
        self._take(units(chosen, with_intercept=True) @ fit.coef, with_intercept=True)
        self.coef_names_ = chosen.names
        self.n_iter_ = fit.iterations
        # After each step of ``iht``: the columns that it kept, and their coefficients.
        widths = encoder.half_width
        self.path_ = [(columns, values / widths[columns]) for columns, values in sparse.path]
        store_facts(self, fit.used, fit.signal)
        self.privacy_ = source.finish()
        self._public_rows = source.public_rows
        known = fit.noise_covariance is not None
        released = linear_result(fit, chosen, self.privacy_, with_intercept=True) if known else None
        self._store_results(chosen, released)

    def _chosen_encoder(self, encoder: Encoder) -> Encoder:
        """The encoding of the chosen columns, or of a formula's chosen terms, alone."""
        self._width = encoder.width
        if isinstance(encoder, FormulaEncoder):
            return replace(encoder, kept=tuple(self.support_.tolist()))
        return Encoder(Domain(tuple(encoder.domain.columns[column] for column in self.support_)), encoder.target)

    def _has_intercept(self, encoder: Encoder) -> bool:
        return True

    def _described(self, released: Results) -> Results:
        family, link = self._family()
        known = np.isnan(released.scale) or family.dispersion_known
        spread = "" if known else f"; dispersion {released.scale:.4g} (noisy)"
        columns = f"{len(self.support_)} of {self._width} {'columns' if self.formula is None else 'terms'} were chosen"
        without = (
            f"solver={self.solver!r} with calibration={self.calibration!r} has no standard errors: use solver='auto' "
            "with calibration='tight'"
        )
        return replace(
            released,
            no_errors=without if family.has_likelihood else "a fit by COST's Algorithm 4 has no standard errors",
            family=family.name,
            link=link.name,
            facts=(("Family", f"{family.name}, {link.name} link{spread}"), ("Columns", columns)),
            notes=(*released.notes, _SELECTED) if released.covariance is not None else (),
        )

    def _opener(self, epsilon: float, delta: float, neighbours: str | None, rows_per_person: int | None) -> Any:
        """The chosen columns as a table of their own; the fit has released which they are."""
        opener = super()._opener(epsilon, delta, neighbours, rows_per_person)
        opener._evaluated_encoder = self._encoder
        return opener

    def _make_encoder(
        self,
        names: Sequence[str],
        target: Numeric | None,
        exposure: Numeric | None,
        weight: Numeric | None = None,
    ) -> Encoder:
        if self._evaluated_encoder is not None:
            return replace(self._evaluated_encoder, target=target, exposure=exposure, weight=weight)
        return super()._make_encoder(names, target, exposure, weight)

    def _evaluated_columns(self, X: Any) -> Any:
        if self.formula is not None:
            return X
        return columns_of(check_wide(self, X, reset=False), self.support_)

    def _flat_coefficients(self, with_intercept: bool = True) -> np.ndarray:
        return np.append(np.ravel(self.intercept_)[:1], np.ravel(self.coef_)[self.support_])

    def _take(self, flat: np.ndarray, with_intercept: bool) -> None:
        coef = np.zeros(self._width)
        coef[self.support_] = flat[1:]
        self._set_coef(coef, float(flat[0]))

    def _check_parameters(self) -> Budget:
        budget = super()._check_parameters()
        check_choice("solver", self.solver, tuple(_SOLVERS))
        if self.calibration == "paper" and self.solver not in ("auto", "iht"):
            raise ValueError(f"calibration='paper' is COST's algorithm, solver='iht'; got solver={self.solver!r}")
        family, link = self._family()
        family.check_link(link)
        if not family.has_likelihood and self.solver not in ("auto", "iht"):
            raise ValueError(f"loss= is fitted by COST's Algorithm 4, solver='iht'; got solver={self.solver!r}")
        check_options(self, self._options())
        return budget

    def _options(self) -> tuple[str, ...]:
        return tuple(self._solver.options)

    def _check_sparsity(self, width: int) -> None:
        if self.sparsity == "auto":
            if self.solver not in ("auto",) or self.calibration == "paper" or not self._family()[0].has_likelihood:
                raise ValueError("sparsity='auto' needs solver='auto' and calibration='tight', and no loss=")
            return
        if isinstance(self.sparsity, str) or not (is_whole(self.sparsity) and 1 <= self.sparsity <= width):
            raise ValueError(
                f"sparsity must be 'auto' or a whole number between 1 and the number of columns {width}, "
                f"got {self.sparsity!r}"
            )

    def _target(self, name: str | None) -> Numeric:
        target = named_target(self, name)
        self._family()[0].check_range(target.low, target.high)
        return target

    def _set_coef(self, coef: np.ndarray, intercept: float) -> None:
        self.coef_ = coef
        self.intercept_: Any = intercept

    def get_support(self, indices: bool = False) -> np.ndarray:
        """The chosen columns: a mask over all columns (or terms of the formula), or their indices.

        Parameters
        ----------
        indices : bool, default False
            Return indices instead of a mask.

        Returns
        -------
        array
            bool, or int with ``indices``.
        """
        check_is_fitted(self, "coef_")
        if indices:
            return self.support_
        mask = np.zeros(self._width, dtype=bool)
        mask[self.support_] = True
        return mask

    def _chosen(self, X: Any, extrapolate: bool) -> np.ndarray:
        """The chosen columns of new rows, clipped to their declared bounds as in ``fit``."""
        check_is_fitted(self, "coef_")
        if self.formula is not None:
            return super()._design(X, extrapolate)
        cells = columns_of(check_wide(self, X, reset=False), self.support_)
        return cells if extrapolate else np.clip(cells, *wide_bounds(self._encoder.domain))

    def _design(self, X: Any, extrapolate: bool) -> np.ndarray:
        return self._chosen(X, extrapolate)

    def _new_offset(self, X: Any, exposure: Any, rows: int) -> np.ndarray:
        return log_exposure(exposure, rows)

    def _eta(self, X: Any, extrapolate: bool) -> np.ndarray:
        cells = self._chosen(X, extrapolate)
        return np.asarray(cells @ np.ravel(self.coef_)[self.support_] + float(np.ravel(self.intercept_)[0]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
