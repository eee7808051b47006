"""A plan means the same however it is written, and says what is wrong with it."""

from __future__ import annotations

import math

import pytest
from small_plan import COLUMNS, settings, small_plan

from discreet.errors import DomainError
from discreet.parties import Plan
from discreet.parties.plan_text import explained, new_plan


def test_plan_survives_its_own_spelling():
    plan = small_plan()
    assert Plan.from_dict(plan.to_dict()) == plan
    assert Plan.from_dict(plan.to_dict()).hash == plan.hash


def test_every_setting_changes_the_hash():
    first = small_plan().hash
    changed = [{"seed": "t"}, {"people": 101}, {"epsilon": 2.0}, {"delta": 1e-6}, {"mixes": 33}, {"label": "x0"}]
    assert all(small_plan(**change).hash != first for change in changed)


def test_joint_guarantee_divides_mu_squared_among_the_parties():
    plan, alone = small_plan(guarantee="joint"), small_plan()
    assert plan.joint_mu <= alone.parties[0].budget.mu
    assert plan.joint_mu == pytest.approx(alone.parties[0].budget.mu, rel=1e-12)
    assert alone.joint_mu == pytest.approx(math.sqrt(3) * alone.parties[0].budget.mu)


def test_text_gives_both_guarantees():
    text = explained(small_plan())
    assert "a's release alone: epsilon 1 " in text
    assert "for a person who stands at every party: epsilon 1.8" in text
    assert "would be needed" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parties": {"a": {"columns": {"x": {"low": 0, "high": 1}}}}}, "at least two parties"),
        ({"people": 0}, "people must be a whole number"),
        ({"seed": ""}, "seed must be a text"),
        ({"key": "x0"}, "must not be a released column"),
        ({"label": "z"}, "is no party's column"),
        ({"colour": 1}, "unknown settings"),
        ({"guarantee": "both"}, "guarantee must be one of"),
        ({"method": "magic"}, "method must be one of"),
        ({"format": 2}, "format must be 1"),
        ({"epsilon": "1"}, "epsilon must be a number"),
        ({"guarantee": "joint", "calibration": "paper"}, "must be 'per_party'"),
    ],
)
def test_wrong_settings_are_named(change, message):
    with pytest.raises(DomainError, match=message):
        small_plan(**change)


def test_column_of_two_parties_is_refused():
    wrong = settings()
    wrong["parties"]["b"]["columns"]["x0"] = {"low": 0.0, "high": 1.0}
    with pytest.raises(DomainError, match="exactly one party"):
        Plan.from_dict(wrong)


def test_new_plan_can_be_read(tmp_path):
    text = new_plan(
        name="two",
        key="id",
        people=50,
        epsilon=1.0,
        delta=1e-6,
        guarantee="joint",
        parties=COLUMNS,
    )
    path = tmp_path / "plan.toml"
    path.write_text(text)
    assert [party.name for party in Plan.from_toml(path).parties] == list(COLUMNS)
