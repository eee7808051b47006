"""An invalid declaration is refused with the name of its column."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet import Categorical, Domain, DomainError, Numeric


@pytest.mark.parametrize("values", ["abc", b"abc", {"a", "b"}, frozenset("ab"), {"a": 1, "b": 2}, {"a": 1}.keys(), 7])
def test_levels_have_an_order(values):
    with pytest.raises(DomainError, match="column 'cut': values must be a list, as the first one is the reference"):
        Categorical("cut", values)


@pytest.mark.parametrize("value", [None, np.nan, ["a"], ("a",), {"a": 1}, {"a"}])
def test_levels_are_values(value):
    with pytest.raises(DomainError, match=r"column 'cut': .* cannot be one of the values"):
        Categorical("cut", ["x", value])


@pytest.mark.parametrize(
    "values", [["a", "b"], ("a", "b"), np.array(["a", "b"]), pd.Series(["a", "b"]), pd.Index(["a", "b"]), iter("ab")]
)
def test_levels_in_any_kind_of_list_are_the_same_column(values):
    assert Categorical("cut", values) == Categorical("cut", ("a", "b"))
    assert hash(Categorical("cut", ("a", "b"))) is not None


@pytest.mark.parametrize("low", ["x", None, True, [0], 1j, datetime.date(2020, 1, 1)])
def test_bounds_are_numbers(low):
    with pytest.raises(DomainError, match="column 'age': low must be a number"):
        Numeric("age", low, 10)


@pytest.mark.parametrize("low", [0, 0.0, np.float32(0), np.int8(0), Decimal(0), Fraction(0)])
def test_every_kind_of_number_is_written_to_a_file_alike(low, tmp_path):
    domain = Domain((Numeric("age", low, 10), Categorical("n", (np.int64(1), np.bool_(False), np.float64(2.5)))))
    (tmp_path / "domain.toml").write_text(domain.to_toml())
    assert Domain.from_toml(tmp_path / "domain.toml") == domain


@pytest.mark.parametrize("high", [10**400, np.inf, np.nan])
def test_bounds_are_finite(high):
    with pytest.raises(DomainError, match="bounds of 'age' must be finite"):
        Numeric("age", 0, high)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"age": (0, 9)}, r"not a dictionary: for 'age' give Numeric\('age', low, high\)"),
        ({"age": Numeric("age", 0, 9)}, "not a dictionary: for 'age'"),
        ({Numeric("age", 0, 9), Numeric("bmi", 0, 9)}, "a domain is a list of columns, in the order of the data"),
        ("age", "a domain is a list of columns"),
        (7, "a domain is a list of columns"),
        ([Numeric("age", 0, 9), ("bmi", 0, 9)], r"column 2 of a domain must be .*got \('bmi', 0, 9\)"),
        (Numeric("age", 0, 9), "a domain is a list of columns"),
        ([Categorical("a", ("x", "b")), Numeric("a=b", 0, 1)], "one name for their coefficients: 'a=b'"),
    ],
)
def test_a_domain_is_a_list_of_columns(columns, message):
    with pytest.raises(DomainError, match=message):
        Domain(columns)


@pytest.mark.parametrize("name", [3, None, b"a", ("a",)])
def test_names_are_texts(name):
    with pytest.raises(DomainError, match="a column's name must be a text"):
        Numeric(name, 0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[columns]]\nname = "age"\nlow = "x"\nhigh = 1', "column 'age': low must be a number, got 'x'"),
        ('[columns.age]\nlow = "x"\nhigh = 1', "column 'age': low must be a number, got 'x'"),
        ("[columns.age]\nlow = true\nhigh = 2", "column 'age': low must be a number, got True"),
        ("[columns.age]\nlow = 2\nhigh = 1", "bounds of 'age' must be finite with low < high"),
        ("[columns.age]\nlow = 1", "column 'age' must declare either low and high, or values"),
        ("[columns.age]\nlow = 1\nhigh = 2\nwide = 3", "column 'age' must declare either low and high, or values"),
        ('[columns.age]\nvalues = "abc"', "column 'age' must declare either low and high, or values"),
        ("[columns.age]\nvalues = [[1], [2]]", "column 'age': values must be texts, numbers or truth values"),
        ("[columns.age]\nvalues = [2020-01-01, 2021-01-01]", "column 'age': values must be texts, numbers"),
        ('[columns.age]\nvalues = ["a"]', "column 'age' must declare at least two different values"),
        ("[columns]\nage = 3", "'age' must be a table"),
        ('[columns.age]\nname = "bmi"\nlow = 1\nhigh = 2', "'age' must be a table without a further name"),
        ("[[columns]]\nlow = 1\nhigh = 2", "number 1 of columns must be a table with a name"),
        ("columns = 3", "columns must be a list of tables"),
        ("columns = []", "columns must be a list of tables"),
        ('data_norm = "x"\n[columns.age]\nlow = 0\nhigh = 1', "data_norm must be finite and > 0, got 'x'"),
        ("data_norm = true\n[columns.age]\nlow = 0\nhigh = 1", "data_norm must be finite and > 0, got True"),
        ("missing = [1]\n[columns.age]\nlow = 0\nhigh = 1", "missing must be 'drop' or 'centre'"),
        ("a = " + "[" * 5000 + "]" * 5000, "nested by more than"),
        ("[columns.age]\nlow = 0\nhigh = " + "9" * 5000, "thousands of digits"),
    ],
)
def test_a_wrong_file_is_refused_by_file_and_column(tmp_path, text, message):
    path = tmp_path / "domain.toml"
    path.write_text(text)
    with pytest.raises(DomainError, match=message) as caught:
        Domain.from_toml(path)
    assert str(path) in str(caught.value)


def test_the_order_of_a_file_is_that_of_its_list(tmp_path):
    path = tmp_path / "domain.toml"
    path.write_text("".join(f'[[columns]]\nname = "{name}"\nlow = 0\nhigh = 1\n' for name in "zamb"))
    assert [column.name for column in Domain.from_toml(path).columns] == list("zamb")
    path.write_text("".join(f"[columns.{name}]\nlow = 0\nhigh = 1\n" for name in "zamb"))
    assert [column.name for column in Domain.from_toml(path).columns] == list("zamb")
