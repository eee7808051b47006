"""The charges of a ledger, one by one."""

from __future__ import annotations

import json
from dataclasses import dataclass

from discreet.privacy.composition import Composition
from discreet.privacy.ledger_account import CHARGE, PART, RELEASES, RESULT, Charge, Releases, releases_of
from discreet.privacy.ledger_chain import View
from discreet.privacy.units import Unit


@dataclass(frozen=True)
class Entry:
    """One charge: its time, label, costs and key, and whether the ledger stores a result.

    A fit is one entry: its ``costs`` were reserved before it began, and ``releases`` are what it
    then drew from them, with their costs. ``releases`` is empty for a fit that has not ended, and
    for a charge that is one release.
    """

    number: int
    time: str
    label: str
    costs: tuple[Unit, ...]
    key: str
    stored: bool
    releases: Releases = ()

    @property
    def cost(self) -> Unit | Composition:
        """All costs together."""
        return self.costs[0] if len(self.costs) == 1 else Composition(self.costs)


def history_of(view: View) -> list[Entry]:
    """Every charge, oldest first."""
    charges: list[Charge] = []
    made: dict[str, Releases] = {}  # of fits that have ended
    stored: dict[str, Releases] = {}
    for facts in view.facts():
        kind, key, _ = json.loads(facts)
        if kind == CHARGE:
            charges.append(Charge.read(facts))
        elif kind == RELEASES:
            made[key] = releases_of(facts)
        elif kind == RESULT:
            of = key.partition(PART)[0]
            stored[of] = stored.get(of, ()) + releases_of(facts)
    return [
        Entry(
            number,
            charge.time,
            charge.label,
            charge.costs,
            charge.key,
            charge.key in stored,
            made.get(charge.key, stored.get(charge.key, ())),
        )
        for number, charge in enumerate(charges, start=1)
    ]
