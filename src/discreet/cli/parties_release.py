"""``discreet parties release`` and ``align``: the commands that a party runs on its own data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_fact, echo_table
from discreet.cli.watching import watched

_FILE = click.Path(dir_okay=False)


@click.command("release")
@click.option("--plan", "plan_path", required=True, type=_FILE, help="The plan that all parties approved.")
@click.option("--party", required=True, help="Which party of the plan you are.")
@click.option("--data", required=True, type=_FILE, help="Your own .parquet or .csv file.")
@click.option("--out", required=True, type=_FILE, help="Where the release is written.")
@click.option("--key", "key_path", type=_FILE, help="Your private key, where the plan has public keys.")
@click.option(
    "--ledger",
    type=_FILE,
    help="Your ledger, which must exist.  [default: the one beside the data; made the first time]",
)
def release(plan_path: str, party: str, data: str, out: str, key_path: str | None, ledger: str | None) -> None:
    """Mix your columns with everybody's signs, add noise, pay your ledger, and write one file.

    A plan is paid for once: a repeated call writes the same release again at no cost. Your private
    key's file records which ledger has paid, so that a copy of it on another machine has the record
    too.
    """
    with clean_errors():
        from discreet.parties import Plan, SigningKey
        from discreet.parties import release as release_party
        from discreet.parties.plan_text import signed_or_not
        from discreet.parties.release_file import check_key

        agreed = Plan.from_toml(plan_path)
        # Whatever can fail must fail before the budget is spent, and before a ledger is made.
        signing = None if key_path is None else SigningKey.load(key_path)
        check_key(agreed, party, signing)
        if not Path(data).is_file():
            raise ValueError(f"there is no file {data}")
        if not Path(out).resolve().parent.is_dir():
            raise ValueError(f"there is no folder {Path(out).parent} to write {Path(out).name} to")
        account = _ledger_for(agreed, party, data, ledger, signing)
        spent = account.spent
        with watched():
            released = release_party(agreed, party, data, ledger=account, key=signing)
        released.save(out)
        again = account.spent == spent
        click.echo(f"released   {out}" + (": the stored release of this plan, given again at no cost" if again else ""))
        echo_fact(
            "guarantee", f"epsilon {released.privacy.epsilon(agreed.delta):.4g} at delta {agreed.delta:.3g}, per person"
        )
        click.echo(f"ledger     {account.path}: {account.remaining} left")
        echo_fact("signature", f"{'with ' + signing.public_key if signing is not None else signed_or_not(agreed)}")


def _ledger_for(plan: Any, party: str, data: str, named: str | None, key: Any) -> Any:
    """The named ledger; else the one that pays for this plan; else the one beside the data."""
    from discreet.parties.mixing import open_data
    from discreet.parties.payment import ledger_of, open_ledger
    from discreet.privacy import Ledger

    if named is not None:
        if not Path(named).exists():
            budget = plan.party(party).budget
            raise ValueError(
                f"no ledger at {named}; a ledger is made once, by name: `discreet budget create {named} "
                f"--epsilon {budget.epsilon * (1 + 1e-9):.9g} --delta {budget.delta:g}`"
            )
        return Ledger(named)
    earlier = ledger_of(plan, party, key)
    if earlier is not None:
        return earlier
    beside = Path(data).with_suffix(".ledger")
    if beside.exists():
        return Ledger(beside)
    open_data(plan, party, data)  # data that cannot be released need no ledger
    made = open_ledger(plan, party, beside)
    click.echo(f"ledger     made {made.path}, the budget of this data from now on: {made.total}")
    click.echo(f"           keep it and {made.path.name}.mark where they are; other plans pay from it, too")
    return made


@click.command("align")
@click.argument("files", nargs=-1, type=_FILE)
@click.option("--plan", "plan_path", type=_FILE, help="The plan: it names the key column.")
@click.option("--party", help="Which party of the plan you are.")
@click.option("--data", type=_FILE, help="Your own file: digests of its keys are written to --out.")
@click.option("--salt-file", type=_FILE, help="A file with the parties' common secret salt.")
@click.option("--out", type=_FILE, help="Where your digests are written, for the other parties alone.")
def align(
    files: tuple[str, ...],
    plan_path: str | None,
    party: str | None,
    data: str | None,
    salt_file: str | None,
    out: str | None,
) -> None:
    """Write salted digests of your keys (--data ... --out), or compare the parties'
    digest FILES.
    """
    with clean_errors():
        from discreet.parties.align import key_digests, missing_people, shared_people, write_digests
        from discreet.parties.plan import Plan

        if files:
            rows = [(" and ".join(names), str(count)) for names, count in shared_people(files).items()]
            missing = missing_people(files).items()
            rows += [(f"at {here}, missing at {there}", str(count)) for (here, there), count in missing]
            echo_table(["parties", "people"], rows)
            return
        if not (plan_path and party and data and salt_file and out):
            raise click.UsageError("give digest files to compare, or --plan, --party, --data, --salt-file and --out")
        salt = Path(salt_file).read_text(encoding="utf-8").strip()
        write_digests(Path(out), key_digests(Plan.from_toml(plan_path), party, data, salt=salt))
        click.echo(f"wrote {out}: for the other parties only, and to be deleted after the comparison")
