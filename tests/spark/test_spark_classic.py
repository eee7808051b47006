"""Spark frames of a classic session, and ``discreet fit --engine spark``."""

from __future__ import annotations

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
import sessions
from click.testing import CliRunner
from engine_problems import DOMAIN
from spark_contract import ROWS, SparkContract

from discreet.cli import fit as fit_command
from discreet.cli import main


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
