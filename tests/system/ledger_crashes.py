"""Processes that pay from a ledger and die: shared by the crash tests and the soak run."""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.errors import BudgetError
from discreet.privacy import GDP, Ledger

COST = GDP(0.001)

# Between two of these calls nothing outside the process changes, so a kill before each is a kill
# anywhere; what is inside them (SQLite's own commit) only a kill at a random time reaches.
VISIBLE = {"open", "close", "write", "pwrite", "ftruncate", "fsync", "fdatasync", "replace", "unlink", "mkdir", "flock"}
VISIBLE |= {"connect", "execute"}


def release(ledger: Ledger, key: str) -> int:
    """One release as a curator does it: charge, draw, store, and hand out what was stored."""
    ledger.charge(COST, label=f"release {key}", key=key)
    return ledger.store(key, {"draw": secrets.randbits(80)})["draw"]


def fit(ledger: Ledger, key: str) -> list[int]:
    """A fit as a curator does it: one charge for all, each answer drawn, stored and handed out, and
    at last a list.
    """
    ledger.reserve([COST], label=f"fit {key}", key=key)
    shares = [GDP(COST.mu * 0.6), GDP(COST.mu * 0.8)]
    drawn = []
    for number, share in enumerate(shares):
        paid = (("answer", share),)
        answer = ledger.stored(key, part=str(number), releases=paid)
        if answer is None:
            answer = ledger.store(key, {"draw": secrets.randbits(80)}, part=str(number), releases=paid)
        drawn.append(answer["draw"])
    ledger.finish(key, tuple(("answer", share) for share in shares))
    return drawn


def fork(work: Callable[[], Any]) -> tuple[int, int]:
    """Run ``work`` in a child; returns its process id and a pipe from which its result can be read
    as JSON.
    """
    read_end, write_end = os.pipe()
    process = os.fork()
    if process:
        os.close(write_end)
        return process, read_end
    status = 1
    try:
        os.write(write_end, json.dumps(work()).encode())
        status = 0
    finally:
        os._exit(status)


def outcome(process: int, pipe: int) -> tuple[Any, bool]:
    """What the child handed out before it ended (None if nothing), and whether it was killed."""
    with os.fdopen(pipe) as reader:
        text = reader.read()
    _, status = os.waitpid(process, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if not killed and status:
        raise AssertionError("a child failed; its traceback is above")
    return (json.loads(text) if text else None), killed


def killed_at(work: Callable[[], Any], delay: float) -> Any:
    """kill -9 from outside after ``delay`` seconds."""
    process, pipe = fork(work)
    time.sleep(delay)
    os.kill(process, signal.SIGKILL)
    return outcome(process, pipe)[0]


def visible_steps(work: Callable[[], Any]) -> list[str]:
    """The names of all steps of ``work`` that another process could notice, in order."""
    process, pipe = fork(lambda: _traced(work, stop_at=-1))
    return outcome(process, pipe)[0]


def killed_at_step(work: Callable[[], Any], step: int) -> Any:
    """The process kills itself with -9 just before this step of ``visible_steps``."""
    process, pipe = fork(lambda: _traced(work, stop_at=step))
    handed_out, killed = outcome(process, pipe)
    assert killed, f"step {step} was never reached"
    return handed_out


def _traced(work: Callable[[], Any], stop_at: int) -> list[str]:
    steps: list[str] = []

    def watch(frame: Any, event: str, function: Any) -> None:
        if event == "c_call" and function.__name__ in VISIBLE:
            if len(steps) == stop_at:
                os.kill(os.getpid(), signal.SIGKILL)
            steps.append(f"{function.__name__} in {frame.f_code.co_name}")

    sys.setprofile(watch)
    work()
    sys.setprofile(None)
    return steps


def first_step_after_commit(steps: list[str]) -> int:
    """The entry of the last append is in the tables, or in the tail and not yet synced; its mark is
    not written.
    """
    commits = ("execute in writing", "pwrite in append")
    return max(number for number, name in enumerate(steps) if name in commits) + 1


# What ledger_tail.BURST must be for every append to go to the tables, or to the tail.
TO_TABLES, TO_TAIL = 10**9, 0


def attempts(ledger: Ledger, cost: GDP, number: int) -> int:
    """How many of this many attempts were granted."""
    granted = 0
    for _ in range(number):
        try:
            ledger.charge(cost, label="attempt")
            granted += 1
        except BudgetError:
            pass
    return granted


def check_after_crash(path: Path, key: str, handed_out: Any, work: Callable[[Ledger, str], Any] = release) -> None:
    """Everything that was released was paid; the same key returns it again and pays once."""
    ledger = Ledger(path)
    paid = [entry.key for entry in ledger.history]
    if handed_out is not None:
        assert key in paid, "a result was handed out that nobody paid for"
    again = work(ledger, key)
    ledger.verify()
    assert handed_out in (None, again), "a retry gave another result"
    assert [entry.key for entry in ledger.history].count(key) == 1, "a retry paid twice"
    assert [entry.key for entry in ledger.history if entry.key != key] == [other for other in paid if other != key]
