"""Spark frames of a classic session, and ``discreet fit --engine spark``."""

from __future__ import annotations

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
import sessions
from click.testing import CliRunner
from engine_problems import DOMAIN, PROBLEMS, sums
from spark_contract import ROWS, SparkContract

from discreet import DomainError, Ledger, ReadError
from discreet.cli import fit as fit_command
from discreet.cli import main
from discreet.engines.by_name import table_by_name


@pytest.fixture(scope="module")
def session():
    made = sessions.classic()
    yield made
    made.stop()


class TestClassic(SparkContract):
    pass


@pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning")
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_terminal_prints_the_same_model(ending, session, tmp_path, monkeypatch):
    (tmp_path / "domain.toml").write_text(DOMAIN.select(["age", "bmi", "sex", "cost"]).to_toml())
    for number in range(2):
        write = pq.write_table if ending == "parquet" else pa_csv.write_csv
        write(ROWS.slice(number * 200, 200), tmp_path / f"{number}.{ending}")
    make = fit_command.make_estimator
    monkeypatch.setattr(fit_command, "make_estimator", lambda *a, **k: make(*a, **k).set_params(random_state=1))
    words = ["fit", str(tmp_path / f"*.{ending}"), "--domain", str(tmp_path / "domain.toml"), "--target", "cost"]
    words += ["--solver", "moments", "--epsilon", "1", "--delta", "1e-6"]
    printed = [CliRunner().invoke(main, [*words, *more]).stdout for more in ([], ["--engine", "spark"])]
    assert "cost" in printed[0]
    assert printed[0] == printed[1]


@pytest.mark.parametrize("last", ["0.5,f,no", "0.5,f,no,3,777"])
def test_lines_of_another_length_are_never_shifted_or_filled(last, session, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["dose,sex,sick,person", *["0.25,m,yes,1", "0.5,f,no,2"] * 9]))
    problem = PROBLEMS["groups, categories and missing cells"]
    assert sums(problem, table_by_name("spark", path)) == sums(problem, path)
    path.write_text(f"{path.read_text()}\n{last}")
    with pytest.raises(ReadError) as caught:
        sums(problem, table_by_name("spark", path))
    assert "777" not in str(caught.value)


def test_files_whose_columns_differ_are_refused_before_anything_is_paid(session, tmp_path):
    problem = PROBLEMS["linear"]
    rows = ROWS.select(["age", "bmi", "cost"])
    others = {
        "no column 'age'": rows.drop_columns(["age"]),
        "'age' has the type": rows.set_column(0, "age", rows["bmi"]),
    }
    pq.write_table(rows, tmp_path / "1.parquet")
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-5)
    for message, other in others.items():
        pq.write_table(other, tmp_path / "2.parquet")
        model = problem.estimator(ledger=ledger, random_state=None)
        with pytest.raises(DomainError, match=message):
            model.fit_table(table_by_name("spark", tmp_path / "*.parquet"), **problem.asked)
    assert not ledger.history
