"""All models of discreet for an audit: discovered, not listed, so that none is forgotten.

A variant is an estimator with one of its solvers, one calibration, with public rows or without, and
one neighbour relation. A combination that an estimator refuses is not a variant; the reason is
kept, so that tests can check that it was a rule and not a fault.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

import discreet
from discreet.audit import functions
from discreet.audit.rows import Box
from discreet.domain import Public
from discreet.errors import DiscreetError
from discreet.glm import Loss, huber, smoothed_quantile

RELATIONS = ("replace_one", "add_or_remove_one")
# Values of parameters in an audit, where an estimator has them; others keep their defaults.
_PUBLIC: dict[str, Any] = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "classes": (0, 1), "sparsity": 2}
_PUBLIC["breaks"] = (2.0, 6.0)
# Labels of each family, by the part of a class's name that names the family.
_LABELS = {"Poisson": (0, 10), "Gamma": (0.5, 5.0)}
# Names of the defaults.
_USUAL = {"auto", "gd", "full_batch"}
# The same estimator can be several models: each is audited with its usual solver.
_MODELS: dict[str, Sequence[dict[str, Any]]] = {
    "GeneralizedLinearRegressor": (
        {"family": "gaussian", "link": "log", "bounds_y": (0, 2)},
        {"family": "bernoulli", "bounds_y": (0, 1)},
        {"family": "bernoulli", "link": "probit", "bounds_y": (0, 1)},
        {"family": "negative_binomial", "bounds_y": (0, 10)},
        {"family": "tweedie", "bounds_y": (0, 10)},
        {"loss": huber(0.5)},
        {"loss": smoothed_quantile(0.9, 0.1), "solver": "cost_gd"},
    ),
    "LogisticRegression": ({"classes": (0, 1, 2)},),
    "SparseRegressor": (
        {"family": "gamma", "bounds_y": (0.5, 5.0)},
        {"family": "negative_binomial", "bounds_y": (0, 10)},
        {"family": "bernoulli", "link": "probit", "bounds_y": (0, 1)},
        {"loss": huber(0.5)},
        {"loss": smoothed_quantile(0.9, 0.1), "calibration": "paper"},
    ),
    "SingleIndexRegressor": tuple({"link": name} for name in ("leaky_relu", "sigmoid", "softplus", "cubic")),
}
# A search may be among models of these kinds; others of its kinds have the same solvers.
_SEARCHED = ("LinearRegression", "LogisticRegression", "ReLURegressor")
# Solvers that need public rows.
_WITH_PUBLIC_ROWS = ("pmt", "glmtron")
_PUBLIC_ROWS = 60
# Texts of refusals by rule: any other error is a fault, and must not remove a variant from the
# audit.
_RULES = re.compile(
    "public number of|which must be public|pass public=|needs? public rows|public rows with labels|disjoint parts"
    "|whose noise the paper prints|is COST's algorithm|weaker than the|take no public rows|needs more rows"
)


@dataclass(frozen=True)
class Variant:
    """One way to fit; ``settings`` are its parameters beyond the usual declarations.

    ``searched``: a search among two candidates, or among ``solvers``.
    """

    kind: type
    neighbours: str
    settings: tuple[tuple[str, Any], ...] = ()
    public: bool = False
    searched: bool = False
    solvers: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        said = [self.kind.__name__, *(_spelt(*one) for one in self.settings if one[0] != "bounds_y")]
        said += [] if self.solvers is None else [f"one of {len(self.solvers)} solvers"]
        said += ["public rows"] * self.public + [self.neighbours]
        return ("PrivateGridSearchCV of " if self.searched else "") + ", ".join(said)

    @property
    def usual(self) -> bool:
        """Whether solver and calibration are the defaults."""
        return not self.public and not {"solver", "calibration"} & {name for name, _ in self.settings}

    def make(self, epsilon: float, delta: float, features: int = 4) -> Any:
        """The estimator, unfitted."""
        made = ready(self.kind, epsilon, delta, self.neighbours).set_params(**dict(self.settings))
        if self.public:
            made.set_params(public=_public_rows(made, features))
        if self.searched:
            # Of little use as a penalty, but the two candidates differ enough for the choice to
            # matter.
            grid = {"alpha": [0.0, 1e6]} if "alpha" in made.get_params() else {"fit_intercept": [True, False]}
            return discreet.PrivateGridSearchCV(made, grid if self.solvers is None else {"solver": list(self.solvers)})
        return made

    def refusal(self, epsilon: float, delta: float, features: int = 4) -> str | None:
        """Why this combination is not offered; None if it is."""
        made = self.make(epsilon, delta, features)
        X, y = Box.of(made, features).scattered_rows(200, _has_two_labels(made), np.random.default_rng(0))
        try:
            made.fit(X, y)
        except (DiscreetError, ValueError) as error:
            if is_a_rule(error):
                return " ".join(str(error).split())
            raise
        return None


def is_a_rule(error: Exception) -> bool:
    """Whether an estimator refused a combination by a rule, rather than failed."""
    return isinstance(error, (DiscreetError, ValueError)) and _RULES.search(str(error)) is not None


def estimators() -> dict[str, type]:
    """The public classes that fit with a budget, by name, and other releases wrapped as models."""
    found = {}
    for name in discreet.__all__:
        kind = getattr(discreet, name)
        if inspect.isclass(kind) and hasattr(kind, "fit") and "epsilon" in inspect.signature(kind).parameters:
            found[name] = kind
    return found | functions.MODELS


def ready(kind: type, epsilon: float, delta: float, neighbours: str) -> Any:
    """An estimator of this kind with all required declarations."""
    asked = inspect.signature(kind).parameters
    settings = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours, **_PUBLIC}
    settings["bounds_y"] = next((bounds for name, bounds in _LABELS.items() if name in kind.__name__), (-1, 1))
    if "bounds_X" not in asked:
        settings["data_norm"] = 1.0
    return kind(**{name: value for name, value in settings.items() if name in asked})


def relations(kind: type) -> tuple[str, ...]:
    """The neighbour relations that a kind of estimator offers."""
    return RELATIONS if "neighbours" in inspect.signature(kind).parameters else RELATIONS[:1]


def solvers(kind: type, calibration: str = "tight") -> tuple[str, ...]:
    """The solvers of an estimator, from its error message about an unknown one."""
    asked = inspect.signature(kind).parameters
    if "solver" not in asked:
        return ()
    settings = {"solver": "?"} | ({"calibration": calibration} if "calibration" in asked else {})
    made = ready(kind, 1.0, 1e-6, "replace_one").set_params(**settings)
    try:
        made._check_parameters()
    except ValueError as error:
        if said := re.search(r"solver.* must be one of (.*), got '\?'", str(error)):
            return tuple(said.group(1).split(", "))
        raise
    raise TypeError(f"{kind.__name__} takes any solver")


def combinations() -> Iterator[Variant]:
    """All combinations, offered or not."""
    for name, kind in estimators().items():
        asked = inspect.signature(kind).parameters
        for neighbours in relations(kind):
            usual = Variant(kind, neighbours)
            yield usual
            for settings in _with_a_solver(kind, "calibration" in asked):
                yield replace(usual, settings=settings)
            if "public" in asked:
                for settings in ((), *_with_a_solver(kind, "calibration" in asked)):
                    yield replace(usual, settings=settings, public=True)
            for model in _MODELS.get(name, ()):
                yield replace(usual, settings=tuple(model.items()))
            yield from _searches(usual)


def _searches(usual: Variant) -> Iterator[Variant]:
    """Searches among models of this kind, with every solver that it has, and among the solvers."""
    if usual.kind.__name__ not in _SEARCHED:
        return
    yield replace(usual, searched=True)
    for settings in _with_a_solver(usual.kind, calibrated=True):
        public = dict(settings).get("solver") in _WITH_PUBLIC_ROWS
        yield replace(usual, settings=settings, searched=True, public=public)
    among = tuple(solver for solver in solvers(usual.kind) if solver not in ("auto", *_WITH_PUBLIC_ROWS))
    if usual.neighbours == "replace_one":  # some of them need it
        yield replace(usual, searched=True, solvers=among)


def _with_a_solver(kind: type, calibrated: bool) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Each solver under its own name, except the default."""
    yield from ((("solver", solver),) for solver in solvers(kind) if solver not in _USUAL)
    if not calibrated:
        return
    printed, known = ("calibration", "paper"), solvers(kind, "paper")
    if not known or _USUAL & set(known) > {"auto"}:
        yield (printed,)
    yield from ((("solver", solver), printed) for solver in known if solver not in _USUAL)


@lru_cache
def offers(epsilon: float = 1.0, delta: float = 1e-6) -> tuple[tuple[Variant, str | None], ...]:
    """Every combination, with the reason if it is refused; found by one small fit each."""
    return tuple((variant, variant.refusal(epsilon, delta)) for variant in combinations())


def variants() -> list[Variant]:
    """Every way to fit that discreet offers."""
    return [variant for variant, refused in offers() if refused is None]


def _public_rows(made: Any, features: int) -> Public:
    rng = np.random.default_rng(1)
    X, y = Box.of(made, features).scattered_rows(_PUBLIC_ROWS, _has_two_labels(made), rng)
    asked = inspect.signature(type(made)).parameters
    return Public(rows=X, y=y) if {"bounds_y", "classes"} & set(asked) else Public(rows=X)


def _has_two_labels(made: Any) -> bool:
    from discreet.audit.search import has_two_labels

    return has_two_labels(made)


def _spelt(name: str, value: Any) -> str:
    if name == "calibration":
        return "as printed"
    if isinstance(value, Loss):
        return value.name
    return f"{len(value)} classes" if name == "classes" else str(value)
