"""The wire format: golden files, and a decoder that refuses everything else without a word about values."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from local_tasks import make_task

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


@pytest.mark.parametrize("name", ["cross", "both"])
def test_golden_reports_decode_to_their_numbers(name):
    task = Task.load(GOLDEN / f"{name}.toml")
    fields = (GOLDEN / f"{name}.txt").read_text(encoding="ascii").split("\n")
    digest, identity, values, body = fields[:4]
    assert task.digest == digest
    numbers = np.array([int(number) for number in values.split()])
    assert wire.encode(task, numbers, bytes.fromhex(identity)).hex() == body
    assert wire.decode(task, bytes.fromhex(body)).tolist() == numbers.tolist()
    assert wire.report_id(bytes.fromhex(body)).hex() == identity


def test_every_value_of_24_bits_survives(any_task):
    rng = np.random.default_rng(1)
    edge = any_task.plan.limit
    for _ in range(50):
        values = np.zeros(any_task.report_entries, dtype=np.int64)
        values[rng.integers(len(values))] = rng.choice([-edge, edge, -1, 1, 0])
        assert wire.decode(any_task, wire.encode(any_task, values, bytes(16))).tolist() == values.tolist()


def test_a_report_longer_than_the_limit_is_refused(task):
    values = np.full(task.report_entries, task.plan.limit)
    with pytest.raises(WireError):
        wire.encode(task, values, bytes(16))
    head = wire.encode(task, np.zeros_like(values), bytes(16))[: wire.HEADER_BYTES]
    packed = head + values.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    with pytest.raises(WireError, match="support"):
        wire.check_body(task, _sealed(packed))


@pytest.mark.parametrize(
    ("place", "reason"), [(0, "not a discreet"), (2, "version"), (3, "round"), (4, "another task"), (12, "damaged")]
)
def test_each_header_field_is_checked(task, body, place, reason):
    broken = bytearray(body)
    broken[place] ^= 1
    with pytest.raises(WireError, match=reason):
        wire.check_body(task, bytes(broken))


def test_reports_of_another_task_are_refused(body):
    with pytest.raises(WireError, match="another task"):
        wire.check_body(make_task(epsilon=3.0), body)


def test_a_hundred_thousand_odd_inputs_raise_nothing_but_wire_errors(task, body):
    rng = np.random.default_rng(2)
    accepted = 0
    reasons = set()
    for _ in range(100_000):
        accepted += _survives(task, _mutant(rng, body), reasons)
    assert accepted > 1000  # some mutations are other valid reports, and the fuzz reaches the last check
    assert len(reasons) >= 6
    for reason in reasons:
        assert re.sub(r"has \d+ bytes|version 1", "", reason).isascii()
        assert not re.search(r"\d", re.sub(r"has \d+ bytes|version 1", "", reason))


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
    assert int(values @ values) <= task.plan.limit**2
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
