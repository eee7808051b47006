"""From the words of ``discreet fit`` to an estimator."""

from __future__ import annotations

from types import SimpleNamespace as namespace
from typing import Any

FAMILIES = ("gaussian", "logistic", "bernoulli", "poisson", "gamma", "negative_binomial", "tweedie")


def make_estimator(
    model: str,
    family: str | None,
    link: str | None,
    *,
    domain: str,
    public: str | None,
    target: str | None,
    exposure: str | None = None,
    formula: str | None = None,
    **parameters: Any,
) -> Any:
    """An unfitted estimator with its domain and public rows read from their files."""
    from discreet.domain import Domain

    declared = Domain.from_toml(domain)
    features: list[str] | None = None
    if formula is not None:
        from discreet.estimators.formula import formula_columns

        parameters["formula"] = formula
        wanted = namespace(formula=formula, domain=declared, bounds_X=None, data_norm=None)
        target, features = formula_columns(wanted, [], target, None, exposure)
    assert target is not None
    known = None if public is None else read_public(public, declared, target, exposure, features)
    parameters |= {"domain": declared, "public": known}
    if family is None:
        from discreet.estimators import LinearRegression, Ridge

        return Ridge(**parameters) if model == "ridge" else LinearRegression(**parameters)
    return _generalized(family, link, parameters)


def _generalized(family: str, link: str | None, parameters: dict[str, Any]) -> Any:
    from discreet.estimators import GammaRegressor, GeneralizedLinearRegressor, LogisticRegression, PoissonRegressor

    if family == "logistic" or (family == "bernoulli" and link in (None, "logit")):
        if link not in (None, "logit"):
            raise ValueError(f"--family logistic has the logit link; for {link} take --family bernoulli")
        return LogisticRegression(**parameters)
    named: dict[str, Any] = {"poisson": PoissonRegressor, "gamma": GammaRegressor}
    if family in named and link in (None, "log"):
        return named[family](**parameters)
    return GeneralizedLinearRegressor(family=family, link=link, **parameters)


def read_public(
    path: str, domain: Any, target: str, exposure: str | None = None, named: list[str] | None = None
) -> Any:
    """Public rows from a Parquet or CSV file: the declared columns but the target, which are labels if it is there.

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
