"""The public plan that all parties approve before any budget is spent."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.documents import read_toml, shown
from discreet.domain import Domain, Encoder, Numeric, check_scalable, column_fields, declared_columns, named_tables
from discreet.errors import DomainError
from discreet.parties.settings import Settings, check_printable
from discreet.parties.signing import PUBLIC_KEY_FORM, is_public_key
from discreet.privacy import GDP, Budget, classical_noise_std

Floats = NDArray[np.float64]

FORMAT = 2
# Format 1 had tables by name, [parties.NAME.columns.NAME]; they are read in the order of the file.
_READ = (1, FORMAT)
_GUARANTEES = ("per_party", "joint")
_METHODS = ("rmgm", "dgm")
_CALIBRATIONS = ("tight", "paper")
_SETTINGS = {
    *("format", "name", "key", "people", "guarantee", "epsilon", "delta", "method", "calibration"),
    *("mixes", "seed", "label", "missing", "parties"),
}
_LEAST_MIXES, _MOST_MIXES = 12, 4096
_TIGHT_RADIUS = 1.15
# More than the world's population: larger numbers are mistakes, and would overflow.
MOST_PEOPLE = 10**11


@dataclass(frozen=True)
class Party:
    """One organisation: its columns, with declared ranges, what its release may cost, and the key
    it signs with.

    Parameters
    ----------
    name : str
        The organisation.
    domain : Domain
        Its columns, with declared ranges.
    budget : Budget
        What its release may cost.
    public_key : str, optional
        The key that it signs with.

    Examples
    --------
    >>> from discreet.parties import Plan
    >>> plan = Plan.from_dict({
    ...     "format": 2, "name": "bills", "key": "patient", "people": 5000, "guarantee": "joint",
    ...     "epsilon": 3.0, "delta": 1e-6, "seed": "public words",
    ...     "parties": [
    ...         {"name": "a", "columns": [{"name": "age", "low": 18, "high": 90}]},
    ...         {"name": "b", "columns": [{"name": "bill", "low": 0, "high": 9000}]},
    ...     ],
    ... })
    >>> plan.party("a").domain.columns[0].name
    'age'
    """

    name: str
    domain: Domain
    budget: Budget
    public_key: str | None = None

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder of the party's cells."""
        return Encoder(self.domain)


@dataclass(frozen=True)
class Plan:
    """Who releases which columns of the same people, at what cost, mixed with which signs.

    Parameters
    ----------
    name : str
        What the plan is about.
    key : str
        The column that names a person; it is not released.
    people : int
        How many rows every party must have at least; it decides the number of mixes.
    guarantee : str
        Whether epsilon and delta are promised for each party's release alone or for one person
        across all.
    epsilon : float
        The privacy loss that is allowed, with ``delta``.
    delta : float
        The probability with which epsilon may be exceeded.
    method : str
        "rmgm" mixes all people into a few rows; "dgm" releases a row for each, with far more noise
        in all of them.
    calibration : {'tight', 'paper'}
        Exact noise, or what the paper prints.
    mixes : int
        How many rows a release has: mixes, or slots for single people.
    seed : str
        The public seed of the mixing signs.
    label : str
        The column that is most likely to be a label; any other can be one too, with a little more
        noise.
    parties : tuple of Party
        Who releases what.

    Examples
    --------
    >>> from discreet.parties import Plan
    >>> plan = Plan.from_dict({
    ...     "format": 2, "name": "bills", "key": "patient", "people": 5000, "guarantee": "joint",
    ...     "epsilon": 3.0, "delta": 1e-6, "seed": "public words",
    ...     "parties": [
    ...         {"name": "a", "columns": [{"name": "age", "low": 18, "high": 90}]},
    ...         {"name": "b", "columns": [{"name": "bill", "low": 0, "high": 9000}]},
    ...     ],
    ... })
    >>> len(plan.hash), [party.name for party in plan.parties]
    (64, ['a', 'b'])
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
        """The plan in a TOML file.

        Parameters
        ----------
        path : str or path
            The plan's file.

        Returns
        -------
        Plan
            The plan.
        """
        return cls.from_dict(read_toml(path, "the plan"), source=str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], *, source: str = "plan") -> Plan:
        """A plan from its settings; every error names the setting and its rule.

        Parameters
        ----------
        content : mapping
            Every setting.
        source : str
            What errors call the document.

        Returns
        -------
        Plan
            The plan.
        """
        if not isinstance(content, Mapping):
            raise DomainError(f"{source}: a plan is a table of settings, got {shown(content)}")
        settings = Settings(content, source)
        settings.check_names(_SETTINGS)
        settings.check(content.get("format") in _READ, "format", f"must be {FORMAT}")
        budget = _budget(settings)
        guarantee = settings.choice("guarantee", _GUARANTEES, "per_party")
        parties = _parties(settings, budget, guarantee)
        people = settings.whole("people", MOST_PEOPLE)
        method = settings.choice("method", _METHODS, "rmgm")
        mixes = people if method == "dgm" else good_number_of_mixes(people, parties)
        return cls(
            name=settings.text("name"),
            key=settings.text("key"),
            people=people,
            guarantee=guarantee,
            epsilon=budget.epsilon,
            delta=budget.delta,
            method=method,
            calibration=settings.choice("calibration", _CALIBRATIONS, "tight"),
            mixes=mixes if content.get("mixes", "auto") == "auto" else settings.whole("mixes", MOST_PEOPLE),
            seed=settings.text("seed"),
            label=settings.text("label") if "label" in content else None,
            parties=parties,
        ).checked(source)

    def checked(self, source: str) -> Plan:
        """The plan, if its settings are consistent; otherwise an error names the setting.

        Parameters
        ----------
        source : str
            What errors call the document.

        Returns
        -------
        Plan
            The same plan, if it is valid.
        """
        parties = [party.name for party in self.parties]
        columns = [column.name for party in self.parties for column in party.domain.columns]
        keys = [party.public_key for party in self.parties if party.public_key is not None]
        problems = [
            (len(parties) < 2, "a plan needs at least two parties"),
            (len(set(parties)) < len(parties), "every party must be in the plan once"),
            (len(set(columns)) < len(columns), "every column must belong to exactly one party"),
            (self.key in columns, f"the key {self.key!r} must not be a released column"),
            (self.label is not None and self.label not in columns, f"label {self.label!r} is no party's column"),
            (0 < len(keys) < len(parties), "every party must have a public_key, or none (then releases are unsigned)"),
            (len(set(keys)) < len(keys), "two parties must not have the same public_key"),
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
        for party in self.parties:
            check_printable(source, "a party's name", party.name)
            for column in party.domain.columns:
                for name in (column.name, *column.names):
                    check_printable(source, "a column's name and values", name)
        return self

    @property
    def signed(self) -> bool:
        """Whether the plan names the parties' public keys, so that every release must carry its
        party's signature.
        """
        return self.parties[0].public_key is not None

    def party(self, name: str) -> Party:
        """The party of this name.

        Parameters
        ----------
        name : str
            One of the plan's parties.

        Returns
        -------
        Party
            The party of this name.
        """
        for party in self.parties:
            if party.name == name:
                return party
        raise DomainError(f"plan {self.name!r} has no party {name!r}; it has {', '.join(p.name for p in self.parties)}")

    @property
    def joint_mu(self) -> float:
        """The joint cost for a person who is in every release."""
        return math.sqrt(math.fsum(party.budget.mu**2 for party in self.parties))

    def printed_cost(self, party: Party) -> GDP:
        """The actual cost of the paper's noise, 2 sqrt(d_max) sigma, for this party's own columns.

        RMGM: a person is replaced, key included, which may flip all signs: twice the norm of cells
        in [0, 1]. DGM: a person's values are replaced, within the box.

        Parameters
        ----------
        party : Party
            One of the plan's parties.

        Returns
        -------
        GDP
            What it costs.
        """
        widest = max(other.encoder.radius for other in self.parties)
        radius = party.encoder.radius if self.method == "rmgm" else self.row_radius(party)
        return GDP(radius / (widest * classical_noise_std(party.budget.epsilon, party.budget.delta)))

    def row_radius(self, party: Party) -> float:
        """The largest distance of a row of cells in [0, 1] from printed_release.middles.

        Parameters
        ----------
        party : Party
            One of the plan's parties.

        Returns
        -------
        float
            The radius.
        """
        indicators = [len(column.names) for column in party.domain.columns]
        return math.sqrt(math.fsum(1 - 1 / m if m > 1 else 0.25 for m in indicators))

    def correlation_error(self, party: Party, people: int) -> float:
        """The approximate standard error of a correlation between columns of two parties like this
        one.

        sqrt(k) (n/k + s^2) / n: error of the mixing or of people in one slot, and noise; see
        docs/papers/mpr.md.

        Parameters
        ----------
        party : Party
            One of the plan's parties.
        people : int
            How many people the parties share.

        Returns
        -------
        float
            A standard error.
        """
        noise = _standard_noise(party, _TIGHT_RADIUS) ** 2
        return math.sqrt(self.mixes) * (people / self.mixes + noise) / people

    def to_dict(self) -> dict[str, Any]:
        """Every setting, explicitly: the input of the hash, and part of a release file.

        Returns
        -------
        dict
            The settings.
        """
        plain = ("name", "key", "people", "guarantee", "epsilon", "delta", "method", "calibration", "mixes", "seed")
        settings = {"format": FORMAT, **{name: getattr(self, name) for name in plain}}
        if self.label is not None:
            settings["label"] = self.label
        settings["missing"] = self.parties[0].domain.missing
        settings["parties"] = [self._party_dict(party) for party in self.parties]
        return settings

    def _party_dict(self, party: Party) -> dict[str, Any]:
        own = {"epsilon": party.budget.epsilon, "delta": party.budget.delta} if self.guarantee == "per_party" else {}
        key = {} if party.public_key is None else {"public_key": party.public_key}
        return {"name": party.name, **key, **own, "columns": [column_fields(c) for c in party.domain.columns]}

    @property
    def hash(self) -> str:
        """SHA-256 of the settings: two plans with the same hash have the same settings.

        Parties and columns are lists in it, so another order is another plan: arrays in releases
        follow that order.
        """
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()


def good_number_of_mixes(people: int, parties: tuple[Party, ...]) -> int:
    """The k that balances mixing error and noise: a cross moment's variance is k
    (n/k + s_i^2)(n/k + s_j^2).

    n^2/k + k s_i^2 s_j^2 is least at k = n / (s_i s_j), with s the noise of a standardised column;
    see docs.
    """
    logs = []
    for party in parties:
        tight = _standard_noise(party, _TIGHT_RADIUS)
        # At the best k the error is 2 s / sqrt(n), which determines the radius, which determines s.
        logs.append(math.log(_standard_noise(party, radius_factor(2 * tight / math.sqrt(people)))))
    best = people / math.exp(2 * math.fsum(logs) / len(logs))
    return round(min(max(best, _LEAST_MIXES), _MOST_MIXES))


def radius_factor(correlation_error: float) -> float:
    """The clip norm of rows, in typical norms: small while noise dominates, large once it is small.

    What clipping takes from a column is released and corrected on average; the remaining bias must
    stay below the noise.
    """
    return min(max(0.45 / math.sqrt(correlation_error), _TIGHT_RADIUS), 4.0)


def _standard_noise(party: Party, radius: float) -> float:
    """The approximate noise of one standardised column in a release of one mix."""
    return 2 * radius * math.sqrt(party.encoder.width) / (0.9 * party.budget.mu)


def _parties(settings: Settings, common: Budget, guarantee: str) -> tuple[Party, ...]:
    tables = named_tables(settings.content.get("parties"), settings.source, "parties")
    if guarantee == "joint":
        # mu^2 adds up over the parties, and each gets an equal part; a few rounding errors below
        # the root.
        common = Budget.from_mu(common.mu / math.sqrt(len(tables)) * (1 - 1e-14), common.delta)
    missing = settings.choice("missing", ("drop", "centre"), "drop")
    return tuple(_party(settings, name, table, common, guarantee, missing) for name, table in tables)


def _party(
    settings: Settings, name: str, table: Mapping[str, Any], common: Budget, guarantee: str, missing: Any
) -> Party:
    inner = Settings(table, f"{settings.source}, party {name!r}")
    own = set() if guarantee == "joint" else {"epsilon", "delta"}
    inner.check_names({"columns", "public_key"} | own)
    budget = common
    if own & set(table):
        amounts = Settings({"epsilon": common.epsilon, "delta": common.delta, **table}, inner.source)
        budget = _budget(amounts)
    try:
        domain = Domain(declared_columns(table.get("columns"), inner.source), missing=missing)
        for column in domain.columns:
            if isinstance(column, Numeric):
                check_scalable(column)
    except DomainError as error:
        raise DomainError(str(error) if inner.source in str(error) else f"{inner.source}: {error}") from None
    public_key = None
    if "public_key" in table:
        public_key = inner.text("public_key")
        inner.check(is_public_key(public_key), "public_key", f"must be {PUBLIC_KEY_FORM}")
    return Party(name, domain, budget, public_key)


def _budget(settings: Settings) -> Budget:
    epsilon, delta = settings.number("epsilon"), settings.number("delta")
    try:
        budget = Budget.of(epsilon, delta)
    except ValueError as error:
        raise DomainError(f"{settings.source}: {error}") from None
    if not 0 < budget.mu < math.inf:
        raise DomainError(f"{settings.source}: epsilon {epsilon:g} at delta {delta:g} is no budget to plan with")
    return budget
