"""What the entries of a ledger mean: the total, the charges, the results, and whether one more charge fits."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from discreet.errors import LedgerError
from discreet.privacy.budget import Budget
from discreet.privacy.composition import Composition
from discreet.privacy.ledger_file import Chain
from discreet.privacy.ledger_mark import canonical_json
from discreet.privacy.squares import root_above, root_below, sum_of_squares
from discreet.privacy.units import GDP, Unit, unit_from_dict

FORMAT = 1

# Canonical JSON sorts its fields: a result starts with its key, a charge with its cost. A result may be megabytes
# long, so it is only parsed when somebody asks for it.
_RESULT = '{"key":'


# Between the key of a fit and the number of one of its results; no other key has it.
PART = "\x1f"

# What was released, and at which cost.
Releases = tuple[tuple[str, Unit], ...]


@dataclass(frozen=True)
class Charge:
    """What was paid in one go, as its entry records it: one release, or all that a fit may release."""

    time: str
    label: str
    costs: tuple[Unit, ...]
    key: str


@dataclass(frozen=True)
class Account:
    """The state that a chain of entries adds up to; ``results`` are entries as they were written.

    ``made`` are the releases of finished fits, under the keys of their charges.
    """

    total: Budget
    note: str
    charges: dict[str, Charge]
    results: dict[str, str]
    made: dict[str, Releases]

    def result(self, key: str) -> dict[str, Any] | None:
        return json.loads(self.results[key])["result"] if key in self.results else None

    def stored_releases(self, key: str) -> Releases:
        """What was released with the result that is kept under this key."""
        return releases_from(json.loads(self.results[key]).get("made", []))

    def keeps(self, key: str) -> bool:
        """Whether a result of this charge is kept."""
        return key in self.results or bool(self._stored_parts.get(key))

    def released(self, key: str) -> Releases:
        """What was released under this charge; of a fit that has not ended, what is kept."""
        if key in self.made:
            return self.made[key]
        return tuple(one for place in self._stored_parts.get(key, ()) for one in self.stored_releases(place))

    @cached_property
    def _stored_parts(self) -> dict[str, list[str]]:
        """The places of all results of fits, by the keys of their charges."""
        parts: dict[str, list[str]] = {}
        for place in self.results:
            key, mark, _ = place.rpartition(PART)
            if mark:
                parts.setdefault(key, []).append(place)
        return parts

    def fits(self, *more: Unit) -> bool:
        """Whether everything charged so far and these costs stay within the total; decided without rounding."""
        costs = [*self._costs, *more]
        if all(math.isfinite(cost.mu) for cost in costs) and sum_of_squares(costs) <= Fraction(self.total.mu) ** 2:
            return True
        if all(isinstance(cost, GDP) for cost in costs):
            return False
        # Mixed costs may fit although their dominating Gaussians do not. This route holds for costs that were fixed
        # without looking at earlier answers; the sum of mu^2 above holds for adaptively chosen ones as well.
        return Composition(tuple(costs)).epsilon(self.total.delta) <= self.total.epsilon

    @cached_property
    def spent(self) -> Budget:
        """The joint cost of all charges; its mu is what a later Gaussian release can no longer use."""
        epsilon = Composition(tuple(self._costs)).epsilon(self.total.delta)
        if self._within_mu:
            mu = root_above(sum_of_squares(self._costs))
        else:
            mu = root_above(Fraction(self.total.mu) ** 2 - Fraction(self.remaining.mu) ** 2)
        return Budget(epsilon, self.total.delta, mu)

    @cached_property
    def remaining(self) -> Budget:
        """The largest Gaussian cost that still fits."""
        if self._within_mu:
            mu = root_below(Fraction(self.total.mu) ** 2 - sum_of_squares(self._costs))
        else:
            mu = self._largest_fit()
        return Budget.from_mu(mu, self.total.delta)

    @property
    def _costs(self) -> list[Unit]:
        return [cost for charge in self.charges.values() for cost in charge.costs]

    @cached_property
    def _within_mu(self) -> bool:
        finite = all(math.isfinite(cost.mu) for cost in self._costs)
        return finite and sum_of_squares(self._costs) <= Fraction(self.total.mu) ** 2

    def _largest_fit(self) -> float:
        # Few steps, from below: each composes privacy-loss distributions, and what is returned must fit.
        low, high = 0.0, self.total.mu
        for _ in range(16):
            middle = (low + high) / 2
            low, high = (middle, high) if self.fits(GDP(middle)) else (low, middle)
        return low


@lru_cache(maxsize=4)
def account_of(chain: Chain) -> Account:
    opening = json.loads(chain.bodies[0])
    if opening.get("format") != FORMAT:
        raise LedgerError(f"this ledger has format {opening.get('format')!r}, but this discreet reads {FORMAT} only")
    epsilon, delta, mu = (float.fromhex(opening[name]) for name in ("epsilon", "delta", "mu"))
    account = Account(Budget(epsilon, delta, mu), opening["note"], {}, {}, {})
    for body in chain.bodies[1:]:
        _enter(account, body)
    return account


def _enter(account: Account, body: str) -> None:
    if body.startswith(_RESULT):
        account.results[json.JSONDecoder().raw_decode(body, len(_RESULT))[0]] = body
        return
    fields = json.loads(body)
    if fields["kind"] == "releases":
        account.made[fields["of"]] = releases_from(fields["made"])
        return
    costs = fields["costs"] if "costs" in fields else [fields["cost"]]
    units = tuple(unit_from_dict(cost) for cost in costs)
    account.charges[fields["key"]] = Charge(fields["time"], fields["label"], units, fields["key"])


def result_key(key: str, part: str) -> str:
    """Where a result is kept: under the key of its charge or, if it is one of several, under a part of it."""
    return f"{key}{PART}{part}" if part else key


def charge_entry(charge: Charge) -> str:
    fields = {"time": charge.time, "label": charge.label, "key": charge.key}
    return canonical_json({"kind": "charge", **fields, "costs": [cost.to_dict() for cost in charge.costs]})


def result_entry(key: str, releases: Releases, result: dict[str, Any], time: str) -> str:
    return canonical_json({"kind": "result", "time": time, "key": key, "result": result, "made": releases_to(releases)})


def releases_entry(key: str, releases: Releases, time: str) -> str:
    return canonical_json({"kind": "releases", "time": time, "of": key, "made": releases_to(releases)})


def releases_to(releases: Releases) -> list[dict[str, Any]]:
    return [{"label": label, "cost": cost.to_dict()} for label, cost in releases]


def releases_from(fields: list[dict[str, Any]]) -> Releases:
    return tuple((one["label"], unit_from_dict(one["cost"])) for one in fields)


def opening_entry(total: Budget, *, ledger_id: str, note: str, time: str) -> str:
    # mu is kept, not computed again: another scipy may round its last bit otherwise.
    amounts = {"epsilon": total.epsilon.hex(), "delta": total.delta.hex(), "mu": total.mu.hex()}
    facts = {"kind": "open", "format": FORMAT, "id": ledger_id, "time": time, "note": note}
    return canonical_json({**facts, **amounts})
