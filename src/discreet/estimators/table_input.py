"""The input of ``fit_table``: a table and column names, checked against the declared domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from discreet.domain import Categorical, Date, Encoder, Kind, Numeric, lacking, numbers
from discreet.engines import Layout
from discreet.errors import DomainError
from discreet.estimators.tables import check_written
from discreet.rows import Coded, Columns


def table_features(
    estimator: Any,
    present: Sequence[str],
    target: str,
    features: Sequence[str] | None,
    groups: str | None = None,
    *more: str | None,
) -> list[str]:
    """The feature columns: those asked for, or all declared (without a
    domain: all) except the others.

    more: the exposure and the weight.
    """
    domain, others = estimator.domain, {target, groups, *more}
    if features is not None:
        names = list(features)
    elif domain is not None:
        names = [column.name for column in domain.columns if column.name not in others]
    else:
        for name in others - {None, *present}:
            raise DomainError(f"the table has no column {name!r}; {lacking(str(name), present)}")
        names = [name for name in present if name not in others]
        check_written(names, domain, estimator.bounds_X)
    if not names:
        raise DomainError(f"there is no column besides the target {target!r}")
    if others & set(names) or len(set(names)) != len(names):
        raise DomainError("features must be different columns without the target, the ids, the exposure and the weight")
    return names


def table_layout(
    encoder: Encoder,
    labels: Callable[[Any], Any],
    *,
    groups: str | None = None,
    rows_per_person: int = 1,
    text_labels: bool = False,
    check_labels: Callable[[Kind, object], None] | None = None,
    unwritten: Sequence[str] = (),
) -> Layout:
    """How the columns of a table become blocks; ``labels`` converts labels,
    perhaps texts, to numbers.
    """
    columns = [column.name for column in encoder.domain.columns]
    declared = list(encoder.domain.columns)
    texts = [column.name for column in encoder.domain.columns if _is_text(column)]
    for beside in (encoder.exposure, encoder.weight):
        if beside is not None:
            columns.append(beside.name)
            declared.append(beside)
    target = None if encoder.target is None else encoder.target.name
    if text_labels and target is not None:
        texts.append(target)
    return Layout(
        partial(encode_columns, encoder, labels),
        tuple(columns),
        target,
        groups,
        rows_per_person,
        texts=frozenset(texts),
        declared=tuple(declared),
        check_labels=check_labels,
        unwritten=frozenset(unwritten),
        width=encoder.width,
    )


def encode_columns(encoder: Encoder, labels: Callable[[Any], Any], table: Columns, y: Any) -> Any:
    """A block of columns, of which the last ones are the exposure and the weight, if any."""
    if y is not None:
        y = y.map(labels) if isinstance(y, Coded) else labels(y)
    beside = sum(one is not None for one in (encoder.exposure, encoder.weight))
    if beside == 0:
        return encoder.encode(table, y)
    more = [numbers(column) for column in table.arrays[-beside:]]
    return encoder.encode(Columns(table.arrays[:-beside], len(table)), np.column_stack([numbers(y), *more]))


def _is_text(column: Numeric | Categorical) -> bool:
    """Whether a column's declared values are texts; declared numbers and truth
    values are read as numbers.
    """
    if isinstance(column, Date):
        return True
    return isinstance(column, Categorical) and any(isinstance(value, str) for value in column.values)
