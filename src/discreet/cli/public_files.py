"""Public data for ``discreet fit``: rows of a file, or a second moment."""

from __future__ import annotations

from typing import Any


def read_public(
    path: str, domain: Any, target: str, exposure: str | None = None, named: list[str] | None = None
) -> Any:
    """Public rows from a Parquet or CSV file: the declared columns but the target, which are labels
    if it is there.

    named: the columns to take instead of all declared ones.
    Where the private rows have an exposure, the file's column of that name is the public rows'.
    """
    import pyarrow.csv
    import pyarrow.parquet

    from discreet.domain import Public
    from discreet.errors import DomainError

    try:
        table = pyarrow.csv.read_csv(path) if path.endswith(".csv") else pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise DomainError(f"cannot read the public file {path}: {type(error).__name__}") from None
    others = {target, exposure}
    features = [
        column.name
        for column in domain.columns
        if column.name not in others and column.name in table.column_names and (named is None or column.name in named)
    ]
    labels, times = (
        table[name].to_numpy(zero_copy_only=False) if name in table.column_names else None
        for name in (target, exposure)
    )
    return Public(rows=table.select(features), y=labels, exposure=None if labels is None else times)


def read_moment(path: str, rows: int | None, domain: Any, others: set[str | None]) -> Any:
    """A public second moment from a CSV file: a line of names, with ``const`` for (1, x), then the
    matrix.

    Names are those of coefficients, as ``age`` and ``smoker=yes``; their order in the file is free.
    """
    import csv

    import numpy as np

    from discreet.domain import Domain, Encoder, Public
    from discreet.errors import DomainError

    if rows is None:
        raise DomainError("--public-moment needs --public-n, the number of public rows behind it")
    wanted = Encoder(Domain(tuple(c for c in domain.columns if c.name not in others))).names
    try:
        with open(path, encoding="utf-8", newline="") as file:
            header, *lines = [line for line in csv.reader(file) if line]
        matrix = np.array([[float(cell) for cell in line] for line in lines])
    except OSError as error:
        raise DomainError(f"cannot read the public moment {path}: {type(error).__name__}") from None
    except ValueError:
        raise DomainError(f"{path} must be a line of column names, then a matrix of numbers") from None
    names = [name.strip() for name in header]
    order = ["const", *wanted] if "const" in names else list(wanted)
    if sorted(names) != sorted(order) or matrix.shape != (len(names), len(names)):
        raise DomainError(
            f"{path} must have the columns {', '.join(order)} and as many lines of numbers; "
            f"it has {', '.join(names)} and {len(lines)} lines"
        )
    places = [names.index(name) for name in order]
    return Public(second_moment=matrix[np.ix_(places, places)], n=rows)
