"""Creating and opening stores, refusals, and timeouts."""

from __future__ import annotations

import os
import secrets
import signal
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from tests.service_tools import postgresql, postgresql_programs, report, small_task

from discreet.errors import StoreError, StoreFull
from discreet.service import postgresql as postgresql_store
from discreet.service.entries import Entry, Outcome
from discreet.service.storage import SCHEMA_VERSION, create_store, open_store
from discreet.service.tokens import Keys

TASK = small_task()


@pytest.fixture(scope="module")
def server():
    if postgresql_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg")
    with tempfile.TemporaryDirectory(prefix="discreet-pg-") as folder, postgresql(Path(folder)) as address:
        yield address


@pytest.fixture
def database(server):
    """An empty database of its own."""
    import psycopg

    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres", f"/{name}")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    return str(tmp_path / "reports.db") if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def keys(tmp_path):
    return Keys.create(tmp_path / "key")


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def entry(rng, task=TASK):
    return Entry.of(task, report(task, rng), rng.bytes(16))


def execute(place, statement):
    """A change that the store does not know of."""
    if "://" in place:
        import psycopg

        with psycopg.connect(place, autocommit=True) as connection:
            return connection.execute(statement)
    with sqlite3.connect(place) as connection:
        return connection.execute(statement)


def test_opening_makes_nothing(place, keys, tmp_path):
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError, match="discreet local create"):
        open_store(place, TASK, keys)
    assert sorted(tmp_path.iterdir()) == before


def test_a_store_is_made_once(place, keys, rng):
    store = create_store(place, TASK, keys)
    store.write([entry(rng)])
    with pytest.raises(StoreError, match="already"):
        create_store(place, TASK, keys)
    assert store.verified_totals()[0].count == 1
    store.close()


def test_one_database_holds_many_tasks(database, keys, rng):
    other = small_task(goal=9)
    first, second = create_store(database, TASK, keys), create_store(database, other, keys)
    first.write([entry(rng)])
    assert (first.counts(), second.counts()) == ([(0, 1)], [])
    first.close(), second.close()
    with pytest.raises(StoreError, match="no collection of task"):
        open_store(database, small_task(goal=10), keys)


def test_a_key_is_made_once_and_never_by_opening(tmp_path):
    with pytest.raises(StoreError, match="no key"):
        Keys.open(tmp_path / "other")
    assert not (tmp_path / "other").exists()
    Keys.create(tmp_path / "other")
    with pytest.raises(StoreError, match="already"):
        Keys.create(tmp_path / "other")


@pytest.mark.parametrize("content", [b"", b"not a database" * 1000])
def test_a_file_that_is_no_store_is_left_alone(tmp_path, keys, content):
    path = tmp_path / "reports.db"
    path.write_bytes(content)
    with pytest.raises(StoreError):
        open_store(str(path), TASK, keys)
    with pytest.raises(StoreError, match="already"):
        create_store(str(path), TASK, keys)
    assert path.read_bytes() == content


def test_a_newer_store_is_refused_untouched(place, keys):
    create_store(place, TASK, keys).close()
    newer = SCHEMA_VERSION + 1
    execute(
        place, f"UPDATE discreet_schema SET version = {newer}" if "://" in place else f"PRAGMA user_version={newer}"
    )
    for opened in (open_store, create_store):
        with pytest.raises(StoreError, match=f"newer discreet .tables of version {newer}|already"):
            opened(place, TASK, keys)


def test_a_store_from_before_versions_is_migrated(place, keys, rng):
    store = create_store(place, TASK, keys)
    store.write([entry(rng)])
    store.close()
    if "://" in place:
        execute(place, "DROP TABLE discreet_schema, discreet_notes")
    else:
        execute(place, "PRAGMA user_version = 0")
    again = open_store(place, TASK, keys)
    again.set_note("a", "b")
    assert again.verified_totals()[0].count == 1
    again.close()
    if "://" not in place:
        assert execute(place, "PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    open_store(place, TASK, keys).close()


def test_notes_are_kept(place, keys):
    store = create_store(place, TASK, keys)
    assert store.note("verified") is None
    store.set_note("verified", "one")
    store.set_note("verified", "two")
    store.close()
    again = open_store(place, TASK, keys)
    assert again.note("verified") == "two"
    assert again.usage().bytes > 0
    again.close()


def test_a_probe_leaves_nothing_and_finds_a_full_store(tmp_path, keys, rng):
    path = str(tmp_path / "reports.db")
    create_store(path, TASK, keys).close()
    store = open_store(path, TASK, keys, max_bytes=160_000)
    store.probe(10_000)
    assert store.totals() == []
    with pytest.raises(StoreFull):
        list(map(store.write, ([entry(rng) for _ in range(64)] for _ in range(1000))))
    with pytest.raises(StoreFull):
        store.probe(64 * TASK.body_size)
    store.close()


def test_a_probe_of_a_server_is_a_durable_write(database, keys):
    store = create_store(database, TASK, keys)
    store.probe(10_000)
    execute(database, "ALTER DATABASE " + database.rsplit("/", 1)[1] + " SET default_transaction_read_only = on")
    store.close()
    with pytest.raises(StoreError):
        store.probe(10)
    store.close()


def test_a_commit_reads_one_running_sum_however_many_batches_there_are(place, keys, rng, monkeypatch):
    task = small_task(goal=1, closes="goal")
    store = create_store(place, task, keys)
    for _ in range(40):
        store.write([entry(rng, task)])
    read = []
    for module in ("sqlite", "postgresql"):
        name = f"discreet.service.{module}.unpack"
        monkeypatch.setattr(name, lambda *given, unpack=postgresql_store.unpack: read.append(1) or unpack(*given))
    store.write([entry(rng, task)])
    assert len(read) <= 2
    assert len(store.counts()) == 41
    store.close()


def test_a_server_that_waits_for_a_lock_is_given_up(database, keys, rng):
    import psycopg

    create_store(database, TASK, keys).close()
    store = open_store(database, TASK, keys, seconds=0.5)
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE discreet_totals IN ACCESS EXCLUSIVE MODE")
        started = time.monotonic()
        for ask in (lambda: store.write([entry(rng)]), store.counts):
            with pytest.raises(StoreError):
                ask()
        assert time.monotonic() - started < 8
    assert store.write([entry(rng)]) == [Outcome.ACCEPTED]
    store.close()


def test_a_server_that_says_nothing_is_given_up(database, keys, rng):
    """A stopped process cannot end its own statement."""
    create_store(database, TASK, keys).close()
    store = open_store(database, TASK, keys, seconds=0.5)
    store.write([entry(rng)])
    stopped = store._writer.info.backend_pid
    os.kill(stopped, signal.SIGSTOP)
    try:
        started = time.monotonic()
        with pytest.raises(StoreError):
            store.write([entry(rng)])
        assert time.monotonic() - started < 5
    finally:
        os.kill(stopped, signal.SIGCONT)
    assert store.write([entry(rng)]) == [Outcome.ACCEPTED]
    assert store.verified_totals()[0].count == 2
    store.close()


def test_a_password_opens_a_store_and_is_never_shown(tmp_path, keys, monkeypatch):
    if postgresql_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg")
    monkeypatch.delenv("PGPASSWORD", raising=False)
    with (
        tempfile.TemporaryDirectory(prefix="discreet-pg-") as folder,
        postgresql(Path(folder), password="geheim17") as address,
    ):
        create_store(address, TASK, keys, password="geheim17").close()
        for wrong in (None, "geheim18"):
            with pytest.raises(StoreError, match="cannot connect") as caught:
                open_store(address, TASK, keys, password=wrong)
            assert "geheim" not in str(caught.value)
        with pytest.raises(StoreError) as caught:
            open_store(address.replace("tester@", "tester:geheim18@"), TASK, keys)
        assert "geheim" not in str(caught.value)
        monkeypatch.setenv("PGPASSWORD", "geheim17")
        open_store(address, TASK, keys).close()
