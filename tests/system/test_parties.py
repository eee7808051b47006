"""Five organisations, five processes, five files and ledgers: from the plan to the fit, with a kill
on the way.
"""

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

import discreet
from discreet.cli import main
from discreet.parties import Plan
from discreet.privacy import Ledger

PEOPLE = 4000
# Neither parties nor columns stand in the order of their names.
COLUMNS = {"e": ["y"], "a": ["x1", "x0"], "b": ["x2"], "c": ["x4", "x3"], "d": ["group"]}
pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")


def plan_text(**more) -> str:
    lines = ["format = 2", 'name = "five"', 'key = "id"', f"people = {PEOPLE}", "epsilon = 20.0", "delta = 1e-6"]
    lines += ['seed = "five parties"', 'label = "y"', *(f"{name} = {value}" for name, value in more.items())]
    for party, columns in COLUMNS.items():
        lines += ["[[parties]]", f'name = "{party}"']
        for column in columns:
            declared = ['values = ["u", "v"]'] if column == "group" else ["low = -1.0", "high = 1.0"]
            lines += ["[[parties.columns]]", f'name = "{column}"', *declared]
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    """Each party has a folder of its own, with its columns in its own order of rows; some write
    CSV.
    """
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-1, 1, (PEOPLE, 5)), columns=[f"x{i}" for i in range(5)])
    frame["group"] = np.where(rng.random(PEOPLE) < 0.5, "u", "v")
    frame["y"] = 0.5 * frame["x0"] - 0.3 * frame["x3"] + 0.15 * (frame["group"] == "v")
    frame["id"] = rng.permutation(10**6)[:PEOPLE]
    (tmp_path / "plan.toml").write_text(plan_text())
    for number, (party, columns) in enumerate(COLUMNS.items()):
        (tmp_path / party).mkdir()
        own = frame[["id", *columns]].sample(frac=1, random_state=number)
        if party in "bd":
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
    results = discreet.load(folder / "model.json").results_
    coef = dict(zip(results.names, results.shrunk, strict=True))
    assert coef["x0"] == pytest.approx(0.5, abs=0.2)
    assert coef["x3"] == pytest.approx(-0.3, abs=0.2)
    assert abs(coef["x1"]) < 0.17


def test_printed_methods_go_from_plan_to_fit(folder):
    """DGM's release is trained as DGM and as BGM, RMGM's as RMGM; each fit tells what the noise
    really gives.
    """
    for method, trainings in (("dgm", ("dgm", "bgm")), ("rmgm", ("rmgm",))):
        text = plan_text(method=f'"{method}"', calibration='"paper"').replace("epsilon = 20.0", "epsilon = 1.0")
        (folder / "plan.toml").write_text(text)
        releases = []
        for party in COLUMNS:
            out = f"{method}.release"
            ledger = Ledger.create(folder / party / f"{method}.ledger", epsilon=1.0, delta=1e-6)
            run(*arguments(folder, party, out), "--ledger", str(ledger.path))
            releases.append(str(folder / party / out))
        for training in trainings:
            fitted = run("parties", "fit", "--label", "y", *releases, "--training", training)
            assert f"{training.upper()}-OLS as printed" in fitted
            # Parties with one column of two are hidden by noise made for two: stronger than epsilon
            # 1.
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
    assert not list((folder / "a").glob("*.ledger"))


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
    swapped = plan_text().replace('"x1"', '"x9"').replace('"x0"', '"x1"').replace('"x9"', '"x0"')
    (folder / "other.toml").write_text(swapped)
    told = refused("parties", "plan", "check", str(folder / "plan.toml"), str(folder / "other.toml"))
    assert "party a: columns in another order, x1, x0 and x0, x1" in told


def test_plan_commands_explain(folder):
    shown = run("parties", "plan", "show", str(folder / "plan.toml"))
    assert "is at every party" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80, "lines fit into a usual terminal"
    assert "the plan is valid" in run("parties", "plan", "check", str(folder / "plan.toml"))
    new = ["parties", "plan", "new", str(folder / "new.toml"), "--name", "n", "--key", "id", "--people", "10"]
    new += ["--epsilon", "1", "--delta", "1e-6", "--party", "a=x,y", "--party", "b=z"]
    run(*new)
    assert "the plan is valid" in run("parties", "plan", "check", str(folder / "new.toml"))
    assert "File exists" in refused(*new)
    printed = [str(folder / "printed.toml") if word == str(folder / "new.toml") else word for word in new]
    run(*printed, "--method", "dgm", "--calibration", "paper")
    said = run("parties", "plan", "show", str(folder / "printed.toml"))
    assert "who is in the data is public" in " ".join(said.split())


def test_align_counts_shared_people_without_showing_keys(folder):
    (folder / "salt").write_text("a secret of the five parties")
    frame = pd.read_parquet(folder / "a" / "data.parquet")
    frame.iloc[:1000].to_parquet(folder / "a" / "data.parquet")
    for party in "ab":
        data = data_of(folder, party)
        command = ["--plan", str(folder / "plan.toml"), "--party", party, "--data", str(data)]
        run("parties", "align", *command, "--salt-file", str(folder / "salt"), "--out", str(folder / f"{party}.keys"))
    text = run("parties", "align", str(folder / "a.keys"), str(folder / "b.keys"))
    people = dict(line.rsplit(maxsplit=1) for line in text.splitlines()[1:])
    assert people == {
        "a": "1000",
        "b": str(PEOPLE),
        "a and b": "1000",
        "at a, missing at b": "0",
        "at b, missing at a": str(PEOPLE - 1000),
    }
    assert str(frame["id"].iloc[0]).encode() not in (folder / "a.keys").read_bytes()
    (folder / "b.keys").write_bytes((folder / "b.keys").read_bytes()[:-5])
    assert "cut short" in refused("parties", "align", str(folder / "a.keys"), str(folder / "b.keys"))


def two_clinics(folder: Path, *more: str) -> None:
    """A plan of two parties whose columns are not in the order of their names: y = 0.8 z, and a is
    nothing.
    """
    rng = np.random.default_rng(1)
    z, a = rng.uniform(0, 1, (2, PEOPLE))
    people = [f"p{i}" for i in range(PEOPLE)]
    for party, columns in (("one", {"z": z, "a": a}), ("two", {"y": 0.8 * z})):
        (folder / party).mkdir()
        pd.DataFrame({"id": people, **columns}).to_parquet(folder / party / "data.parquet")
    new = ["parties", "plan", "new", str(folder / "two.toml"), "--name", "two", "--key", "id", "--people", str(PEOPLE)]
    run(*new, "--epsilon", "20", "--delta", "1e-6", "--party", "one=z,a", "--party", "two=y", *more)


def release_words(folder: Path, party: str, *more: str, data: Path | None = None) -> list[str]:
    words = ["--plan", str(folder / "two.toml"), "--party", party]
    data = data or folder / party / "data.parquet"
    return ["parties", "release", *words, "--data", str(data), "--out", str(data.parent / "out.release"), *more]


def test_saved_releases_keep_the_order_of_columns_and_say_that_nobody_signed(tmp_path):
    two_clinics(tmp_path)
    for party in ("one", "two"):
        told = run(*release_words(tmp_path, party))
        assert "the budget of this data from now on" in told
        assert "NOT SIGNED" in told
    files = [str(tmp_path / party / "out.release") for party in ("two", "one")]
    told = run("parties", "fit", "--label", "y", *files, "--out", str(tmp_path / "model.json"))
    results = discreet.load(tmp_path / "model.json").results_
    coef = dict(zip(results.names, results.shrunk, strict=True))
    assert coef["z"] == pytest.approx(0.8, abs=0.2)
    assert coef["a"] == pytest.approx(0.0, abs=0.2)
    assert "NOT SIGNED" in told
    assert "compare its hash with the parties', or give --plan" in told
    assert "0 people are missing at one" in told
    assert "0 people are missing at two" in told


def test_a_plan_is_paid_for_once_wherever_the_command_runs(tmp_path):
    two_clinics(tmp_path)
    run(*release_words(tmp_path, "one"))
    first = (tmp_path / "one" / "out.release").read_bytes()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copied = elsewhere / "copy.parquet"
    copied.write_bytes((tmp_path / "one" / "data.parquet").read_bytes())
    told = run(*release_words(tmp_path, "one", data=copied))
    assert "given again at no cost" in told
    assert (elsewhere / "out.release").read_bytes() == first
    assert not list(elsewhere.glob("*.ledger"))
    other = Ledger.create(elsewhere / "other.ledger", epsilon=30, delta=1e-6)
    assert "must not pay for it a second time" in refused(
        *release_words(tmp_path, "one", "--ledger", str(other.path), data=copied)
    )
    assert other.history == []


def test_a_ledger_is_never_made_by_a_wrong_name(tmp_path):
    two_clinics(tmp_path)
    message = refused(*release_words(tmp_path, "one", "--ledger", str(tmp_path / "typo.ledger")))
    assert "a ledger is made once, by name: `discreet budget create" in message
    assert not list(tmp_path.rglob("*.ledger"))
    command = message.split("`")[1].split()[1:]
    run(*command)
    run(*release_words(tmp_path, "one", "--ledger", str(tmp_path / "typo.ledger")))


def test_signed_releases_go_from_key_to_fit(tmp_path):
    public = {}
    for party in ("one", "two"):
        told = run("parties", "key", "new", str(tmp_path / f"{party}.key"))
        public[party] = told.split('"')[1]
        assert f'public_key = "{public[party]}"' in run("parties", "key", "show", str(tmp_path / f"{party}.key"))
    keys = [f"{party}={key}" for party, key in public.items()]
    two_clinics(tmp_path, "--public-key", keys[0], "--public-key", keys[1])
    assert "Releases are signed" in run("parties", "plan", "show", str(tmp_path / "two.toml"))
    assert "give the private key" in refused(*release_words(tmp_path, "one"))
    assert "this key is not one's" in refused(*release_words(tmp_path, "one", "--key", str(tmp_path / "two.key")))
    assert not list((tmp_path / "one").glob("*.ledger"))
    for party in ("one", "two"):
        assert public[party] in run(*release_words(tmp_path, party, "--key", str(tmp_path / f"{party}.key")))
    files = [str(tmp_path / party / "out.release") for party in ("one", "two")]
    told = run("parties", "fit", "--label", "y", "--plan", str(tmp_path / "two.toml"), *files)
    assert "of one and two, by their keys in the plan" in told
    assert "the one given" in told
    assert "NOT SIGNED" not in told
    content = json.loads(Path(files[0]).read_text())
    del content["signature"]
    Path(files[0]).write_text(json.dumps(content))
    assert "is not signed" in refused("parties", "fit", "--label", "y", *files)


def test_files_that_are_none_are_refused_in_one_line(tmp_path):
    deep = "[" * 100_000
    for name, text in {"deep.toml": f"a = {deep}", "deep.release": deep, "wide.toml": "a = 1" * 3}.items():
        (tmp_path / name).write_text(text)
    assert "nested by more than" in refused("parties", "plan", "check", str(tmp_path / "deep.toml"))
    assert "cannot read the plan" in refused("parties", "plan", "show", str(tmp_path / "wide.toml"))
    assert "nested by more than" in refused("parties", "fit", "--label", "y", str(tmp_path / "deep.release"))
    for command in (
        ["fit", "x.csv", "--target", "y", "--epsilon", "1", "--delta", "1e-6"],
        ["local", "task", "new", "t"],
    ):
        options = [] if command[0] == "fit" else ["--target", "y", "--epsilon", "1", "--goal", "5"]
        (tmp_path / "x.csv").write_text("y\n1\n")
        words = [str(tmp_path / "x.csv") if word == "x.csv" else word for word in command]
        assert "nested by more than" in refused(*words, *options, "--domain", str(tmp_path / "deep.toml"))
    (tmp_path / "deep.json").write_text(deep)
    for task in ("deep.toml", "deep.json"):
        assert "nested by more than" in refused("local", "task", "check", str(tmp_path / task))
