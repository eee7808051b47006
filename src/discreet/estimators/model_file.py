"""A fitted estimator as a document, and back; docs/model.schema.json describes its contents.

It contains only noisy releases and public declarations: no rows, no public rows, no path, no seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.domain import Domain, Encoder, Numeric
from discreet.domain.declared import column_fields, declared_columns
from discreet.errors import DomainError
from discreet.fields import number, table, text, whole
from discreet.glm import Family, Link, Loss
from discreet.glm.families import NegativeBinomial, Tweedie
from discreet.glm.index_links import LeakyReLU
from discreet.glm.losses import huber, negative_binomial_loss, smoothed_quantile
from discreet.results import Results
from discreet.results.document import Fields, read_results, results_document
from discreet.results.file import header

# Parameters that are elsewhere in the document, or are not stored.
_APART = {
    *("domain", "bounds_X", "bounds_y", "bounds_exposure", "bounds_weight", "data_norm", "classes"),
    *("public", "ledger", "random_state"),
}
_MOST_COLUMNS = 10_000_000
# Parameters that are lists of numbers.
_LISTS = ("breaks",)


def model_document(estimator: Any, results: Results) -> dict[str, Any]:
    """The estimator with these results, which may be those of a search that chose it."""
    sparse, encoder = hasattr(estimator, "support_"), estimator._encoder
    exposure = encoder.exposure
    names = getattr(estimator, "feature_names_in_", None)
    classes = getattr(estimator, "classes_", None)
    return {
        **header("estimator"),
        "class": type(estimator).__name__,
        "parameters": _parameters(estimator),
        "columns": [column_fields(column) for column in encoder.domain.columns],
        "missing": encoder.domain.missing,
        "data_norm": None if encoder.domain.data_norm is None else float(encoder.domain.data_norm),
        "target": column_fields(encoder.target),
        "classes": None if classes is None else classes.tolist(),
        "exposure": None if exposure is None else column_fields(exposure),
        "feature_names": None if names is None else [str(name) for name in names],
        "features": int(estimator.n_features_in_),
        "support": [int(i) for i in estimator.support_] if sparse else None,
        "iterations": int(getattr(estimator, "n_iter_", 1)),
        "results": results_document(results),
    }


def read_estimator(content: Any) -> Any:
    """The fitted estimator of a document."""
    fields = Fields(content, "the document")
    kind = _class_of(fields.text("class"))
    results = read_results(fields.value("results"))
    columns = declared_columns(fields.value("columns"), "the document") if fields.entries("columns") else ()
    target = declared_columns([fields.value("target")], "the target")[0]
    if not isinstance(target, Numeric) or target.name != results.target:
        raise DomainError("the target must be numeric with low and high, and the same as in the results")
    estimator = kind(**_made_parameters(kind, fields, target, columns))
    names = None if fields.value("feature_names") is None else fields.texts("feature_names")
    estimator.n_iter_ = fields.count("iterations")
    estimator._target(target.name)  # a classifier sets its classes from the declaration
    count = fields.count("features")
    if count > _MOST_COLUMNS or (names is not None and len(names) != count):
        raise DomainError(f"there must be one feature name for each of {count} features")
    if fields.value("support") is not None and estimator.formula is None:
        return _sparse(estimator, fields, results, columns, target, names, count)
    declared = [column.name for column in columns]
    if count != len(declared) or (names is not None and list(names) != declared):
        raise DomainError("the columns must match the feature names")
    exposure = fields.value("exposure")
    made = None if exposure is None else declared_columns([exposure], "the exposure")[0]
    encoder = estimator._saved_encoder(declared, target, made)
    if fields.value("support") is not None:
        encoder = _chosen_terms(estimator, fields, encoder)
    expected = [*(["const"] if estimator._has_intercept(encoder) else []), *encoder.names]
    many = len(getattr(estimator, "classes_", (0, 1)))
    if many > 2:
        expected = [f"{value}: {name}" for value in estimator.classes_ for name in expected]
    if list(results.names) != expected:
        raise DomainError("the coefficients must match the declared columns, in their order")
    return estimator.adopt(results, encoder, names)


def _sparse(
    estimator: Any, fields: Fields, results: Results, columns: Any, target: Numeric, names: Any, count: int
) -> Any:
    support = _support(fields, count)
    known = all(isinstance(column, Numeric) for column in columns) and hasattr(estimator, "sparsity")
    if not known or len(support) != len(columns):
        raise DomainError("support must have the index of each numeric column of a sparse model")
    if list(results.names) != ["const", *(column.name for column in columns)]:
        raise DomainError("the coefficients must match the chosen columns, in their order")
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator.n_features_in_ = estimator._width = count
    estimator.support_ = support
    return estimator.adopt(results, Encoder(Domain(tuple(columns)), target), names)


def _chosen_terms(estimator: Any, fields: Fields, encoder: Any) -> Any:
    """The terms of its formula that a sparse model has chosen."""
    if not hasattr(estimator, "sparsity"):
        raise DomainError("support belongs to a sparse model")
    estimator.support_ = _support(fields, encoder.width)
    return estimator._chosen_encoder(encoder)


def _support(fields: Fields, width: int) -> np.ndarray:
    support = [whole(i, "an entry of support") for i in fields.entries("support")]
    if not all(0 <= i < width for i in support):
        raise DomainError(f"support must have whole numbers from 0 to {width - 1}")
    return np.array(support, dtype=np.intp)


def _class_of(name: str) -> type:
    import discreet.estimators as estimators
    from discreet.estimators.base import PrivateEstimator

    found = getattr(estimators, name, None) if name in estimators.__all__ else None
    if not (isinstance(found, type) and issubclass(found, PrivateEstimator)):
        raise DomainError(f"class must be an estimator of discreet, got {name[:60]!r}")
    return found


def _parameters(estimator: Any) -> dict[str, Any]:
    """Parameters that are plain values, or families and losses with their numbers."""
    kept: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=False).items():
        if name in _APART:
            continue
        if shaped := _shape_of(value):
            kept[name] = shaped
        elif isinstance(value, np.generic):
            kept[name] = value.item()
        elif value is None or isinstance(value, (bool, int, float, str)):
            kept[name] = value
        elif isinstance(value, (Family, Link)):
            kept[name] = value.name
        elif name in _LISTS:
            kept[name] = [float(one) for one in value]
        else:
            raise DomainError(
                f"a model with a user-defined {name}={type(value).__name__}(...) cannot be saved; pickle it"
            )
    return kept


def _made_parameters(kind: type, fields: Fields, target: Numeric, columns: Any) -> dict[str, Any]:
    given: dict[str, Any] = dict(table(fields.value("parameters"), "parameters"))
    known = set(kind._get_param_names())  # type: ignore[attr-defined]
    for name, value in given.items():
        if name not in known or name in _APART:
            raise DomainError(f"{kind.__name__} has no parameter {name[:60]!r} in a model file")
        if isinstance(value, dict):
            given[name] = _shaped(value)
        elif name in _LISTS and isinstance(value, list):
            given[name] = [number(one, f"an entry of {name}") for one in value]
        elif isinstance(value, list):
            raise DomainError(f"parameter {name!r} must be a plain value")
    norm, missing = fields.value("data_norm"), fields.choice("missing", ("drop", "centre"))
    if columns and (fields.value("support") is None or given.get("formula") is not None):
        given["domain"] = Domain(columns, None if norm is None else number(norm, "data_norm"), missing)
    if "bounds_y" in known:
        given["bounds_y"] = (target.low, target.high)
    if "bounds_exposure" in known and fields.value("exposure") is not None:
        exposure = declared_columns([fields.value("exposure")], "the exposure")[0]
        if not isinstance(exposure, Numeric):
            raise DomainError("the exposure must be a number with low and high")
        given["bounds_exposure"] = (exposure.low, exposure.high)
    if "classes" in known:
        given["classes"] = [_plain_class(value) for value in fields.entries("classes")]
    return given


# Families and losses with numbers: their constructors, and the names of the numbers.
_SHAPED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "negative_binomial": (NegativeBinomial, ("alpha",)),
    "tweedie": (Tweedie, ("power",)),
    "leaky_relu": (LeakyReLU, ("leak",)),
    "huber": (huber, ("width",)),
    "quantile": (smoothed_quantile, ("level", "bandwidth")),
    "negative_binomial_loss": (negative_binomial_loss, ("dispersion", "largest")),
}


def _shape_of(value: Any) -> dict[str, Any] | None:
    """The name and the numbers of a family or loss, if it has any."""
    name = str(getattr(value, "name", "")).partition("(")[0]
    if name not in _SHAPED:
        return None
    # The numbers of a loss are in its slope.
    holder = value.slope if isinstance(value, Loss) else value
    if not all(hasattr(holder, one) for one in _SHAPED[name][1]):
        return None
    return {"name": name, **{one: float(getattr(holder, one)) for one in _SHAPED[name][1]}}


def _shaped(content: dict[str, Any]) -> Any:
    name = text(content.get("name"), "the name of a family or loss")
    if name not in _SHAPED or set(content) != {"name", *_SHAPED[name][1]}:
        raise DomainError(f"a family or loss with numbers must be one of {', '.join(_SHAPED)}, with its own numbers")
    make, numbers = _SHAPED[name]
    return make(*(number(content[one], one) for one in numbers))


def _plain_class(value: Any) -> Any:
    if not isinstance(value, (str, int, float, bool)):
        raise DomainError("classes must be texts, numbers or truth values")
    return value
