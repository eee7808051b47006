"""The installed ``discreet fit``: what it prints, writes, charges and refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from discreet import PrivacyLeakWarning, load
from discreet.cli import main
from discreet.privacy import GDP, Budget, Ledger

COMMAND = Path(sys.executable).with_name("discreet")
DOMAIN = """
[columns.age]
low = 0.0
high = 100.0
[columns.smoker]
values = ["no", "yes"]
[columns.cost]
low = 0.0
high = 1000.0
"""
BUDGET = ("--epsilon", "1", "--delta", "1e-6")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs ``discreet`` in a folder with data.parquet, data.csv, domain.toml and a ledger of
    epsilon 2.
    """
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    random = np.random.default_rng(0)
    age, smokes = random.uniform(20, 80, 2000), random.random(2000) < 0.3
    cost = 100 + 5 * age + 200 * smokes + random.normal(0, 30, 2000)
    smoker = np.where(smokes, "yes", "no")
    table = pa.table({"age": age, "smoker": smoker, "cost": cost, "person": np.arange(2000) // 2})
    pq.write_table(table, tmp_path / "data.parquet")
    table.to_pandas().to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "domain.toml").write_text(DOMAIN)
    Ledger.create(tmp_path / "a.ledger", epsilon=2, delta=1e-6)

    def discreet(*words):
        return subprocess.run(
            [COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, env=dict(os.environ)
        )

    return discreet


@pytest.fixture
def call(run, tmp_path, monkeypatch):
    """``discreet`` in this process: the same words, without the wait for a new one."""
    monkeypatch.chdir(tmp_path)

    def discreet(*words):
        result = CliRunner().invoke(main, words)
        return subprocess.CompletedProcess(words, result.exit_code, result.stdout, result.stderr)

    return discreet


def fit(run, *words, data="data.parquet", domain="domain.toml", target="cost", budget=BUDGET):
    return run("fit", data, "--domain", domain, "--target", target, *budget, *words)


def refused(result) -> str:
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_help_loads_nothing_heavy():
    code = "import sys, discreet.cli; print([m for m in ('numpy', 'scipy', 'sklearn', 'pyarrow') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
    times = []
    for _ in range(3):
        start = time.perf_counter()
        text = subprocess.check_output([COMMAND, "--help"], text=True)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.5
    assert "budget" in text
    assert "fit" in text


@pytest.mark.parametrize("data", ["data.parquet", "data.csv"])
def test_a_fit_prints_its_guarantee_pays_and_writes_the_model(run, tmp_path, data):
    result = fit(run, "--ledger", "a.ledger", "--job", "first", "--out", "model.json", data=data)
    assert result.returncode == 0, result.stderr
    for words in ("discreet LinearRegression", "smoker=yes", "epsilon 1 at delta 1e-06", "is left: epsilon"):
        assert words in result.stdout
    model = load(tmp_path / "model.json")
    assert model.results_.names == ("const", "age", "smoker=yes")
    # The noise is fresh: of 400 fits 18 were off by more than a quarter, none by 4 standard errors.
    away = (model.results_.estimates[1:] - [5, 200]) / model.results_.std_errors[1:]
    assert np.max(np.abs(away)) < 6
    assert (model.privacy_.epsilon(1e-6), model.privacy_.unit) == (pytest.approx(1), "row")
    spent = Ledger(tmp_path / "a.ledger").spent
    assert model.privacy_.mu == pytest.approx(spent.mu)
    paid = model.results_.payment
    assert (paid.file, paid.ledger) == ("a.ledger", Ledger(tmp_path / "a.ledger").id)
    assert paid.before.mu == pytest.approx(paid.total.mu)
    assert paid.after == Ledger(tmp_path / "a.ledger").remaining
    assert str(tmp_path) not in (tmp_path / "model.json").read_text()
    again = fit(run, "--ledger", "a.ledger", "--job", "first", data=data)
    assert again.returncode == 0
    assert Ledger(tmp_path / "a.ledger").spent == spent


def test_a_dry_run_tells_the_price_that_the_fit_then_costs(run, tmp_path):
    dry = fit(run, "--ledger", "a.ledger", "--out", "model.json", "--solver", "moments", "--dry-run")
    assert dry.returncode == 0, dry.stderr
    ledger = Ledger(tmp_path / "a.ledger")
    assert ledger.history == []
    assert not (tmp_path / "model.json").exists()
    assert fit(run, "--ledger", "a.ledger", "--solver", "moments").returncode == 0
    (entry,) = ledger.history
    assert f"price      {Budget.of(1.0, 1e-6)}" in dry.stdout
    assert entry.cost == GDP(Budget.of(1.0, 1e-6).mu)
    assert len(entry.releases) == 2
    for label, cost in entry.releases:
        assert any(line.startswith(label) and f" {cost.mu:.4g} " in line for line in dry.stdout.split("\n"))
    share = ledger.remaining.mu**2 / ledger.total.mu**2
    assert f"after      {share:.0%}".replace("%", " % would be left: epsilon") in dry.stdout


def test_a_dry_run_reads_no_row(call, tmp_path):
    (tmp_path / "broken.csv").write_text("age,smoker,cost\n1,2\n1,2,3,4,5\n")
    assert fit(call, "--dry-run", data="broken.csv").returncode == 0
    assert "'age'" in refused(fit(call, "--dry-run", data=write(tmp_path, "cost,smoker\n")))


def write(folder, text):
    (folder / "other.csv").write_text(text)
    return "other.csv"


def test_a_refusal_is_one_line_and_no_traceback(run):
    assert "there is no file" in refused(fit(run, data="none.parquet"))


def test_persons_and_ridge(call, tmp_path):
    result = fit(call, "--model", "ridge", "--alpha", "2", "--groups", "person", "--rows-per-person", "2")
    assert result.returncode == 0, result.stderr
    assert "discreet Ridge" in result.stdout
    assert "at most 2 of each person's rows were used" in result.stdout


def test_what_is_refused_and_why(call, tmp_path):
    pay = ("--ledger", "a.ledger")
    cases = {
        "there is no file": fit(call, *pay, data="none.parquet"),
        "must be a .parquet, .csv or .tsv file": fit(call, *pay, data="domain.toml"),
        "cannot read the domain file": fit(call, *pay, domain="none.toml"),
        "the target's name is not declared": fit(call, *pay, target="height"),
        "'smoker' is declared as categorical": fit(call, *pay, target="smoker"),
        "epsilon must": fit(call, *pay, budget=("--epsilon", "-1", "--delta", "1e-6")),
        "no ledger at": fit(call, "--ledger", "none.ledger"),
        "is left of": fit(call, *pay, budget=("--epsilon", "3", "--delta", "1e-6")),
        "no folder": fit(call, *pay, "--out", "nowhere/model.json"),
        "rows_per_person needs": fit(call, *pay, "--rows-per-person", "2"),
        "no column 'who'": fit(call, *pay, "--groups", "who"),
    }
    for words, result in cases.items():
        assert words in refused(result)
    assert Ledger(tmp_path / "a.ledger").history == []


def test_a_family_with_exposure_and_public_rows(call, tmp_path):
    random = np.random.default_rng(1)
    age, years = random.uniform(20, 80, 4000), random.uniform(0.2, 2.0, 4000)
    claims = random.poisson(years * np.exp(0.02 * age - 1.5))
    pq.write_table(pa.table({"age": age, "years": years, "claims": claims}), tmp_path / "claims.parquet")
    pq.write_table(pa.table({"age": age[:200]}), tmp_path / "public.parquet")
    (tmp_path / "claims.toml").write_text(
        "[columns.age]\nlow = 0.0\nhigh = 100.0\n[columns.years]\nlow = 0.1\nhigh = 2.0\n"
        "[columns.claims]\nlow = 0.0\nhigh = 8.0\n"
    )
    words = ("--family", "poisson", "--exposure", "years", "--public", "public.parquet", "--out", "model.json")
    where = {"data": "claims.parquet", "domain": "claims.toml", "target": "claims"}
    assert "first look" in fit(call, *words, "--dry-run", **where).stdout
    result = fit(call, *words, **where)
    assert result.returncode == 0, result.stderr
    assert "poisson, log" in result.stdout
    model = load(tmp_path / "model.json")
    assert model.results_.names == ("const", "age")
    assert model.coef_[0] == pytest.approx(0.02, abs=0.01)  # a standard error is .0015


def test_a_logistic_model_takes_its_classes_from_the_domain(call):
    result = fit(call, "--family", "logistic", target="smoker")
    assert result.returncode == 0, result.stderr
    assert "discreet LogisticRegression" in result.stdout
    assert "--link and --exposure belong to a --family" in fit(call, "--exposure", "age").stderr


# Every estimator and solver.

MOMENT = "smoker=yes,const,age\n0.3,0.3,15\n0.3,1,50\n15,50,2800\n"
FITS = {
    "sparse": ["--model", "sparse", "--sparsity", "1"],
    "sparse poisson": ["--model", "sparse", "--sparsity", "1", "--family", "poisson", "--solver", "iht"],
    "sparse huber": ["--model", "sparse", "--sparsity", "1", "--loss", "huber:50", "--max-iter", "2"],
    "huber": ["--loss", "huber:50", "--max-iter", "4"],
    "quantile": ["--loss", "quantile:0.9:50", "--solver", "cost_gd"],
    "negative binomial loss": ["--loss", "negative_binomial:0.5:1000"],
    "sparse negative binomial loss": ["--model", "sparse", "--sparsity", "1", "--loss", "negative_binomial:0.5:1000"],
    "standard errors of the model": ["--cov-type", "model"],
    "relu": ["--model", "relu"],
    "relu tree": ["--model", "relu", "--solver", "tree", "--max-iter", "4"],
    "relu, printed": ["--model", "relu", "--solver", "minibatch", "--calibration", "paper", "--step", "0.1"],
    "relu in secret order": ["--model", "relu", "--solver", "sgd"],
    "relu, public thresholds": ["--model", "relu", "--solver", "glmtron", "--public", "small.parquet"],
    "single index": ["--model", "single_index", "--link", "leaky_relu"],
    "dp_gd": ["--solver", "dp_gd", "--max-iter", "3", "--step", "0.5", "--clip", "300"],
    "cost_gd, printed": ["--solver", "cost_gd", "--calibration", "paper", "--radius", "2"],
    "lasso": ["--alpha", "10", "--l1-ratio", "1"],
    "through the origin": ["--no-intercept"],
    "moment": ["--solver", "pmt", "--public-moment", "moment.csv", "--public-n", "500"],
    "moment, printed": [
        *["--solver", "pmt", "--calibration", "paper", "--eta", "0.01"],
        *["--public-moment", "moment.csv", "--public-n", "500"],
    ],
}


@pytest.mark.parametrize("what", FITS)
def test_every_model_and_solver_prints_and_writes_its_fit(what, call, tmp_path):
    """A fit without standard errors was paid for, and then ended in an error."""
    table = {"age": [float(i % 60 + 20) for i in range(400)], "smoker": ["no", "no", "yes", "no"] * 100}
    table["cost"] = [5 * age + 50 for age in table["age"]]
    pq.write_table(pa.table(table), tmp_path / "small.parquet")
    (tmp_path / "moment.csv").write_text(MOMENT)
    (tmp_path / "numbers.toml").write_text(DOMAIN.replace('values = ["no", "yes"]', "low = 0.0\nhigh = 1.0"))
    data, domain = "small.parquet", "domain.toml"
    if "sparse" in what:
        table["smoker"] = [0.0, 0.0, 1.0, 0.0] * 100
        pq.write_table(pa.table(table), tmp_path / "numbers.parquet")
        data, domain = "numbers.parquet", "numbers.toml"
    dry = fit(call, *FITS[what], "--dry-run", data=data, domain=domain)
    assert dry.returncode == 0, dry.stderr
    result = fit(call, *FITS[what], "--out", "model.json", data=data, domain=domain)
    assert result.returncode == 0, result.stderr
    assert "Guarantee    epsilon" in result.stdout
    model = load(tmp_path / "model.json")
    assert len(model.results_.names) >= 1
    assert model.privacy_.epsilon(1e-6) <= 1.0


WRONG = {
    "no number of columns": (["--model", "sparse"], "--model sparse needs --sparsity"),
    "columns that are no number": (["--model", "sparse", "--sparsity", "few"], "--sparsity is auto or a whole number"),
    "an option of another model": (["--model", "relu", "--clip", "1"], "--clip is no option of --model relu"),
    "an option of another family": (["--family", "poisson", "--l1-ratio", "1"], "--l1-ratio is no option of --family"),
    "an unknown loss": (["--loss", "absolute"], "negative_binomial:DISPERSION:LARGEST, got absolute"),
    "a loss without a width": (["--loss", "huber:-1"], "--loss huber:-1: width must be"),
    "two models": (["--model", "relu", "--family", "poisson"], "--family is a model of its own"),
    "a moment of nobody": (["--solver", "pmt", "--public-moment", "moment.csv"], "--public-moment needs --public-n"),
    "a moment of others": (
        ["--solver", "pmt", "--public-moment", "odd.csv", "--public-n", "9"],
        "must have the columns age, smoker=yes and as many lines of numbers; it has age and 1 lines",
    ),
    "public rows without a column": (
        ["--solver", "pmt", "--public", "ages.parquet"],
        "public rows must have the 2 columns of X by name; they have 1 of them",
    ),
    "no moment": (["--solver", "pmt", "--public-moment", "no.csv", "--public-n", "9"], "cannot read the public moment"),
    "rows and a moment": (["--public", "data.parquet", "--public-moment", "moment.csv"], "not both"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_options_of_models_are_named(what, call, tmp_path):
    words, message = WRONG[what]
    (tmp_path / "moment.csv").write_text(MOMENT)
    (tmp_path / "odd.csv").write_text("age\n1\n")
    pq.write_table(pa.table({"age": [20.0, 30.0, 40.0]}), tmp_path / "ages.parquet")
    result = fit(call, *words, "--ledger", "a.ledger")
    assert result.returncode != 0
    assert message in result.stderr
    assert Ledger(tmp_path / "a.ledger").history == []


# Tables that are not one file.


def seeded(call, monkeypatch, *words, **options):
    """The printed summary of a fit whose noise is that of a seed."""
    from discreet.cli import fit as module

    make = module.make_estimator
    monkeypatch.setattr(module, "make_estimator", lambda *a, **k: make(*a, **k).set_params(random_state=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        result = fit(call, *words, **options)
    monkeypatch.setattr(module, "make_estimator", make)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_every_engine_prints_the_same_model(call, monkeypatch, tmp_path):
    expected = seeded(call, monkeypatch)
    (tmp_path / "folder").mkdir()
    table = pq.read_table(tmp_path / "data.parquet")
    for part in range(3):
        pq.write_table(table.slice(part * 700, 700), tmp_path / "folder" / f"{part}.parquet")
    frame = table.to_pandas()
    frame.to_csv(tmp_path / "other.csv", sep=";", decimal=",", index=False, encoding="latin-1")
    connection = duckdb.connect(str(tmp_path / "rows.duckdb"))
    connection.execute("create table visits as select * from 'data.parquet'")
    connection.close()
    european = ("--sep", ";", "--decimal", ",", "--encoding", "latin-1")
    for words, data in [
        ((), "data.csv"),
        ((), "folder"),
        ((), "folder/*.parquet"),
        (("--engine", "memory"), "folder"),
        (("--engine", "arrow"), "data.parquet"),
        (("--engine", "dask"), "folder/*.parquet"),
        (("--engine", "dask"), "data.csv"),
        (european, "other.csv"),
        (("--engine", "dask", *european), "other.csv"),
    ]:
        assert seeded(call, monkeypatch, *words, data=data) == expected, (words, data)
    query = ("--sql", "select * from visits", "--database", "rows.duckdb")
    words = ("fit", "--domain", "domain.toml", "--target", "cost", *BUDGET, *query)
    assert seeded(lambda *_: call(*words), monkeypatch) == expected


def test_what_is_said_about_a_table_must_fit_together(call):
    for words, message in [
        (("--scheduler", "tcp://x:1"), "--engine dask"),
        (("--master", "local[2]"), "--engine spark"),
        (("--sql", "select 1"), "one of them"),
        (("--database", "x"), "--database is for --sql"),
    ]:
        result = fit(call, *words)
        assert result.returncode == 2
        assert message in result.stderr
    words = ("fit", "--domain", "domain.toml", "--target", "cost", *BUDGET)
    assert "one of them" in call(*words).stderr
    queries = {"select * from nowhere": "nowhere", "sel": "cannot be run", "create table x(i int)": "select"}
    for query, message in queries.items():
        assert message in refused(call(*words, "--sql", query))


def test_an_interrupted_fit_explains_itself_and_the_same_command_resumes_it(run, tmp_path):
    """A real process and a real Ctrl+C, sent once the charge is on disk."""
    random = np.random.default_rng(0)
    rows = pa.table({"age": random.uniform(0, 100, 500_000), "cost": random.uniform(0, 1000, 500_000)})
    rows.to_pandas().to_csv(tmp_path / "long.csv", index=False)
    (tmp_path / "long.toml").write_text(
        '[[columns]]\nname = "age"\nlow = 0\nhigh = 100\n[[columns]]\nname = "cost"\nlow = 0\nhigh = 1000\n'
    )
    ledger = Ledger(tmp_path / "a.ledger")
    words = ["fit", "long.csv", "--domain", "long.toml", "--target", "cost", *BUDGET, "--ledger", "a.ledger"]
    words += ["--job", "night"]
    with subprocess.Popen(
        [COMMAND, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 60
        while not ledger.charges and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=120)
    assert (process.returncode, shown) == (130, "")
    assert "is reserved in ledger" in said
    assert "the same command goes on from there, at no further cost" in said
    assert "over the rows" not in said  # no terminal, no progress
    spent = ledger.spent
    again = run(*words)
    assert again.returncode == 0, again.stderr
    assert ledger.spent == spent
