"""Malformed tasks, records and reports for both clients: neither may crash or accept an invalid
one.

Three readers judge every input: discreet itself, the JavaScript client as pages are served it (in
Node), and for tasks and reports a plain reading of docs/local_wire.md (tests/local_reference.py),
which shares no code with either. All three must agree.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import shutil
import struct
import subprocess
import threading
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tests.local_reference import is_report, is_task

from discreet.documents import parsed_json
from discreet.domain import Categorical, Domain, Numeric, Public
from discreet.errors import DiscreetError
from discreet.local import Task, new_task, pilot_task, wire
from discreet.local.canonical import canonical_bytes
from discreet.local.client import check_columns, encoded_record, fresh_report

ROOT = Path(__file__).resolve().parents[1]
CLIENT = ROOT / "src" / "discreet" / "service" / "static" / "discreet-client.js"
REFUSED = "refused"
_GROUP = 2000
_SHARES = {"task": 0.4, "wire": 0.4, "record": 0.2}
_ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        "",
        "x",
        "0" * 64,
        "A" * 64,
        "unit",
        "gaussian",
        "goal",
        "paper",
        "2030-02-30",
        "\ud800",
        "\0",
    ),
    *(0, 1, 2, -1, 3, 0.5, -0.0, 1e-7, 1e12, 1e300, 1e308, 5e-324, 2**31, 2**53 - 1, 2**53, 2**64, 10**400),
    *([], {}, [[]], [1], [[1.0]], ["a", "a"], ["a", "b"], ["a", "a\0"], {"name": "x"}, {"kind": "rows"}),
)
_ANSWERS: tuple[Any, ...] = (
    *(
        None,
        "",
        "x",
        "1e3",
        " 7.5 ",
        "-.5e-1",
        "nan",
        "inf",
        "1e400",
        "1_0",
        "0x10",
        "٣",
        "\u00a07",
        "+-1",
        "--1",
        "1e",
        ".",
    ),
    *(True, False, 0, -1, 3.5, -0.0, 1e308, -1e308, 5e-324, 2**53, 2**64, 10**30, 1e21, 1.5e-7, [], {}, [1], {"a": 1}),
    *("yes", "no", "f", "m", "ä", "b", "0", "1.5", "much", "f\0", "F", "\ud800", "1.50", "1e0"),
)


@dataclass
class Tally:
    """How many inputs of each kind were judged, and how many accepted."""

    inputs: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)


class Disagreement(AssertionError):
    """An input that was not judged alike, or made a reader crash."""


def tasks() -> list[Task]:
    """Small ones of each kind that a device may meet."""
    rng = np.random.default_rng(5)
    numbers = Domain.from_bounds(["a", "b"], (-5.0, 5.0))
    levels = Domain((Categorical("ü", ("ä", "b", "0", "1.5")), Numeric("n", 0.1, 0.7)))
    common: dict[str, Any] = {"target": Numeric("y", 0.0, 1.0), "epsilon": 4.0, "goal": 10_000}
    public = {"public": Public(rows=rng.normal(size=(7, 2)))}
    moment = {"public": Public(second_moment=np.diag([1.0, 0.1, 0.2]), n=500)}
    choice = {"target": Categorical("y", ("no", "yes", "much")), "positive": "much"}
    return [
        new_task("rows", domain=numbers, **common, **public, reports="cross"),
        new_task("moments", domain=numbers, **(common | choice | {"epsilon": 1.0}), **moment, reports="cross"),
        new_task("both", domain=levels, **(common | {"target": Numeric("y", -3.0, 12.5)})),
        new_task("no intercept", domain=numbers, **common, fit_intercept=False),
        pilot_task("pilot", domain=levels, **(common | {"epsilon": 0.5, "goal": 1_000_000})),
    ]


def fuzz(tasks: Sequence[Task], count: int, seed: int, *, node: bool) -> Tally:
    """Judge so many inputs; raises Disagreement with the first that is not judged alike."""
    tally, chance = Tally(), random.Random(seed)
    process = _node(tasks) if node else None
    try:
        for start in range(0, count, _GROUP):
            group = list(_inputs(tasks, min(_GROUP, count - start), chance))
            said = [judged(tasks, one) for one in group]
            if process is not None:
                _compare(group, said, process)
            for one, verdict in zip(group, said, strict=True):
                tally.inputs[one["kind"]] += 1
                tally.accepted[one["kind"]] += verdict != REFUSED
    finally:
        if process is not None:
            process.kill()
            process.wait()
    return tally


def node_program() -> str | None:
    return shutil.which("node")


def _node(tasks: Sequence[Task]) -> subprocess.Popen[str]:
    program = node_program()
    assert program is not None
    command = [program, str(ROOT / "tests" / "local_fuzz.mjs"), CLIENT.as_uri()]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdin is not None
    process.stdin.write(json.dumps([task.document.decode() for task in tasks]) + "\n")
    return process


def _compare(group: Sequence[dict[str, Any]], said: Sequence[str], process: subprocess.Popen[str]) -> None:
    """Send a group while its answers are read, so that neither side waits for the other."""
    assert process.stdout is not None
    sender = threading.Thread(target=_send, args=(group, process), daemon=True)
    sender.start()
    for one, expected in zip(group, said, strict=True):
        answer = process.stdout.readline().rstrip("\n")
        if answer != expected:
            raise Disagreement(f"JavaScript says {answer!r}, Python {expected!r}: {json.dumps(one)}")
    sender.join()


def _send(group: Sequence[dict[str, Any]], process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # after a disagreement the rest is not read
        process.stdin.writelines(json.dumps(one) + "\n" for one in group)
        process.stdin.flush()


def judged(tasks: Sequence[Task], one: dict[str, Any]) -> str:
    """What discreet makes of an input, compared with the plain reading of the page; any other
    exception is a crash.
    """
    if one["kind"] == "task":
        return judged_task(bytes.fromhex(one["body"]))
    task = tasks[one["task"]]
    if one["kind"] == "wire":
        return _judged_report(task, bytes.fromhex(one["body"]))
    try:
        check_columns(task, one["record"])
    except DiscreetError:
        return REFUSED
    if one["coins"]:
        return fresh_report(task, one["record"], _Words(bytes.fromhex(one["coins"]))).hex()
    rows, labels = encoded_record(task, one["record"])
    vector = task.statistic.vectors(rows, task.target.scaled(labels))[0]
    if not np.isfinite(vector).all() or float(np.linalg.norm(vector)) > 1 + 1e-9:
        raise Disagreement(f"no vector of the unit ball: {json.dumps(one)}")
    return (vector + 0.0).astype("<f8").tobytes().hex()


def judged_task(body: bytes) -> str:
    """The digest of a task in canonical form that devices may answer; what a file may hold besides
    is checked too.
    """
    try:
        text = body.decode("utf-8")
        content = parsed_json(text, "the task")
        task: Task | None = Task.from_dict(content)
    except (UnicodeDecodeError, DiscreetError):
        task = None
    if task is not None and len(bytes.fromhex(task.digest)) != 32:
        raise Disagreement(f"a task without a digest: {body!r}")
    if task is not None and not (task.randomizer.name == "unit" and task.calibration == "tight"):
        return REFUSED  # of the papers: no client's task
    try:
        canonical = task is not None and canonical_bytes(content) == body
    except DiscreetError:
        canonical = False
    if task is not None and canonical != is_task(body):
        raise Disagreement(f"Python accepts, the page says {is_task(body)}: {body!r}")
    if task is None and is_task(body):
        raise Disagreement(f"Python refuses what the page describes: {body!r}")
    return task.digest if task is not None and canonical else REFUSED


def _judged_report(task: Task, body: bytes) -> str:
    try:
        wire.decode(task, body)
    except wire.WireError:
        accepted = False
    else:
        accepted = True
    if accepted != is_report(task.document, body):
        raise Disagreement(f"a report is {'accepted' if accepted else 'refused'} against the page: {body.hex()}")
    return f"{body[12:28].hex()} {int.from_bytes(body[28:30], 'little')}" if accepted else REFUSED


class _Words:
    """Random words from given bytes."""

    def __init__(self, content: bytes) -> None:
        self._rest = content

    def words(self, count: int) -> np.ndarray:
        taken, self._rest = self._rest[: 8 * count], self._rest[8 * count :]
        return np.frombuffer(taken, dtype="<u8")


# What is tried.


def _inputs(tasks: Sequence[Task], count: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    documents = [one for task in tasks for one in (task.to_dict(design=False), task.to_dict())]
    for kind in chance.choices(list(_SHARES), list(_SHARES.values()), k=count):
        which = chance.randrange(len(tasks))
        if kind == "task":
            yield {"kind": kind, "body": _odd_task(chance.choice(documents), chance).hex()}
        elif kind == "wire":
            yield {"kind": kind, "task": which, "body": _odd_report(tasks[which], chance).hex()}
        else:
            coins = chance.randbytes(80).hex() if chance.random() < 0.1 else ""
            yield {"kind": kind, "task": which, "record": _odd_record(tasks[which], chance), "coins": coins}


def _odd_task(document: dict[str, Any], chance: random.Random) -> bytes:
    content = copy.deepcopy(document)
    if chance.random() < 0.2:
        return _odd_text(canonical_bytes(content), chance)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        _change(content, chance)
    try:
        return canonical_bytes(content)
    except DiscreetError:
        return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _change(content: dict[str, Any], chance: random.Random) -> None:
    """Something else at one place."""
    places = list(_places(content))
    if not places:
        return
    inner, key = chance.choice(places)
    way = chance.random()
    if way < 0.1:
        del inner[key]
    elif way < 0.2 and isinstance(inner, dict):
        inner[chance.choice(("extra", "design", "values", "low", "name", "__proto__"))] = copy.deepcopy(
            chance.choice(_ODD)
        )
    elif way < 0.25 and isinstance(inner, list):
        inner.insert(key, copy.deepcopy(inner[key]))
    elif way < 0.6 and isinstance(inner[key], (int, float)) and abs(inner[key]) < 1e300:
        value = inner[key]
        inner[key] = chance.choice((value + 1, value - 1, -value, value * 2, value / 2, value * (1 + 1e-12)))
    else:
        inner[key] = copy.deepcopy(chance.choice(_ODD))


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    keys: Sequence[Any] = ()
    if isinstance(content, (dict, list)):
        keys = list(content) if isinstance(content, dict) else range(len(content))
    for key in keys:
        yield content, key
        yield from _places(content[key])


def _odd_text(body: bytes, chance: random.Random) -> bytes:
    made = bytearray(body)
    for _ in range(chance.choice((1, 1, 2, 5))):
        place = chance.randrange(len(made))
        way = chance.randrange(4)
        if way == 0:
            made[place] = chance.randrange(256)
        elif way == 1:
            del made[place : place + chance.randrange(1, 9)]
        elif way == 2:
            made[place:place] = chance.choice((b" ", b"0", b"-", b"e5", b"[", b'"', b"\xef\xbb\xbf", b"null,", b"NaN"))
        else:
            made = made[:place] if chance.random() < 0.2 else made + made[place : place + 3]
        made = made or bytearray(b"{")
    return bytes(made)


def _odd_report(task: Task, chance: random.Random) -> bytes:
    """A report of the task with something changed; often with a new checksum, so that the later
    rules are reached.
    """
    payload = chance.randrange(2 * task.randomizer.candidates).to_bytes(4, "little")[:2]  # type: ignore[union-attr]
    body = bytearray(wire.encode(task, payload, chance.randbytes(16)))
    way = chance.randrange(6)
    if way == 0:
        return chance.randbytes(chance.randrange(2 * len(body)))
    if way == 1:
        return bytes(body[: chance.randrange(len(body))])
    if way == 2:
        return bytes(body) + chance.randbytes(chance.randrange(1, 20))
    for _ in range(chance.randrange(4)):
        body[chance.randrange(len(body))] = chance.randrange(256)
    return bytes(body) if way == 3 else bytes(body[:-4]) + struct.pack("<I", zlib.crc32(bytes(body[:-4])))


def _odd_record(task: Task, chance: random.Random) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for column in (*task.columns, task.target):
        values = getattr(column, "values", ())
        way = chance.random()
        if way < 0.02:
            continue
        if way < 0.3:
            record[column.name] = chance.choice(_ANSWERS)
        elif values:
            record[column.name] = chance.choice(values)
        else:
            value = chance.uniform(1.1 * column.low, 1.1 * column.high)  # type: ignore[union-attr]
            record[column.name] = chance.choice((value, round(value), repr(value), f" {value:.3e}\t"))
    return record
