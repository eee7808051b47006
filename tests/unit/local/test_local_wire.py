"""The wire format: golden files, and a decoder that refuses everything else without a word about
values.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from local_tasks import kind, make_task

from discreet.local import Client, Collection, Task, WireError, wire
from discreet.local.report_file import read_reports

GOLDEN = Path(__file__).with_name("golden")
RECORD = {"a": 1.0, "b": -2.0, "c": 0.5, "y": 1}


@pytest.fixture(scope="module")
def task():
    return make_task()


@pytest.fixture(scope="module")
def body(task):
    return Client(task).report(RECORD)


@pytest.mark.parametrize("name", ["cross", "both", "mixed", "gaussian"])
def test_golden_reports_decode_to_their_numbers(name):
    task = Task.load(GOLDEN / f"{name}.toml")
    digest, body, values = (GOLDEN / f"{name}.txt").read_text(encoding="ascii").split("\n")[:3]
    assert task.digest == digest
    assert hashlib.sha256(task.document).hexdigest() == digest
    assert Task.from_dict(json.loads(task.document)).digest == digest
    report = bytes.fromhex(body)
    assert wire.decode(task, report).tolist() == [int(number) for number in values.split()]
    assert wire.encode(task, report[28:-4], wire.report_id(report)) == report


def test_every_payload_of_the_unit_randomizer_survives(unit_task):
    for number in (0, 1, unit_task.randomizer.candidates - 1):
        body = wire.encode(unit_task, number.to_bytes(2, "little"), bytes(16))
        assert len(wire.decode(unit_task, body)) == unit_task.report_entries
    beyond = wire.encode(unit_task, unit_task.randomizer.candidates.to_bytes(2, "little"), bytes(16))
    with pytest.raises(WireError, match="support"):
        wire.decode(unit_task, beyond)


def test_every_value_of_24_bits_survives(gaussian_task):
    rng = np.random.default_rng(1)
    edge = gaussian_task.randomizer.limit
    for _ in range(50):
        values = np.zeros(gaussian_task.report_entries, dtype=np.int64)
        values[rng.integers(len(values))] = rng.choice([-edge, edge, -1, 1, 0])
        body = wire.encode(gaussian_task, gaussian_task.randomizer.payload(values), bytes(16))
        assert wire.decode(gaussian_task, body).tolist() == values.tolist()
    values = np.full(gaussian_task.report_entries, edge)
    with pytest.raises(WireError, match="support"):
        wire.decode(gaussian_task, wire.encode(gaussian_task, gaussian_task.randomizer.payload(values), bytes(16)))


@pytest.mark.parametrize(
    ("place", "reason"),
    [(0, "not a discreet"), (2, "version"), (3, "randomizer"), (4, "another task"), (12, "damaged")],
)
def test_each_header_field_is_checked(task, body, place, reason):
    broken = bytearray(body)
    broken[place] ^= 1
    with pytest.raises(WireError, match=reason):
        wire.decode(task, bytes(broken))


def test_reports_of_another_task_are_refused(body):
    with pytest.raises(WireError, match="another task"):
        wire.decode(make_task(epsilon=3.0), body)


@pytest.mark.parametrize("name", ["cross", "gaussian"])
def test_forty_thousand_odd_inputs_raise_nothing_but_wire_errors(name):
    task = kind(name)
    body = Client(task).report(RECORD)
    rng = np.random.default_rng(2)
    accepted = 0
    reasons = set()
    for _ in range(40_000):
        accepted += _survives(task, _mutant(rng, body), reasons)
    assert accepted > 1000  # some mutations are other valid reports, and the fuzz reaches the last check
    assert len(reasons) >= 6
    for reason in reasons:
        assert re.sub(r"has \d+ bytes|version 2", "", reason).isascii()
        assert not re.search(r"\d", re.sub(r"has \d+ bytes|version 2", "", reason))


def _mutant(rng, body):
    kind = rng.integers(6)
    if kind == 0:
        return rng.bytes(rng.integers(0, 2 * len(body)))
    broken = bytearray(body)
    if kind == 1:
        return bytes(broken[: rng.integers(len(broken))])
    if kind == 2:
        return bytes(broken) + rng.bytes(rng.integers(1, 20))
    for _ in range(rng.integers(1, 4)):
        broken[rng.integers(len(broken))] = rng.integers(256)
    if kind == 3:
        return bytes(broken)
    if kind == 4:
        broken[wire.HEADER_BYTES : -4] = rng.bytes(len(broken) - wire.HEADER_BYTES - 4)
    return _sealed(bytes(broken[:-4]))  # with a right check sum, so that the rules behind it are reached


def _sealed(content):
    return content + zlib.crc32(content).to_bytes(4, "little")


def _survives(task, body, reasons):
    try:
        values = wire.decode(task, body)
    except WireError as error:
        reasons.add(str(error))
        return False
    assert float(np.linalg.norm(values)) * task.randomizer.unit <= task.randomizer.longest * (1 + 1e-5)
    return True


def test_a_file_counts_each_report_once(task, tmp_path):
    bodies = [Client(task).report(RECORD) for _ in range(5)]
    path = tmp_path / "reports"
    path.write_bytes(b"".join([*bodies, bodies[0], bodies[3]]))
    collection = read_reports(task, path)
    assert collection.count == 5
    expected = Collection(task)
    for body in bodies:
        expected.add(wire.decode(task, body))
    assert collection.total.tolist() == expected.total.tolist()
    path.write_bytes(b"".join(bodies)[:-1])
    with pytest.raises(WireError):
        read_reports(task, path)


def test_sums_are_exact_beyond_64_bits(task):
    collection = Collection(task)
    huge = np.array([2**62] * task.report_entries)
    for _ in range(8):
        collection.add_sum(huge, 2**40)
    assert collection.total.tolist() == [2**65] * task.report_entries
    assert collection.count == 2**43
