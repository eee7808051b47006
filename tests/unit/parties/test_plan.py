"""A plan means the same however it is written, and says what is wrong with it."""

from __future__ import annotations

import math

import pytest
from small_plan import COLUMNS, numeric, settings, small_plan

from discreet.errors import DomainError
from discreet.parties import Plan
from discreet.parties.plan_text import differences, explained, new_plan


def two(name, column):
    """Two parties, the first of which has this name and column."""
    own = column if isinstance(column, dict) else numeric(column)
    return [{"name": name, "columns": [own]}, {"name": "b", "columns": [numeric("y")]}]


def test_plan_survives_its_own_spelling():
    plan = small_plan()
    assert Plan.from_dict(plan.to_dict()) == plan
    assert Plan.from_dict(plan.to_dict()).hash == plan.hash


def test_every_setting_changes_the_hash():
    first = small_plan().hash
    changed = [{"seed": "t"}, {"people": 101}, {"epsilon": 2.0}, {"delta": 1e-6}, {"mixes": 33}, {"label": "x0"}]
    assert all(small_plan(**change).hash != first for change in changed)


def test_another_order_is_another_plan():
    """Arrays of a release follow the plan's order: two orders under one hash would exchange
    coefficients.
    """
    first = small_plan()
    swapped = settings()
    swapped["parties"][0]["columns"].reverse()
    assert Plan.from_dict(swapped).hash != first.hash
    assert differences(first, Plan.from_dict(swapped)) == ["party a: columns in another order, x0, x1 and x1, x0"]
    turned = settings()
    turned["parties"].reverse()
    assert Plan.from_dict(turned).hash != first.hash
    assert differences(first, Plan.from_dict(turned)) == ["parties a, b, c and c, b, a"]


def test_differences_name_the_setting_the_party_and_the_column():
    first, other = small_plan(), settings(seed="t")
    other["parties"][1]["columns"][0]["high"] = 2.0
    assert differences(first, Plan.from_dict(other)) == ["seed 's' and 't'", "party b: column x2"]
    assert differences(first, small_plan()) == []


def test_tables_by_name_are_read_in_the_order_of_the_file():
    by_name = settings(format=1)
    by_name["parties"] = {
        party["name"]: {"columns": {c["name"]: {"low": c["low"], "high": c["high"]} for c in party["columns"]}}
        for party in by_name["parties"]
    }
    assert Plan.from_dict(by_name).hash == small_plan().hash


def keyed(*keys):
    plan = settings()
    for party, key in zip(plan["parties"], keys, strict=True):
        if key is not None:
            party["public_key"] = key
    return plan


def test_keys_are_part_of_the_plan():
    a, b, c = (f"ed25519:{digit * 64}" for digit in "abc")
    assert not small_plan().signed
    signed = Plan.from_dict(keyed(a, b, c))
    assert signed.signed
    assert signed.hash != small_plan().hash
    assert Plan.from_dict(signed.to_dict()) == signed
    assert "NOT SIGNED" in explained(small_plan())
    assert "NOT SIGNED" not in explained(signed)
    for wrong, message in [
        ((a, b, None), "every party must have a public_key, or none"),
        ((a, b, a), "two parties must not have the same"),
        ((a, b, "ed25519:xyz"), "public_key must be 'ed25519:' and 64"),
        ((a, b, 7), "public_key must be a text"),
    ]:
        with pytest.raises(DomainError, match=message):
            Plan.from_dict(keyed(*wrong))


def test_joint_guarantee_divides_mu_squared_among_the_parties():
    plan, alone = small_plan(guarantee="joint"), small_plan()
    assert plan.joint_mu <= alone.parties[0].budget.mu
    assert plan.joint_mu == pytest.approx(alone.parties[0].budget.mu, rel=1e-12)
    assert alone.joint_mu == pytest.approx(math.sqrt(3) * alone.parties[0].budget.mu)


def test_text_gives_both_guarantees():
    text = explained(small_plan())
    assert "a's release alone: epsilon 1 " in text
    assert "for a person who is at every party: epsilon 1.8" in text
    assert "would be needed" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parties": [{"name": "a", "columns": [numeric("x")]}]}, "at least two parties"),
        ({"parties": 3}, "parties must be a list of tables"),
        ({"parties": [{"name": "a", "columns": [numeric("x")]}] * 2}, "every party must be in the plan once"),
        ({"parties": [{"name": "a", "columns": []}, {"name": "b"}]}, "party 'a': columns must be a list of tables"),
        ({"parties": [{"name": "a", "columns": [{"name": "x", "low": "0", "high": 1}]}]}, "column 'x': low must be"),
        ({"parties": [{"columns": [numeric("x")]}]}, "number 1 of parties must be a table with a name"),
        ({"parties": two("a\x1b[2J", "x")}, "a party's name must have no control characters"),
        ({"parties": two("a", "x\n")}, "a column's name and values must have no control characters"),
        ({"parties": two("a", {"name": "x", "values": ["u", "v\t"]})}, "a column's name and values must have no"),
        ({"parties": two("a", {"name": "x", "low": 0, "high": 1e200})}, "party 'a': bounds of 'x' must be at most"),
        ({"name": "two\nlines"}, "name must be a text, not empty and without control"),
        ({"people": 10**30}, "people must be a whole number from 1 to"),
        ({"epsilon": 10**400}, "epsilon must be a number"),
        ({"epsilon": math.nan}, "epsilon must be"),
        ({"delta": 0.0}, "delta must be > 0"),
        ({"method": ["rmgm"]}, "method must be one of"),
        ({"missing": "mean"}, "missing must be one of"),
        ({"people": 0}, "people must be a whole number"),
        ({"seed": ""}, "seed must be a text"),
        ({"key": "x0"}, "must not be a released column"),
        ({"label": "z"}, "is no party's column"),
        ({"colour": 1}, "unknown settings"),
        ({"guarantee": "both"}, "guarantee must be one of"),
        ({"method": "magic"}, "method must be one of"),
        ({"format": 3}, "format must be 2"),
        ({"epsilon": "1"}, "epsilon must be a number"),
        ({"guarantee": "joint", "calibration": "paper"}, "must be 'per_party'"),
    ],
)
def test_wrong_settings_are_named(change, message):
    with pytest.raises(DomainError, match=message):
        small_plan(**change)


def test_column_of_two_parties_is_refused():
    wrong = settings()
    wrong["parties"][1]["columns"].append(numeric("x0"))
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
