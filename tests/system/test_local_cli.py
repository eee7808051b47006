"""``discreet local`` from a domain file to a fitted model, as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.local import Task

DOMAIN = """
[columns.age]
low = 18
high = 98
[columns.region]
values = ["north", "south"]
[columns.ill]
low = 0
high = 1
"""


def run(*arguments, folder, check=True):
    done = subprocess.run(
        [sys.executable, "-c", "from discreet.cli import main; main()", "local", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    if check:
        assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a domain, public rows, people and a task."""
    folder = tmp_path_factory.mktemp("local")
    rng = np.random.default_rng(0)
    (folder / "domain.toml").write_text(DOMAIN, encoding="utf-8")
    n = 1500
    age, region = rng.uniform(18, 98, size=n), rng.choice(["north", "south"], size=n)
    ill = (rng.random(n) < 1 / (1 + np.exp(-(age - 58) / 15))).astype(int)
    pa.csv.write_csv(pa.table({"age": age[:500], "region": region[:500]}), folder / "public.csv")
    people = pa.table({"person": np.arange(n), "age": age, "region": region, "ill": ill})
    pa.csv.write_csv(people, folder / "people.csv")
    run(
        *("task", "new", "flu", "--domain", "domain.toml", "--target", "ill", "--epsilon", 8, "--goal", n),
        *("--public", "public.csv", "--out", "task.toml"),
        folder=folder,
    )
    return folder


def test_a_task_is_shown_with_its_promise_and_forecast(folder):
    shown = run("task", "show", "task.toml", folder=folder).stdout
    assert "epsilon 8" in shown
    assert "region=south" in shown
    assert "shuffling" in shown
    assert "ok" in run("task", "check", "task.toml", folder=folder).stdout


def test_a_weakened_task_is_refused(folder):
    text = (folder / "task.toml").read_text(encoding="utf-8").replace("epsilon = 8.0", "epsilon = 7.0")
    (folder / "weak.toml").write_text(text, encoding="utf-8")
    done = run("task", "check", "weak.toml", folder=folder, check=False)
    assert done.returncode == 1
    assert "does not give epsilon 7" in done.stderr
    assert "Traceback" not in done.stderr


def test_reports_of_a_file_become_a_model(folder):
    arguments = ("report", "task.toml", "--records", "people.csv", "--id", "person", "--state", "state")
    refused = run(*arguments, "--out", "reports", folder=folder, check=False)
    assert refused.returncode == 1
    assert "holds no stored reports" in refused.stderr
    assert not (folder / "state").exists()
    run(*arguments, "--out", "reports", "--new", folder=folder)
    assert "already: leave out --new" in run(*arguments, "--out", "x", "--new", folder=folder, check=False).stderr
    run(*arguments, "--out", "again", folder=folder)
    assert (folder / "reports").read_bytes() == (folder / "again").read_bytes()
    task = Task.load(folder / "task.toml")
    assert (folder / "reports").stat().st_size == 1500 * task.body_size
    said = run(
        *("fit", "task.toml", "reports", "--model", "logistic", "--out", "model.json"),
        folder=folder,
    ).stdout
    assert "region=south" in said
    result = discreet.load(folder / "model.json")
    assert abs(result.results_.params["age"] - 1 / 15) < 5 * result.results_.bse["age"]
    assert str(result.summary()) in said


def test_one_record_is_answered_once_and_an_error_shows_no_value(folder):
    record = json.dumps({"age": 50, "region": "north", "ill": 1})
    for name, more in (("one", ["--new"]), ("two", [])):
        run("report", "task.toml", "--record", record, "--state", "own", "--out", name, *more, folder=folder)
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()
    done = run("report", "task.toml", "--record", "{secret", "--state", "own", "--out", "x", folder=folder, check=False)
    assert done.returncode == 1
    assert "secret" not in done.stderr


def test_a_rehearsal_prints_the_truth_beside_the_estimate(folder):
    said = run("simulate", "--n", 100_000, "--p", 4, "--epsilon", 8, folder=folder).stdout
    assert "truth" in said
    assert float(said.rsplit(maxsplit=1)[1]) < 0.1


def test_the_data_of_nobody_is_in_the_ledger_of_a_device(folder):
    marker = 71.8273645546372
    record = json.dumps({"age": marker, "region": "south", "ill": 1})
    words = ("report", "task.toml", "--record", record, "--state", "marked", "--new", "--out", "marked.report")
    run(*words, folder=folder)
    for path in [*Path(folder / "marked").iterdir(), folder / "marked.report"]:
        content = path.read_bytes()
        assert str(marker).encode() not in content
        assert np.float64(marker).tobytes() not in content


def test_two_rounds_go_from_a_pilot_to_a_fit(folder):
    new = ("task", "new", "flu", "--domain", "domain.toml", "--target", "ill", "--epsilon", 8, "--goal", 1500)
    refused = run(*new, "--rounds", 2, "--public", "public.csv", folder=folder, check=False)
    assert refused.returncode == 2
    assert "one round is better" in refused.stderr
    run(*new, "--rounds", 2, "--out", "pilot.toml", folder=folder)
    assert "mean of" in run("task", "show", "pilot.toml", folder=folder).stdout
    people = (folder / "people.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "first.csv").write_text("".join(people[:101]), encoding="utf-8")
    (folder / "rest.csv").write_text("".join([people[0], *people[101:401]]), encoding="utf-8")
    report = ("--id", "person", "--state", "rounds")
    run("report", "pilot.toml", "--records", "first.csv", *report, "--new", "--out", "first.reports", folder=folder)
    made = run("task", "second", "pilot.toml", "first.reports", "--out", "second.toml", folder=folder)
    assert "continues" in made.stdout
    again = run("report", "second.toml", "--records", "first.csv", *report, "--out", "x", folder=folder, check=False)
    assert "another task of the same collection" in again.stderr
    run("report", "second.toml", "--records", "rest.csv", *report, "--out", "rest.reports", folder=folder)
    assert "identity" in run("fit", "second.toml", "rest.reports", "--model", "identity", folder=folder).stdout


def test_a_task_for_devices_is_canonical_and_the_same(folder):
    task = Task.load(folder / "task.toml")
    run("task", "export", "task.toml", "--out", "device.json", folder=folder)
    assert (folder / "device.json").read_bytes() == task.document
    assert Task.load(folder / "device.json").digest == task.digest
    assert "advice" not in run("task", "show", "task.toml", folder=folder).stdout


@pytest.mark.parametrize(
    ("calibration", "option"),
    [("tight", ["--design", "bounded"]), ("tight", ["--link", "cubic"]), ("paper", ["--randomizer", "gaussian"])],
)
def test_an_option_of_the_other_calibration_is_refused_and_not_ignored(folder, calibration, option):
    asked = ["--domain", "domain.toml", "--target", "ill", "--epsilon", "4", "--goal", "1000"]
    made = run("task", "new", "x", *asked, "--calibration", calibration, *option, folder=folder, check=False)
    assert made.returncode == 2
    assert f"{option[0]} is an option of --calibration" in made.stderr
