"""The commands that run a collection, one after the other, as the how-to shows them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest
from tests.service_tools import serving, small_task


@pytest.fixture
def discreet(tmp_path):
    def run(*arguments, expect=0):
        command = [sys.executable, "-c", "from discreet.cli import main; main()", "local", *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def test_a_collection_from_its_tokens_to_its_fit(tmp_path, discreet):
    task = small_task(goal=5000)
    path, store = tmp_path / "task.toml", tmp_path / "reports.db"
    path.write_text(task.to_toml())
    discreet("tokens", "--store", store, "--role", "device", "--count", "400", "--out", "tokens.txt")
    assert stat.S_IMODE(os.stat(tmp_path / "tokens.txt").st_mode) == 0o600
    with serving(path, str(store)) as server:
        load = ("simulate", "--task", path, "--n", "400", "--http", server.address)
        assert "400 acknowledged" in discreet(*load, "--tokens", "tokens.txt", "--connections", "16")
        # The same tokens again, with other reports: every one is refused.
        assert "400 reports were not acknowledged" in discreet(*load, "--tokens", "tokens.txt", expect=1)
    assert "400 reports, each intact and counted once" in discreet("verify", "--task", path, "--store", store)
    assert "logistic, 400 reports" in discreet("fit", path, "--store", store)
    assert "closed batch 0" in discreet("close", "--task", path, "--store", store)
    assert "holds no report" in discreet("fit", path, "--store", store, "--batch", "1", expect=1)


def test_a_wrong_option_is_one_line(tmp_path, discreet):
    path = tmp_path / "task.toml"
    path.write_text(small_task().to_toml())
    assert "needs --key" in discreet("tokens", "--store", "postgresql://x/y", "--role", "device", expect=2)
    assert "a model is one of" in discreet("serve", "--task", path, "--store", "r.db", "--model", "magic", expect=1)
    assert "needs --tokens" in discreet("simulate", "--task", path, "--http", "http://127.0.0.1:9", expect=2)
    assert "either REPORTS or --store" in discreet("fit", path, expect=2)


def test_an_issued_token_is_printed_alone(discreet):
    text = discreet("tokens", "--store", "reports.db", "--role", "analyst", "--days", "7")
    assert text.startswith("analyst-")
    assert len(text.split()) == 1
