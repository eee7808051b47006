"""Many people's records on one machine: the same reports as one by one, stored together, however it
ends.
"""

from __future__ import annotations

import csv
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner
from local_tasks import make_task

from discreet.cli import main
from discreet.errors import BudgetError
from discreet.local import Client, book_scores
from discreet.local.client import Clients, encoded_records, fresh_reports, reports
from discreet.local.codebook import codebook_key
from discreet.local.unit import Unit, below
from discreet.noise.bits import SeededBits

TASK = make_task()


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    return [(f"p{place}", {"a": x, "b": y, "c": z, "y": 1}) for place, (x, y, z) in enumerate(rng.normal(size=(n, 3)))]


def test_many_are_stored_as_one_by_one(tmp_path):
    some = people(1200)
    together = Clients(TASK, tmp_path).reports(some)
    assert len({body[12:28] for body in together}) == 1200
    assert Clients(TASK, tmp_path).reports(some[::-1]) == together[::-1]
    assert [Client(TASK, tmp_path, owner=owner).report(record) for owner, record in some[:20]] == together[:20]
    more = Clients(TASK, tmp_path).reports([*people(3), ("new", some[0][1]), ("new", some[1][1])])
    assert more[:3] == together[:3]
    assert more[3] == more[4] not in together


def test_nobody_of_a_group_reports_if_one_may_not(tmp_path):
    other = make_task(goal=7)
    Client(other, tmp_path, owner="p5", cap=(5.0, 1e-6)).report(people(6)[5][1])
    with pytest.raises(BudgetError, match="cap"):
        Clients(TASK, tmp_path, cap=(5.0, 1e-6)).reports(people(10))
    with sqlite3.connect(tmp_path / "answers.db") as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (1,)
    assert len(Clients(TASK, tmp_path, cap=(5.0, 1e-6)).reports(people(5))) == 5


def test_a_group_is_encoded_and_randomized_as_its_records_are():
    records = [record for _, record in people(9)] + [{"a": "2", "b": None, "c": 1, "y": 0}]
    rows, labels = encoded_records(TASK, records)
    for place, record in enumerate(records):
        row, label = encoded_records(TASK, [record])
        assert np.array_equal(rows[place : place + 1], row, equal_nan=True)
        assert np.array_equal(labels[place : place + 1], label, equal_nan=True)
    assert fresh_reports(TASK, records, SeededBits(3)) == reports(TASK, rows, labels, SeededBits(3))
    assert fresh_reports(TASK, []) == []


@pytest.mark.parametrize(("dimension", "count"), [(2, 32), (3, 33), (5, 256), (12, 1024), (22, 100), (51, 64)])
def test_the_compiled_loop_gives_the_same_bits(dimension, count, monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(dimension)
    keys = [codebook_key(rng.bytes(32), rng.bytes(16)) for _ in range(40)]
    vectors = rng.normal(size=(40, dimension))
    monkeypatch.setattr(book_scores, "_GROUP", 10 * count * dimension)  # several groups
    monkeypatch.setattr(book_scores, "_COMPILE_AFTER", 10**18)
    plain = book_scores.scores(keys, vectors, count)
    monkeypatch.setattr(book_scores, "_COMPILE_AFTER", -1)
    assert np.array_equal(book_scores.scores(keys, vectors, count), plain)


def test_ties_go_to_the_smaller_number():
    rng = np.random.default_rng(0)
    for _ in range(300):
        count = int(rng.integers(2, 40))
        unit = Unit(2, count, int(rng.integers(1, count)), 3, 1)
        tied = rng.integers(0, 4, size=count).astype(float)
        seed = int(rng.integers(1 << 30))
        draw = below(unit.total, SeededBits(seed))
        order = np.argsort(-tied, kind="stable")
        top, rest = np.sort(order[: unit.top]), np.sort(order[unit.top :])
        high = unit.top * unit.high
        expected = top[draw // unit.high] if draw < high else rest[(draw - high) // unit.low]
        assert unit._choose(tied, SeededBits(seed)) == expected


@pytest.fixture
def files(tmp_path):
    (tmp_path / "task.toml").write_text(TASK.to_toml())
    with open(tmp_path / "people.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["who", "a", "b", "c", "y"])
        writer.writerows([owner, *record.values()] for owner, record in people(9000))
    return tmp_path


def command(folder, out="out"):
    fixed = [folder / "task.toml", "--records", folder / "people.csv", "--id", "who", "--state", folder / "state"]
    new = [] if (folder / "state" / "answers.db").exists() else ["--new"]
    return ["local", "report", *map(str, fixed), *new, "--out", str(folder / out)]


def test_after_kill_9_the_same_reports_come_out_and_no_file_is_half_written(files):
    chance, stored = random.Random(1), {}
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", "from discreet.cli import main; main()", *command(files)])
        while process.poll() is None and len(answers(files)) <= len(stored):
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = answers(files)
        assert stored.items() <= now.items()  # nothing was drawn again
        assert not (files / "out").exists() or (files / "out").stat().st_size == 9000 * TASK.body_size
        stored = now
    assert stored
    assert CliRunner().invoke(main, command(files)).exit_code == 0
    size, content = TASK.body_size, (files / "out").read_bytes()
    bodies = {f"p{place}": content[place * size : (place + 1) * size] for place in range(9000)}
    assert len(content) == 9000 * size
    assert stored.items() <= bodies.items()
    assert CliRunner().invoke(main, command(files, "again")).exit_code == 0
    assert (files / "again").read_bytes() == content


def answers(folder):
    if not (folder / "state" / "answers.db").exists():
        return {}
    connection = sqlite3.connect(folder / "state" / "answers.db", timeout=30)
    try:
        return dict(connection.execute("SELECT owner, body FROM answers"))
    except sqlite3.OperationalError:  # not yet a table
        return {}
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("who,a,b,c,y\n1,1,1,1,1\n,1,1,1,1\n", "record 2 has no id"),
        ("who,a,b,c,y\n1,1,1,1,1\n,,,,\n", "record 2 has no id"),
        ("me,a,b,c,y\n1,1,1,1,1\n", "no column 'who'"),
        ("who,a,b,C,y\n1,1,1,1,1\n", "'c'"),
    ],
)
def test_a_refused_file_leaves_what_was_there(files, text, said):
    (files / "people.csv").write_text(text)
    (files / "out").write_bytes(b"before")
    done = CliRunner().invoke(main, command(files))
    assert done.exit_code == 1
    assert said in done.output
    assert (files / "out").read_bytes() == b"before"
    assert sorted(os.listdir(files)) == ["out", "people.csv", "state", "task.toml"]
