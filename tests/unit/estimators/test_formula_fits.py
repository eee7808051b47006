"""Models with a formula: estimates of statsmodels at a huge budget, the same bits from every table,
clear errors.
"""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from click.testing import CliRunner
from sklearn.pipeline import make_pipeline

import discreet
from discreet import (
    Categorical,
    Domain,
    DomainEncoder,
    DomainError,
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    Numeric,
    PoissonRegressor,
    Public,
    Ridge,
)
from discreet.cli import main

DOMAIN = Domain(
    (
        Numeric("age", 18, 90),
        Numeric("bmi", 10, 50),
        Categorical("smoker", ("no", "yes")),
        Categorical("region", ("n", "s", "e")),
        Numeric("years", 0.5, 5),
        Numeric("cost", 0, 60_000),
        Numeric("claims", 0, 40),
        Categorical("sick", (0, 1)),
    )
)
HUGE = {"epsilon": 1e7, "delta": 1e-6, "domain": DOMAIN}
USUAL = {"epsilon": 1.0, "delta": 1e-6, "domain": DOMAIN}
ROWS = 4000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "note": "free text",
            "age": rng.uniform(18, 90, ROWS),
            "bmi": np.clip(rng.normal(27, 5, ROWS), 10, 50),
            "smoker": rng.choice(["no", "yes"], ROWS, p=[0.7, 0.3]),
            "region": rng.choice(["n", "s", "e"], ROWS),
            "years": rng.uniform(0.5, 5, ROWS),
        }
    )
    smokes = (rows["smoker"] == "yes").to_numpy()
    mean = 2000 + 200 * rows["age"] * (1 + smokes) + 40 * (rows["bmi"] - 25) ** 2 + 900 * (rows["region"] == "s")
    rows["cost"] = np.clip(mean + rng.normal(0, 2000, ROWS), 0, 60_000)
    rows["claims"] = rng.poisson(rows["years"] * np.exp(-2 + 0.01 * rows["age"] + 0.5 * smokes))
    rows["sick"] = (rng.random(ROWS) < 1 / (1 + np.exp(3 - 0.04 * rows["age"] - smokes))).astype(int)
    return rows


def test_least_squares_with_products_splines_and_a_reference(frame):
    text = "cost ~ age * smoker + bs(bmi, 4) + C(region, Treatment('s'))"
    model = LinearRegression(formula=text, **HUGE).fit(frame)
    spline = "bs(bmi, knots=[30], degree=3, lower_bound=10, upper_bound=50)"
    truth = smf.ols(text.replace("bs(bmi, 4)", spline), frame).fit()
    assert model.coef_names_ == [
        *("age", "smoker[T.yes]", *(f"bs(bmi, 4)[{i}]" for i in (1, 2, 3, 4))),
        *("C(region, Treatment('s'))[T.n]", "C(region, Treatment('s'))[T.e]", "age:smoker[T.yes]"),
    ]
    assert np.abs(model.predict(frame) - truth.fittedvalues).max() < 0.05 * np.sqrt(truth.scale)
    for name in ("age", "smoker[T.yes]", "age:smoker[T.yes]"):
        place = model.coef_names_.index(name)
        assert abs(model.results_.estimates[1 + place] - truth.params[name]) < 0.05 * truth.bse[name]


@pytest.mark.parametrize("kind", ["logistic", "poisson", "gamma"])
def test_generalized_linear_models(kind, frame):
    model, truth = {
        "logistic": lambda: (
            LogisticRegression(formula="sick ~ age + smoker - 1", **HUGE),
            smf.logit("sick ~ smoker + age - 1", frame).fit(disp=0),
        ),
        "poisson": lambda: (
            PoissonRegressor(formula="claims ~ age + smoker + offset(log(years))", **HUGE),
            smf.poisson("claims ~ age + smoker", frame, offset=np.log(frame["years"])).fit(disp=0),
        ),
        "gamma": lambda: (
            GammaRegressor(formula="cost ~ I(age / 10) + smoker", **{**HUGE, "bounds_y": (1, 60_000)}),
            smf.glm(
                "cost ~ I(age / 10) + smoker",
                frame.assign(cost=frame["cost"].clip(1)),
                family=sm.families.Gamma(sm.families.links.Log()),
            ).fit(),
        ),
    }[kind]()
    model.fit(frame)
    for name, estimate in zip(model.coef_names_, np.ravel(model.coef_), strict=True):
        assert abs(estimate - truth.params[name]) < 0.1 * truth.bse[name], name
    if kind == "poisson":
        assert np.allclose(model.predict(frame), truth.predict(), rtol=0.02)
        with pytest.raises(ValueError, match="leave exposure out"):
            model.predict(frame, exposure=2.0)
    else:
        assert model.predict(frame[:5]).shape == (5,)


def test_every_table_gives_the_same_bits_and_extra_columns_are_left_out(frame, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet")
    formula = "cost ~ age * smoker + bs(bmi, 4)"

    def bits(fit):
        with pytest.warns(match="not private"):
            return fit(Ridge(formula=formula, random_state=3, **USUAL)).coef_.tobytes()

    expected = bits(lambda model: model.fit(frame))
    assert bits(lambda model: model.fit(pl.from_pandas(frame[frame.columns[::-1]]))) == expected
    assert bits(lambda model: model.fit(frame, frame["cost"])) == expected
    assert bits(lambda model: model.fit_table(frame)) == expected
    assert bits(lambda model: model.fit_table(str(tmp_path / "rows.parquet"), target="cost")) == expected


def test_a_fitted_model_predicts_from_the_columns_that_it_reads(frame):
    model = pickle.loads(pickle.dumps(LinearRegression(formula="cost ~ age + smoker", **USUAL).fit(frame)))
    assert list(model.feature_names_in_) == ["age", "smoker"]
    assert np.array_equal(model.predict(frame), model.predict(frame[["smoker", "age"]]))
    beyond = frame.assign(age=200.0)
    assert np.array_equal(model.predict(beyond), model.predict(frame.assign(age=90.0)))
    assert (model.predict(beyond, extrapolate=True) != model.predict(beyond)).all()
    assert np.isnan(model.predict(frame.assign(smoker="perhaps"))).all()
    with pytest.raises(
        DomainError, match="the formula reads column 'smoker', which is missing; it has 1 column, 1 of them"
    ):
        model.predict(frame[["age"]])


def test_arrays_name_their_columns_by_number():
    X = np.random.default_rng(0).random((300, 3))
    model = LinearRegression(formula="x0 * x2", epsilon=1e7, delta=1e-6, bounds_X=(0, 1), bounds_y=(-1, 3))
    model.fit(X, 1 + X[:, 0] * X[:, 2])
    assert model.coef_names_ == ["x0", "x2", "x0:x2"]
    assert np.allclose(model.predict(X), 1 + X[:, 0] * X[:, 2], atol=0.01)


def test_public_rows_and_a_pipeline_see_the_same_features(frame):
    public = Public(frame[["age", "smoker"]][:200])
    model = LinearRegression(formula="cost ~ age * smoker", public=public, **USUAL).fit(frame)
    assert model.signal_ == "clear"
    encoder = DomainEncoder(DOMAIN, formula="age * smoker + legendre(bmi, 2)").fit(frame)
    assert list(encoder.get_feature_names_out()) == [
        *("age", "smoker[T.yes]", "legendre(bmi, 2)[1]", "legendre(bmi, 2)[2]", "age:smoker[T.yes]")
    ]
    pipeline = make_pipeline(encoder, LinearRegression(epsilon=1, delta=1e-6, bounds_X=(-1, 1), bounds_y=(0, 60_000)))
    assert pipeline.fit(frame, frame["cost"]).predict(frame).shape == (ROWS,)
    assert DomainEncoder(bounds_X=(0, 1), formula="x0:x1").fit_transform(np.eye(2)).tolist() == [[-1], [-1]]


def test_what_is_wrong_is_said_before_anything_is_spent(frame, tmp_path):
    from discreet import Ledger

    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=3, delta=1e-6)

    def fit(formula, kind=LinearRegression, rows=frame, y=None, **more):
        kind(formula=formula, ledger=ledger, **USUAL).fit(rows, y, **more)

    with pytest.raises(DomainError, match=r"formula term 'scale\(age\)'"):
        fit("cost ~ scale(age)")
    with pytest.raises(DomainError, match="names no target: write 'y ~ "):
        fit("age + bmi")
    with pytest.raises(DomainError, match="target 'price' was not found"):
        fit("price ~ age")
    with pytest.raises(DomainError, match="reads column 'years', which is missing; it has 3 columns, none of them"):
        fit("cost ~ years", rows=frame[["note", "age", "cost"]])
    with pytest.raises(DomainError, match="is for models with a log link"):
        fit("cost ~ age + offset(log(years))")
    with pytest.raises(DomainError, match="takes no exposure"):
        fit("claims ~ age + offset(log(years))", PoissonRegressor, exposure=frame["years"])
    with pytest.raises(ValueError, match="leave features out"):
        LinearRegression(formula="cost ~ age", **USUAL).fit_table(frame, features=["age"])
    with pytest.raises(ValueError, match="target 'age' is not the formula's target, 'cost'"):
        LinearRegression(formula="cost ~ bmi", **USUAL).fit_table(frame, target="age")
    with pytest.raises(ValueError, match="target= must name the column"):
        LinearRegression(**USUAL).fit_table(frame)
    assert ledger.remaining == ledger.total


def test_in_the_terminal(frame, tmp_path):
    (tmp_path / "domain.toml").write_text(DOMAIN.to_toml())
    frame.to_csv(tmp_path / "rows.csv", index=False)
    data, out = [str(tmp_path / "rows.csv"), "--domain", str(tmp_path / "domain.toml")], str(tmp_path / "model.json")
    common = ["fit", *data, "--epsilon", "1", "--delta", "1e-6"]
    run = CliRunner().invoke
    fitted = run(main, [*common, "--formula", "cost ~ age * smoker + C(region, reference='e')", "--out", out])
    assert fitted.exit_code == 0, fitted.output
    assert "C(region, reference='e')[T.n]" in fitted.output
    assert json.loads((tmp_path / "model.json").read_text())["target"]["name"] == "cost"
    dry = run(main, [*common, "--family", "poisson", "--formula", "claims ~ age + offset(log(years))", "--dry-run"])
    assert "claims on age" in dry.output
    assert "scale() computes something from all rows" in run(main, [*common, "--formula", "cost ~ scale(age)"]).output
    assert "give --target" in run(main, common).output


SPARSE = {"SparseLinearRegression": "cost", "SparseLogisticRegression": "sick", "SparsePoissonRegressor": "claims"}


@pytest.mark.filterwarnings("ignore::discreet.PrivacyLeakWarning")
@pytest.mark.parametrize(("kind", "label"), SPARSE.items())
def test_sparse_models_choose_among_a_formulas_terms(frame, tmp_path, kind, label):
    text = f"{label} ~ (age + bmi + years)**2 + C(region) + smoker"
    made = getattr(discreet, kind)
    model = made(**USUAL, sparsity=2, formula=text, random_state=1).fit(frame)
    assert (len(model.support_), model.coef_.size, len(model.coef_names_)) == (2, 9, 2)
    assert "2 of 9 terms were chosen" in str(model.summary())
    frame.to_parquet(tmp_path / "rows.parquet")
    table = made(**USUAL, sparsity=2, formula=text, random_state=1).fit_table(tmp_path / "rows.parquet")
    np.testing.assert_array_equal(model.coef_, table.coef_)
    model.save(tmp_path / "model.json")
    loaded = discreet.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(loaded.get_support(), model.get_support())
    assert loaded.evaluate(frame, epsilon=1.0, delta=1e-6).rows > 0


def test_sparse_terms_have_the_estimates_of_statsmodels(frame):
    """Of a formula of which every term is needed, at a huge budget."""
    text = "cost ~ age * smoker"
    model = discreet.SparseLinearRegression(**HUGE, sparsity=3, formula=text).fit(frame)
    plain = smf.ols(text, frame).fit()
    found = model.results_.params.rename({"const": "Intercept"})
    np.testing.assert_allclose(found[plain.params.index], plain.params, rtol=0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [("cost ~ age + bmi - 1", "have an intercept"), ("cost ~ age + offset(log(years))", "have no offset")],
)
def test_sparse_models_refuse_what_they_cannot_use(frame, text, message):
    with pytest.raises(DomainError, match=message):
        discreet.SparsePoissonRegressor(**USUAL, sparsity=1, formula=text).fit(frame)


@pytest.mark.parametrize("link", [None, "softplus"])
@pytest.mark.parametrize(("right", "const"), [("a * k", True), ("0 + a + a:k", False)])
def test_index_models_take_formulas(tmp_path, link, right, const):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"k": rng.choice(["u", "v"], 3000), "a": rng.uniform(1, 3, 3000)})
    frame["cost"] = frame["a"] + (frame["k"] == "v") * frame["a"] / 2
    domain = discreet.Domain(
        (discreet.Numeric("a", 1, 3), discreet.Categorical("k", ("u", "v")), discreet.Numeric("cost", 0, 6))
    )
    more = {"domain": domain, "formula": f"cost ~ {right}"}
    kind = discreet.ReLURegressor if link is None else discreet.SingleIndexRegressor
    model = kind(epsilon=20.0, delta=1e-6, **more, **({} if link is None else {"link": link})).fit(frame)
    assert ("const" in model.results_.names) == const
    assert (model.intercept_ != 0) == const
    assert not const or np.abs(model.predict(frame) - frame["cost"]).mean() < 0.3
    model.save(tmp_path / "model.json")
    assert np.array_equal(discreet.load(tmp_path / "model.json").predict(frame), model.predict(frame))
