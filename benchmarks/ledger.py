"""Speed of a ledger as it grows: opening, charging, reading and verifying, 10 to 100,000 entries."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import fill

from discreet.privacy import GDP, Ledger
from discreet.privacy.ledger_account import Account, Charge
from discreet.privacy.ledger_chain import View, insert, writing
from discreet.privacy.ledger_entry import link

COMMAND = "python -m benchmarks.ledger"
TARGET = Path(__file__).parent / "results" / "ledger.md"
SIZES = (10, 1_000, 10_000, 100_000)
CHARGES = 200
COST = GDP(1e-4)
ABOUT_CHARGES = (
    "Charges are made in turns, one to each ledger, in a burst: the first eight wait for four syncs each, the others "
    "for one, and one in about forty takes those before it into the tables (docs/decisions/0004). Where other work is "
    "on the machine, the fastest quarter says what the ledger takes, and the median what it waited."
)


def grown(path: Path, entries: int) -> Ledger:
    """A ledger with so many charges, the same as if each had been made on its own, but in one
    transaction.
    """
    ledger = Ledger.create(path, epsilon=8, delta=1e-6)
    with writing(ledger.path) as connection:
        view = View(connection)
        state, head = Account.read(view.state), view.head
        for number in range(1, entries + 1):
            entry = Charge("2026-01-01T00:00:00+00:00", f"release {number}", (COST,), f"key {number}").entry
            state = state.after(entry.kind, entry.fields)
            head = link(head, entry.digest, state.text)
            insert(connection, number, entry, head, state.text)
    ledger.charge(COST, label="the marks follow")
    return ledger


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """The median time of one run."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def charges(ledgers: list[Ledger]) -> list[str]:
    """Charges per second of each: ledgers take turns, so that other work on the machine hits all of
    them alike.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in ledgers]
    for _ in range(CHARGES):
        for ledger, times in zip(ledgers, taken, strict=True):
            start, worked = time.perf_counter(), time.process_time()
            ledger.charge(COST, label="timed")
            times.append((time.perf_counter() - start, time.process_time() - worked))
    shown = []
    for times in taken:
        wall, cpu = zip(*times, strict=True)
        fastest = statistics.quantiles(wall)[0]
        shown.append(f"{1 / statistics.median(wall):.0f} | {1 / fastest:.0f} | {1e3 * statistics.median(cpu):.1f} ms")
    return shown


def row(ledger: Ledger, entries: int, rates: str) -> str:
    opening = seconds(lambda: Ledger(ledger.path), 50)
    reading, verifying = seconds(lambda: ledger.history), seconds(ledger.verify)
    size = ledger.path.stat().st_size / 1e6
    return f"| {entries:,} | {size:.1f} MB | {1e3 * opening:.1f} ms | {rates} | {reading:.2f} s | {verifying:.2f} s |"


def sync_time(folder: Path) -> float:
    """What one sync costs here: a charge of a burst waits for one of them, any other for four."""
    descriptor = os.open(folder / "sync", os.O_CREAT | os.O_RDWR)
    os.pwrite(descriptor, bytes(4096), 0)

    def one() -> None:
        os.pwrite(descriptor, os.urandom(512), 0)
        os.fdatasync(descriptor)

    taken = seconds(one, 200)
    os.close(descriptor)
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        os.environ["DISCREET_STATE"] = str(Path(name) / "state")
        sync = sync_time(Path(name))
        ledgers = [grown(Path(name) / f"{entries}.ledger", entries) for entries in SIZES]
        rows = [row(*one) for one in zip(ledgers, SIZES, charges(ledgers), strict=True)]
    about = (
        f"`{COMMAND}`, {time.strftime('%Y-%m-%d', time.gmtime())}; {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}, {platform.system()}, Python {platform.python_version()}, SQLite "
        f"{sqlite3.sqlite_version}. One sync of a page takes {1e3 * sync:.2f} ms here."
    )
    lines = [
        "# A ledger as it grows",
        "",
        fill(about, 100),
        "",
        fill(ABOUT_CHARGES, 100),
        "",
        "| entries | file | opening | charges per second, median | fastest quarter | CPU a charge | history | verify |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]
    TARGET.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
