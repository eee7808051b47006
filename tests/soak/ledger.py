"""A stress test of the ledger in a few minutes: ``python tests/soak/ledger.py`` (or ``make soak``).

Kills processes at random times and at random steps, lets many processes race for a budget that fits
a known number of charges, flips bytes, and writes what happened to
``benchmarks/results/ledger_soak.md``. It ends with an error as soon as one promise is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from textwrap import fill

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "system"))

from ledger_crashes import (  # noqa: E402
    TO_TABLES,
    TO_TAIL,
    attempts,
    check_after_crash,
    fit,
    fork,
    killed_at,
    killed_at_step,
    outcome,
    release,
    visible_steps,
)

from discreet.errors import LedgerError  # noqa: E402
from discreet.privacy import Ledger, ledger_tail  # noqa: E402
from discreet.privacy.ledger_chain import View  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "ledger_soak.md"
RELEASES_PER_LEDGER = 50  # every retry verifies the whole file, so a long one would only measure that

Row = tuple[str, str, str]


def kills(directory: Path, number: int, chance: random.Random) -> list[Row]:
    """Half at random times, which reaches the inside of SQLite's commit; half at random steps."""
    seen: Counter[str] = Counter()
    for run in range(number):
        if run % RELEASES_PER_LEDGER == 0:
            ledger = Ledger.create(directory / f"kills {run}.ledger", epsilon=1, delta=1e-6)
            for ledger_tail.BURST in ((TO_TAIL, TO_TABLES), (TO_TABLES, TO_TAIL))[run // RELEASES_PER_LEDGER % 2]:
                release(ledger, f"makes journal and tail {ledger_tail.BURST}")
            steps = {pay: visible_steps(partial(pay, ledger, f"dry run of {pay.__name__}")) for pay in (release, fit)}
        key = f"run {run}"
        pay = chance.choice((release, fit))
        work = partial(pay, ledger, key)
        if run % 2:
            handed_out = killed_at(work, chance.uniform(0, 0.05))
        else:
            handed_out = killed_at_step(work, chance.randrange(len(steps[pay])))
        seen["handed out before the kill"] += handed_out is not None
        seen["left the ledger beyond its mark"] += (
            newest(ledger) != json.loads(Path(f"{ledger.path}.mark").read_text())["seq"]
        )
        seen["in a burst"] += ledger_tail.BURST == TO_TAIL
        seen["left a rollback journal"] += any(Path(f"{ledger.path}-journal").read_bytes()[:8])
        check_after_crash(ledger.path, key, handed_out, pay)
        progress("kill -9 runs", run + 1, number)
    facts = "; ".join(f"{count} {what}" for what, count in seen.items())
    promise = "all that was handed out was paid; every retry gave the same result and paid once"
    return [(f"{number} kill -9 runs", promise, f"0 violations ({facts})")]


def newest(ledger: Ledger) -> int:
    """The number of the newest entry; -1 where a journal must be played back first."""
    try:
        with closing(sqlite3.connect(f"{ledger.path.as_uri()}?mode=ro", uri=True)) as connection:
            return View(connection, ledger_tail.Tail(ledger.path).read()).seq
    except sqlite3.OperationalError:
        return -1


def race(directory: Path, processes: int, tries: int, fitting: int) -> list[Row]:
    ledger = Ledger.create(directory / "race.ledger", epsilon=1, delta=1e-6)
    ledger_tail.BURST = 8
    share = ledger.total.split([1] * fitting)[0]
    started = time.monotonic()
    children = [fork(partial(attempts, ledger, share, tries)) for _ in range(processes)]
    granted = 0
    for done, child in enumerate(children, start=1):
        granted += outcome(*child)[0]
        progress("racing processes ended", done, processes)
    rate = processes * tries / (time.monotonic() - started)
    if not granted == fitting == len(ledger.history):
        raise AssertionError(f"{granted} charges were granted where {fitting} fit")
    promise = f"exactly {fitting} granted, as many as fit"
    return [(f"{processes} processes x {tries} attempts", promise, f"{granted} granted ({rate:.0f} attempts/s)")]


def flips(directory: Path, number: int, chance: random.Random) -> list[Row]:
    ledger = Ledger.create(directory / "flips.ledger", epsilon=1, delta=1e-6)
    for pace in (TO_TABLES, TO_TAIL):
        ledger_tail.BURST = pace
        for run in range(10):
            release(ledger, f"run {pace} {run}")
    rows, history, spent = [], ledger.history, ledger.spent
    for file, share in ((ledger.path, 0.6), (Path(f"{ledger.path}.mark"), 0.2), (Path(f"{ledger.path}.tail"), 0.2)):
        intact, tried, refused = file.read_bytes(), round(number * share), 0
        for run in range(tried):
            damaged = bytearray(intact)
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            file.write_bytes(damaged)
            try:
                if (ledger.history, ledger.spent) != (history, spent):
                    raise AssertionError("a flipped bit changed what was spent")
            except LedgerError:
                refused += 1
            progress(f"bit flips in {file.suffix}", run + 1, tried)
        file.write_bytes(intact)
        seen = f"{refused} refused, the others in unused bytes"
        rows.append((f"{tried} bit flips in the {file.suffix[1:]} file", "refused, or nothing is changed", seen))
    if ledger.history != history:
        raise AssertionError("the restored ledger lost something")
    return rows


def progress(what: str, done: int, of: int) -> None:
    if done % max(1, of // 10) == 0 or done == of:
        print(f"{time.strftime('%H:%M:%S')}  {what}: {done}/{of}", flush=True)


def write_results(rows: list[Row], options: argparse.Namespace, seconds: float) -> None:
    command = (
        f"python tests/soak/ledger.py --kills {options.kills} --processes {options.processes} "
        f"--tries {options.tries} --flips {options.flips} --seed {options.seed}"
    )
    lines = [
        "# Ledger soak",
        "",
        fill(
            f"`{command}`, {time.strftime('%Y-%m-%d', time.gmtime())}, {seconds:.0f} s; {os.cpu_count()} cores, "
            f"{platform.system()}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}.",
            100,
        ),
        "",
        "| what | promise | seen |",
        "|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        "kill -9 shows what a dying process leaves behind, not what a power cut does: that an entry is",
        "synced before its marks are written is checked by `tests/unit/privacy/test_ledger_tamper.py`",
        "and `test_ledger_tail.py`.",
        "",
    ]
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text("\n".join(lines))
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("kills", 1000), ("processes", 32), ("tries", 1000), ("flips", 1000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        os.environ["DISCREET_STATE"] = str(Path(name) / "state")
        directory = Path(name)
        rows = kills(directory, options.kills, chance)
        rows += flips(directory, options.flips, chance)
        rows += race(directory, options.processes, options.tries, fitting=200)
    write_results(rows, options, time.monotonic() - started)


if __name__ == "__main__":
    main()
