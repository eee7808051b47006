"""Declarations: how they are made, written down and refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from discreet import Categorical, Domain, DomainError, Numeric
from discreet.domain import Encoder, spelling

numbers = st.floats(-1e50, 1e50)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
levels = st.lists(
    st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), st.integers(-5, 5), st.booleans()),
    min_size=2,
    max_size=5,
    unique_by=spelling,
)


@st.composite
def domains(draw):
    columns = []
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        if draw(st.booleans()):
            low, high = sorted(draw(st.lists(numbers, min_size=2, max_size=2)))
            assume(high - low >= max(1e-50, 2**-26 * max(-low, high)))
            columns.append(Numeric(name, low, high))
        else:
            columns.append(Categorical(name, tuple(draw(levels))))
    data_norm = draw(st.none() | st.floats(1e-3, 1e9))
    if data_norm is not None:
        assume(all(column.low < data_norm and column.high > -data_norm for column in columns if hasattr(column, "low")))
    return Domain(tuple(columns), data_norm, draw(st.sampled_from(["drop", "centre"])))


@settings(max_examples=100, deadline=None)
@given(domain=domains())
def test_a_domain_survives_its_own_file(domain, tmp_path_factory):
    path = tmp_path_factory.mktemp("domain") / "domain.toml"
    path.write_text(domain.to_toml(), encoding="utf-8", newline="")
    assert Domain.from_toml(path) == domain


def test_bounds_are_one_pair_or_one_per_column():
    one = Domain.from_bounds(["a", "b"], (0, 10))
    assert one.columns == (Numeric("a", 0.0, 10.0), Numeric("b", 0.0, 10.0))
    each = Domain.from_bounds(["a", "b"], ([0, -1], [10, 1]))
    assert each.columns == (Numeric("a", 0.0, 10.0), Numeric("b", -1.0, 1.0))


def test_bounds_may_be_given_by_name():
    named = Domain.from_bounds(["a", "b"], {"b": (50, 70), "a": (0, 3)})
    assert named.columns == (Numeric("a", 0.0, 3.0), Numeric("b", 50.0, 70.0))


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"a": (0, 3)}, "no bounds for column 'b'; the columns are a, b"),
        ({"a": (0, 3), "b": (0, 1), "c": (0, 1)}, "bounds for what is no column: 'c'"),
        ({"a": (0, 3), "b": 5}, r"bounds_X\['b'\] must be \(low, high\); got 5"),
        ({"a": (0, 3), "b": (3, 0)}, r"bounds_X\['b'\] must be \(low, high\), finite with low < high"),
        ({"a": (0, 3), "b": {"low": 0}}, r"bounds_X\['b'\] must be \(low, high\)"),
    ],
)
def test_wrong_bounds_by_name_are_refused_by_name(bounds, message):
    with pytest.raises(DomainError, match=message):
        Domain.from_bounds(["a", "b"], bounds)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda rows: [list(row) for row in rows]])
def test_two_pairs_for_two_columns_are_refused_where_both_readings_are_bounds(kind):
    with pytest.raises(DomainError, match=r"can be read as \(low, high\) and as one pair per column.*'x0': \(0, 50\)"):
        Domain.from_bounds(["a", "b"], kind([(0, 3), (50, 70)]))


@pytest.mark.parametrize(
    "bounds",
    [([0, 3], [50, 70]), ((0, 0), (1, 1)), [(0, 1), (1, 2)], (np.array([0, 3]), np.array([50, 70])), (0, [1, 2])],
)
def test_two_columns_with_one_possible_reading_are_taken(bounds):
    low, high = (np.broadcast_to(end, 2) for end in bounds)
    columns = Domain.from_bounds(["a", "b"], bounds).columns
    assert [(column.low, column.high) for column in columns] == list(zip(low, high, strict=True))


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, np.nextafter(1.0, 2)), (1.0, 1 + 2**-51), (-1.7e308, 1.7e308), (0, 5e-324), (1e9, 1e9 + 1)]
)
def test_degenerate_bounds_are_refused(low, high):
    with pytest.raises(DomainError, match=r"bounds of 'age'.*(rescale|subtract a constant)"):
        Numeric("age", low, high)


@pytest.mark.parametrize(("low", "high"), [(-1e51, 0), (0, 1e-51)])
def test_bounds_whose_squares_overflow_scale_no_column(low, high):
    with pytest.raises(DomainError, match=r"bounds of 'age'.*rescale"):
        Encoder(Domain((Numeric("age", low, high),)))
    with pytest.raises(DomainError, match=r"bounds of 'y'.*rescale"):
        Encoder(Domain((Numeric("age", 0, 1),)), Numeric("y", low, high))
    with pytest.raises(DomainError, match=r"bounds of 'data_norm'.*rescale"):
        Domain((Numeric("age", 0, 1),), data_norm=high or 1e51)


@settings(max_examples=300, deadline=None)
@given(low=numbers, width=st.floats(1e-50, 1e50), value=st.floats(allow_nan=False), scale=st.floats(-60, 60))
@example(low=1.0, width=2**-26 * (1 + 2**-26) * 1.0001, value=2.0, scale=0.0)
def test_encoded_numbers_round_to_at_most_one_on_the_grid_of_sums(low, width, value, scale):
    """The bound that Numeric proves: entries of 23 bits never exceed 2^23."""
    low *= 2.0 ** -abs(scale)
    high = low + width
    assume(high <= 1e50 and high - low >= max(1e-50, 2**-26 * max(abs(low), abs(high))))
    encoder = Encoder(Domain((Numeric("x", low, high),)))
    for cell in (low, high, value):
        for table in (np.array([[cell]]), np.array([[cell]], dtype=object)):
            assert abs(encoder.encode(table).x[0, 0]) <= 1 + 2**-25 + 2**-50
            whole = np.empty((2, 1))
            encoder.write_whole(table, whole, 2.0**23)
            assert abs(whole[1, 0]) <= 2**23


def test_bounds_beyond_the_norm_are_refused():
    with pytest.raises(DomainError, match="column 'a' is declared from 5 to 10, where every row is longer"):
        Domain((Numeric("a", 5, 10),), data_norm=1.0)


def test_a_norm_alone_is_a_declaration():
    domain = Domain.from_bounds(["a", "b"], None, data_norm=3.0)
    assert domain.columns[0] == Numeric("a", -3.0, 3.0)
    assert domain.data_norm == 3.0


def test_missing_declarations_are_refused_with_advice():
    with pytest.raises(
        DomainError, match=r"no bounds were declared for 2 columns.*never from the private rows.*bounds_X"
    ):
        Domain.from_bounds(["a", "b"])


@pytest.mark.parametrize(
    "bounds",
    [3, (0, 1, 2), ([0, 0, 0], 1), (1, 0), (0, 0), (0, np.inf), (np.nan, 1), ("a", "b"), None],
)
def test_wrong_bounds_are_refused_by_name(bounds):
    from discreet.domain import check_bounds

    with pytest.raises(DomainError, match="bounds_X must be"):
        check_bounds(bounds, 2, "bounds_X")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Numeric("a", 1, 1), "bounds of 'a' must be finite with low < high"),
        (lambda: Numeric("a", 0, float("inf")), "bounds of 'a' must be finite"),
        (lambda: Categorical("a", ("x",)), "at least two different values"),
        (lambda: Categorical("a", (1, "1")), "at least two different values"),
        (lambda: Domain(()), "at least one column"),
        (lambda: Domain((Numeric("a", 0, 1), Numeric("a", 0, 2))), "must not declare a column name twice"),
        (lambda: Domain((Numeric("a", 0, 1),), data_norm=-1.0), "data_norm must be finite and > 0, got -1.0"),
        (lambda: Domain((Numeric("a", 0, 1),), missing="mean"), "missing must be 'drop' or 'centre', got 'mean'"),
        (lambda: Domain((Numeric("a", 0, 1),))["b"], "column 'b' is not declared; the domain has a"),
    ],
)
def test_contradictions_are_refused(make, message):
    with pytest.raises(DomainError, match=message):
        make()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bounds = 3", "unknown settings"),
        ("[columns.a]\nlow = 0", "column 'a' must declare either low and high, or values"),
        ("[columns.a", "cannot read the domain file"),
        ("", r"columns must be a list of tables.*and not empty"),
    ],
)
def test_a_wrong_file_is_refused_by_its_name(tmp_path, text, message):
    path = tmp_path / "domain.toml"
    path.write_text(text)
    with pytest.raises(DomainError, match=message):
        Domain.from_toml(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DomainError, match="cannot read the domain file"):
        Domain.from_toml(tmp_path / "none.toml")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_public_rows_give_widened_bounds_and_their_categories(library):
    frame = library({"age": [20.0, 60.0, 40.0], "kind": ["b", "a", "b"]})
    domain = Domain.from_public(frame, widen=0.25)
    assert domain.columns == (Numeric("age", 10.0, 70.0), Categorical("kind", ("a", "b")))


def test_a_public_column_without_range_is_refused():
    with pytest.raises(DomainError, match="public column 'age' has no range"):
        Domain.from_public(pd.DataFrame({"age": [1.0, 1.0]}))


def test_a_selection_keeps_the_declarations_and_the_new_order():
    domain = Domain((Numeric("a", 0, 1), Numeric("b", 0, 2)), 3.0, "centre")
    assert domain.select(["b", "a"]) == Domain((Numeric("b", 0, 2), Numeric("a", 0, 1)), 3.0, "centre")
    assert "a" in domain
    assert "c" not in domain
