"""The public sample of ``discreet plan``: rows of a file, encoded as a fit would do it."""

from __future__ import annotations

from typing import Any


def read_sample(path: str, target: str, domain: str | None, family: str) -> dict[str, Any]:
    """The arguments ``sample``, ``bounds_X`` and ``bounds_y`` of ``plan``.

    With a domain, its columns and bounds count, and categories become indicators. Without one all
    columns must be numbers.
    """
    import numpy as np
    import pyarrow.csv
    import pyarrow.parquet

    from discreet.domain import Domain, Encoder, Numeric
    from discreet.errors import DomainError
    from discreet.planning.kinds import kind_of

    try:
        table = pyarrow.csv.read_csv(path) if path.endswith(".csv") else pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise DomainError(f"cannot read the sample {path}: {type(error).__name__}") from None
    if target not in table.column_names:
        raise DomainError(f"the sample {path} has no column {target}")
    y = _labels(table[target].to_numpy(zero_copy_only=False), family)
    if domain is None:
        # pandas writes the index of chosen rows as a column.
        names = [name for name in table.column_names if name != target and not name.startswith("__index_level_")]
        try:
            X = np.column_stack([table[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in names])
        except ValueError:
            raise DomainError(f"{path} has columns that are no numbers: declare them in a --domain") from None
        return {"sample": (X, y)}
    declared = Domain.from_toml(domain)
    features = Domain(tuple(column for column in declared.columns if column.name != target), missing=declared.missing)
    if absent := [column.name for column in features.columns if column.name not in table.column_names]:
        raise DomainError(f"the sample {path} has no column {', '.join(absent)}, which {domain} declares")
    limits = [
        (column.low, column.high) if isinstance(column, Numeric) else (0.0, 1.0)
        for column in features.columns
        for _ in column.names
    ]
    label = next((column for column in declared.columns if column.name == target), None)
    return {
        "sample": (Encoder(features).design(table), y),
        "bounds_X": tuple(np.array(limits).T),
        "bounds_y": (label.low, label.high) if isinstance(label, Numeric) and not kind_of(family).two_classes else None,
    }


def _labels(y: Any, family: str) -> Any:
    """Numbers; of two classes, the second one in their order is 1."""
    import numpy as np

    from discreet.planning.kinds import kind_of

    if not kind_of(family).two_classes:
        return y
    whole = np.array([label == label and label is not None for label in y])
    classes = np.unique(y[whole])
    if len(classes) != 2:
        from discreet.errors import DomainError

        raise DomainError(f"labels of a logistic model must have two values in the sample, got {len(classes)}")
    return np.where(whole, y == classes[1], np.nan).astype(np.float64)
