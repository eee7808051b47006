"""What a party does on its own machine: cheap looks at its columns, then the mixes, all behind one curator."""

from __future__ import annotations

from os import PathLike
from typing import Any

from discreet.errors import BudgetError, DomainError
from discreet.noise import Bits, SeededBits
from discreet.parties.answers import Recording, asked
from discreet.parties.payment import has_paid, job_of, paying
from discreet.parties.people import check_keys, open_people
from discreet.parties.plan import Party, Plan
from discreet.parties.release_file import PartyRelease, check_key
from discreet.parties.signing import SigningKey
from discreet.parties.signs import plan_state
from discreet.parties.slots import SlotCurator, check_cells
from discreet.privacy import GDP, Budget, Ledger, refuse_weaker


def release(
    plan: Plan,
    party: str,
    data: Any,
    *,
    ledger: Ledger | str | PathLike[str],
    key: SigningKey | str | PathLike[str] | None = None,
    random_state: int | None = None,
) -> PartyRelease:
    """Release one party's columns under the plan; asked again, the stored release is given again at no cost.

    data: a .parquet or .csv file, or a frame, with the plan's key column and the party's columns, in any row order.
    ledger: one that exists. It alone pays for this plan: another one is refused, wherever this runs (payment.py).
    key: the party's private key, or its file, where the plan names public keys.
    random_state: for tests only; the release says that it is not private.

    Privacy: four sums over the rows (one with calibration "paper") cost the party's budget together.
    """
    member = plan.party(party)
    signing = key if key is None or isinstance(key, SigningKey) else SigningKey.load(key)
    check_key(plan, party, signing)
    account = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    engine = open_people(data, member.domain, plan.key, plan_state(plan.seed))
    if engine.rows < plan.people:
        raise DomainError(
            f"{party} has {engine.rows} rows, but plan {plan.name!r} needs at least {plan.people}; nothing was spent"
        )
    check_cells(plan, member, engine.rows)
    check_keys(engine)
    bits: Bits | None = None if random_state is None else SeededBits(random_state)
    with paying(plan, party, account):
        job = job_of(plan, party)
        _check_affordable(plan, party, account)
        # An entry of no cost: the same plan's release of another number of rows is not the stored one.
        account.charge(GDP(0.0), label=f"release of {party}, {engine.rows} rows", key=job)
        return ask(SlotCurator(engine, ledger=account, job=job, bits=bits), plan, member, engine.rows, key=signing)


def _check_affordable(plan: Plan, party: str, ledger: Ledger) -> None:
    """Refuse noise that is too weak, and a ledger that could pay for the first sums only."""
    member = plan.party(party)
    cost = member.budget.mu
    if plan.calibration == "paper":
        refuse_weaker([plan.printed_cost(member)], member.budget)
        cost = plan.printed_cost(member).mu
    if not has_paid(ledger, plan, party) and cost > ledger.remaining.mu * (1 + 1e-12):
        asked = Budget.from_mu(cost, member.budget.delta)
        raise BudgetError(
            f"{party}'s release under plan {plan.name!r} costs {asked}, but {ledger.remaining} is left of "
            f"{ledger.total} in ledger {ledger.path}; nothing was spent"
        )


def ask(curator: SlotCurator, plan: Plan, party: Party, rows: int, *, key: SigningKey | None = None) -> PartyRelease:
    """Everything that the plan asks of a party's curator, signed if there is a key."""
    recording = Recording(curator)
    fields = asked(recording, plan, party, rows)
    made = PartyRelease(
        plan=plan,
        party=party.name,
        rows=rows,
        privacy=curator.guarantee,
        answers=tuple(recording.answers),
        **fields,
    )
    return made if key is None else made.signed(key)
