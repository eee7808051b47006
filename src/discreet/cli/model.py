"""From the options of ``discreet fit`` to an estimator."""

from __future__ import annotations

import inspect
from types import SimpleNamespace as namespace
from typing import Any

from discreet.cli.public_files import read_moment, read_public
from discreet.cli.solver_options import parse_breaks, parse_loss, parse_sparsity

FAMILIES = ("gaussian", "logistic", "bernoulli", "poisson", "gamma", "negative_binomial", "tweedie")
MODELS = ("linear", "ridge", "sparse", "relu", "single_index", "survival")
# Options that are always given, at these values unless the user says otherwise.
_USUAL = {"solver": "auto", "calibration": "tight"}


def make_estimator(
    model: str | None,
    family: str | None,
    link: str | None,
    *,
    domain: str,
    public: str | None,
    target: str | None,
    exposure: str | None = None,
    formula: str | None = None,
    options: dict[str, Any] | None = None,
    **parameters: Any,
) -> Any:
    """An unfitted estimator with its domain and public data read from their files.

    ``options`` are those of ``solver_options``; None where the user gave none.
    """
    from discreet.domain import Domain

    declared = Domain.from_toml(domain)
    features: list[str] | None = None
    if formula is not None:
        from discreet.estimators.formula import formula_columns

        parameters["formula"] = formula
        wanted = namespace(formula=formula, domain=declared, bounds_X=None, data_norm=None)
        target, features = formula_columns(wanted, [], target, None, exposure)
    assert target is not None
    given = dict(options or {})
    moment, rows = given.pop("public_moment", None), given.pop("public_n", None)
    if moment is not None and public is not None:
        raise ValueError("give --public, rows, or --public-moment, not both")
    if moment is not None:
        others: set[str | None] = {target, exposure}
        if features is not None:
            others |= {column.name for column in declared.columns if column.name not in features}
        parameters["public"] = read_moment(moment, rows, declared, others)
    elif public is not None:
        parameters["public"] = read_public(public, declared, target, exposure, features)
    kind, fixed = _kind(model, family, link, given.get("loss") is not None)
    return kind(**fixed, domain=declared, **_fitting(kind, parameters | _parsed(given), model or family))


def _kind(model: str | None, family: str | None, link: str | None, loss: bool) -> tuple[Any, dict[str, Any]]:
    """The estimator's class, and what makes it this model."""
    from discreet import estimators

    if model in ("linear", "ridge") or (model is None and family is None and not loss):
        return (estimators.Ridge if model == "ridge" else estimators.LinearRegression), {}
    if model == "relu":
        return estimators.ReLURegressor, {}
    if model == "survival":
        return estimators.PiecewiseExponentialRegressor, {}
    if model == "single_index":
        return estimators.SingleIndexRegressor, {} if link is None else {"link": link}
    if family == "logistic" or (family == "bernoulli" and link in (None, "logit")):
        if link not in (None, "logit"):
            raise ValueError(f"--family logistic has the logit link; for {link} take --family bernoulli")
        return (estimators.SparseLogisticRegression if model == "sparse" else estimators.LogisticRegression), {}
    chosen = {} if family is None else {"family": family}
    chosen |= {} if link is None else {"link": link}
    if model == "sparse":
        return estimators.SparseRegressor, chosen
    named: dict[str | None, Any] = {"poisson": estimators.PoissonRegressor, "gamma": estimators.GammaRegressor}
    if family in named and link in (None, "log"):
        return named[family], {}
    return estimators.GeneralizedLinearRegressor, chosen


def _parsed(given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, as parameters."""
    found = {name: value for name, value in given.items() if value is not None and name != "no_intercept"}
    if given.get("no_intercept"):
        found["fit_intercept"] = False
    if "loss" in found:
        found["loss"] = parse_loss(found["loss"])
    if "sparsity" in found:
        found["sparsity"] = parse_sparsity(found["sparsity"])
    if "breaks" in found:
        found["breaks"] = parse_breaks(found["breaks"])
    return found


def _fitting(kind: Any, parameters: dict[str, Any], said: str | None) -> dict[str, Any]:
    """The parameters; one that this model lacks is refused unless it was left at its default."""
    known = inspect.signature(kind).parameters
    for name, value in parameters.items():
        if name not in known and value is not None and value != _USUAL.get(name):
            spelt = "no-intercept" if name == "fit_intercept" else name.replace("_", "-")
            raise ValueError(
                f"--{spelt} is no option of --{'model' if said in MODELS else 'family'} {said or 'linear'}"
            )
    if "sparsity" in known and "sparsity" not in parameters:
        raise ValueError("--model sparse needs --sparsity, the number of columns to keep, or auto")
    if "breaks" in known and "breaks" not in parameters:
        raise ValueError("--model survival needs --breaks, the ends of the intervals of time, such as 6,12,24")
    return {name: value for name, value in parameters.items() if name in known and value is not None}
