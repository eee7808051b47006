"""What the analyst makes of the releases: right without noise, honest with it."""

from __future__ import annotations

import numpy as np
import pytest
from small_plan import people, released, small_plan

import discreet
from discreet.errors import DomainError
from discreet.parties.estimate import MixedMoments, nearest_correlation
from discreet.parties.logistic import logistic, steins_scale

TRUTH = {"const": 0.0, "x0": 0.4, "x1": 0.0, "x2": -0.3, "x3": 0.2}


@pytest.fixture(scope="module")
def clear():
    """A release with so little noise that only the mixing error is left."""
    return released(small_plan(epsilon=500.0, people=5000, mixes=4096), people(5000))


def test_a_result_is_saved_and_reported_as_every_other(clear, tmp_path):
    result = clear.regress("x2", ["x0", "y"], alpha=2.0)
    result.save(tmp_path / "model.json")
    loaded = discreet.load(tmp_path / "model.json")
    assert type(loaded).__name__ == "Ridge"
    assert np.array_equal(loaded.results_.estimates, result.results_.estimates)
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "svg class=" in page
    assert "x2 (predicted)" in page


def test_little_noise_gives_least_squares(clear):
    result = clear.regress("y").results_
    assert dict(zip(result.names, result.shrunk, strict=True)) == pytest.approx(TRUTH, abs=0.05)
    assert np.all(np.abs(result.params - list(TRUTH.values())) < 4 * result.bse + 1e-3)
    assert np.all(result.bse < 0.05)


def test_results_have_names(clear):
    result = clear.regress("y")
    names = list(result.results_.names)
    for shown in (result.params, result.bse, result.tvalues, result.pvalues, result.conf_int(), result.cov_params()):
        assert list(shown.index) == names
    assert result.conf_int(0.1).equals(result.results_.conf_int(0.1))
    assert result.to_frame().equals(result.results_.to_frame())
    assert result.wald_test("x0") == result.results_.wald_test("x0")


def test_any_column_can_be_the_label(clear):
    result = clear.regress("x2", ["x0", "y"]).results_
    assert result.names == ("const", "x0", "y")
    frame = people(5000)
    design = np.column_stack([np.ones(5000), frame[["x0", "y"]]])
    expected = np.linalg.lstsq(design, frame["x2"], rcond=None)[0]
    assert result.shrunk == pytest.approx(expected, abs=0.4)


def test_estimators_of_scikit_learn_kind_come_out(clear):
    frame = people(1000, seed=5)
    model = clear.estimator("y")
    assert model.score(frame[list(model.feature_names_in_)], frame["y"]) > 0.85
    assert "LinearRegression" in str(model.summary())
    ridge = clear.estimator("y", ["x3", "x0"], alpha=1e6)
    assert type(ridge).__name__ == "Ridge"
    assert np.all(np.abs(ridge.coef_) < 0.05)


def test_joint_guarantee_composes_all_releases(clear):
    alone = [one.privacy.mu for one in clear.releases]
    assert clear.privacy.mu == pytest.approx(np.sqrt(np.square(alone).sum()))
    assert len(clear.privacy.releases) == 12


def test_drowned_signal_is_said_and_the_constant_returned():
    frame = people(200)
    result = released(small_plan(epsilon=0.1), frame).regress("y")
    assert result.drowned
    assert np.all(result.results_.shrunk[1:] == 0)
    assert any("drowns the signal" in note and "people would be needed" in note for note in result.notes())
    assert result.people_needed > 200


def test_missing_people_are_told():
    plan, frame = small_plan(epsilon=50.0, mixes=500), people(3000)
    joint = released(plan, frame)
    fewer = released(plan, frame.iloc[:2000]).releases[1]
    result = type(joint)(plan, (joint.releases[0], fewer, joint.releases[2])).regress("y")
    note = next(note for note in result.notes() if "1000 people are missing at b" in note)
    more = float(note.split("their noise is ")[1].split("%")[0]) / 100
    # Two thirds of the people: between sqrt(3/2) (mixing error rules) and 3/2 (noise rules) of the
    # noise.
    assert 0.22 <= more <= 0.51
    # The people who are left tell the same model.
    assert result.results_.shrunk[3] == pytest.approx(-0.3, abs=5 * result.results_.std_errors[3])


def test_absent_party_is_told(clear):
    result = type(clear)(clear.plan, clear.releases[1:]).regress("y")
    assert any("no release of a" in note for note in result.notes())


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 500.0])
def test_one_party_alone_can_be_fitted_whatever_its_noise(epsilon):
    """Its own second moment is noisy, and need not be a possible one."""
    plan, frame = small_plan(epsilon=epsilon), people(300)
    for _ in range(10):
        joint = released(plan, frame)
        result = type(joint)(plan, joint.releases[2:]).regress("y")
        assert np.isfinite(result.results_.estimates).all()
        assert np.isfinite(result.results_.std_errors).all()
        assert result.solution.typical_noise > 0
        assert "noise gives a correlation a standard error of about" in result.notes()[0]
        assert result.people_needed > 0
    if epsilon == 500.0:
        assert result.results_.shrunk[1] == pytest.approx(0.2, abs=0.1)


def test_a_party_without_usable_rows_is_told():
    """Its ranges are not those of its data: here every value of x2 is missing."""
    frame = people(2000).assign(x2=np.nan)
    hidden = released(small_plan(epsilon=1.0), frame).regress("y").notes()
    assert sum("the noise hides how many of them are complete" in note for note in hidden) == 3
    notes = released(small_plan(epsilon=300.0), frame).regress("y").notes()
    assert any("at b" in note and "hardly any or none of them usable" in note for note in notes)
    assert any("at a" in note and "of them complete" in note for note in notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("z",), "'z' is not among the released"),
        (("y", ["y"]), "without the label"),
        (("y", ["x0", "x0"]), "different columns"),
        (("y", []), "at least one"),
    ],
)
def test_wrong_columns_are_named(clear, arguments, message):
    with pytest.raises(DomainError, match=message):
        clear.regress(*arguments)


def test_equation_noise_is_that_of_simulated_mixes():
    rng = np.random.default_rng(0)
    owner = np.array([0, 0, 1, 1, 2])
    truth = nearest_correlation(np.corrcoef(rng.normal(size=(5, 9))), owner, floor=0.05)
    people_count, mixes, noise = 1000.0, 40, np.array([10.0, 10.0, 20.0, 20.0, 30.0])
    drawn = people_count * truth + np.diag(mixes * noise)
    residual = np.array([-0.5, 0.2, 0.3, -0.1, 1.0])
    seen, last = [], None
    for _ in range(4000):
        mixed = rng.multivariate_normal(np.zeros(5), drawn, size=mixes)
        last = MixedMoments(mixed, noise, owner, np.full(5, people_count), truth, np.zeros(5), np.ones(5))
        seen.append((last.raw() - truth) @ residual)
    last.mixed[:, -1] = np.sqrt(drawn[-1, -1])
    expected = last.equation_noise(truth, residual)
    assert np.cov(np.array(seen).T) == pytest.approx(expected, abs=0.12 * np.abs(expected).max())


def test_steins_scale_finds_a_known_model():
    rng = np.random.default_rng(1)
    x = rng.normal(size=200_000)
    y = rng.random(200_000) < 1 / (1 + np.exp(-(0.5 + 1.5 * x)))
    slope = np.cov(x, y)[0, 1] / x.var()
    stretch, intercept, steep = steins_scale(float(y.mean()), float(slope**2 * x.var()))
    assert not steep
    assert stretch * slope == pytest.approx(1.5, abs=0.05)
    assert intercept == pytest.approx(0.5, abs=0.05)


def test_logistic_on_the_joint_release():
    rng = np.random.default_rng(2)
    frame = people(5000)
    odds = 3 * frame["x0"] - 2 * frame["x2"]
    frame["y"] = (rng.random(5000) < 1 / (1 + np.exp(-odds))).astype(float)
    parties = [{"name": party["name"], "columns": party["columns"]} for party in small_plan().to_dict()["parties"]]
    parties[2]["columns"][1] = {"name": "y", "low": 0.0, "high": 1.0}
    joint = released(small_plan(epsilon=500.0, people=5000, mixes=4096, parties=parties), frame)
    coef = logistic(joint, "y").coef
    assert coef["x0"] == pytest.approx(3, abs=1.2)
    assert coef["x2"] == pytest.approx(-2, abs=1.2)
    with pytest.raises(DomainError, match="two levels"):
        logistic(joint, "x0")
