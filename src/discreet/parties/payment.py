"""One release for one plan: the ledger that pays for it is recorded.

A ledger returns a stored release again at no cost. But if the data were copied to another folder,
or another ledger were named, the same plan would be paid for twice, with noise drawn twice. So the
user's state folder holds one record for each plan and party: the ledger that pays. It is written
before the first charge and locked until the release is complete; any other ledger is refused from
then on. On another machine, or for another user, there is no such record: there the note in the
party's private key serves (key_notes.py).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from discreet.documents import parsed_json, write_whole
from discreet.errors import LedgerError
from discreet.parties.key_notes import Note, note_of, take_back, write_note
from discreet.parties.plan import Plan
from discreet.parties.signing import SigningKey
from discreet.privacy import Ledger
from discreet.privacy.ledger_lock import locked
from discreet.privacy.ledger_mark import state_folder


def job_of(plan: Plan, party: str) -> str:
    """The name under which a ledger keeps a release."""
    return f"parties/{plan.hash}/{party}"


def has_paid(ledger: Ledger, plan: Plan, party: str) -> bool:
    """Whether the release was charged to this ledger."""
    return ledger.paid(job_of(plan, party)) is not None


def ledger_of(plan: Plan, party: str, key: SigningKey | None = None) -> Ledger | None:
    """The ledger that pays for the release; None if neither this machine nor the key
    has a record.
    """
    record = _Record.read(_record_path(plan, party))
    found = None if record is None else _recorded_ledger(record.path, plan, party)
    note = note_of(key, plan, party)
    return _noted_ledger(note, plan) if found is None and note is not None else found


def open_ledger(plan: Plan, party: str, path: str | Path) -> Ledger:
    """Open the party's ledger at this path, or create it with the budget that the plan gives the
    party.

    A ledger is created once. If it was created before and is gone, this is an error: no new budget
    is made.

    Parameters
    ----------
    plan : Plan
        The plan that all parties agreed on.
    party : str
        Whose ledger it is.
    path : str or path
        The ledger's file.

    Returns
    -------
    Ledger
        The party's ledger.

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
    >>> from discreet.parties import open_ledger
    >>> open_ledger(plan, "a", tempfile.mkdtemp() + "/a.ledger").charges
    0
    """
    where = Path(path).resolve()
    if where.exists():
        return Ledger(where)
    budget = plan.party(party).budget
    made = state_folder() / "parties" / "made" / f"{hashlib.sha256(str(where).encode()).hexdigest()}.json"
    by_hand = f"discreet budget create {where} --epsilon {budget.epsilon:.9g} --delta {budget.delta:g}"
    if made.exists():
        raise LedgerError(
            f"the ledger {where} was created before and is missing, with the record of what was spent; put it back. A "
            f"new one would spend the same people's budget again: if that is decided, create it with `{by_hand}`"
        )
    try:
        made.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        made.write_text(json.dumps({"path": str(where)}) + "\n", encoding="utf-8")
    except OSError as error:
        raise LedgerError(
            f"the state folder {state_folder()} cannot be written ({error.strerror}), so the ledger could not "
            f"be recorded: create it with `{by_hand}`, or set DISCREET_STATE to a folder that lasts"
        ) from error
    try:
        # Rounded up in the last digits, so that the mu of this epsilon is at least the plan's.
        return Ledger.create(where, epsilon=budget.epsilon * (1 + 1e-9), delta=budget.delta, note=f"plan {plan.name}")
    except BaseException:
        made.unlink(missing_ok=True)
        raise


@contextmanager
def paying(plan: Plan, party: str, ledger: Ledger, key: SigningKey | None = None) -> Iterator[None]:
    """Charges inside this context are for this release; no other ledger can be charged for it."""
    path = _record_path(plan, party)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.with_suffix(".lock").touch(mode=0o600)
    except OSError as error:
        raise LedgerError(
            f"the state folder {path.parent} cannot be written ({error.strerror}), so it could not be recorded "
            "which ledger pays for this plan; set DISCREET_STATE to a folder that lasts; nothing was spent"
        ) from error
    with locked(path.with_suffix(".lock")):
        _Record.read(path)  # an altered record is refused in any case
        if not has_paid(ledger, plan, party):
            _refuse_another(ledger_of(plan, party, key), plan, party, ledger)
        _Record(plan.hash, plan.name, party, str(ledger.path)).write(path)
        try:
            write_note(key, plan, party, ledger)
            yield
        finally:
            if not has_paid(ledger, plan, party):  # refused before the first charge: any ledger may still pay
                take_back(key, plan, party)
                path.unlink(missing_ok=True)


def _refuse_another(earlier: Ledger | None, plan: Plan, party: str, ledger: Ledger) -> None:
    if earlier is not None:
        raise LedgerError(
            f"{party}'s release under plan {plan.name!r} is paid from ledger {earlier.path}, which returns the "
            f"release again at no cost; {ledger.path} must not pay for it a second time; nothing was spent"
        )


def _recorded_ledger(path: str, plan: Plan, party: str) -> Ledger | None:
    """The ledger at this path; None if it exists and was not charged, so that any
    ledger may pay.
    """
    if not Path(path).exists():
        raise LedgerError(
            f"{party}'s release under plan {plan.name!r} is paid from ledger {path}, which is missing there: "
            "put it back, or name its new place with --ledger; nothing was spent"
        )
    ledger = Ledger(path)
    return ledger if has_paid(ledger, plan, party) else None


def _noted_ledger(note: Note, plan: Plan) -> Ledger | None:
    if note.is_of_this_machine:
        return _recorded_ledger(note.ledger, plan, note.party)
    raise LedgerError(
        f"{note.party}'s release under plan {plan.name!r} is paid from ledger {note.ledger} on {note.host} since "
        f"{note.time}, as the key's file says: release there, or copy that ledger here and name it with --ledger; "
        "it returns the release again at no cost; nothing was spent"
    )


@dataclass(frozen=True)
class _Record:
    plan: str
    name: str
    party: str
    path: str

    @classmethod
    def read(cls, path: Path) -> _Record | None:
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(f"cannot read {path}: {error.strerror}; nothing was spent") from error
        try:
            return cls(**parsed_json(text, str(path), LedgerError))
        except TypeError:
            raise LedgerError(f"{path} was altered; nothing was spent") from None

    def write(self, path: Path) -> None:
        write_whole(path, (json.dumps(asdict(self), indent=1) + "\n").encode())


def _record_path(plan: Plan, party: str) -> Path:
    name = hashlib.sha256(f"{plan.hash}\n{party}".encode()).hexdigest()
    return state_folder() / "parties" / f"{name}.json"
