"""Makes what clients in every language must agree on: golden files and
clients/js/test/vectors.json.

Run from the repository: PYTHONPATH=tests/unit/local python tests/unit/local/make_vectors.py
"""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
from local_tasks import kind, make_task

from discreet.domain import Categorical, Domain, Numeric, Public
from discreet.errors import DiscreetError
from discreet.local import Task, wire
from discreet.local.client import fresh_report
from discreet.noise import SeededBits

HERE = Path(__file__).parent
VECTORS = HERE.parents[2] / "clients" / "js" / "test" / "vectors.json"
REPORTS, VERDICTS = 1000, 700
ODD = [None, "", "x", "1e3", " 7.5 ", "-.5e-1", "nan", "1_0", True, False, 0, -1, 3.5, 1e308, -1e308, 5e-324, [], {}]
WRONG = [None, True, "x", "", -1, 0, 0.5, 1, 2, 1e300, [], {}, [[1]], "0" * 64, 2**53 - 1]


class Words:
    """Random words from a test's bytes."""

    def __init__(self, content: bytes) -> None:
        self._rest = content

    def words(self, count: int) -> np.ndarray:
        taken, self._rest = self._rest[: 8 * count], self._rest[8 * count :]
        return np.frombuffer(taken, dtype="<u8")


def tasks() -> list[Task]:
    """One of each kind that a device may meet, small and large."""
    rng = np.random.default_rng(0)
    wide = Domain((*(Numeric(f"x{j}", -4.0, 4.0) for j in range(20)),))
    levels = Domain((Categorical("ü", ("ä", "b", "0", "1.5")), Numeric("n", 0.1, 0.7)))
    return [
        kind("cross"),
        kind("both"),
        kind("no_intercept"),
        kind("category_label"),
        kind("mixed"),
        make_task(domain=wide, public=Public(rows=rng.normal(size=(300, 20))), epsilon=1.0),
        make_task(domain=levels, public=None, epsilon=8.0, target=Numeric("y", -3.0, 12.5)),
        make_task(epsilon=0.3, target=Categorical("y", ("none", "some", "much")), positive="much"),
        kind("pilot"),
    ]


def record(task: Task, rng: np.random.Generator) -> dict[str, object]:
    """Mostly sensible answers, some odd ones."""
    made: dict[str, object] = {}
    for column in (*task.columns, task.target):
        values = getattr(column, "values", ())
        if rng.random() < 0.04:
            made[column.name] = ODD[rng.integers(len(ODD))]
        elif values:
            made[column.name] = values[rng.integers(len(values))]
        else:
            spread = column.high - column.low
            value = float(column.low + spread * (rng.random() * 1.2 - 0.1))
            made[column.name] = [value, round(value), repr(value), f" {value:.4f}"][rng.integers(4)]
    return made


def reports(offered: list[Task]) -> list[dict[str, object]]:
    rng = np.random.default_rng(1)
    made = []
    for number in range(REPORTS):
        which = number % len(offered)
        answers, coins = record(offered[which], rng), rng.bytes(80)
        body = fresh_report(offered[which], answers, Words(coins))
        made.append({"task": which, "record": answers, "random": coins.hex(), "body": body.hex()})
    return made


def places(content: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Every place in a document."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


def changed(content: dict[str, object], path: list[object], value: object) -> dict[str, object]:
    """The document with something else at one place; the string "delete" takes it away."""
    made = copy.deepcopy(content)
    inner = made
    for step in path[:-1]:
        inner = inner[step]  # type: ignore[index,assignment]
    if value == "delete":
        del inner[path[-1]]  # type: ignore[arg-type]
    else:
        inner[path[-1]] = value  # type: ignore[index]
    return made


def verdicts(offered: list[Task]) -> list[dict[str, object]]:
    """Documents with one thing changed, and whether they are still tasks."""
    rng = np.random.default_rng(2)
    made = []
    for number in range(VERDICTS):
        which = number % len(offered)
        content = json.loads(offered[which].document)
        found = [path for path in places(content) if path]
        path = list(found[rng.integers(len(found))])
        value = "delete" if rng.random() < 0.1 else WRONG[rng.integers(len(WRONG))]
        if rng.random() < 0.1:
            path, value = [*path[:-1], "extra"] if isinstance(path[-1], str) else path, 1
        made.append({"task": which, "path": path, "value": value, "digest": verdict(changed(content, path, value))})
    return made


def verdict(content: dict[str, object]) -> str | None:
    """The digest of a document that is a task, None of any other."""
    try:
        task = Task.from_dict(content)
    except DiscreetError:
        return None
    return task.digest if task.randomizer.name == "unit" and task.calibration == "tight" else None


def golden() -> None:
    answers = {"a": 1.0, "b": -2.0, "c": 0.5, "y": 1, "age": 30, "sex": "m"}
    for name in ("cross", "both", "mixed", "gaussian"):
        task = kind(name)
        body = fresh_report(task, answers, SeededBits(7))
        (HERE / "golden" / f"{name}.toml").write_text(task.to_toml(), encoding="utf-8")
        values = " ".join(map(str, wire.decode(task, body).tolist()))
        (HERE / "golden" / f"{name}.txt").write_text(f"{task.digest}\n{body.hex()}\n{values}\n", encoding="ascii")


def main() -> None:
    golden()
    offered = tasks()
    content = {
        "tasks": [{"digest": task.digest, "document": task.document.decode()} for task in offered],
        "reports": reports(offered),
        "verdicts": verdicts(offered),
    }
    lines = json.dumps(content, ensure_ascii=False, indent=None, separators=(",", ":")).replace(
        '},{"task"', '},\n{"task"'
    )
    VECTORS.write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
