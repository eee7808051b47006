"""A party's release on its own machine: first answers about its columns, then the mixes."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any

from discreet.curator import Accountant
from discreet.engines import Engine
from discreet.errors import DomainError, PrivacyLeakWarning
from discreet.noise import Bits, SeededBits
from discreet.parties.answers import Recording, asked
from discreet.parties.payment import job_of, paying
from discreet.parties.people import check_keys, open_people
from discreet.parties.plan import Party, Plan
from discreet.parties.release_file import PartyRelease, check_key
from discreet.parties.signing import SigningKey
from discreet.parties.signs import plan_state
from discreet.parties.slots import SlotCurator, check_cells
from discreet.privacy import Budget, Ledger


def release(
    plan: Plan,
    party: str,
    data: Any,
    *,
    ledger: Ledger | str | PathLike[str],
    key: SigningKey | str | PathLike[str] | None = None,
    random_state: int | None = None,
) -> PartyRelease:
    """Release one party's columns under the plan. A second call returns the stored release at no
    cost.

    Parameters
    ----------
    plan : Plan
        The plan that all parties agreed on.
    party : str
        Whose columns these are.
    data
        A .parquet or .csv file, or a frame, with the plan's key column and the party's columns, in
        any row order.
    ledger : Ledger or str or path
        An existing ledger. It alone pays for this plan; any other is refused (payment.py).
    key : SigningKey or str or path, optional
        The party's private key, or its file, where the plan names public keys.
    random_state : int, optional
        For tests only; the release says that it is not private.

    Returns
    -------
    PartyRelease
        The signed noisy sums; ``save`` writes them.

    Privacy
    -------
    Four sums over the rows (one with calibration "paper") cost the party's budget together.

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
    >>> import tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> from discreet.parties import join, open_ledger, release
    >>> rng = np.random.default_rng(0)
    >>> patient, age = np.arange(5_000), rng.uniform(18, 90, 5_000)
    >>> frames = {"a": pd.DataFrame({"patient": patient, "age": age}),
    ...           "b": pd.DataFrame({"patient": patient, "bill": 90 * age})}
    >>> folder = tempfile.mkdtemp()
    >>> ledgers = {name: open_ledger(plan, name, f"{folder}/{name}.ledger") for name in frames}
    >>> releases = [
    ...     release(plan, name, frame, ledger=ledgers[name]) for name, frame in frames.items()
    ... ]
    >>> releases[0].party, releases[0].rows
    ('a', 5000)
    """
    member = plan.party(party)
    signing = key if key is None or isinstance(key, SigningKey) else SigningKey.load(key)
    check_key(plan, party, signing)
    account = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    engine = open_data(plan, party, data)
    check_keys(engine)
    bits = _seeded_bits(random_state)
    with paying(plan, party, account, signing):
        accountant = Accountant(
            account,
            job=job_of(plan, party),
            asked=_price(plan, member),
            # A release of another number of rows, or with a seed, has another label, so the stored
            # one is not returned.
            label=f"release of {party}, {engine.rows} rows" + ("" if bits is None else ", with random_state"),
            quiet=True,
        )
        return ask(SlotCurator(engine, accountant=accountant, bits=bits), plan, member, engine.rows, key=signing)


def open_data(plan: Plan, party: str, data: Any) -> Engine:
    """The party's rows; refused if their number or a column's type does not fit the plan."""
    member = plan.party(party)
    engine = open_people(data, member.domain, plan.key, plan_state(plan.seed))
    if engine.rows < plan.people:
        raise DomainError(
            f"{party} has {engine.rows} rows, but plan {plan.name!r} needs at least {plan.people}; nothing was spent"
        )
    check_cells(plan, member, engine.rows)
    return engine


def _seeded_bits(random_state: int | None) -> Bits | None:
    if random_state is None:
        return None
    warnings.warn(
        "random_state makes the noise reproducible, so this release is not private; use it for tests only",
        PrivacyLeakWarning,
        stacklevel=3,
    )
    return SeededBits(random_state)


def _price(plan: Plan, party: Party) -> Budget:
    """The cost of the release: the party's budget, or the actual cost of the printed noise."""
    if plan.calibration != "paper":
        return party.budget
    return Budget.from_mu(plan.printed_cost(party).mu, party.budget.delta)


def ask(curator: SlotCurator, plan: Plan, party: Party, rows: int, *, key: SigningKey | None = None) -> PartyRelease:
    """The release of everything that the plan asks for, signed if there is a key."""
    recording = Recording(curator)
    fields = asked(recording, plan, party, rows)
    made = PartyRelease(
        plan=plan,
        party=party.name,
        rows=rows,
        privacy=curator.finish(),
        answers=tuple(recording.answers),
        **fields,
    )
    return made if key is None else made.signed(key)
