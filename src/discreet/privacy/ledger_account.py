"""What the entries of a ledger mean: the total, the charges, the results, and whether one more charge fits."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from discreet.errors import LedgerError
from discreet.privacy.budget import Budget
from discreet.privacy.composition import Composition
from discreet.privacy.ledger_file import Chain
from discreet.privacy.ledger_mark import canonical_json
from discreet.privacy.units import GDP, Unit, unit_from_dict

FORMAT = 1

# Canonical JSON sorts its fields: a result starts with its key, a charge with its cost. A result may be megabytes
# long, so it is only parsed when somebody asks for it.
_RESULT = '{"key":'


@dataclass(frozen=True)
class Charge:
    """One paid release, as its entry records it."""

    time: str
    label: str
    cost: Unit
    key: str


@dataclass(frozen=True)
class Account:
    """The state that a chain of entries adds up to; ``results`` are entries as they were written."""

    total: Budget
    note: str
    charges: dict[str, Charge]
    results: dict[str, str]

    def result(self, key: str) -> dict[str, Any] | None:
        return json.loads(self.results[key])["result"] if key in self.results else None

    def fits(self, *more: Unit) -> bool:
        """Whether everything charged so far and these costs stay within the total; decided without rounding."""
        costs = [*self._costs, *more]
        if all(math.isfinite(cost.mu) for cost in costs) and _sum_of_squares(costs) <= Fraction(self.total.mu) ** 2:
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
            mu = _root_above(_sum_of_squares(self._costs))
        else:
            mu = _root_above(Fraction(self.total.mu) ** 2 - Fraction(self.remaining.mu) ** 2)
        return Budget(epsilon, self.total.delta, mu)

    @cached_property
    def remaining(self) -> Budget:
        """The largest Gaussian cost that still fits."""
        if self._within_mu:
            mu = _root_below(Fraction(self.total.mu) ** 2 - _sum_of_squares(self._costs))
        else:
            mu = self._largest_fit()
        return Budget.from_mu(mu, self.total.delta)

    @property
    def _costs(self) -> list[Unit]:
        return [charge.cost for charge in self.charges.values()]

    @cached_property
    def _within_mu(self) -> bool:
        finite = all(math.isfinite(cost.mu) for cost in self._costs)
        return finite and _sum_of_squares(self._costs) <= Fraction(self.total.mu) ** 2

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
    charges: dict[str, Charge] = {}
    results: dict[str, str] = {}
    for body in chain.bodies[1:]:
        if body.startswith(_RESULT):
            results[json.JSONDecoder().raw_decode(body, len(_RESULT))[0]] = body
        else:
            fields = json.loads(body)
            cost = unit_from_dict(fields["cost"])
            charges[fields["key"]] = Charge(fields["time"], fields["label"], cost, fields["key"])
    return Account(Budget(epsilon, delta, mu), opening["note"], charges, results)


def charge_entry(charge: Charge) -> str:
    fields = {"time": charge.time, "label": charge.label, "key": charge.key, "cost": charge.cost.to_dict()}
    return canonical_json({"kind": "charge", **fields})


def result_entry(key: str, result: dict[str, Any], time: str) -> str:
    return canonical_json({"kind": "result", "time": time, "key": key, "result": result})


def opening_entry(total: Budget, *, ledger_id: str, note: str, time: str) -> str:
    # mu is kept, not computed again: another scipy may round its last bit otherwise.
    amounts = {"epsilon": total.epsilon.hex(), "delta": total.delta.hex(), "mu": total.mu.hex()}
    facts = {"kind": "open", "format": FORMAT, "id": ledger_id, "time": time, "note": note}
    return canonical_json({**facts, **amounts})


def _sum_of_squares(costs: Sequence[Unit]) -> Fraction:
    return sum((Fraction(cost.mu) ** 2 for cost in costs), Fraction(0))


def _root_below(square: Fraction) -> float:
    """The largest float whose exact square is at most this."""
    # In integers, finer than the smallest float: the square of a tiny mu is no float at all.
    scale = 2**1140
    root = float(Fraction(math.isqrt(square.numerator * scale**2 // square.denominator), scale))
    return root if Fraction(root) ** 2 <= square else math.nextafter(root, 0.0)


def _root_above(square: Fraction) -> float:
    """The smallest float whose exact square is at least this."""
    root = _root_below(square)
    return root if Fraction(root) ** 2 == square else math.nextafter(root, math.inf)
