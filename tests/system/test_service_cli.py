"""The commands that run a collection, one after the other, as the how-to shows them."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.service_tools import postgresql, postgresql_programs, serving, small_task

from discreet.cli import main


@pytest.fixture
def discreet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments, expect=0):
        done = CliRunner().invoke(main, ["local", *map(str, arguments)])
        assert done.exit_code == expect, done.output
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done.output

    return run


def test_a_collection_from_its_tokens_to_its_fit(tmp_path, discreet):
    task = small_task(goal=5000)
    path, store = tmp_path / "task.toml", tmp_path / "reports.db"
    path.write_text(task.to_toml())
    assert "back it up" in discreet("create", "--task", path, "--store", store)
    discreet("tokens", "--store", store, "--role", "device", "--count", "400", "--out", "tokens.txt")
    assert stat.S_IMODE(os.stat(tmp_path / "tokens.txt").st_mode) == 0o600
    with serving(path, str(store)) as server:
        load = ("simulate", "--task", path, "--n", "400", "--http", server.address)
        assert "400 acknowledged" in discreet(*load, "--tokens", "tokens.txt", "--connections", "16")
        # The same tokens again, with other reports: every one is refused.
        assert "400 reports were not acknowledged" in discreet(*load, "--tokens", "tokens.txt", expect=1)
        # A store that is read while it is in use.
        assert "400 reports (public)" in discreet("fit", path, "--store", store)
    assert "400 reports, each intact and counted once" in discreet("verify", "--task", path, "--store", store)
    assert "400 reports (public)" in discreet("fit", path, "--store", store)
    assert "closed batch 0" in discreet("close", "--task", path, "--store", store)
    assert "holds no report" in discreet("fit", path, "--store", store, "--batch", "1", expect=1)


def test_a_wrong_option_is_one_line(tmp_path, discreet):
    path = tmp_path / "task.toml"
    path.write_text(small_task().to_toml())
    assert "needs --key" in discreet("tokens", "--store", "postgresql://x/y", "--role", "device", expect=2)
    assert "a model is one of" in discreet("serve", "--task", path, "--store", "r.db", "--model", "magic", expect=1)
    assert "needs --tokens" in discreet("simulate", "--task", path, "--http", "http://127.0.0.1:9", expect=2)
    assert "either REPORTS or --store" in discreet("fit", path, expect=2)


def test_a_misspelt_store_makes_nothing(tmp_path, discreet):
    path = tmp_path / "task.toml"
    path.write_text(small_task().to_toml())
    discreet("create", "--task", path, "--store", "reports.db")
    before = sorted(tmp_path.iterdir())
    for command in (
        ("serve", "--task", path, "--store", "reprots.db"),
        ("tokens", "--store", "reprots.db", "--role", "device"),
        ("close", "--task", path, "--store", "reprots.db"),
        ("verify", "--task", path, "--store", "reprots.db"),
        ("fit", path, "--store", "reprots.db"),
        ("serve", "--task", path, "--store", "reprots.db", "--key", "reports.db.key"),
    ):
        text = discreet(*command, expect=1)
        assert "discreet local create" in text
        assert "did you mean reports.db?" in text or "--key" in command
    assert "already" in discreet("create", "--task", path, "--store", "reports.db", expect=1)
    assert sorted(tmp_path.iterdir()) == before


def test_a_store_without_its_key_makes_no_other_key(tmp_path, discreet):
    path = tmp_path / "task.toml"
    path.write_text(small_task().to_toml())
    discreet("create", "--task", path, "--store", "reports.db")
    (tmp_path / "reports.db.key").rename(tmp_path / "elsewhere")
    assert "no key" in discreet("verify", "--task", path, "--store", "reports.db", expect=1)
    assert "already" in discreet("create", "--task", path, "--store", "reports.db", expect=1)
    assert not (tmp_path / "reports.db.key").exists()
    assert "no report" in discreet("verify", "--task", path, "--store", "reports.db", "--key", "elsewhere")


@pytest.mark.parametrize("address", ["postgresql://me:geheim@host/db", "postgresql://host/db?password=geheim"])
def test_a_password_on_the_command_line_is_refused_and_not_repeated(discreet, address):
    text = discreet("tokens", "--store", address, "--key", "k", "--role", "device", expect=2)
    assert "PGPASSWORD, --password-file" in " ".join(text.split())
    assert "geheim" not in text


def test_a_password_comes_from_a_file_or_the_environment(tmp_path, discreet, monkeypatch):
    if postgresql_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg")
    monkeypatch.delenv("PGPASSWORD", raising=False)
    (tmp_path / "task.toml").write_text(small_task().to_toml())
    (tmp_path / "secret").write_text("geheim\n")
    with (
        tempfile.TemporaryDirectory(prefix="discreet-pg-") as folder,
        postgresql(Path(folder), password="geheim") as address,
    ):
        place = ("--task", "task.toml", "--store", address, "--key", "key")
        assert "password" in discreet("create", *place, expect=1)
        assert not (tmp_path / "key").exists()
        discreet("create", *place, "--password-file", "secret")
        monkeypatch.setenv("PGPASSWORD", "geheim")
        assert "no report" in discreet("verify", *place)
        monkeypatch.delenv("PGPASSWORD")
        monkeypatch.setenv("DISCREET_STORE", address.replace("tester@", "tester:geheim@"))
        assert "no report" in discreet("verify", "--task", "task.toml", "--key", "key")


def test_an_issued_token_is_printed_alone(tmp_path, discreet):
    (tmp_path / "task.toml").write_text(small_task().to_toml())
    discreet("create", "--task", "task.toml", "--store", "reports.db")
    text = discreet("tokens", "--store", "reports.db", "--role", "analyst", "--days", "7")
    assert text.startswith("analyst-")
    assert len(text.split()) == 1
