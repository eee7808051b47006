"""Estimation: known answers without noise, honest intervals with it, and a named error where no
root exists.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from local_tasks import PUBLIC, kind, make_task, mixed_task, paper_task

from discreet.domain import Categorical, Domain, Numeric, Public
from discreet.errors import DomainError, NoSolutionError
from discreet.glm import Logit
from discreet.local import (
    Client,
    Collection,
    Link,
    LocalGLM,
    LocalRegression,
    PrintedLink,
    Task,
    fit,
    forecast,
    influence,
    local_guarantee,
    new_task,
    printed_second,
    printed_task,
    simulate,
)
from discreet.local.columns import encoded_columns
from discreet.local.links import GLMS, LINKS, decreasing
from discreet.local.models import as_model
from discreet.local.rehearsal import rehearse
from discreet.local.simulation import simulate_rows
from discreet.local.stein import (
    NoisyMoments,
    glm_bounded,
    glm_gaussian,
    regression_bounded,
    regression_gaussian,
    stein_scale,
    two_rounds,
)
from discreet.results.words import promise_in_words

TRUTH = np.array([0.8, -0.5, 0.3])


def exact_collection(task, rows, labels):
    """A collection without noise: the limit of many reports."""
    columns = {column.name: rows[:, j] for j, column in enumerate(task.columns)}
    encoded = encoded_columns(task, columns, len(rows))
    vectors = task.statistic.vectors(encoded, task.target.scaled(task.target.encode(np.asarray(labels, dtype=float))))
    collection = Collection(task)
    collection.add_sum(np.rint(vectors.sum(axis=0) / task.randomizer.unit).astype(np.int64), len(rows))
    return collection


@pytest.mark.parametrize("link", [*GLMS.values(), *LINKS.values(), decreasing(Logit())], ids=lambda link: link.name)
def test_slopes_are_derivatives(link):
    eta, step = np.linspace(-3, 3, 41), 1e-5
    assert np.allclose((link.mean(eta + step) - link.mean(eta - step)) / (2 * step), link.slope(eta), atol=1e-7)


@pytest.mark.parametrize("model", ["logistic", "boosting", "sigmoid", "softplus", "identity", "exponential"])
@pytest.mark.parametrize("skewed", [False, True])
def test_without_noise_and_with_all_rows_public_the_truth_comes_back(model, skewed):
    rng = np.random.default_rng(4)
    rows = rng.exponential(size=(4000, 3)) - 1 if skewed else rng.normal(size=(4000, 3))
    rows = np.clip(rows, -4.9, 4.9)
    labels = as_model(model).mean_function.mean(0.2 + rows @ TRUTH)
    task = make_task(public=Public(rows=rows), target=Numeric("y", float(labels.min()) - 1, float(labels.max()) + 1))
    (result,) = fit(task, exact_collection(task, rows, labels), [model])
    assert np.allclose(result.coef_, TRUTH, atol=2e-3)
    assert result.intercept_ == pytest.approx(0.2, abs=2e-3)
    assert result.names == ["intercept", "a", "b", "c"]


def test_cubic_and_decreasing_links_are_solved_too():
    rng = np.random.default_rng(5)
    rows = np.clip(rng.normal(size=(4000, 3)), -4.9, 4.9)
    own = Link("own", lambda eta: -np.tanh(eta), lambda eta: np.tanh(eta) ** 2 - 1)
    for link in ("cubic", own):
        model = LocalRegression(link)
        labels = model.mean_function.mean(rows @ TRUTH)
        bound = float(np.abs(labels).max()) + 0.1
        task = make_task(public=Public(rows=rows), target=Numeric("y", -bound, bound), fit_intercept=False)
        (result,) = fit(task, exact_collection(task, rows, labels), [model])
        assert np.allclose(result.coef_, TRUTH, atol=5e-3)


def test_clipping_is_undone_with_gaussian_points_alone():
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(400_000, 3))
    labels = GLMS["logistic"].mean(rows @ TRUTH)
    task = make_task(public=Public(second_moment=np.diag([1.0, 0.04, 0.04, 0.04]), n=10**6))
    (result,) = fit(task, exact_collection(task, rows, labels))
    assert np.allclose(result.coef_, TRUTH, atol=0.01)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"public": None}, {"reports": "both"}])
def test_intervals_cover_about_as_often_as_they_say(options):
    hits = []
    domain = Domain.from_bounds(["a", "b", "c"], (-3.0, 3.0))
    for seed in range(25):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(53_000, 3)).clip(-3, 3)
        task = make_task(**({"public": Public(rows=rows[:3000]), "domain": domain, "epsilon": 8.0} | options))
        labels = (rng.random(50_000) < GLMS["logistic"].mean(rows[3000:] @ TRUTH)).astype(float)
        (result,) = fit(task, simulate_rows(task, rows[3000:], labels, rng))
        low, high = result.results_.intervals().T[:, -3:]
        hits.append((low <= TRUTH) & (high >= TRUTH))
    # 75 intervals; eight misses or more have a chance below 1 in 30, so this only finds intervals
    # that are far off.
    assert np.mean(hits) >= 0.8


def test_results_have_names():
    task = make_task(epsilon=10.0)
    rehearsal = rehearse(task, 100_000, LocalGLM("logistic"), np.random.default_rng(7))
    (result,) = fit(task, rehearsal.collection, ["logistic"])
    names = list(result.results_.names)
    for shown in (result.params, result.bse, result.tvalues, result.pvalues, result.conf_int(), result.cov_params()):
        assert list(shown.index) == names
    assert result.conf_int(0.1).equals(result.results_.conf_int(0.1))
    assert result.to_frame().equals(result.results_.to_frame())
    assert result.wald_test("b") == result.results_.wald_test("b")
    assert result.odds_ratios().equals(result.results_.odds_ratios())
    with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
        result.conf_int(1.0)


def test_many_models_come_from_one_collection():
    rng = np.random.default_rng(7)
    task = make_task(epsilon=10.0)
    rehearsal = rehearse(task, 100_000, LocalGLM("logistic"), rng)
    results = fit(task, rehearsal.collection, ["logistic", "boosting", "sigmoid", LocalRegression("identity")])
    assert [result.model for result in results] == ["logistic", "boosting", "sigmoid", "identity"]
    assert np.allclose(results[0].coef_, results[2].coef_)
    assert all(len(result.results_.odds_ratios()) == 4 for result in (results[0], results[2]))


def test_categories_and_frames_work():
    import pyarrow as pa

    rng = np.random.default_rng(8)
    sex, age = rng.choice(["f", "m", "x"], size=20_000), rng.uniform(20, 80, size=20_000)
    eta = 0.03 * (age - 50) + 0.8 * (sex == "m")
    labels = (rng.random(20_000) < GLMS["logistic"].mean(eta)).astype(float)
    public = pa.table({"sex": sex[:2000], "age": age[:2000], "unused": age[:2000]})
    task = new_task(
        "t",
        domain=mixed_task_domain(),
        target=Numeric("y", 0, 1),
        epsilon=8.0,
        goal=20_000,
        public=Public(rows=public),
    )
    collection = simulate(task, {"age": age, "sex": sex}, labels, rng)
    (result,) = fit(task, collection)
    assert result.names == ["intercept", "age", "sex=m", "sex=x"]
    assert np.all(np.abs(result.coef_ - [0.03, 0.8, 0.0]) < 5 * result.results_.std_errors[1:])


def mixed_task_domain():
    return Domain(mixed_task().columns)


def test_indicators_that_sum_to_one_do_not_break_the_fit():
    rng = np.random.default_rng(9)
    group = rng.integers(3, size=50_000)
    rows = np.eye(3)[group]
    labels = (rng.random(50_000) < np.array([0.2, 0.5, 0.8])[group]).astype(float)
    domain = Domain.from_bounds(["a", "b", "c"], (0.0, 1.0))
    task = make_task(domain=domain, public=Public(rows=rows[:3000]), epsilon=10.0)
    (result,) = fit(task, simulate_rows(task, rows, labels, rng))
    chance = GLMS["logistic"].mean(result.intercept_ + result.coef_)
    assert np.allclose(chance, [0.2, 0.5, 0.8], atol=0.1)


def test_too_few_reports_are_a_named_error_and_a_prior_helps():
    rng = np.random.default_rng(10)
    task = make_task(epsilon=0.5)
    rehearsal = rehearse(task, 50, LocalGLM("logistic"), rng)
    with pytest.raises(NoSolutionError, match="prior_std"):
        fit(task, rehearsal.collection)
    (result,) = fit(task, rehearsal.collection, prior_std=1.0)
    assert np.abs(result.coef_).max() < 3


def test_an_empty_or_foreign_collection_is_refused():
    with pytest.raises(ValueError, match="without reports"):
        fit(make_task(), Collection(make_task()))
    with pytest.raises(ValueError, match="another task"):
        fit(make_task(), Collection(make_task(goal=3)))


def test_lying_devices_move_coefficients_no_further_than_announced():
    rng = np.random.default_rng(11)
    task = make_task(epsilon=10.0)
    n, share = 100_000, 0.002
    rehearsal = rehearse(task, n, LocalGLM("logistic"), rng)
    (honest,) = fit(task, rehearsal.collection)
    bound = influence(task, rehearsal.collection, honest, share)
    assert bound == influence(task, rehearsal.collection, "logistic", share)
    liars = int(share * n)
    for row in range(len(honest.names)):
        direction = honest.response[row] / np.linalg.norm(honest.response[row])
        lie = np.trunc(direction * task.randomizer.longest / task.randomizer.unit).astype(np.int64)
        bent = Collection(task)
        bent.add_sum(rehearsal.collection.total, n)
        bent.add_sum(lie * liars, 0)
        (moved,) = fit(task, bent)
        shift = abs(moved.estimates[row] - honest.estimates[row])
        assert 0.5 * bound[honest.names[row]] < shift < 1.3 * bound[honest.names[row]]


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"public": None}])
def test_the_forecast_is_near_what_happens(options):
    task = make_task(**({"epsilon": 8.0, "public": Public(rows=PUBLIC)} | options))
    facts = forecast(task, 100_000)
    errors = []
    for seed in range(10):
        rehearsal = rehearse(task, 100_000, LocalGLM("logistic"), np.random.default_rng(seed))
        (result,) = fit(task, rehearsal.collection)
        errors.append(result.results_.std_errors)
    assert facts["names"] == result.names
    assert np.all(np.median(errors, axis=0) < 2.0 * np.array(facts["std_errors"]))
    assert np.all(np.median(errors, axis=0) > 0.5 * np.array(facts["std_errors"]))
    assert forecast(task, 400_000)["squared_relative_error"] < facts["squared_relative_error"]


def test_the_printed_algorithms_find_the_truth_on_exact_moments():
    rng = np.random.default_rng(13)
    rows = rng.normal(size=(200_000, 3))
    for family, solver in (("logistic", glm_gaussian), ("boosting", glm_bounded)):
        labels = GLMS[family].mean(rows @ TRUTH)
        moments = NoisyMoments(rows.T @ rows / len(rows), rows.T @ labels / len(rows), len(rows))
        assert np.allclose(solver(moments, rows[:4_000], family), TRUTH, atol=0.04)
        answer = two_rounds(moments, lambda coef: rows[:4_000] @ coef, family)
        assert np.allclose(answer, TRUTH, atol=0.04)
    for link, solver in ((LINKS["cubic"], regression_gaussian), (decreasing(Logit()), regression_bounded)):
        labels = link.mean(rows @ TRUTH)
        moments = NoisyMoments(rows.T @ rows / len(rows), rows.T @ labels / len(rows), len(rows))
        assert np.allclose(solver(moments, rows[:4_000], link), TRUTH, atol=0.03)


def test_the_scale_is_negative_for_decreasing_links_and_named_where_there_is_none():
    predictor = np.random.default_rng(14).normal(size=5000)
    assert stein_scale(0.1 * predictor, Logit()) > 0
    assert stein_scale(0.1 * predictor, decreasing(Logit())) < 0
    with pytest.raises(NoSolutionError, match="no root"):
        stein_scale(10 * predictor, Logit())  # c mean(f'(c t)) stays below 1 for a predictor this large


@pytest.mark.parametrize("public", [True, False])
def test_paper_calibration_runs_and_is_what_the_task_says(public):
    rng = np.random.default_rng(15)
    rows = rng.normal(size=(100_000, 3))
    labels = GLMS["logistic"].mean(rows @ TRUTH)
    options = {"public": Public(rows=rows[:5000])} if public else {"public": None, "design": "bounded"}
    task = paper_task(epsilon=10.0, **options)
    (result,) = fit(task, exact_collection(task, rows, labels), ["logistic"])
    assert np.allclose(result.coef_, TRUTH, atol=0.05)


@pytest.mark.parametrize(("link", "bound"), [("sigmoid", 0.25 * 15 + 0.55), ("softplus", 15 + np.log(2) + 0.05)])
def test_printed_noise_of_algorithms_3_and_4_bounds_the_label_by_its_link(link, bound):
    task = paper_task(design="bounded", public=None, link=PrintedLink(link))
    assert task.statistic.radius == 15  # the L1 radius of the box
    assert task.target.scale == pytest.approx(bound)
    noise = task.randomizer.scales[2] * task.randomizer.unit / task.statistic.cross * task.statistic.radius * bound
    printed = np.sqrt(32 * 15**2 * bound**2 * np.log(2.5 / 1e-6)) / 4.0
    assert noise == pytest.approx(printed, rel=1e-3)
    matrix = task.randomizer.scales[1] * task.randomizer.unit / task.statistic.outer * 15**2
    assert matrix == pytest.approx(np.sqrt(32 * 15**4 * np.log(2.5 / 1e-6)) / 4.0, rel=1e-3)


def test_missing_answers_are_counted_and_rescaled():
    rng = np.random.default_rng(16)
    task = make_task(epsilon=8.0, public=Public(rows=rng.normal(size=(3000, 3))))
    rehearsal = rehearse(task, 200_000, LocalGLM("logistic"), rng, missing=0.3)
    (result,) = fit(task, rehearsal.collection)
    assert abs(result.usable - 0.7) < 5 * result.usable_std < 0.1
    assert np.all(np.abs(result.estimates - rehearsal.truth) < 5 * result.bse)
    assert result.results_.used.count == pytest.approx(result.usable * result.count)


def test_a_result_says_what_it_rests_on_and_predicts():
    rng = np.random.default_rng(17)
    task = kind("cross")
    (result,) = fit(task, rehearse(task, 50_000, LocalGLM("logistic"), rng).collection)
    said = str(result.summary())
    assert "800 public rows" in said
    assert "epsilon 4: whatever anybody, the collector included" in said
    assert task.digest[:16] in said
    rows = np.array([[1.0, 2.0, 0.0], [99.0, 2.0, 0.0], [5.0, 2.0, 0.0], [np.nan, 0.0, 0.0]])
    chance = result.predict(rows)
    assert chance[0] == pytest.approx(GLMS["logistic"].mean(result.intercept_ + rows[0] @ result.coef_))
    assert chance[1] == chance[2]  # moved into the declared bounds
    assert np.isnan(chance[3])
    assert result.predict({"a": [1.0], "b": [2.0], "c": [0.0]})[0] == chance[0]
    with pytest.raises(DomainError, match="'c'"):
        result.predict({"a": [1.0], "b": [2.0]})


def test_without_a_design_the_assumption_is_named():
    task = kind("both")
    rehearsal = rehearse(task, 500_000, LocalGLM("logistic"), np.random.default_rng(18))
    logistic, linear = fit(task, rehearsal.collection, ["logistic", "identity"])
    assert "Gaussian" in logistic.assumption
    assert "nothing is assumed" in linear.assumption
    assert "a guess" in forecast(task, 1000)["supposes"]


def test_a_copy_without_its_design_cannot_fit():
    task = Task.from_dict(json.loads(kind("cross").document))
    collection = rehearse(kind("cross"), 1000, LocalGLM("logistic"), np.random.default_rng(0)).collection
    slim = Collection(task)
    slim.add_sum(collection.total, 1000)
    with pytest.raises(DomainError, match="only the hash of its public design"):
        fit(task, slim)


@pytest.mark.parametrize("model", ["identity", "softplus", "cubic", "exponential", "poisson", "sigmoid", "boosting"])
def test_a_rehearsal_keeps_labels_inside_the_declared_range(model):
    spec = as_model(model)
    ranges = {"identity": (10.0, 90.0), "cubic": (-5.0, 5.0), "softplus": (0.0, 5.0)}
    target = Numeric("y", *ranges.get(model, (0.0, 30.0)))
    task = make_task(target=target, epsilon=10.0, fit_intercept=model != "cubic")
    rehearsal = rehearse(task, 300_000, spec, np.random.default_rng(19))
    outside = (rehearsal.labels < target.low) | (rehearsal.labels > target.high)
    assert outside.mean() < 0.01
    (result,) = fit(task, rehearsal.collection, [spec])
    assert np.all(np.abs(result.estimates - rehearsal.truth) < 5 * result.bse + 0.02 * np.abs(rehearsal.truth))


def test_a_rehearsal_of_categories_draws_them():
    task = kind("mixed")
    rehearsal = rehearse(task, 100_000, LocalGLM("logistic"), np.random.default_rng(20))
    assert set(np.unique(rehearsal.rows[:, 2:])) == {0.0, 1.0}
    (result,) = fit(task, rehearsal.collection)
    assert result.names == ["intercept", "age", "sex=m", "sex=x"]


@pytest.mark.parametrize("wrong", [lambda: LocalGLM("probit"), lambda: LocalRegression("x"), lambda: as_model("x")])
def test_unknown_models_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match="one of"):
        wrong()


def test_algorithm_5_runs_as_printed_from_its_tasks(tmp_path):
    rng = np.random.default_rng(21)
    n = 30_000
    domain = Domain.from_bounds(["a", "b", "c"], (-5.0, 5.0))
    rows = rng.normal(size=(n, 3)).clip(-5, 5)
    labels = GLMS["logistic"].mean(rows @ TRUTH)
    options = {"domain": domain, "target": Numeric("y", 0.0, 1.0), "goal": n, "delta": 1e-5, "rounds": 2}
    first = printed_task("t", epsilon=20.0, covariance_norm=1.0, **options)
    radius = np.sqrt(10 * 3 * np.log(n))
    assert first.statistic.radius == pytest.approx(radius)
    noise = first.randomizer.scales[1] * first.randomizer.unit / first.statistic.outer * radius**2
    assert noise == pytest.approx(np.sqrt(128 * radius**4 * np.log(2.5 / 1e-5)) / 20, rel=1e-3)
    second = printed_second(first, exact_collection(first, rows, labels))
    spread = second.randomizer.scales[2] * second.randomizer.unit
    assert spread == pytest.approx(np.sqrt(8 * np.log(2.5 / 1e-5)) / 20, rel=1e-3)
    assert Task.from_dict(second.to_dict()).digest == second.digest
    # What a model of the second round costs a device that has answered both.
    both = local_guarantee(second)
    assert [report.cost.mu for report in both.releases] == [second.randomizer.mu, first.randomizer.mu]
    assert local_guarantee(first).epsilon(1e-5) < both.epsilon(1e-5) <= 20.0
    assert "reports of both rounds" in promise_in_words(both, 1e-5, "local")
    # The same device answers both rounds, each once.
    record = {"a": 1.0, "b": 0.0, "c": 2.0, "y": 1}
    for task in (first, second):
        body = Client(task, tmp_path, cap=(40.0, 1e-4)).report(record)
        assert Client(task, tmp_path, cap=(40.0, 1e-4)).report(record) == body
    # Without noise, the paper's server finds the scale of w_ols from what devices tell.
    exact = Collection(second)
    for value in second.randomizer.exact(np.clip(rows @ np.linalg.solve(rows.T @ rows, rows.T @ labels), 0, 1)):
        exact.add(np.array([value]))
    (result,) = fit(second, exact, ["logistic"])
    direction = result.coef_ / np.linalg.norm(result.coef_)
    assert direction @ TRUTH / np.linalg.norm(TRUTH) > 0.999
    with pytest.raises(ValueError, match="every single report"):
        fit(second, summed(exact), ["logistic"])
    with pytest.raises(DomainError, match="algorithm 5"):
        printed_task("t", epsilon=20.0, **options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": Categorical("y", ("no", "yes"))}, "declare 'y' with low = 0 and high = 1"),
        ({"design": "bound"}, "design must be one of gaussian, bounded, got 'bound'"),
        ({}, "algorithms 1 and 3 .* need public rows"),
    ],
)
def test_a_printed_task_that_cannot_be_is_refused_with_what_it_needs(changes, message):
    """A label of two classes gave an attribute error."""
    options = {"domain": Domain.from_bounds(["a"], (-1.0, 1.0)), "target": Numeric("y", 0.0, 1.0)}
    with pytest.raises(DomainError, match=message):
        printed_task("t", epsilon=4.0, delta=1e-5, goal=1000, **options | changes)


def summed(collection):
    made = Collection(collection.task)
    made.add_sum(collection.total, collection.count)
    return made
