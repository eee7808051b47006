"""The public plan that all parties sign off before anybody spends anything."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain import Categorical, Domain, Encoder, Numeric, declared_column
from discreet.errors import DomainError
from discreet.privacy import GDP, Budget, classical_noise_std

Floats = NDArray[np.float64]

FORMAT = 1
_GUARANTEES = ("per_party", "joint")
_METHODS = ("rmgm", "dgm")
_CALIBRATIONS = ("tight", "paper")
_SETTINGS = {
    *("format", "name", "key", "people", "guarantee", "epsilon", "delta", "method", "calibration"),
    *("mixes", "seed", "label", "missing", "parties"),
}
_LEAST_MIXES, _MOST_MIXES = 12, 4096
_TIGHT_RADIUS = 1.15


@dataclass(frozen=True)
class Party:
    """One organisation: its columns, with declared ranges, and what its release may cost."""

    name: str
    domain: Domain
    budget: Budget

    @cached_property
    def encoder(self) -> Encoder:
        return Encoder(self.domain)


@dataclass(frozen=True)
class Plan:
    """Who releases which columns of the same people, at what price, mixed with which signs.

    people: how many rows every party must have at least; it decides the number of mixes.
    guarantee: whether epsilon and delta are promised for each party's release alone or for one person across all.
    method: "rmgm" mixes all people into a few rows; "dgm" releases a row for each, with far more noise in all of them.
    mixes: how many rows a release has: mixes, or slots for single people.
    label: the column that is most likely to be a label; any other can be one too, with a little more noise.
    """

    name: str
    key: str
    people: int
    guarantee: str
    epsilon: float
    delta: float
    method: str
    calibration: str
    mixes: int
    seed: str
    label: str | None
    parties: tuple[Party, ...]

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Plan:
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise DomainError(f"cannot read the plan {path}: {error}") from error
        return cls.from_dict(content, source=str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], *, source: str = "plan") -> Plan:
        """A plan from its settings; every error names the setting and its rule."""
        settings = _Settings(content, source)
        settings.check_names(content, _SETTINGS)
        settings.check(content.get("format") == FORMAT, "format", f"must be {FORMAT}")
        epsilon, delta = settings.number("epsilon"), settings.number("delta")
        guarantee = settings.choice("guarantee", _GUARANTEES, "per_party")
        parties = settings.parties(Budget.of(epsilon, delta), guarantee)
        people = settings.whole("people")
        method = settings.choice("method", _METHODS, "rmgm")
        mixes = people if method == "dgm" else good_number_of_mixes(people, parties)
        return cls(
            name=settings.text("name"),
            key=settings.text("key"),
            people=people,
            guarantee=guarantee,
            epsilon=epsilon,
            delta=delta,
            method=method,
            calibration=settings.choice("calibration", _CALIBRATIONS, "tight"),
            mixes=mixes if content.get("mixes", "auto") == "auto" else settings.whole("mixes"),
            seed=settings.text("seed"),
            label=settings.text("label") if "label" in content else None,
            parties=parties,
        ).checked(source)

    def checked(self, source: str) -> Plan:
        columns = [column.name for party in self.parties for column in party.domain.columns]
        problems = [
            (len(self.parties) < 2, "a plan needs at least two parties"),
            (len(set(columns)) < len(columns), "every column must belong to exactly one party"),
            (self.key in columns, f"the key {self.key!r} must not be a released column"),
            (self.label is not None and self.label not in columns, f"label {self.label!r} is no party's column"),
            (
                self.calibration == "paper" and self.method == "dgm" and self.mixes != self.people,
                "method 'dgm' as printed has one row for each person: leave mixes at 'auto'",
            ),
            (
                self.calibration == "paper" and self.guarantee == "joint",
                "calibration 'paper' prints noise for each party: guarantee must be 'per_party'",
            ),
        ]
        for wrong, message in problems:
            if wrong:
                raise DomainError(f"{source}: {message}")
        return self

    def party(self, name: str) -> Party:
        for party in self.parties:
            if party.name == name:
                return party
        raise DomainError(f"plan {self.name!r} has no party {name!r}; it has {', '.join(p.name for p in self.parties)}")

    @property
    def joint_mu(self) -> float:
        """What all releases together cost a person who stands in every one of them."""
        return math.sqrt(math.fsum(party.budget.mu**2 for party in self.parties))

    def printed_cost(self, party: Party) -> GDP:
        """What the paper's noise, 2 sqrt(d_max) sigma, really costs at this party, from its own columns.

        RMGM: a person is replaced, key included, which may turn all signs: twice the norm of cells in [0, 1]. DGM: a
        person's values are replaced, within the box.
        """
        widest = max(other.encoder.radius for other in self.parties)
        radius = party.encoder.radius if self.method == "rmgm" else self.row_radius(party)
        return GDP(radius / (widest * classical_noise_std(party.budget.epsilon, party.budget.delta)))

    def row_radius(self, party: Party) -> float:
        """How far a row of cells in [0, 1] lies from their middles at most; see printed_release.middles."""
        indicators = [len(column.names) for column in party.domain.columns]
        return math.sqrt(math.fsum(1 - 1 / m if m > 1 else 0.25 for m in indicators))

    def blur(self, party: Party, people: int) -> float:
        """About the standard error of a correlation between columns of two parties like this one, of so many people.

        sqrt(k) (n/k + s^2) / n: error of the mixing or of people in one slot, and noise; see docs/papers/mpr.md.
        """
        noise = _standard_noise(party, _TIGHT_RADIUS) ** 2
        return math.sqrt(self.mixes) * (people / self.mixes + noise) / people

    def to_dict(self) -> dict[str, Any]:
        """Every setting, spelled out: what the hash is taken of and what travels in a release."""
        plain = ("name", "key", "people", "guarantee", "epsilon", "delta", "method", "calibration", "mixes", "seed")
        settings = {"format": FORMAT, **{name: getattr(self, name) for name in plain}}
        if self.label is not None:
            settings["label"] = self.label
        settings["missing"] = self.parties[0].domain.missing
        settings["parties"] = {party.name: self._party_dict(party) for party in self.parties}
        return settings

    def _party_dict(self, party: Party) -> dict[str, Any]:
        columns = {column.name: _column_dict(column) for column in party.domain.columns}
        own = {"epsilon": party.budget.epsilon, "delta": party.budget.delta} if self.guarantee == "per_party" else {}
        return {**own, "columns": columns}

    @property
    def hash(self) -> str:
        """SHA-256 of the settings; two parties with the same hash mean the same plan, however they wrote it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()


def good_number_of_mixes(people: int, parties: tuple[Party, ...]) -> int:
    """The k that balances mixing error and noise: a cross moment's variance is k (n/k + s_i^2)(n/k + s_j^2).

    n^2/k + k s_i^2 s_j^2 is least at k = n / (s_i s_j), with s the noise of a standardised column; see docs.
    """
    logs = []
    for party in parties:
        tight = _standard_noise(party, _TIGHT_RADIUS)
        # At the best k the blur is 2 s / sqrt(n), which decides the radius, which decides s.
        logs.append(math.log(_standard_noise(party, radius_factor(2 * tight / math.sqrt(people)))))
    best = people / math.exp(2 * math.fsum(logs) / len(logs))
    return round(min(max(best, _LEAST_MIXES), _MOST_MIXES))


def radius_factor(blur: float) -> float:
    """Where rows are shortened, in typical norms: tightly while noise rules, hardly at all once it has vanished.

    What shortening takes from a column is released and put back on average; the rest must stay below the noise.
    """
    return min(max(0.45 / math.sqrt(blur), _TIGHT_RADIUS), 4.0)


def _standard_noise(party: Party, radius: float) -> float:
    """About the noise of one standardised column, in a release of one mix."""
    return 2 * radius * math.sqrt(party.encoder.width) / (0.9 * party.budget.mu)


@dataclass(frozen=True)
class _Settings:
    """Reads settings one by one, and says which one is wrong."""

    content: Mapping[str, Any]
    source: str

    def check(self, right: bool, name: str, rule: str) -> None:
        if not right:
            raise DomainError(f"{self.source}: {name} {rule}, got {self.content.get(name)!r}")

    def check_names(self, table: Mapping[str, Any], known: set[str]) -> None:
        if unknown := sorted(set(table) - known):
            raise DomainError(f"{self.source}: unknown settings {unknown}; known: {', '.join(sorted(known))}")

    def text(self, name: str) -> str:
        value = self.content.get(name)
        self.check(isinstance(value, str) and value != "", name, "must be a text that is not empty")
        return str(value)

    def number(self, name: str) -> float:
        value = self.content.get(name)
        self.check(isinstance(value, (int, float)) and not isinstance(value, bool), name, "must be a number")
        return float(value)  # type: ignore[arg-type]

    def whole(self, name: str) -> int:
        value = self.content.get(name)
        right = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        self.check(right, name, "must be a whole number >= 1")
        return int(value)  # type: ignore[arg-type]

    def choice(self, name: str, known: tuple[str, ...], default: str) -> str:
        self.check(self.content.get(name, default) in known, name, f"must be one of {', '.join(known)}")
        return str(self.content.get(name, default))

    def parties(self, common: Budget, guarantee: str) -> tuple[Party, ...]:
        tables = self.content.get("parties")
        self.check(isinstance(tables, Mapping) and bool(tables), "parties", "must be tables [parties.NAME]")
        assert isinstance(tables, Mapping)
        if guarantee == "joint":
            # mu^2 adds up over the parties, and each gets an equal part; a few roundings below the exact root.
            common = Budget.from_mu(common.mu / math.sqrt(len(tables)) * (1 - 1e-14), common.delta)
        return tuple(self._party(name, table, common, guarantee) for name, table in tables.items())

    def _party(self, name: str, table: Any, common: Budget, guarantee: str) -> Party:
        inner = _Settings(table if isinstance(table, Mapping) else {}, f"{self.source}, party {name!r}")
        inner.check_names(inner.content, {"columns"} if guarantee == "joint" else {"epsilon", "delta", "columns"})
        budget = common
        if {"epsilon", "delta"} & set(inner.content):
            own = {"epsilon": common.epsilon, "delta": common.delta, **inner.content}
            amounts = _Settings(own, inner.source)
            budget = Budget.of(amounts.number("epsilon"), amounts.number("delta"))
        columns = inner.content.get("columns")
        inner.check(
            isinstance(columns, Mapping) and bool(columns), "columns", "must be tables [parties.NAME.columns.X]"
        )
        assert isinstance(columns, Mapping)
        declared = tuple(declared_column(column, entry) for column, entry in columns.items())
        return Party(str(name), Domain(declared, missing=self.content.get("missing", "drop")), budget)


def _column_dict(column: Numeric | Categorical) -> dict[str, Any]:
    if isinstance(column, Numeric):
        return {"low": column.low, "high": column.high}
    return {"values": list(column.values)}
