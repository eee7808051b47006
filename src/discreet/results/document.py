"""Conversion of results to the fields of a model file and back (docs/model.schema.json).

Everything ordered is a list. Floats are written so that reading them gives the same bits; a number
that is not finite is null. The fields hold only releases and public declarations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DomainError
from discreet.fields import matrix, number, table, text, whole
from discreet.privacy import GDP, Budget, Guarantee, Payment, Release, Split, check_neighbours, unit_from_dict
from discreet.results.results import Results
from discreet.rows import RowsUsed

Floats = NDArray[np.float64]


def results_document(results: Results) -> dict[str, Any]:
    """All of the results."""
    used, paid = results.used, results.payment
    return {
        "model": results.model,
        "trust": results.trust,
        "target": results.target,
        "family": results.family,
        "link": results.link,
        # One entry per coefficient, in the order of the covariances: coef predicts, estimate is
        # what intervals are for.
        "coefficients": [
            {"name": name, "coef": float(coef), "estimate": float(estimate)}
            for name, coef, estimate in zip(results.names, results.shrunk, results.estimates, strict=True)
        ],
        "covariance": _rows(results.covariance),
        "noise_covariance": _rows(results.noise_covariance),
        "no_errors": results.no_errors,
        "scale": _finite(results.scale),
        "scale_noise_std": _finite(results.scale_noise_std),
        "nobs": _finite(results.nobs),
        "rows": results.rows,
        "used": None if used is None else {"count": used.count, "noise_std": used.noise_std, "of": used.of},
        "signal": results.signal,
        "facts": [list(fact) for fact in results.facts],
        "notes": list(results.notes),
        "not_covered": list(results.not_covered),
        "delta": results.delta,
        "guarantee": _guarantee_document(results.privacy, results.delta),
        "payment": None if paid is None else _payment_document(paid),
    }


def read_results(content: Any) -> Results:
    """The results that ``results_document`` wrote; a DomainError names the field that is wrong."""
    fields = Fields(content, "results")
    coefficients = [Fields(one, "a coefficient") for one in fields.entries("coefficients")]
    names = tuple(one.text("name") for one in coefficients)
    if not names or len(set(names)) < len(names):
        raise DomainError("coefficients must have names, each one once")
    used, paid = fields.value("used"), fields.value("payment")
    return Results(
        target=fields.text("target"),
        names=names,
        shrunk=np.array([one.number("coef") for one in coefficients]),
        estimates=np.array([one.number("estimate") for one in coefficients]),
        covariance=fields.square("covariance", len(names)),
        noise_covariance=fields.square("noise_covariance", len(names)),
        privacy=_read_guarantee(Fields(fields.value("guarantee"), "guarantee")),
        scale=fields.number_or_nan("scale"),
        scale_noise_std=fields.number_or_nan("scale_noise_std"),
        nobs=fields.number_or_nan("nobs"),
        used=None if used is None else _read_used(Fields(used, "used")),
        rows=fields.count_or_none("rows"),
        signal=fields.choice("signal", (None, "clear", "faint", "drowned")),
        family=fields.text("family"),
        link=fields.text("link"),
        model=fields.text("model"),
        delta=fields.between("delta", 0.0, 1.0),
        trust=fields.choice("trust", ("central", "local", "parties")),
        facts=tuple(_pair(fact) for fact in fields.entries("facts")),
        notes=fields.texts("notes"),
        not_covered=fields.texts("not_covered"),
        no_errors=fields.text("no_errors"),
        payment=None if paid is None else _read_payment(Fields(paid, "payment")),
    )


def _guarantee_document(guarantee: Guarantee, delta: float) -> dict[str, Any]:
    return {
        # For readers; these fields follow from the releases.
        "epsilon": _finite(guarantee.epsilon(delta)),
        "mu": _finite(guarantee.mu),
        "in_words": guarantee.in_words,
        "neighbours": guarantee.neighbours,
        "rows_per_person": int(guarantee.rows_per_person),
        "grouped": bool(guarantee.grouped),
        "seeded": bool(guarantee.seeded),
        "splits": [
            {
                "number": split.number,
                "parts": split.parts,
                "cost": split.cost.to_dict(),
                "each": split.each.to_dict(),
                "shuffled": split.shuffled,
            }
            for split in guarantee.splits
        ],
        "releases": [
            {
                "label": release.label,
                "sensitivity": _finite(release.sensitivity),
                "noise_std": _finite(release.noise_std),
                "cost": release.cost.to_dict(),
                "split": None if release.split is None else release.split.number,
                "part": int(release.part),
            }
            for release in guarantee.releases
        ],
    }


def _read_guarantee(fields: Fields) -> Guarantee:
    splits = {}
    for one in (Fields(entry, "a split") for entry in fields.entries("splits")):
        number_ = one.count("number")
        splits[number_] = Split(
            number_, one.count("parts"), _unit(one.value("cost")), _unit(one.value("each")), one.flag("shuffled")
        )
    releases = []
    for one in (Fields(entry, "a release") for entry in fields.entries("releases")):
        split = one.count_or_none("split")
        if split is not None and split not in splits:
            raise DomainError(f"a release names split {split}, which is not there")
        releases.append(
            Release(
                one.text("label"),
                one.number_or_nan("sensitivity"),
                one.number_or_nan("noise_std"),
                _unit(one.value("cost")),
                None if split is None else splits[split],
                one.count("part"),
            )
        )
    if not releases:
        raise DomainError("a guarantee must have a release at least")
    try:
        neighbours = check_neighbours(fields.text("neighbours"))
    except ValueError as error:
        raise DomainError(str(error)) from None
    per_person = fields.count("rows_per_person")
    return Guarantee(tuple(releases), neighbours, per_person, fields.flag("grouped"), fields.flag("seeded"))


def _unit(content: Any) -> Any:
    """The cost in these fields; anything else is refused."""
    fields = table(content, "a cost")
    try:
        if not all(isinstance(value, str) and len(value) < 100 for value in fields.values()):
            raise ValueError
        unit = unit_from_dict(dict(fields))
        # An epsilon that is not finite could not be shown; that of Gaussian noise is finite for
        # every sensible mu.
        gaussian = isinstance(unit, GDP) and unit.mu < 1e9
        if not (gaussian or math.isfinite(unit.epsilon(0.5))):
            raise ValueError
    except (KeyError, ValueError, TypeError, OverflowError, ZeroDivisionError, ArithmeticError):
        raise DomainError(f"a release's cost is not one that discreet writes: {str(dict(fields))[:80]}") from None
    return unit


def _payment_document(paid: Payment) -> dict[str, Any]:
    amounts = {"total": paid.total, "before": paid.before, "after": paid.after}
    return {
        "ledger": paid.ledger,
        "file": paid.file,
        "key": paid.key,
        "time": paid.time,
        **{name: {"epsilon": one.epsilon, "delta": one.delta, "mu": one.mu} for name, one in amounts.items()},
    }


def _read_payment(fields: Fields) -> Payment:
    amounts = []
    for name in ("total", "before", "after"):
        one = Fields(fields.value(name), name)
        amounts.append(Budget(one.number("epsilon"), one.number("delta"), one.number("mu")))
    return Payment(fields.text("ledger"), fields.text("file"), fields.text("key"), fields.text("time"), *amounts)


def _read_used(fields: Fields) -> RowsUsed:
    return RowsUsed(fields.number("count"), fields.number("noise_std"), fields.count_or_none("of"))


def _pair(content: Any) -> tuple[str, str]:
    if not (isinstance(content, list) and len(content) == 2):
        raise DomainError("facts must be a list of pairs of texts")
    return text(content[0], "a fact"), text(content[1], "a fact")


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _rows(values: Floats | None) -> list[list[float]] | None:
    return None if values is None else values.tolist()


class Fields:
    """An object of a document. Its fields are checked by type; errors name the field and its
    object.
    """

    def __init__(self, content: Any, what: str) -> None:
        self._content: Mapping[str, Any] = table(content, what)
        self._what = what

    def value(self, name: str) -> Any:
        if name not in self._content:
            raise DomainError(f"{self._what} lacks {name!r}")
        return self._content[name]

    def text(self, name: str) -> str:
        return text(self.value(name), f"{name} of {self._what}")

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(text(one, f"an entry of {name}") for one in self.entries(name))

    def number(self, name: str) -> float:
        return number(self.value(name), f"{name} of {self._what}")

    def number_or_nan(self, name: str) -> float:
        return math.nan if self.value(name) is None else self.number(name)

    def between(self, name: str, low: float, high: float) -> float:
        value = self.number(name)
        if not low <= value < high:
            raise DomainError(f"{name} of {self._what} must be at least {low:g} and below {high:g}, got {value:g}")
        return value

    def count(self, name: str) -> int:
        value = whole(self.value(name), f"{name} of {self._what}")
        if value < 0:
            raise DomainError(f"{name} of {self._what} must be >= 0, got {value}")
        return value

    def count_or_none(self, name: str) -> int | None:
        return None if self.value(name) is None else self.count(name)

    def flag(self, name: str) -> bool:
        value = self.value(name)
        if not isinstance(value, bool):
            raise DomainError(f"{name} of {self._what} must be true or false")
        return value

    def entries(self, name: str) -> list[Any]:
        value = self.value(name)
        if not isinstance(value, list):
            raise DomainError(f"{name} of {self._what} must be a list")
        return value

    def choice(self, name: str, known: tuple[Any, ...]) -> Any:
        value = self.value(name)
        if not any(value is one or (isinstance(value, str) and value == one) for one in known):
            shown = ", ".join("null" if one is None else one for one in known)
            raise DomainError(f"{name} of {self._what} must be one of {shown}")
        return value

    def square(self, name: str, size: int) -> Floats | None:
        """A covariance: a square matrix whose variances are not negative."""
        if self.value(name) is None:
            return None
        made = matrix(self.value(name), name)
        if made.shape != (size, size) or (np.diag(made) < 0).any():
            raise DomainError(f"{name} must have {size} rows and columns, and no variance below 0")
        return made
