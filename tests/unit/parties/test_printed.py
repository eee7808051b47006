"""DGM, BGM and RMGM as printed: the paper's noise, the paper's training, and what that noise really
promises.
"""

from __future__ import annotations

import numpy as np
import pytest
from small_plan import people, released, small_plan
from test_release import audited

from discreet.curator import listening
from discreet.errors import DomainError, GuaranteeError, ReleaseError
from discreet.parties import join, open_ledger, release
from discreet.parties.plan_text import explained
from discreet.parties.printed import printed_ols
from discreet.privacy import classical_noise_std


def paper(method, **more):
    return small_plan(calibration="paper", method=method, **more)


@pytest.fixture(scope="module")
def rows():
    return released(paper("dgm"), people(2000))


@pytest.fixture(scope="module")
def mixes():
    return released(paper("rmgm", mixes=300), people(2000))


def test_noise_is_the_papers(rows, mixes):
    printed = np.sqrt(4 * 2) * classical_noise_std(1.0, 1e-5)
    for one in rows.releases:
        assert one.mixes.value.shape == (2000, len(one.centre))
        assert one.mixes.noise_std == pytest.approx(printed, rel=1e-3)
    for one in mixes.releases:
        assert one.mixes.noise_std / np.sqrt(300) == pytest.approx(printed, rel=1e-3)


def test_rows_are_people_in_one_order_with_that_noise(rows):
    """All columns together, each less the truth in some order: their spread is that of noise and
    data at once.
    """
    frame = people(2000)
    released_x0 = rows.releases[0].mixes.value[:, 0]
    truth = (frame["x0"] + 1) / 2
    noise = rows.releases[0].mixes.noise_std
    # 2,000 normal numbers: the variance is off by less than 5 of its standard errors, but for 1 run
    # in 2 million.
    assert released_x0.var() == pytest.approx(truth.var() + noise**2, rel=5 * np.sqrt(2 / 2000))
    assert released_x0.mean() == pytest.approx(truth.mean(), abs=5 * noise / np.sqrt(2000))


class Bare:
    """Releases without their noise, to see what they are made of."""

    def release(self, release, noise, exact, noisy):
        return exact


@pytest.fixture
def bare():
    token = listening.set(Bare())
    yield
    listening.reset(token)


def test_rows_stand_in_the_same_order_at_every_party(bare):
    frame = people(500)
    joint = released(paper("dgm", parties=_one_column_parties()), frame.assign(y=frame["x0"]))
    x, copy = (one.mixes.value[:, 0] for one in joint.releases)
    assert np.abs(x - copy).max() < 1e-5
    assert np.sort(x) == pytest.approx(np.sort((frame["x0"] + 1) / 2), abs=1e-5)


def _one_column_parties():
    bounds = {"low": -1.0, "high": 1.0}
    return {"a": {"columns": {"x0": bounds}}, "b": {"columns": {"y": bounds}}}


def test_dgm_takes_the_known_noise_from_the_hessian_and_bgm_does_not(rows):
    table = np.concatenate([one.mixes.value for one in rows.releases], axis=1)
    x, y = table[:, :4], table[:, 4]
    known = np.diag([one.mixes.noise_std**2 for one in rows.releases for _ in one.centre][:4])
    for training, taken in (("dgm", known), ("bgm", 0.0 * known)):
        expected = np.linalg.solve(x.T @ x / 2000 - taken + 1e-5 * np.eye(4), x.T @ y / 2000)
        coef = printed_ols(rows, "y", training=training)
        assert list(coef.values())[1:] == pytest.approx(expected)
        assert coef["const"] == pytest.approx(-1 + expected.sum())
    assert printed_ols(rows, "y") == printed_ols(rows, "y", training="dgm")


def test_rmgm_training_is_the_papers(mixes):
    coef = printed_ols(mixes, "y")
    table = np.concatenate([one.mixes.value for one in mixes.releases], axis=1) / np.sqrt(300)
    expected = np.linalg.solve(table[:, :4].T @ table[:, :4] + 1e-5 * np.eye(4), table[:, :4].T @ table[:, 4])
    assert list(coef.values())[1:] == pytest.approx(expected)
    with pytest.raises(DomainError, match="as printed"):
        mixes.regress("y")
    with pytest.raises(DomainError, match="as printed"):
        mixes.moments()
    with pytest.raises(DomainError, match="trained by rmgm"):
        printed_ols(mixes, "y", training="bgm")


@pytest.mark.parametrize("method", ["rmgm", "dgm"])
def test_exact_guarantee_is_reported_and_attained(method):
    """The worst replacement loses exactly the claimed mu."""
    plan, frame = paper(method), people(300)
    frame.loc[7, ["x0", "x1"]] = 1.0
    neighbour = frame.copy()
    neighbour.loc[7, ["x0", "x1"]] = -1.0
    report = audited(plan, "a", frame, neighbour)
    assert report.passed, str(report)
    sigma = classical_noise_std(1.0, 1e-5)
    claimed = {"rmgm": 1 / sigma, "dgm": 0.5 / sigma}[method]  # two of d_max = 2 columns
    assert report.claimed_mu == pytest.approx(claimed)
    assert plan.printed_cost(plan.party("a")).mu == pytest.approx(claimed)
    if method == "dgm":
        assert report.efficiency > 0.99


def test_noise_that_is_too_weak_is_refused_before_anything_is_spent(tmp_path):
    plan = paper("rmgm", epsilon=20.0)
    ledger = open_ledger(plan, "a", tmp_path / "a.ledger")
    with pytest.raises(GuaranteeError, match="weaker than the 20 asked for"):
        release(plan, "a", people(200), ledger=ledger)
    assert ledger.history == []
    assert "weaker than asked for" in explained(plan)
    # A party with fewer columns than the widest gets more noise than it needs, and is not refused.
    assert release(plan, "b", people(200), ledger=open_ledger(plan, "b", tmp_path / "b.ledger")).party == "b"


def test_dgm_as_printed_refuses_parties_with_other_people(rows):
    fewer = released(paper("dgm"), people(2001).iloc[1:])
    with pytest.raises(ReleaseError, match="not about the same people"):
        join([rows.releases[0], fewer.releases[1]])


def test_text_says_what_is_public():
    assert "who is in the data is public" in explained(paper("dgm"))
    assert "who is in the data is public" not in explained(paper("rmgm"))


def test_categories_are_zero_or_one_as_printed(bare):
    parties = _one_column_parties()
    parties["a"]["columns"]["group"] = {"values": ["u", "v", "w"]}
    frame = people(400).assign(group=np.resize(["u", "v", "w"], 400))
    value = released(paper("dgm", parties=parties), frame).releases[0].mixes.value[:, 1:]
    assert np.abs(value - np.round(value)).max() < 1e-5
    assert set(np.unique(np.round(value))) == {0.0, 1.0}
