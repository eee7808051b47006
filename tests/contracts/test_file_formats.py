"""Every file format: columns in an order that is not that of their names are written, read and
fitted as in memory.

One test for each kind of file that discreet writes. The names are drawn so that no sorted order is
the given one: a format that keeps order in the names of an object, or sorts them, gives other
coefficients.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet
from discreet import Categorical, Domain, LinearRegression, Numeric
from discreet.cli import main
from discreet.errors import PrivacyLeakWarning
from discreet.local import Client, Collection, Task, fit, new_task
from discreet.local.report_file import read_reports
from discreet.local.wire import decode
from discreet.parties import PartyRelease, Plan, SigningKey, join

sys.path.append(str(Path(__file__).resolve().parent.parent / "unit" / "parties"))
from small_plan import released

N = 400
# Codepoints, lengths and cases: whatever a format sorts by, this is not it.
NAMES = ["z", "A", "m=1", "é", "a", "B2", "B10", "ß", "10", "9"]
SEEDS = [0, 1, 2]


def shuffled(seed: int) -> list[str]:
    """An order of the names that is neither sorted nor sorted backwards."""
    rng = random.Random(seed)
    names = list(NAMES)
    while names in (sorted(names), sorted(names, reverse=True), NAMES):
        rng.shuffle(names)
    return names


def declared(names: list[str]) -> tuple[Numeric | Categorical, ...]:
    """Ranges that differ from column to column, and two columns of categories in an order of their
    own.
    """
    columns: list[Numeric | Categorical] = [Numeric(name, -1.0 - i, 2.0 + i) for i, name in enumerate(names)]
    columns[2] = Categorical(names[2], ("w", "c", "k"))
    columns[5] = Categorical(names[5], ("no", "Yes"))
    return tuple(columns)


def table(columns, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    cells = {
        column.name: rng.choice(column.values, N)
        if isinstance(column, Categorical)
        else rng.uniform(column.low, column.high, N)
        for column in columns
    }
    return pd.DataFrame(cells)


@pytest.mark.parametrize("seed", SEEDS)
def test_domain_file(tmp_path, seed):
    columns = declared(shuffled(seed))
    domain = Domain(columns, missing="centre")
    path = tmp_path / "domain.toml"
    path.write_text(domain.to_toml(), encoding="utf-8")
    read = Domain.from_toml(path)
    assert read == domain
    assert [column.name for column in read.columns] == shuffled(seed)
    frame = table(columns, seed)
    numeric = [column.name for column in columns if isinstance(column, Numeric)]
    models = []
    for one in (domain, read):
        target = one[numeric[-1]]
        with pytest.warns(PrivacyLeakWarning):
            models.append(
                LinearRegression(
                    epsilon=5.0,
                    delta=1e-6,
                    domain=one.select(numeric[:-1]),
                    bounds_y=(target.low, target.high),
                    random_state=seed,
                ).fit(frame[numeric[:-1]], frame[numeric[-1]])
            )
    assert models[0].coef_names_ == models[1].coef_names_
    assert np.array_equal(models[0].coef_, models[1].coef_)


def plan_of(seed: int, keys: dict[str, SigningKey] | None = None, **more) -> Plan:
    columns = declared(shuffled(seed))
    parts = {"two": columns[:4], "one": columns[4:7], "three": columns[7:]}
    parties = [
        {
            "name": name,
            **({} if keys is None else {"public_key": keys[name].public_key}),
            "columns": [
                {"name": c.name, "low": c.low, "high": c.high}
                if isinstance(c, Numeric)
                else {"name": c.name, "values": list(c.values)}
                for c in part
            ],
        }
        for name, part in parts.items()
    ]
    basic = {"format": 2, "name": "p", "key": "person", "people": N, "epsilon": 30.0, "delta": 1e-6, "seed": "s"}
    return Plan.from_dict({**basic, "parties": parties, **more})


def plan_toml(plan: Plan) -> str:
    from discreet.documents import toml_value

    content = plan.to_dict()
    parties = content.pop("parties")
    lines = [f"{key} = {toml_value(value)}" for key, value in content.items()]
    for party in parties:
        columns = party.pop("columns")
        lines += ["[[parties]]", *(f"{key} = {toml_value(value)}" for key, value in party.items())]
        for column in columns:
            lines += ["[[parties.columns]]", *(f"{key} = {toml_value(value)}" for key, value in column.items())]
    return "\n".join(lines) + "\n"


def coefficients(joint) -> dict[str, float]:
    label = next(c.name for c in reversed(joint.columns) if isinstance(c, Numeric))
    result = joint.regress(label).results_
    return dict(zip(result.names, zip(result.shrunk, result.params, result.bse, strict=True), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", ["rmgm", "dgm"])
def test_plan_and_release_files(tmp_path, seed, method):
    keys = {name: SigningKey.create(tmp_path / f"{name}.key") for name in ("one", "two", "three")} if seed else None
    plan = plan_of(seed, keys, method=method)
    (tmp_path / "plan.toml").write_text(plan_toml(plan), encoding="utf-8")
    read = Plan.from_toml(tmp_path / "plan.toml")
    assert read == plan
    assert read.hash == plan.hash
    assert [c.name for party in read.parties for c in party.domain.columns] == shuffled(seed)
    frame = table(declared(shuffled(seed)), seed).assign(person=[f"p{i}" for i in range(N)])
    joint = released(plan, frame)
    files = []
    for one in joint.releases:
        signed = one if keys is None else one.signed(keys[one.party])
        signed.save(tmp_path / f"{one.party}.release")
        files.append(tmp_path / f"{one.party}.release")
        back = PartyRelease.load(files[-1])
        assert back.privacy == one.privacy
        for name in ("count", "centre", "centre_noise", "scale", "weight", "kept"):
            assert np.array_equal(getattr(back, name), getattr(one, name)), name
    # Given in another order, too: the plan's counts.
    again = join(reversed(files), plan=tmp_path / "plan.toml")
    assert again.encoder.names == joint.encoder.names
    assert coefficients(again) == coefficients(joint)


@pytest.mark.parametrize("seed", SEEDS)
def test_plans_that_differ_in_order_only_are_told_apart(tmp_path, seed):
    plan = plan_of(seed)
    content = plan.to_dict()
    content["parties"][0]["columns"].reverse()
    (tmp_path / "one.toml").write_text(plan_toml(plan), encoding="utf-8")
    (tmp_path / "two.toml").write_text(plan_toml(Plan.from_dict(content)), encoding="utf-8")
    told = CliRunner().invoke(
        main, ["parties", "plan", "check", str(tmp_path / "one.toml"), str(tmp_path / "two.toml")]
    )
    assert told.exit_code == 1
    assert "columns in another order" in told.output


@pytest.mark.parametrize("seed", SEEDS)
def test_model_file_of_parties(tmp_path, seed):
    plan = plan_of(seed)
    frame = table(declared(shuffled(seed)), seed).assign(person=[f"p{i}" for i in range(N)])
    joint = released(plan, frame)
    files = []
    for one in joint.releases:
        one.save(tmp_path / f"{one.party}.release")
        files.append(str(tmp_path / f"{one.party}.release"))
    label = next(c.name for c in reversed(joint.columns) if isinstance(c, Numeric))
    out = tmp_path / "model.json"
    told = CliRunner().invoke(main, ["parties", "fit", "--label", label, "--out", str(out), *files])
    assert told.exit_code == 0, told.output
    saved, result = discreet.load(out).results_, joint.regress(label).results_
    assert saved.names == result.names
    assert saved.shrunk.tolist() == result.shrunk.tolist()
    assert saved.std_errors.tolist() == result.std_errors.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_model_file_of_a_fit(tmp_path, seed):
    """Names, coefficients and records stand in one order, which is that of the domain; the file
    predicts.
    """
    columns = declared(shuffled(seed))
    frame = table(columns, seed)
    target = next(c.name for c in reversed(columns) if isinstance(c, Numeric))
    frame.to_parquet(tmp_path / "data.parquet")
    (tmp_path / "domain.toml").write_text(Domain(columns).to_toml(), encoding="utf-8")
    out = tmp_path / "model.json"
    command = ["fit", str(tmp_path / "data.parquet"), "--domain", str(tmp_path / "domain.toml"), "--target", target]
    told = CliRunner().invoke(main, [*command, "--epsilon", "5", "--delta", "1e-6", "--out", str(out)])
    assert told.exit_code == 0, told.output
    model = discreet.load(out)
    features = [column for column in columns if column.name != target]
    assert list(model.results_.names[1:]) == [name for column in features for name in column.names]
    assert model._encoder.domain.columns == tuple(features)
    shown = {line.split()[0]: line.split()[1] for line in told.output.splitlines() if len(line.split()) > 6}
    for record in model.results_.records():  # shown to the second digit of the standard error
        assert float(shown[record["name"]]) == pytest.approx(record["estimate"], abs=0.06 * record["std_err"])


@pytest.mark.parametrize("seed", SEEDS)
def test_task_and_report_files(tmp_path, seed):
    columns = declared(shuffled(seed))
    task = new_task(
        "t", domain=Domain(columns), target=Numeric("answer", 0.0, 1.0), epsilon=8.0, delta=1e-6, goal=N, reports="both"
    )
    (tmp_path / "task.toml").write_text(task.to_toml(), "utf-8")
    (tmp_path / "task.json").write_text(json.dumps(task.to_dict(), sort_keys=True), "utf-8")
    tasks = [Task.load(tmp_path / name) for name in ("task.toml", "task.json")]
    for read in tasks:
        assert read.digest == task.digest
        assert read.names == task.names
    swapped = task.to_dict()
    swapped["columns"][0], swapped["columns"][1] = swapped["columns"][1], swapped["columns"][0]
    assert Task.from_dict(swapped).digest != task.digest
    frame = table(columns, seed).assign(answer=np.random.default_rng(seed).integers(0, 2, N).astype(float))
    bodies = [Client(task).report(record) for record in frame.to_dict("records")]
    (tmp_path / "reports").write_bytes(b"".join(bodies))
    memory = Collection(task)
    for body in bodies:
        memory.add(decode(task, body))
    (here,) = fit(task, memory, ["identity"])
    for read in tasks:
        stored = read_reports(read, tmp_path / "reports")
        assert stored.count == memory.count == N
        (there,) = fit(read, stored, ["identity"])
        assert here.names == there.names
        assert np.array_equal(here.estimates, there.estimates)
    there.save(tmp_path / "model.json")
    saved = discreet.load(tmp_path / "model.json")
    assert saved.names == here.names
    assert np.array_equal(saved.predict(frame), here.predict(frame), equal_nan=True)
