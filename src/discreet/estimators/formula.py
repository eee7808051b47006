"""An estimator's formula and the rows: which columns it reads, and which one is the label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.domain import Design, Domain, Encoder, FormulaEncoder, Numeric, frame_of, lacking, parse_formula
from discreet.errors import DomainError
from discreet.estimators.tables import column_names, feature_domain, is_frame, names_are_written, read_table


def formula_domain(estimator: Any, names: Sequence[str]) -> Domain:
    """The declarations of columns that a formula may name: the domain, or bounds
    of these columns.
    """
    if estimator.domain is not None or not isinstance(estimator.bounds_X, Mapping):
        known = names if estimator.domain is None else [column.name for column in estimator.domain.columns]
        return feature_domain(estimator, list(known))
    return Domain.from_bounds([str(name) for name in estimator.bounds_X], estimator.bounds_X, estimator.data_norm)


def parsed(estimator: Any, names: Sequence[str]) -> tuple[Design, Domain]:
    """The estimator's formula for a table with these columns, and the declared domain that it uses.

    ``names`` are the columns to which bounds for all columns apply; the target is not among them.
    """
    domain = formula_domain(estimator, names)
    return parse_formula(estimator.formula, domain, listed=names_are_written(estimator)), domain


def formula_rows(estimator: Any, X: Any, y: Any) -> tuple[Any, Any, str | None]:
    """The columns of X that the formula reads, the labels, and the name of their
    column if the formula has one.

    Unless labels are given, they are the column of X on the formula's left side. An
    array keeps its columns.
    """
    table = read_table(X)
    framed = is_frame(X)
    target = formula_target(estimator.formula)
    design, domain = parsed(estimator, [name for name in column_names(table) if name != target])
    if y is None:
        y = _labels(estimator, table if framed else None, design.target)
    return (select_columns(X, used_columns(design, domain)) if framed else X), y, design.target


def formula_columns(
    estimator: Any,
    present: Sequence[str],
    target: str | None,
    features: Sequence[str] | None,
    *others: str | None,
) -> tuple[str, list[str]]:
    """The target and the columns that the formula reads; ``others`` are the ids, the
    exposure and the weight.
    """
    if features is not None:
        raise ValueError("a formula says which columns are read: leave features out")
    left = formula_target(estimator.formula)
    if target is not None and left is not None and target != left:
        raise ValueError(f"target {target!r} is not the formula's target, {left!r}")
    label = target if left is None else left
    if label is None:
        raise ValueError(f"the formula {estimator.formula!r} names no target: write 'y ~ ...', or pass target=")
    design, domain = parsed(estimator, [name for name in present if name not in (label, *others)])
    if label in design.columns:
        raise DomainError(f"the target {label!r} is on the right side of the formula {estimator.formula!r}")
    return label, used_columns(design, domain)


def _labels(estimator: Any, frame: Any, target: str | None) -> Any:
    if target is None:
        raise DomainError(f"the formula {estimator.formula!r} names no target: write 'y ~ ...', or pass y")
    if frame is None or target not in frame.columns:
        where = "an array has no column names" if frame is None else "the table has no such column"
        raise DomainError(f"the formula's target {target!r} was not found ({where}): pass y")
    return frame[target].to_native()


def formula_target(text: str) -> str | None:
    """The left side of a formula, from its text alone."""
    from discreet.domain.formula.parse import target_of

    return target_of(text)


def used_columns(design: Design, domain: Domain) -> list[str]:
    """The columns that a formula reads, in the order of the domain."""
    return [column.name for column in domain.columns if column.name in design.columns]


def select_columns(X: Any, names: Sequence[str]) -> Any:
    """These columns of a frame."""
    frame = frame_of(X)
    for name in names:
        if name not in frame.columns:
            raise DomainError(
                f"the formula reads column {name!r}, which is missing; {lacking(name, frame.columns, names)}"
            )
    return frame.select(list(names)).to_native()


def formula_encoder(
    estimator: Any,
    names: Sequence[str],
    target: Numeric | None,
    exposure: Numeric | None,
    weight: Numeric | None = None,
) -> FormulaEncoder:
    """The encoding of a table with exactly these columns."""
    domain = formula_domain(estimator, names).select(list(names))
    encoder = FormulaEncoder(domain, target, exposure, weight, parse_formula(estimator.formula, domain))
    if encoder.design_plan.offset is not None:
        if exposure is not None:
            raise DomainError("a formula with offset(...) takes no exposure: combine both into one offset")
        estimator._check_offset()
    return encoder


def reduced(encoder: Encoder, X: Any) -> Any:
    """The columns of new rows that a fitted formula reads."""
    if not isinstance(encoder, FormulaEncoder) or isinstance(X, np.ndarray) or not is_frame(X):
        return X
    return select_columns(X, [column.name for column in encoder.domain.columns])
