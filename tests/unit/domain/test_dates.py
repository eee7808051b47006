"""Dates: the same days from every library and file, parts of the calendar in formulas, clear
errors, no cell shown.
"""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet import Categorical, Date, Domain, DomainError, LinearRegression, Numeric, load
from discreet.domain import FormulaEncoder, days_of

DOMAIN = Domain((Date("admitted", "2015-01-01", "2024-12-31"), Numeric("age", 0, 100), Numeric("cost", 0, 100)))
PRIVATE = {"epsilon": 1.0, "delta": 1e-6, "domain": DOMAIN}
FORMULA = "cost ~ age + year(admitted) + month(admitted) + C(weekday(admitted), reference='sun')"
ROWS = 600


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    days = np.datetime64("2014-06-01") + rng.integers(0, 365 * 11, ROWS)
    moments = days.astype("datetime64[us]") + rng.integers(0, 86400, ROWS).astype("timedelta64[s]")
    rows = pd.DataFrame({"admitted": moments, "age": rng.uniform(0, 100, ROWS)})
    rows.loc[5, "admitted"] = pd.NaT
    return rows.assign(cost=np.clip(20 + rows["age"] / 4 + 3 * (rows["admitted"].dt.weekday == 0), 0, 100))


def test_parts_are_those_of_the_calendar(frame):
    text = "year(admitted) + days(admitted) + dayofyear(admitted) + hour(admitted) + quarter(admitted) - 1"
    encoder = FormulaEncoder.of(text, DOMAIN)
    found = pd.DataFrame(encoder.design(frame), columns=encoder.names)
    there = frame["admitted"].clip(pd.Timestamp("2015-01-01"), pd.Timestamp("2024-12-31 23:59:59")).dt
    known = frame["admitted"].notna()
    assert (found["year(admitted)"] == there.year)[known].all()
    assert (found["dayofyear(admitted)"] == there.dayofyear)[known].all()
    assert (found["hour(admitted)"] == there.hour)[known].all()
    assert (found["days(admitted)"] == (there.normalize() - pd.Timestamp("2015-01-01")).dt.days)[known].all()
    assert (found["quarter(admitted)[2]"] == (there.quarter == 2))[known].all()
    assert found.loc[~known].isna().all(axis=None)
    months = FormulaEncoder.of("month(admitted) + weekday(admitted)", DOMAIN)
    levels = pd.DataFrame(months.design(frame), columns=months.names)
    assert (levels["month(admitted)[T.12]"] == (there.month == 12))[known].all()
    assert (levels["weekday(admitted)[T.wed]"] == (there.weekday == 2))[known].all()


def test_days_are_the_same_from_every_kind_of_cell():
    day = datetime.date(2020, 2, 29)
    cells = [
        day,
        datetime.datetime(2020, 2, 29),
        "2020-02-29",
        b"2020-02-29",
        " 2020-02-29 ",
        np.datetime64("2020-02-29"),
    ]
    missing = [None, "", "yesterday", 18321, np.datetime64("NaT"), pd.NaT, object(), "2020-02-30", float("nan")]
    found = days_of([*cells, *missing])
    assert found[: len(cells)].tolist() == [18321.0] * len(cells)
    assert np.isnan(found[len(cells) :]).all()


def test_every_table_gives_the_same_bits(frame, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    texts = frame.assign(admitted=frame["admitted"].dt.strftime("%Y-%m-%dT%H:%M:%S").astype(object))
    tables = [frame, texts, pl.from_pandas(frame), pa.Table.from_pandas(frame), pl.from_pandas(frame).lazy()]
    tables += [str(tmp_path / "rows.parquet"), str(tmp_path / "rows.csv")]
    bits = set()
    for table in tables:
        with pytest.warns(match="not private"):
            model = LinearRegression(**PRIVATE, formula=FORMULA, random_state=1).fit_table(table)
        bits.add(model.coef_.tobytes())
    with pytest.warns(match="not private"):
        bits.add(LinearRegression(**PRIVATE, formula=FORMULA, random_state=1).fit(frame).coef_.tobytes())
    assert len(bits) == 1


def test_without_a_formula_a_date_is_a_number_of_days(frame, tmp_path):
    model = LinearRegression(**PRIVATE).fit(frame[["admitted", "age"]], frame["cost"])
    assert model.coef_names_ == ["admitted", "age"]
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert np.array_equal(again.predict(frame[["admitted", "age"]]), model.predict(frame[["admitted", "age"]]), True)
    assert np.isfinite(model.predict(frame[["admitted", "age"]])).sum() == ROWS - 1


def test_a_domain_file_declares_dates(tmp_path):
    path = tmp_path / "domain.toml"
    path.write_text(DOMAIN.to_toml())
    assert Domain.from_toml(path) == DOMAIN
    path.write_text('[[columns]]\nname = "d"\nfirst = 2015-01-01\nlast = "2016-01-01"\n')
    assert Domain.from_toml(path)["d"].days == (datetime.date(2015, 1, 1), datetime.date(2016, 1, 1))
    public = Domain.from_public(pd.DataFrame({"d": pd.to_datetime(["2015-01-01", "2016-01-01"])}))
    assert public["d"].days == (datetime.date(2015, 1, 1), datetime.date(2016, 1, 1))


def test_what_is_wrong_is_said(frame):
    with pytest.raises(DomainError, match="low must be a date such as '2020-01-31', got 'soon'"):
        Date("d", "soon", "2020-01-01")
    with pytest.raises(DomainError, match="low < high"):
        Date("d", "2021-01-01", "2020-01-01")
    with pytest.raises(DomainError, match="takes a column that is declared as Date"):
        FormulaEncoder.of("month(age)", DOMAIN)
    with pytest.raises(DomainError, match="is declared as a Date but holds"):
        LinearRegression(**PRIVATE, formula=FORMULA).fit(frame.assign(admitted=3.0))
    zoned = frame.assign(admitted=frame["admitted"].dt.tz_localize("UTC"))
    with pytest.raises(DomainError, match="times without a zone"):
        LinearRegression(**PRIVATE, formula=FORMULA).fit(zoned)
    with pytest.raises(DomainError, match="times without a zone"):
        LinearRegression(**PRIVATE, formula=FORMULA).fit_table(pa.Table.from_pandas(zoned))
    other = Domain((Categorical("admitted", ("a", "b")), Numeric("cost", 0, 100)))
    for declared in (other, Domain((Numeric("admitted", 0, 1), Numeric("cost", 0, 100)))):
        with pytest.raises(DomainError, match="admitted"):
            LinearRegression(epsilon=1, delta=1e-6, domain=declared).fit_table(frame, target="cost")
