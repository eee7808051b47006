"""``results_`` with statsmodels' names for every kind of model, and its summary."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from model_fits import PRIVATE
from scipy.stats import chi2, norm

import discreet
from discreet import LinearRegression
from discreet.errors import DiscreetError
from discreet.results import Results, numbers
from discreet.results.named import has_pandas

ALL = ["linear", "moments", "without", "paper", "logistic", "classes", "poisson", "relu", "pgd", "sparse", "search"]
WITH_ERRORS = [name for name in ALL if name not in ("paper", "pgd")]


@pytest.mark.parametrize("name", WITH_ERRORS)
def test_names_numbers_and_tests_belong_together(fitted, name):
    results = fitted[name].results_
    names = list(results.names)
    for values in (results.params, results.bse, results.tvalues, results.pvalues):
        assert isinstance(values, pd.Series)
        assert list(values.index) == names
    assert results.tvalues.to_numpy() == pytest.approx((results.params / results.bse).to_numpy())
    assert results.pvalues.to_numpy() == pytest.approx(2 * norm.sf(np.abs(results.tvalues)))
    interval = results.conf_int(0.1)
    assert list(interval.index) == names
    half = norm.isf(0.05) * results.bse.to_numpy()
    assert interval.to_numpy() == pytest.approx(np.column_stack([results.params - half, results.params + half]))
    assert np.diag(results.cov_params()) == pytest.approx(results.bse**2)
    assert list(results.cov_params().columns) == names
    told = results.to_frame()
    assert list(told.index) == names
    assert told["estimate"].tolist() == results.params.tolist()
    if results.noise_covariance is not None:
        assert (np.ptp(results.noise_int(), axis=1) <= np.ptp(results.conf_int(), axis=1) * (1 + 1e-9)).all()


def test_an_intercept_is_named_and_the_estimators_arrays_stay_aligned_with_coef(fitted):
    model = fitted["linear"]
    assert model.results_.names == ("const", "zeta", "age", "mid")
    assert fitted["without"].results_.names == ("zeta", "age", "mid")
    assert fitted["classes"].results_.names[:5] == ("0: const", "0: zeta", "0: age", "0: mid", "1: const")
    assert isinstance(model.bse, np.ndarray)
    assert model.bse.tolist() == model.results_.bse[1:].tolist()
    assert len(fitted["classes"].bse) == 9
    assert model.conf_int().tolist() == model.results_.conf_int().to_numpy()[1:].tolist()


def test_wald_tests_of_names_texts_and_matrices_agree(fitted):
    results = fitted["linear"].results_
    joint = results.wald_test(["zeta", "mid"])
    assert joint.df == 2
    matrix = np.zeros((2, 4))
    matrix[0, 1] = matrix[1, 3] = 1
    assert results.wald_test(matrix) == joint == results.wald_test("zeta = 0, mid = 0")
    assert joint.pvalue == pytest.approx(chi2.sf(joint.statistic, 2))
    one = results.wald_test("age", 20.0)
    assert one.statistic == pytest.approx(((results.params["age"] - 20) / results.bse["age"]) ** 2)
    assert str(one).startswith("Wald test: chi2(1) = ")
    for wrong in ("weight", ["zeta", "weight"], np.eye(3), "zeta == ="):
        with pytest.raises(DiscreetError, match="zeta, age, mid"):
            results.wald_test(wrong)
    with pytest.raises(DiscreetError, match="independent"):
        results.wald_test(["zeta", "zeta"])


def test_ratios_are_exponentials_with_their_intervals(fitted):
    odds = fitted["logistic"].results_.odds_ratios()
    assert list(odds.columns) == ["odds ratio", "0.025", "0.975"]
    assert odds["odds ratio"].to_numpy() == pytest.approx(np.exp(fitted["logistic"].results_.params))
    assert odds[["0.025", "0.975"]].to_numpy() == pytest.approx(np.exp(fitted["logistic"].results_.conf_int()))
    assert fitted["poisson"].results_.rate_ratios().loc["zeta", "rate ratio"] == pytest.approx(np.exp(0.4), rel=0.3)
    with pytest.raises(DiscreetError, match="identity link has no odds ratios"):
        fitted["linear"].results_.odds_ratios()
    with pytest.raises(DiscreetError, match="belong to the log link"):
        fitted["logistic"].results_.rate_ratios()


@pytest.mark.parametrize("name", ["paper", "pgd"])
def test_a_solver_without_errors_says_so_and_shows_what_it_has(fitted, name):
    results = fitted[name].results_
    assert results.params.to_numpy()[1:] == pytest.approx(fitted[name].coef_)
    for ask in (
        lambda: results.bse,
        lambda: results.conf_int(),
        lambda: results.wald_test("age"),
        lambda: fitted[name].bse,
    ):
        with pytest.raises(DiscreetError, match="standard errors"):
            ask()
    assert results.to_frame()["std_err"].isna().all()
    assert "No tests and intervals" in str(fitted[name].summary())


@pytest.mark.parametrize("name", ALL)
def test_a_summary_fits_the_terminal_and_begins_with_what_matters(fitted, name):
    for predictive in (False, True):
        summary = fitted[name].summary(predictive=predictive)
        text = str(summary)
        assert repr(summary) == text
        assert max(map(len, text.split("\n"))) <= 78
        labels = [line.split()[0] for line in text.split("\n")[2:] if line[:1].isalpha()]
        assert labels[:3] == ["Rows", "Guarantee", "Verdict"]
        assert "3,000 rows (public)" in text
        assert "epsilon" in text
        for one in fitted[name].results_.names:
            assert one in text
        html = summary._repr_html_()
        assert "Guarantee" in html
        assert "<script" not in html


def test_a_search_is_described_under_the_guarantee_of_all_of_it(fitted):
    search = fitted["search"]
    assert search.results_.privacy is search.privacy_
    text = str(search.summary())
    assert "PrivateGridSearchCV of Ridge of cost" in text
    assert "alpha=" in text
    assert "epsilon 2 at delta 1e-06" in text


def test_shrunk_coefficients_are_those_that_predict(fitted):
    for name in ("linear", "logistic", "poisson", "classes", "without"):
        model = fitted[name]
        flat = model.results_.shrunk
        intercept = name != "without"
        rows = flat.reshape(-1, 3 + intercept)
        assert rows[:, int(intercept) :].tolist() == np.atleast_2d(model.coef_).tolist()


@pytest.mark.parametrize(
    ("values", "error", "shown"),
    [
        ([-2019.3, 50.6], 50.6, ["-2019", "51"]),
        ([40.1523, 0.333], 0.333, ["40.15", "0.33"]),
        ([2640.0, 1140.0], 1140.0, ["2640", "1140"]),
        ([0.000012, 0.0000034], 0.0000034, ["1.20e-05", "3.40e-06"]),
        ([3.2e9, 1.1e8], 1.1e8, ["3.20e+09", "1.10e+08"]),
        ([-0.2, -0.04, -3.0], 87.0, ["0", "0", "-3"]),
        ([-0.04, -0.06], 2.8, ["0.0", "-0.1"]),
        ([0.0, 0.1], 0.1, ["0.00", "0.10"]),
        ([float("nan"), 1.0], float("nan"), ["nan", "1"]),
    ],
)
def test_decimals_follow_the_standard_error(values, error, shown):
    assert numbers.with_error(values, error) == shown


def test_small_p_values_and_shares():
    assert [numbers.p_value(p) for p in (0.0, 0.00099, 0.001, 0.5)] == ["<0.001", "<0.001", "0.001", "0.500"]
    assert [numbers.percent(s) for s in (0.0, 0.001, 0.5, 0.995, 1.0)] == ["0 %", "<1 %", "50 %", ">99 %", "100 %"]


def test_a_long_name_stands_above_its_numbers_and_is_not_cut(fitted):
    long = "region of the country where somebody lived=north by north west"
    results = replace(fitted["linear"].results_, names=("const", long, "age", "mid"))
    text = str(results.summary())
    assert long in text
    assert max(map(len, text.split("\n"))) <= 78


@pytest.mark.parametrize(("signal", "word"), [("drowned", "drowned: "), ("faint", "faint: "), ("clear", "effects")])
def test_the_verdict_repeats_the_signal(fitted, signal, word):
    text = str(replace(fitted["linear"].results_, signal=signal).summary())
    assert word in text
    # No single effect is called clear if the signal is not, and the reader learns what would help.
    assert ("clear despite the noise" in text) == (signal == "clear")
    assert ("`discreet plan`" in " ".join(text.split())) == (signal != "clear")


@pytest.mark.parametrize(("epsilon", "said"), [(1.0, "2.7"), (5.0, "148"), (20.0, "e^20"), (2000.0, "e^2000")])
def test_the_factor_of_a_guarantee_is_never_understated(epsilon, said):
    assert numbers.odds_factor(epsilon) == said


def test_notes_are_sentences(fitted):
    results = replace(fitted["linear"].results_, notes=("noise adds 3 %",))
    assert str(results.summary()).endswith("Noise adds 3 %.")


def test_without_pandas_arrays_come_in_the_same_order(fitted, monkeypatch):
    assert has_pandas()
    monkeypatch.setattr("discreet.results.named.find_spec", lambda name: None)
    results = fitted["logistic"].results_
    assert isinstance(results.params, np.ndarray)
    assert results.conf_int().shape == (4, 2)
    assert results.odds_ratios().shape == (4, 3)
    with pytest.raises(DiscreetError, match="pip install pandas"):
        results.to_frame()
    assert [record["name"] for record in results.records()] == list(results.names)


def test_an_unfitted_model_says_so():
    with pytest.raises(ValueError, match="LinearRegression is not fitted yet"):
        LinearRegression(**PRIVATE).summary()


def test_moments_answer_with_the_same_class(fitted):
    other = fitted["moments"].moments_.regress("age", ["mid"])
    assert isinstance(other, Results)
    assert "of age" in str(other.summary())


def test_the_readmes_example_prints_what_the_readme_shows(capsys):
    """The same lines but for digits, which are noisy."""
    readme = (Path(discreet.__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(import numpy.*?)```", readme, re.S)
    shown = re.search(r"```text\n( +discreet LinearRegression.*?)```", readme, re.S)
    assert code is not None
    assert shown is not None
    exec(code[1], {})
    printed = capsys.readouterr().out

    def shape(text: str) -> list[str]:
        return [re.sub(r" +", " ", re.sub(r"-?[\d,.]+", "#", line)).strip() for line in text.strip().split("\n")]

    assert shape(printed) == shape(shown[1])


def test_a_model_has_its_table_without_pandas(fitted):
    for name in ("linear", "classes", "sparse"):
        model = fitted[name]
        assert model.coef_table() == model.results_.records()
        assert {"name", "coef", "estimate", "std_err", "noise_std_err", "p_value", "ci_low", "ci_high"} <= set(
            model.coef_table()[0]
        )


def test_a_search_has_results_with_names(fitted):
    search = fitted["search"]
    names = list(search.results_.names)
    for shown in (search.params, search.bse, search.tvalues, search.pvalues, search.conf_int(), search.cov_params()):
        assert list(shown.index) == names
    assert search.conf_int(0.1).equals(search.results_.conf_int(0.1))
    assert search.to_frame().equals(search.results_.to_frame())
    assert search.wald_test("age") == search.results_.wald_test("age")
    assert search.noise_int().equals(search.results_.noise_int())
