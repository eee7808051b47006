"""The meaning of a ledger's entries: the total, what is spent, and whether one more charge fits.

The state stored with the chain is the running totals: the exact sum of mu^2 of all Gaussian
charges, and the other costs with the number of times each was charged. So the time for a charge
does not depend on earlier charges, unless very many different costs are not Gaussian.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.errors import LedgerError
from discreet.privacy.budget import Budget
from discreet.privacy.composition import Composition
from discreet.privacy.ledger_entry import Entry
from discreet.privacy.ledger_mark import canonical_json
from discreet.privacy.squares import root_above, root_below, sum_of_squares
from discreet.privacy.units import GDP, Unit, unit_from_dict

FORMAT = 2

OPEN, CHARGE, RESULT, RELEASES = "open", "charge", "result", "releases"

# Separates the key of a fit from the number of one of its results; no other key contains it.
PART = "\x1f"

# The label and the cost of each release.
Releases = tuple[tuple[str, Unit], ...]


@dataclass(frozen=True)
class Charge:
    """One charge as its entry records it: for one release, or for all that a fit may release."""

    time: str
    label: str
    costs: tuple[Unit, ...]
    key: str

    @classmethod
    def read(cls, facts: str) -> Charge:
        _, key, fields = json.loads(facts)
        return cls(fields["time"], fields["label"], tuple(unit_from_dict(cost) for cost in fields["costs"]), key)

    @property
    def entry(self) -> Entry:
        costs = [cost.to_dict() for cost in self.costs]
        return Entry.of(CHARGE, self.key, {"time": self.time, "label": self.label, "costs": costs})


@dataclass(frozen=True)
class Account:
    """The running totals of a ledger: ``square`` is the exact sum of mu^2 of Gaussian charges."""

    opening: dict[str, Any]
    charges: int = 0
    square: Fraction = Fraction(0)
    others: tuple[tuple[Unit, int], ...] = ()

    @classmethod
    def opened(cls, kind: str, fields: dict[str, Any]) -> Account:
        """The totals after the opening entry."""
        if kind != OPEN:
            raise ValueError("it has no opening entry")
        if fields["format"] != FORMAT:
            raise LedgerError(f"this ledger has format {fields['format']!r}, but this discreet reads {FORMAT} only")
        return cls(fields)

    @classmethod
    def read(cls, text: str) -> Account:
        """The totals of a checkpoint."""
        fields = json.loads(text)
        opened = cls.opened(OPEN, fields["opening"])
        others = tuple((unit_from_dict(cost), times) for cost, times in fields["others"])
        square = Fraction(int(fields["square"][0], 16), int(fields["square"][1], 16))
        return replace(opened, charges=fields["charges"], square=square, others=others)

    @property
    def text(self) -> str:
        square = [hex(self.square.numerator), hex(self.square.denominator)]
        others = [[cost.to_dict(), times] for cost, times in self.others]
        return canonical_json({"opening": self.opening, "charges": self.charges, "square": square, "others": others})

    def after(self, kind: str, fields: dict[str, Any]) -> Account:
        """The totals after one more entry."""
        return self.charged(tuple(unit_from_dict(cost) for cost in fields["costs"])) if kind == CHARGE else self

    @cached_property
    def total(self) -> Budget:
        return Budget(*(float.fromhex(self.opening[name]) for name in ("epsilon", "delta", "mu")))

    @property
    def note(self) -> str:
        return str(self.opening["note"])

    def fits(self, *more: Unit) -> bool:
        """Whether these costs and all earlier ones fit into the total; without rounding."""
        after = self.charged(more)
        if after._within_mu:
            return True
        if not after.others:
            return False
            # Mixed costs may fit although the Gaussians that dominate them do not. This bound holds
            # for costs that were fixed without looking at earlier answers. The sum of mu^2 above
            # also holds for costs that were chosen adaptively.
        return after._composition.epsilon(self.total.delta) <= self.total.epsilon

    def charged(self, costs: tuple[Unit, ...]) -> Account:
        """The totals after one more charge."""
        counts = dict(self.others)
        for cost in costs:
            if not _adds_up(cost):
                counts[cost] = counts.get(cost, 0) + 1
        square = self.square + sum_of_squares(cost for cost in costs if _adds_up(cost))
        return replace(self, charges=self.charges + 1, square=square, others=tuple(sorted(counts.items(), key=repr)))

    @cached_property
    def spent(self) -> Budget:
        """The joint cost of all charges; later Gaussian releases cannot use its mu."""
        epsilon = self._composition.epsilon(self.total.delta)
        if self._within_mu:
            mu = root_above(self._all_squares)
        else:
            mu = root_above(Fraction(self.total.mu) ** 2 - Fraction(self.remaining.mu) ** 2)
        return Budget(epsilon, self.total.delta, mu)

    @cached_property
    def remaining(self) -> Budget:
        """The largest Gaussian cost that still fits."""
        if self._within_mu:
            mu = root_below(Fraction(self.total.mu) ** 2 - self._all_squares)
        else:
            mu = self._largest_fit()
        return Budget.from_mu(mu, self.total.delta)

    @property
    def _composition(self) -> Composition:
        gaussian = (GDP(root_above(self.square)),) if self.square else ()
        return Composition((*gaussian, *(cost for cost, times in self.others for _ in range(times))))

    @property
    def _all_squares(self) -> Fraction:
        return self.square + sum((times * Fraction(cost.mu) ** 2 for cost, times in self.others), Fraction(0))

    @cached_property
    def _within_mu(self) -> bool:
        finite = all(math.isfinite(cost.mu) for cost, _ in self.others)
        return finite and self._all_squares <= Fraction(self.total.mu) ** 2

    def _largest_fit(self) -> float:
        # Few steps, because each composes privacy-loss distributions; from below,
        # because the result must fit.
        low, high = 0.0, self.total.mu
        for _ in range(16):
            middle = (low + high) / 2
            low, high = (middle, high) if self.fits(GDP(middle)) else (low, middle)
        return low


def _adds_up(cost: Unit) -> bool:
    return isinstance(cost, GDP) and math.isfinite(cost.mu)


def opening_entry(total: Budget, *, ledger_id: str, note: str, time: str) -> Entry:
    # mu is stored, not recomputed: another version of scipy may round its last bit differently.
    amounts = {"epsilon": total.epsilon.hex(), "delta": total.delta.hex(), "mu": total.mu.hex()}
    return Entry.of(OPEN, "", {"format": FORMAT, "id": ledger_id, "time": time, "note": note, **amounts})


def result_key(key: str, part: str) -> str:
    """The key of a stored result: that of its charge, with a part if there are several results."""
    return f"{key}{PART}{part}" if part else key


def result_entry(key: str, releases: Releases, result: dict[str, Any], time: str) -> Entry:
    # A result may be megabytes long, so it is the payload, which is parsed only when it is needed.
    return Entry.of(RESULT, key, {"time": time, "made": _to_json(releases)}, canonical_json(result))


def releases_entry(key: str, releases: Releases, time: str) -> Entry:
    return Entry.of(RELEASES, key, {"time": time, "made": _to_json(releases)})


def releases_of(facts: str) -> Releases:
    """The releases that an entry of results or of releases records."""
    return tuple((one["label"], unit_from_dict(one["cost"])) for one in json.loads(facts)[2]["made"])


def _to_json(releases: Releases) -> list[dict[str, Any]]:
    return [{"label": label, "cost": cost.to_dict()} for label, cost in releases]
