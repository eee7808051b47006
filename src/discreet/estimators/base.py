"""What every private estimator does before an algorithm runs: check parameters, build a curator."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from discreet.curator import Accountant, Curator
from discreet.domain import Domain, Encoder, Kind, Numeric, Public, as_floats, check_numbers
from discreet.engines import Arrays, Engine, Layout, open_engine, open_table
from discreet.errors import DomainError, PrivacyLeakWarning
from discreet.estimators.constructor import Constructed
from discreet.estimators.doc_link import LinkedToDocs
from discreet.estimators.fitted import FittedMethods
from discreet.estimators.formula import formula_columns, formula_encoder, formula_rows, reduced
from discreet.estimators.job import job_key
from discreet.estimators.pipelines import warn_of_fitted_steps
from discreet.estimators.table_input import table_features, table_layout
from discreet.estimators.tables import (
    check_table,
    check_types,
    feature_domain,
    feature_names,
    is_frame,
    label_name,
    named_target,
    names_are_written,
)
from discreet.estimators.vectors import check_groups, check_target, check_vector, type_name
from discreet.glm import Family, Link
from discreet.noise import Bits, SeededBits
from discreet.parameters import check_count
from discreet.privacy import GDP, Budget, Ledger, Unit, check_neighbours
from discreet.results import Results

# With a public number of rows, at least this many are needed: one row has no spread.
_LEAST_ROWS = 2


class _Assumed:
    """What fits read, and a class either fixes or has as a parameter."""

    bounds_y: Any = None
    bounds_exposure: Any = None
    bounds_weight: Any = None
    data_norm: float | None
    public: Public | None
    calibration: str
    fit_intercept: bool
    solver: str
    alpha: float
    max_iter: int | None
    step: float | None
    radius: float | None
    cov_type: str


class PrivateEstimator(Constructed, _Assumed, FittedMethods, LinkedToDocs, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator whose ``fit`` accesses the rows only through a curator."""

    epsilon: float
    delta: float
    bounds_X: Any = None
    domain: Domain | None = None
    formula: str | None = None
    neighbours: str = "replace_one"
    ledger: Any = None
    rows_per_person: int = 1
    random_state: Any = None
    # Whether candidates of this kind have a loss by which a search can compare them.
    _searchable = True
    # The name, in messages, of the last column beside the labels.
    _beside = "sample_weight"

    def _family(self) -> tuple[Family, Link]:
        """The family and the link of the model."""
        raise NotImplementedError

    def _check_parameters(self) -> Budget:
        budget = Budget.of(self.epsilon, self.delta)
        check_neighbours(self.neighbours)
        check_choice("calibration", self.calibration, ("tight", "paper"))
        check_count("rows_per_person", self.rows_per_person)
        check_public(self.public)
        check_domain(self.domain)
        if hasattr(self, "fit_intercept") and not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise ValueError(f"fit_intercept must be True or False, got {self.fit_intercept!r}")
        return budget

    def _target(self, name: str | None) -> Numeric:
        """The declared range of y, under this name if there is one."""
        return named_target(self, name)

    def _check_label_kind(self, kind: Kind, shown: object) -> None:
        """Refuse labels of a type that cannot represent the declaration."""
        check_numbers("y", kind, shown)

    def _label_numbers(self, labels: Any, target: Numeric) -> Any:
        """Labels as numbers within the target's range; a fixed rule turns all others into NaN."""
        return as_floats(labels)

    def _read_labels(
        self, table: Any, y: Any, exposure: Any = None, name: str | None = None
    ) -> tuple[Numeric, Numeric | None, Any]:
        """The declared ranges of y and of the exposure, and their numbers; refuses
        types that cannot match.

        name: the name of a y that has none.
        """
        target = self._target(label_name(self, y) or name)
        labels, kind, shown = check_target(self, table, y)
        self._check_label_kind(kind, shown)
        numbers = self._label_numbers(labels, target)
        if exposure is None:
            return target, None, numbers
        declared = self._exposure(label_name(self, exposure))
        times, kind, shown = check_vector(table, exposure, "exposure")
        check_numbers("exposure", kind, shown)
        return target, declared, np.column_stack([numbers, as_floats(times)])

    def _exposure(self, name: str | None) -> Numeric:
        raise TypeError(f"{type(self).__name__} has no exposure")

    def _weight(self, name: str | None) -> Numeric:
        raise TypeError(f"{type(self).__name__} has no sample_weight")

    def _fit(
        self, X: Any, y: Any, groups: Any, job: str | None, exposure: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit to these rows."""
        budget = self._check_parameters()
        engine, encoder = self._rows_engine(X, y, groups, exposure, sample_weight)
        return self._fit_engine(engine, encoder, groups is not None, job, budget)

    def _fit_engine(self, engine: Engine, encoder: Any, grouped: bool, job: str | None, budget: Budget) -> Self:
        source = self._curator(engine, encoder, grouped, job)
        return self._fit_source(self._enough_rows(source), encoder, budget)

    def _rows_engine(
        self, X: Any, y: Any, groups: Any, exposure: Any = None, sample_weight: Any = None
    ) -> tuple[Engine, Encoder]:
        """The engine over these rows, and their encoding."""
        self._fitted_before = warn_of_fitted_steps(self)
        named = None
        if self.formula is not None:
            X, y, named = formula_rows(self, X, y)
        table = check_table(self, X, reset=True)
        target, declared, labels = self._read_labels(table, y, exposure, named)
        weight = None
        if sample_weight is not None:
            weight = self._weight(label_name(self, sample_weight))
            cells, kind, shown = check_vector(table, sample_weight, self._beside)
            check_numbers(self._beside, kind, shown)
            labels = np.column_stack([labels, as_floats(cells)])
        encoder = self._make_encoder(feature_names(self), target, declared, weight)
        check_types(table, encoder.domain, written=names_are_written(self) or not is_frame(X))
        ids = check_groups(groups, len(labels))
        layout = Layout(encoder.encode, rows_per_person=self.rows_per_person, width=encoder.width)
        beside = tuple(map(type_name, (y, exposure, sample_weight, groups)))
        return open_engine(Arrays(table, labels, ids, beside), layout), encoder

    def _make_encoder(
        self,
        names: Sequence[str],
        target: Numeric | None,
        exposure: Numeric | None,
        weight: Numeric | None = None,
    ) -> Encoder:
        """The encoding of a table with these columns, by the formula if there is one."""
        if self.formula is not None:
            return formula_encoder(self, names, target, exposure, weight)
        return Encoder(feature_domain(self, list(names)), target, exposure, weight)

    def _saved_encoder(self, names: Sequence[str], target: Numeric, exposure: Numeric | None) -> Any:
        """The encoding that a model file describes."""
        return self._make_encoder(names, target, exposure)

    def _has_intercept(self, encoder: Encoder) -> bool:
        """Whether the model has an intercept: as ``fit_intercept`` says,
        unless a formula removes it.
        """
        return bool(self.fit_intercept) and encoder.intercept

    def _check_offset(self) -> None:
        """Refuse a formula's offset if the model cannot use it."""
        raise DomainError("offset(...) in a formula is for models with a log link, where it is log(exposure)")

    def fit_table(
        self,
        table: Any,
        *,
        target: str | None = None,
        features: Sequence[str] | None = None,
        groups: str | None = None,
        exposure: str | None = None,
        sample_weight: str | None = None,
        job: str | None = None,
    ) -> Self:
        """``fit`` on the rows of a table, wherever it is stored; see docs/howto/engines.md.

        Parameters
        ----------
        table
            A path, glob or folder of Parquet or CSV files, a pandas, polars, pyarrow, Dask or Spark
            frame, a DuckDB relation, an Ibis table, a pyarrow dataset, or anything else that can
            give Arrow streams repeatedly.
        target : str, optional
            The column to predict; not needed if a formula names it on its left side.
        features : sequence of str, optional
            Feature columns; by default all columns that ``domain`` declares (or that the table has)
            except the others named here.
        groups : str, optional
            The column of person ids. The guarantee is then about persons, of whom at most
            ``rows_per_person`` rows are used.
        exposure : str, optional
            The column of exposures: how long or how much each row was observed (log link).
        sample_weight : str, optional
            The column of row weights.
        job : str, optional
            A name for this fit in the ledger; the same fit under the same name is charged once.

        Returns
        -------
        self
            The fitted estimator.

        Privacy
        -------
        As ``fit``. The same rows give the same bits.
        """
        budget = self._check_parameters()
        engine, encoder = self._table_engine(table, target, features, groups, exposure, sample_weight)
        return self._fit_engine(engine, encoder, groups is not None, job, budget)

    def _enough_rows(self, source: Curator) -> Curator:
        """The source; refused if its public number of rows is too small."""
        rows = self._public_rows = source.table_rows
        if rows is not None and rows < _LEAST_ROWS:
            raise ValueError(f"Found {rows} sample(s): {type(self).__name__} needs at least {_LEAST_ROWS} rows")
        return source

    def _fit_source(self, source: Curator, encoder: Any, budget: Budget) -> Self:
        """Fit to these rows, and store the result."""
        released = self._solved(source, encoder, budget)
        self.privacy_ = source.finish()
        self.coef_names_, self._encoder = encoder.names, encoder
        self._store_results(encoder, released)
        return self

    def _solved(self, source: Curator, encoder: Any, budget: Budget) -> Results | None:
        """Call the algorithm and set the coefficients; the results, if it has standard errors."""
        raise NotImplementedError

    def _table_engine(
        self,
        table: Any,
        target: str | None,
        features: Sequence[str] | None = None,
        groups: str | None = None,
        exposure: str | None = None,
        sample_weight: str | None = None,
    ) -> tuple[Engine, Encoder]:
        """The engine over a table's rows, and their encoding."""
        opened = open_table(table)
        if self.formula is not None:
            target, names = formula_columns(self, opened.names, target, features, groups, exposure, sample_weight)
        elif target is None:
            raise ValueError("target= must name the column to predict")
        else:
            names = table_features(self, opened.names, target, features, groups, exposure, sample_weight)
        column = self._target(target)
        declared = None if exposure is None else self._exposure(exposure)
        weight = None if sample_weight is None else self._weight(sample_weight)
        encoder = self._make_encoder(names, column, declared, weight)
        layout = self._table_layout(
            encoder,
            partial(self._without_secrets()._label_numbers, target=column),
            groups=groups,
            rows_per_person=self.rows_per_person,
            text_labels=self._label_texts(target),
            check_labels=self._without_secrets()._check_label_kind,
            unwritten=() if features is not None or names_are_written(self) else names,
        )
        engine = opened.engine(layout)
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return engine, encoder

    def _table_layout(self, encoder: Encoder, labels: Callable[[Any], Any], **more: Any) -> Layout:
        """How the columns of a table become blocks."""
        return table_layout(encoder, labels, **more)

    def _without_secrets(self) -> PrivateEstimator:
        """A copy that may be sent to workers, to read labels there: no ledger,
        no seed, no public rows.
        """
        light = copy.copy(self)
        light.ledger = light.random_state = light.public = None
        light.__dict__.pop("_paying", None)
        return light

    def _label_texts(self, target: str) -> bool:
        """Whether labels in a file without types are texts."""
        return False

    def _curator(self, engine: Any, encoder: Encoder, grouped: bool, job: str | None) -> Curator:
        if self.rows_per_person != 1 and not grouped:
            raise ValueError("rows_per_person needs fit(X, y, groups=ids): ids are needed to know each row's person")
        if job is not None:
            rows = engine.rows if self.neighbours == "replace_one" and not grouped else None
            job = job_key(job, self._asked(encoder), getattr(engine, "types", None), grouped, rows)
        self._paying = self._accountant(encoder, job)
        return Curator(
            engine,
            neighbours=self.neighbours,
            rows_per_person=self.rows_per_person,
            grouped=grouped,
            weighted=encoder.weight is not None,
            accountant=self._paying,
            bits=seeded_bits(self.random_state),
        )

    def _accountant(self, encoder: Encoder, job: str | None) -> Accountant:
        """The accountant: the ledger's, for the whole fit at once, or that of an
        enclosing search.
        """
        if isinstance(self.ledger, Accountant):
            return self.ledger
        ledger = open_ledger(self.ledger)
        if job is not None and ledger is None:
            raise ValueError("job names a fit in a ledger: pass ledger= as well")
        label = self._what() if encoder.target is None else f"{self._what()} of {encoder.target.name}"
        return Accountant(ledger, job=job, asked=Budget.of(self.epsilon, self.delta), label=label)

    def _price(self, budget: Budget) -> list[Unit]:
        """The largest cost of a fit, as far as it is known without a table."""
        return [GDP(budget.mu)]

    def _what(self) -> str:
        """The name of this kind of fit in the ledger."""
        return type(self).__name__

    def _asked(self, encoder: Encoder) -> Any:
        """Everything that determines what is asked of the rows, except the answers themselves."""
        parameters = {
            name: value for name, value in self.get_params().items() if name not in ("ledger", "random_state")
        }
        # Results of random_state are not private, and must not be returned as if they were.
        return type(self).__name__, encoder, parameters, self.random_state is not None

    def _design(self, X: Any, extrapolate: bool) -> np.ndarray:
        """The design matrix of a prediction: features clipped to their
        declared bounds, as in ``fit``.
        """
        check_is_fitted(self, "coef_")
        table = check_table(self, reduced(self._encoder, X), reset=False)
        check_types(table, self._encoder.domain)
        return self._encoder.design(table, extrapolate=extrapolate)

    def _within_labels(self, means: np.ndarray, extrapolate: bool) -> np.ndarray:
        """Predicted means, clipped to the declared bounds of labels, as labels are in ``fit``.

        No mean of such labels lies beyond them: for squared error and deviances, clipping brings
        every prediction nearer to every label.
        """
        target = self._encoder.target
        return means if extrapolate or target is None else np.clip(means, target.low, target.high)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # NaN is allowed, because an error would reveal that a private row has one; such
        # rows contribute nothing.
        tags.input_tags.allow_nan = True
        return tags


def check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")


def check_domain(domain: Any) -> None:
    if domain is not None and not isinstance(domain, Domain):
        raise DomainError(
            "domain must be a discreet.Domain, such as Domain((Numeric('age', 18, 90),)) or "
            f"Domain.from_toml('domain.toml'), got {type(domain).__name__}"
        )


def check_public(public: Any) -> None:
    if public is not None and not isinstance(public, Public):
        raise DomainError(f"public must be a discreet.Public, got {type(public).__name__}")


def open_ledger(ledger: Any) -> Ledger | None:
    """A ledger given as an object or as a path."""
    if ledger is None or isinstance(ledger, Ledger):
        return ledger
    if isinstance(ledger, str) or hasattr(ledger, "__fspath__"):
        return Ledger(ledger)
    raise TypeError(f"ledger must be a discreet.Ledger or a path, got {type(ledger).__name__}")


def curator_of(engine: Engine, neighbours: str, budget: Budget, label: str, ledger: Any, random_state: Any) -> Curator:
    """The curator of releases that are no fit of an estimator; one charge covers them."""
    accountant = Accountant(open_ledger(ledger), asked=budget, label=label)
    return Curator(engine, neighbours=neighbours, accountant=accountant, bits=seeded_bits(random_state))


def seeded_bits(random_state: Any) -> Bits | None:
    """Reproducible bits for tests, always with a warning."""
    if random_state is None:
        return None
    warnings.warn(
        "random_state makes the noise reproducible, so this result is not private; use it for tests only",
        PrivacyLeakWarning,
        stacklevel=4,
    )
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    check_count("random_state", random_state, 0)
    return SeededBits(random_state)
