"""A formula's features are those of formulaic, with bounds, levels and knots from the declaration
alone.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Categorical, Domain, DomainError, Numeric
from discreet.domain import FormulaEncoder, parse_formula

DOMAIN = Domain(
    (
        Numeric("age", 18, 90),
        Numeric("bmi", 10, 50),
        Numeric("change", -2, 3),
        Categorical("smoker", ("no", "yes")),
        Categorical("region", ("n", "s", "e")),
        Numeric("my col", 0, 1),
    )
)
ROWS = 60


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    numbers = {one.name: rng.uniform(one.low, one.high, ROWS) for one in DOMAIN.columns if isinstance(one, Numeric)}
    levels = {
        one.name: pd.Categorical(rng.choice(one.values, ROWS), one.values)
        for one in DOMAIN.columns
        if isinstance(one, Categorical)
    }
    return pd.DataFrame({**numbers, **levels})


FORMULAS = [
    "age * smoker",
    "age + C(region) - 1",
    "age:region",
    "smoker:region",
    "region / smoker",
    "(age + smoker + region)**2",
    "age * smoker * region",
    "C(region, contr.treatment('e')) * bmi",
    "C(region, contr.sum) + age",
    "I(age**2) + np.log(bmi) + {age / 2}:smoker",
    "`my col`:age + smoker",
    "poly(change, 3, raw=True) + exp(change) + I(abs(change) - bmi / age)",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_columns_span_what_formulaic_makes_of_the_data(text, frame):
    from formulaic import model_matrix

    encoder = FormulaEncoder.of(text, DOMAIN)
    own = encoder.design(frame)
    own = np.column_stack([np.ones(ROWS), own]) if encoder.intercept else own
    theirs = model_matrix(text, frame).to_numpy(dtype=float)
    rank = np.linalg.matrix_rank(own)
    assert rank == own.shape[1] == theirs.shape[1] == np.linalg.matrix_rank(np.column_stack([own, theirs]))


@pytest.mark.parametrize("text", [*FORMULAS, "bs(bmi, 5) * smoker", "legendre(age, 4):region", "bs(log(bmi), 4)"])
def test_encoded_features_stay_within_bounds_and_radius(text, frame):
    encoder = FormulaEncoder.of(text, DOMAIN)
    corners = frame.assign(age=[18.0, 90.0] * 30, bmi=[10.0, 50.0, 50.0] * 20, change=[-2.0, 3.0, 0.0, 3.0] * 15)
    wild = frame.assign(age=1e300, bmi=-np.inf, change=np.inf)
    for rows in (frame, corners, wild):
        x = encoder.encode(rows).x
        assert np.abs(x).max() <= 1
        assert np.linalg.norm(x, axis=0).max() <= encoder.radius * (1 + 1e-12)
        features = encoder.design_plan.features
        low, high = np.array([(one.interval.low, one.interval.high) for one in features]).T
        assert (encoder.design(rows) <= high + 1e-9 * np.abs(high)).all()
        assert (encoder.design(rows) >= low - 1e-9 * np.abs(low)).all()


def test_bounds_of_interactions_are_exact():
    bounds = {
        one.name: (one.interval.low, one.interval.high)
        for one in parse_formula("change:age + I(change**2) + smoker:change + 1/bmi", DOMAIN).features
    }
    assert bounds["change:age"] == (-180, 270)
    assert bounds["I(change ** 2)"] == (0, 9)
    assert bounds["smoker[yes]:change"] == (-2, 3)


def test_a_spline_sums_to_one_and_has_knots_between_the_declared_bounds(frame):
    encoder = FormulaEncoder.of("bs(bmi, 6, include_intercept=True) - 1", DOMAIN)
    assert np.allclose(encoder.design(frame).sum(axis=1), 1)
    assert encoder.design_plan.terms[0].factors[0].knots == (10 + 40 / 3, 10 + 80 / 3)
    chosen = FormulaEncoder.of("bs(bmi, knots=[20, 30])", DOMAIN)
    assert chosen.width == 5
    assert chosen.names[0] == "bs(bmi, knots=[20, 30])[1]"


def test_reference_levels_can_be_chosen():
    for text in ("C(region, reference='s')", "C(region, Treatment('s'))", "C(region, contr.treatment(base='s'))"):
        names = FormulaEncoder.of(text, DOMAIN).names
        assert [name.removeprefix(text) for name in names] == ["[T.n]", "[T.e]"]


def test_missing_cells_silence_their_row_or_count_as_declared(frame):
    holes = frame.assign(age=[np.nan, *frame["age"][1:]], region=["?", "?", *frame["region"][2:]])
    x = FormulaEncoder.of("age + region", DOMAIN).encode(holes).x
    assert np.isnan(x[0, 0])
    assert np.isnan(x[1:, :2]).all()
    assert np.isfinite(x[:, 2:]).all()
    filled = FormulaEncoder.of("age + region", Domain(DOMAIN.columns, missing="centre")).design(holes)
    assert filled[0].tolist() == [54, 0, 0]


EVERYTHING = FormulaEncoder.of("bs(x, 4) + log(x) + I(x**3) + I(x > 2)", Domain((Numeric("x", 1, 7),)))


@settings(max_examples=30)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=20), st.integers(1, 20))
def test_a_row_is_encoded_alike_in_every_block(cells, cut):
    encoder = EVERYTHING
    table = np.array(cells)[:, np.newaxis]
    whole = encoder.encode(table).x
    parts = [encoder.encode(table[start : start + cut]).x for start in range(0, len(cells), cut)]
    assert np.array_equal(whole, np.hstack(parts), equal_nan=True)


WRONG = {
    "age + nope": "formula term 'nope': column 'nope' is not declared; the domain has age, bmi",
    "scale(age)": "formula term 'scale(age)': scale.. computes something from all rows",
    "center(age)": "write I.x - 50. with a public number",
    "poly(age, 2)": "formula term 'poly(age, 2)': poly.. makes its columns orthogonal on the rows",
    "cr(age, 3)": "take bs",
    "foo(age)": "the function 'foo' is not known",
    "np.mean(age)": "the function 'mean' is not known",
    "age.mean()": "is not known",
    "log(age) ~ bmi": "must have one column on the left",
    "C(age)": "declare the column as Categorical",
    "C(region, reference='x')": "'x' is none of the declared levels of 'region'",
    "I(age / (bmi - 20))": "divides by what can be 0: from -10 to 30",
    "log(change)": "is not defined at or below 0",
    "exp(age * bmi)": "bounds are not finite",
    "age | bmi": "more than one part",
    "age ~ age": "has its target 'age' on the right",
    "1": "no term besides the intercept",
    "bs(age)": "takes df",
    "bs(age, 2)": "df must be at least 3",
    "bs(age, knots=[5])": "between 18 and 90",
    "I(region + 1)": "is declared with values",
    "age +": "cannot be read",
    "": "must be a text",
    "__import__('os')": "cannot be read|is not known",
    "offset(age) + offset(bmi) + age": "one offset",
    "I(age) + I(age + 0 * bmi - bmi + 'a')": "is no arithmetic",
}


@pytest.mark.parametrize("text", list(WRONG))
def test_what_is_wrong_is_named(text):
    expected = WRONG[text]
    for special in "()[]+*.'":
        expected = expected.replace(special, "." if special != "'" else "'")
    with pytest.raises(DomainError, match=expected):
        FormulaEncoder.of(text, DOMAIN)


def test_a_norm_of_whole_rows_is_no_bound_of_terms():
    with pytest.raises(DomainError, match="a formula needs bounds of every column"):
        FormulaEncoder.of("age", Domain((Numeric("age", 0, 1),), data_norm=1.0))
