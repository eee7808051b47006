"""A collector that is killed again and again while devices report: shared by the tests and the soak
run.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.service_tools import ServerProcess, made_store, report

from discreet.local import wire
from discreet.local.task import Task
from discreet.service.load import Delivery, LoadResult, deliver
from discreet.service.storage import open_store
from discreet.service.tokens import Keys, Role


@dataclass(frozen=True)
class Survived:
    """What was seen."""

    kills: int
    result: LoadResult
    stored: int


def deliveries_of(task: Task, keys: Keys, n: int, seed: int = 0) -> list[Delivery]:
    rng = np.random.default_rng(seed)
    return [Delivery(report(task, rng), keys.issue(Role.DEVICE)) for _ in range(n)]


def check_counted_once(store: str, task: Task, keys: Keys, deliveries: list[Delivery], result: LoadResult) -> int:
    """Every acknowledged report is in the sum once, and nothing else is: equal to the last bit.
    Returns the count.
    """
    assert result.refused == []
    assert sorted(result.acknowledged) == list(range(len(deliveries)))
    opened = open_store(store, task, keys)
    totals = opened.verified_totals()
    opened.close()
    exact = np.sum([wire.decode(task, delivery.body) for delivery in deliveries], axis=0)
    assert sum(total.count for total in totals) == len(deliveries)
    assert np.array_equal(np.sum([total.values for total in totals], axis=0), exact)
    return len(deliveries)


def kill_under_load(
    folder: Path, store: str, task: Task, *, n: int, kills: int, connections: int, chance: random.Random
) -> Survived:
    """``n`` devices report while the server is killed ``kills`` times, at random moments of its
    work.
    """
    (folder / "task.toml").write_text(task.to_toml())
    keys = made_store(task, store, folder / "key")
    deliveries, result = deliveries_of(task, keys, n), LoadResult()
    server = ServerProcess(folder / "task.toml", store, "--key", str(folder / "key"))
    server.start()
    server.wait_until_healthy()
    work = deliver(server.address, deliveries, connections=connections, give_up=1800, result=result)
    load = threading.Thread(target=asyncio.run, args=(work,), daemon=True)
    load.start()
    done = 0
    try:
        while load.is_alive() and done < kills:
            _wait_for_progress(load, result, chance.uniform(0, 1.6 * n / (kills + 1)))
            if not load.is_alive():
                break
            time.sleep(chance.uniform(0, 0.03))  # anywhere between two commits, or inside one
            server.kill()
            done += 1
            server.start()
            server.wait_until_healthy()
        load.join(1800)
    finally:
        server.stop()
    assert done == kills, f"the load ended after {done} kills"
    return Survived(done, result, check_counted_once(store, task, keys, deliveries, result))


def _wait_for_progress(load: threading.Thread, result: LoadResult, more: float) -> None:
    target = len(result.acknowledged) + more
    while load.is_alive() and len(result.acknowledged) < target:
        time.sleep(0.002)
