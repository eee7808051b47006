"""What every store promises, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import secrets
import sqlite3
import tempfile
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from tests.service_tools import payload, postgresql, postgresql_programs, report, small_task

from discreet.errors import StoreCorrupt, StoreError, StoreFull
from discreet.local import wire
from discreet.service.entries import Entry, Outcome, Total, assigned
from discreet.service.storage import create_store, open_store
from discreet.service.tokens import Keys

ACCEPTED, REPEATED, CONFLICT, TOKEN_USED = Outcome


@pytest.fixture(scope="module")
def server():
    if postgresql_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg")
    # Not under pytest's folder, which only its owner may enter: the server runs as another user.
    with tempfile.TemporaryDirectory(prefix="discreet-pg-") as folder, postgresql(Path(folder)) as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "reports.db")
    import psycopg

    address = request.getfixturevalue("server")
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return address.replace("/postgres", f"/{name}")


@pytest.fixture
def keys(tmp_path):
    return Keys.create(tmp_path / "key")


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def entry(task, rng, *, body=None, mark=None):
    return Entry.of(task, body or report(task, rng), mark or rng.bytes(16))


def exact_sum(task, entries):
    return np.sum([wire.decode(task, e.body) for e in entries], axis=0)


def test_every_report_is_counted_once_and_found_again(place, keys, rng):
    task = small_task()
    store = create_store(place, task, keys)
    entries = [entry(task, rng) for _ in range(100)]
    assert store.write(entries[:64]) == [ACCEPTED] * 64
    assert store.write(entries[60:]) == [REPEATED] * 4 + [ACCEPTED] * 36
    store.close()
    again = open_store(place, task, keys)
    for totals in (again.totals(), again.verified_totals()):
        assert [(t.batch, t.count) for t in totals] == [(0, 100)]
        assert np.array_equal(totals[0].values, exact_sum(task, entries))
    again.close()


def test_an_id_is_taken_for_ever(place, keys, rng):
    task = small_task()
    store = create_store(place, task, keys)
    first = entry(task, rng)
    other = wire.encode(task, payload(task, rng), first.report_id)
    assert store.write([first]) == [ACCEPTED]
    store.close_batch(0)
    assert store.write([entry(task, rng, body=other)]) == [CONFLICT]
    assert store.write([first]) == [REPEATED]
    store.close()


def test_a_token_reports_once_and_may_repeat_its_own_report(place, keys, rng):
    task = small_task()
    store = create_store(place, task, keys)
    first = entry(task, rng)
    assert store.write([first, entry(task, rng, mark=first.mark)]) == [ACCEPTED, TOKEN_USED]
    assert store.write([entry(task, rng, mark=first.mark), first]) == [TOKEN_USED, REPEATED]
    assert store.totals()[0].count == 1
    store.close()


def test_twins_in_one_group_are_settled_like_twins_in_two(place, keys, rng):
    task = small_task()
    store = create_store(place, task, keys)
    first = entry(task, rng)
    other = wire.encode(task, payload(task, rng), first.report_id)
    twin = entry(task, rng, body=other)
    assert store.write([first, first, twin]) == [ACCEPTED, REPEATED, CONFLICT]
    store.verified_totals()
    store.close()


def test_late_reports_go_to_the_next_batch(place, keys, rng):
    task = small_task(goal=10, closes="goal")
    store = create_store(place, task, keys)
    entries = [entry(task, rng) for _ in range(25)]
    store.write(entries[:8])
    store.write(entries[8:])
    totals = store.verified_totals()
    assert [(t.batch, t.count) for t in totals] == [(0, 10), (1, 10), (2, 5)]
    assert store.open_batch() == 2
    store.close()


def test_a_closed_batch_never_changes_again(place, keys, rng):
    task = small_task()
    store = create_store(place, task, keys)
    store.write([entry(task, rng) for _ in range(5)])
    before = store.totals()[0]
    assert store.close_batch(0)
    assert not store.close_batch(0)
    store.write([entry(task, rng) for _ in range(7)])
    after = store.verified_totals()
    assert [t.count for t in after] == [5, 7]
    assert np.array_equal(after[0].values, before.values)
    store.close()


def test_a_store_belongs_to_one_key(place, keys, tmp_path):
    task = small_task()
    create_store(place, task, keys).close()
    with pytest.raises(StoreError, match="another key"):
        open_store(place, task, Keys.create(tmp_path / "other key"))


def test_two_collectors_on_one_store_agree(place, keys, rng):
    task = small_task()
    one, other = create_store(place, task, keys), open_store(place, task, keys)
    entries = [entry(task, rng) for _ in range(10)]
    assert one.write(entries) == [ACCEPTED] * 10
    assert other.write(entries) == [REPEATED] * 10
    assert other.write([entry(task, rng)]) == [ACCEPTED]
    assert one.verified_totals()[0].count == 11
    one.close(), other.close()


def test_a_lost_connection_is_replaced(server, keys, rng):
    import psycopg

    task = small_task(goal=77)
    store = create_store(server, task, keys)
    first = entry(task, rng)
    store.write([first])
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND datname = 'postgres'"
        )
    with pytest.raises(StoreError):
        store.write([entry(task, rng)])
    assert store.write([first, entry(task, rng)]) == [REPEATED, ACCEPTED]
    assert store.verified_totals()[0].count == 2
    store.close()


def test_a_day_closes_the_first_batch_only(rng):
    task = small_task(closes="2030-06-30")
    fresh = [entry(task, rng)]
    for batch, today, expected in [(0, "2030-06-30", 0), (0, "2030-07-01", 1), (1, "2031-01-01", 1)]:
        total = Total(batch, 5, np.zeros(task.report_entries, dtype=np.int64))
        assert assigned(task, total, fresh, date.fromisoformat(today)) == [(expected, fresh)]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE reports SET body = :other WHERE id = :id",
        "UPDATE reports SET batch = 1 WHERE id = :id",
        "UPDATE reports SET checksum = x'00' WHERE id = :id",
        "DELETE FROM reports WHERE id = :id",
        "UPDATE totals SET count = count - 1",
        "UPDATE totals SET sum = zeroblob(length(sum))",
        "DELETE FROM totals",
    ],
)
def test_every_altered_row_is_noticed(tmp_path, keys, rng, change):
    task = small_task()
    store = create_store(str(tmp_path / "reports.db"), task, keys)
    entries = [entry(task, rng) for _ in range(20)]
    store.write(entries)
    altered = entries[7].report_id
    other = wire.encode(task, payload(task, rng), altered)  # valid, but not what came
    with sqlite3.connect(tmp_path / "reports.db") as connection:
        names = {"id": altered, "other": other}
        connection.execute(change, {name: names[name] for name in names if f":{name}" in change})
    with pytest.raises(StoreCorrupt):
        store.verified_totals()
    store.close()


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path, keys, rng):
    task = small_task()
    path = str(tmp_path / "reports.db")
    create_store(path, task, keys).close()
    store = open_store(path, task, keys, max_bytes=160_000)
    stored = []

    def fill():
        for _ in range(1000):
            group = [entry(task, rng) for _ in range(64)]
            store.write(group)
            stored.extend(group)

    with pytest.raises(StoreFull):
        fill()
    assert stored
    assert store.verified_totals()[0].count == len(stored)
    with pytest.raises(StoreFull):
        store.write([entry(task, rng) for _ in range(64)])
    store.close()
    roomier = open_store(path, task, keys)
    assert roomier.write([*stored[:10], entry(task, rng)]) == [REPEATED] * 10 + [ACCEPTED]
    assert roomier.verified_totals()[0].count == len(stored) + 1
    roomier.close()


@pytest.mark.parametrize("moved", [True, False])
def test_nothing_is_acknowledged_into_a_file_that_is_no_longer_there(tmp_path, keys, rng, moved):
    """SQLite goes on writing into a deleted file, and all of it is gone when the collector ends."""
    task, path = small_task(), tmp_path / "reports.db"
    store = create_store(str(path), task, keys)
    first = entry(task, rng)
    assert store.write([first]) == [ACCEPTED]
    path.rename(tmp_path / "away.db") if moved else path.unlink()
    for act in (lambda: store.write([entry(task, rng)]), lambda: store.probe(100)):
        with pytest.raises(StoreError, match="was moved or deleted while it was in use"):
            act()
    if moved:
        (tmp_path / "away.db").rename(path)
        store.probe(100)
        assert store.write([first]) == [REPEATED]
    store.close()


def test_the_embedded_store_syncs_every_commit(tmp_path, keys):
    store = create_store(str(tmp_path / "reports.db"), small_task(), keys)
    assert store._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._writer.execute("PRAGMA synchronous").fetchone() == (2,)
    store.close()


def test_a_store_of_another_task_is_refused(tmp_path, keys):
    create_store(str(tmp_path / "reports.db"), small_task(), keys).close()
    with pytest.raises(StoreError, match="belongs to task"):
        open_store(str(tmp_path / "reports.db"), small_task(goal=7), keys)


def test_the_file_keeps_no_token_and_no_order_of_arrival(tmp_path, keys, rng):
    task = small_task()
    store = create_store(str(tmp_path / "reports.db"), task, keys)
    entries = [entry(task, rng) for _ in range(50)]
    for one in entries:
        store.write([one])
    store.close()
    with sqlite3.connect(tmp_path / "reports.db") as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM reports")]
        marks = [row[0] for row in connection.execute("SELECT mark FROM marks")]
        columns = [row[1] for row in connection.execute("PRAGMA table_info(reports)")]
        with pytest.raises(sqlite3.OperationalError):
            connection.execute("SELECT rowid FROM reports")
    assert ids == sorted(e.report_id for e in entries)
    assert marks == sorted(e.mark for e in entries)
    assert columns == ["id", "batch", "body", "checksum"]


def test_only_files_and_postgresql_are_stores(keys):
    with pytest.raises(StoreError, match="postgresql://"):
        open_store("mysql://somewhere/db", small_task(), keys)
