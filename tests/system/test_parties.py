"""Five organisations, five processes, five files and ledgers: from the plan to the fit, with a kill on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.parties import Plan
from discreet.privacy import Ledger

PEOPLE = 4000
COLUMNS = {"a": ["x0", "x1"], "b": ["x2"], "c": ["x3", "x4"], "d": ["group"], "e": ["y"]}
pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")


def plan_text(**more) -> str:
    lines = ["format = 1", 'name = "five"', 'key = "id"', f"people = {PEOPLE}", "epsilon = 20.0", "delta = 1e-6"]
    lines += ['seed = "five parties"', 'label = "y"', *(f"{name} = {value}" for name, value in more.items())]
    for party, columns in COLUMNS.items():
        for column in columns:
            declared = ['values = ["u", "v"]'] if column == "group" else ["low = -1.0", "high = 1.0"]
            lines += [f"[parties.{party}.columns.{column}]", *declared]
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    """Each party has a folder of its own, with its columns in its own order of rows; some write CSV."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-1, 1, (PEOPLE, 5)), columns=[f"x{i}" for i in range(5)])
    frame["group"] = np.where(rng.random(PEOPLE) < 0.5, "u", "v")
    frame["y"] = 0.5 * frame["x0"] - 0.3 * frame["x3"] + 0.15 * (frame["group"] == "v")
    frame["id"] = rng.permutation(10**6)[:PEOPLE]
    (tmp_path / "plan.toml").write_text(plan_text())
    for number, (party, columns) in enumerate(COLUMNS.items()):
        (tmp_path / party).mkdir()
        own = frame[["id", *columns]].sample(frac=1, random_state=number)
        if number % 2:
            own.to_csv(tmp_path / party / "data.csv", index=False)
        else:
            own.to_parquet(tmp_path / party / "data.parquet")
    return tmp_path


def data_of(folder: Path, party: str) -> Path:
    return next(path for path in (folder / party).iterdir() if path.suffix in (".csv", ".parquet"))


def arguments(folder: Path, party: str, out: str = "out.release") -> list[str]:
    data = data_of(folder, party)
    plan, target = folder / "plan.toml", folder / party / out
    return ["parties", "release", *("--plan", str(plan)), "--party", party, "--data", str(data), "--out", str(target)]


def start(folder: Path, party: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from discreet.cli import main; main()", *arguments(folder, party)]
    return subprocess.Popen(command, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(*command: str) -> str:
    result = CliRunner().invoke(main, list(command))
    assert result.exit_code == 0, result.output
    return result.output


def test_five_processes_release_and_the_joint_fit_finds_the_model(folder):
    running = {party: start(folder, party) for party in COLUMNS}
    for process in running.values():
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors.decode()
    releases = [str(folder / party / "out.release") for party in COLUMNS]
    text = run("parties", "fit", "--label", "y", *releases, "--out", str(folder / "model.json"))
    assert "one person across all 5 releases" in text
    assert text.count("release alone: epsilon 20 ") == 5
    coef = json.loads((folder / "model.json").read_text())["coef"]
    assert coef["x0"] == pytest.approx(0.5, abs=0.2)
    assert coef["x3"] == pytest.approx(-0.3, abs=0.2)
    assert abs(coef["x1"]) < 0.17


def test_printed_methods_go_from_plan_to_fit(folder):
    """DGM's release is trained as DGM and as BGM, RMGM's as RMGM; each fit tells what the noise really gives."""
    for method, trainings in (("dgm", ("dgm", "bgm")), ("rmgm", ("rmgm",))):
        text = plan_text(method=f'"{method}"', calibration='"paper"').replace("epsilon = 20.0", "epsilon = 1.0")
        (folder / "plan.toml").write_text(text)
        releases = []
        for party in COLUMNS:
            out = f"{method}.release"
            run(*arguments(folder, party, out), "--ledger", str(folder / party / f"{method}.ledger"))
            releases.append(str(folder / party / out))
        for training in trainings:
            fitted = run("parties", "fit", "--label", "y", *releases, "--training", training)
            assert f"{training.upper()}-OLS as printed" in fitted
            # Parties with one column of two are hidden by noise made for two: stronger than epsilon 1.
            own = {line.split("'s")[0].split()[-1]: line for line in fitted.splitlines() if "release alone" in line}
            told = {party: float(line.split("epsilon ")[1].split()[0]) for party, line in own.items()}
            assert told["b"] < told["a"] < 1
            assert ("who is in the data is public" in fitted) == (method == "dgm")
        assert "as printed, not by" in refused(
            "parties", "fit", "--label", "y", *releases, "--training", "dgm" if method == "rmgm" else "rmgm"
        )


def test_dgm_with_tight_noise_goes_from_plan_to_fit(folder):
    (folder / "plan.toml").write_text(plan_text(method='"dgm"'))
    for party in COLUMNS:
        run(*arguments(folder, party))
    releases = [str(folder / party / "out.release") for party in COLUMNS]
    text = run("parties", "fit", "--label", "y", *releases)
    assert text.count("release alone: epsilon 20 ") == 5
    assert "given again at no cost" in run(*arguments(folder, "a", "again.release"))
    assert (folder / "a" / "again.release").read_bytes() == (folder / "a" / "out.release").read_bytes()


def test_too_few_people_are_told_to_the_party_alone(folder):
    frame = pd.read_parquet(folder / "a" / "data.parquet")
    frame.iloc[:-1].to_parquet(folder / "a" / "data.parquet")
    message = refused(*arguments(folder, "a"))
    assert f"a has {PEOPLE - 1} rows, but plan 'five' needs at least {PEOPLE}; nothing was spent" in message
    assert not list((folder / "a").glob("*.release"))
    assert not Ledger(folder / "a" / "data.ledger").history


def test_people_missing_at_one_party_are_told_and_priced(folder):
    (folder / "plan.toml").write_text(plan_text().replace(f"people = {PEOPLE}", f"people = {PEOPLE // 2}"))
    data = folder / "b" / "data.csv"
    pd.read_csv(data).iloc[: 3 * PEOPLE // 4].to_csv(data, index=False)
    for party in COLUMNS:
        run(*arguments(folder, party))
    text = run("parties", "fit", "--label", "y", *(str(folder / party / "out.release") for party in COLUMNS))
    assert f"{PEOPLE // 4} people are missing at b" in text
    assert "% more than if nobody were missing" in text


def test_kill_leaves_no_file_and_a_retry_gives_one_release(folder):
    out, ledger = folder / "a" / "out.release", folder / "a" / "data.ledger"
    for delay in (0.6, 1.0, 1.4, 1.8):
        process = start(folder, "a")
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        if out.exists():  # the kill came too late
            break
    run(*arguments(folder, "a"))
    first = out.read_bytes()
    spent = Ledger(ledger).spent
    assert spent.mu <= Plan.from_toml(folder / "plan.toml").party("a").budget.mu
    assert "given again at no cost" in run(*arguments(folder, "a", "again.release"))
    assert (folder / "a" / "again.release").read_bytes() == first
    assert Ledger(ledger).spent == spent


def test_kill_between_charge_and_file_gives_the_same_release(folder, monkeypatch):
    """The file is lost after everything was paid and stored: the retry writes the stored release."""
    import discreet.parties.release_file as files

    def killed(path, data):
        lost.append(data)
        raise KeyboardInterrupt

    lost: list[bytes] = []
    with monkeypatch.context() as patch:
        patch.setattr(files, "write_whole", killed)
        result = CliRunner().invoke(main, arguments(folder, "b"))
    assert result.exit_code != 0
    assert not list((folder / "b").glob("*.release"))
    run(*arguments(folder, "b"))
    assert (folder / "b" / "out.release").read_bytes() == lost[0]


def refused(*command: str) -> str:
    result = CliRunner().invoke(main, list(command))
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    return result.output


def test_bad_input_is_refused_in_one_line(folder):
    release = arguments(folder, "a")
    assert "has no party 'z'" in refused(*["z" if word == "a" else word for word in release])
    assert "has no column 'x2'" in refused(*[word if word != "a" else "b" for word in release])
    assert not list((folder / "a").glob("*.release"))
    assert "cannot read" in refused("parties", "fit", "--label", "y", str(folder / "nothing.release"))
    (folder / "other.toml").write_text(plan_text(mixes=77))
    assert "plans differ" in refused("parties", "plan", "check", str(folder / "plan.toml"), str(folder / "other.toml"))


def test_plan_commands_explain(folder):
    assert "stands at every party" in run("parties", "plan", "show", str(folder / "plan.toml"))
    assert "the plan is valid" in run("parties", "plan", "check", str(folder / "plan.toml"))
    new = ["parties", "plan", "new", str(folder / "new.toml"), "--name", "n", "--key", "id", "--people", "10"]
    new += ["--epsilon", "1", "--delta", "1e-6", "--party", "a=x,y", "--party", "b=z"]
    run(*new)
    assert "the plan is valid" in run("parties", "plan", "check", str(folder / "new.toml"))
    assert "File exists" in refused(*new)
    printed = [str(folder / "printed.toml") if word == str(folder / "new.toml") else word for word in new]
    run(*printed, "--method", "dgm", "--calibration", "paper")
    assert "who is in the data is public" in run("parties", "plan", "show", str(folder / "printed.toml"))


def test_align_counts_shared_people_without_showing_keys(folder):
    (folder / "salt").write_text("a secret of the five parties")
    frame = pd.read_parquet(folder / "a" / "data.parquet")
    frame.iloc[:1000].to_parquet(folder / "a" / "data.parquet")
    for party in "ab":
        data = data_of(folder, party)
        command = ["--plan", str(folder / "plan.toml"), "--party", party, "--data", str(data)]
        run("parties", "align", *command, "--salt-file", str(folder / "salt"), "--out", str(folder / f"{party}.keys"))
    text = run("parties", "align", str(folder / "a.keys"), str(folder / "b.keys"))
    assert "a and b  1000" in text
    assert str(frame["id"].iloc[0]).encode() not in (folder / "a.keys").read_bytes()
    (folder / "b.keys").write_bytes((folder / "b.keys").read_bytes()[:-5])
    assert "cut short" in refused("parties", "align", str(folder / "a.keys"), str(folder / "b.keys"))
