"""A task is the same document in every form, and cannot promise more than its noise gives."""

from __future__ import annotations

import copy
import hashlib
import json

import pytest
from local_tasks import kind, make_task

from discreet.domain import Categorical, Domain
from discreet.errors import DomainError, GuaranteeError
from discreet.local import Task
from discreet.local.canonical import canonical_bytes


def test_toml_and_json_give_the_same_task(any_task, tmp_path):
    (tmp_path / "task.toml").write_text(any_task.to_toml(), encoding="utf-8")
    (tmp_path / "task.json").write_text(json.dumps(any_task.to_dict()), encoding="utf-8")
    for name in ("task.toml", "task.json"):
        loaded = Task.load(tmp_path / name)
        assert loaded.digest == any_task.digest
        assert loaded.body_size == any_task.body_size


def test_strange_names_survive_toml(tmp_path):
    from discreet.domain import Categorical, Domain, Numeric

    domain = Domain((Numeric('a "b" \\ \x7f ü', -1.0, 1.0), Categorical("c", ("=", "[x]", "\n"))))
    task = make_task(domain=domain, public=None)
    (tmp_path / "t.toml").write_text(task.to_toml(), encoding="utf-8")
    assert Task.load(tmp_path / "t.toml").digest == task.digest


CHANGES = [("epsilon", 4.5), ("goal", 7), ("name", "other"), ("statistic.radius", 1.3), ("columns.0.low", -6)]


@pytest.mark.parametrize(("field", "value"), CHANGES)
def test_every_field_changes_the_digest(field, value):
    assert changed(kind("cross"), field, value).digest != kind("cross").digest


def changed(task, field, value):
    content = copy.deepcopy(task.to_dict())
    place, *path = field.split(".")[::-1]
    inner = content
    for step in reversed(path):
        inner = inner[int(step) if isinstance(inner, list) else step]
    inner[place] = value
    return Task.from_dict(content)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("cross", "epsilon", 3.9),
        ("cross", "randomizer.high", 10**9),
        ("cross", "randomizer.low", 2**15),
        ("gaussian", "randomizer.mu", 0.5),
        ("gaussian", "epsilon", 3.9),
        ("gaussian", "delta", 9e-7),
        ("gaussian", "randomizer.scales", [1000.0, 1000.0, 1000.0]),
        ("gaussian", "randomizer.unit", 2.0**-30),
        ("paper", "randomizer.mu", 0.01),
    ],
)
def test_a_promise_that_the_noise_does_not_keep_is_refused(name, field, value):
    with pytest.raises(GuaranteeError):
        changed(kind(name), field, value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", 1),
        ("format", True),
        ("statistic.transform", [[1.0]]),
        ("statistic.transform", [[float("nan")] * 4] * 4),
        ("statistic.transform", "x"),
        ("statistic.radius", 0.0),
        ("statistic.radius", float("nan")),
        ("statistic.cross", 1.1),
        ("statistic.flag", -0.1),
        ("statistic.kind", "all"),
        ("statistic.extra", 1),
        ("closes", "soon"),
        ("goal", 1.5),
        ("goal", 0),
        ("goal", True),
        ("epsilon", True),
        ("epsilon", "4"),
        ("parent", "abc"),
        ("design", "abc"),
        ("design", {}),
        ("design.count", 3),
        ("design.data", "!"),
        ("columns", []),
        ("columns", [{"name": "a"}]),
        ("columns", [{"name": "a", "values": [1, 2]}]),
        ("target", {"name": "a", "low": 0, "high": 1, "centre": 0.5, "scale": 0.5}),
        ("target", {"name": "y", "low": 0, "high": 1, "centre": 0.5, "scale": 0.0}),
        ("target", {"name": "y", "values": ["a", "b"], "positive": "c"}),
        ("target", None),
        ("randomizer.name", "laplace"),
        ("randomizer.top", 1.5),
        ("randomizer.top", 0),
        ("randomizer.dimension", 7),
        ("randomizer", None),
        ("epsilon", None),
        ("fit_intercept", 1),
        ("extra", 1),
    ],
)
def test_a_wrong_field_is_named_and_refused(field, value):
    with pytest.raises(DomainError):
        changed(kind("cross"), field, value)


def test_numbers_spelt_otherwise_are_the_same_task():
    assert changed(kind("cross"), "epsilon", 4).digest == kind("cross").digest
    assert changed(kind("cross"), "goal", 10_000.0).digest == kind("cross").digest


def test_a_device_gets_the_task_without_its_design_and_the_same_digest(any_task):
    slim = Task.from_dict(json.loads(any_task.document))
    assert slim.digest == any_task.digest
    assert hashlib.sha256(any_task.document).hexdigest() == any_task.digest
    if any_task.design is not None:
        assert len(any_task.document) < len(json.dumps(any_task.to_dict()))
        assert changed(any_task, "design", "0" * 64).digest != any_task.digest


def test_canonical_numbers_are_those_of_javascript():
    numbers = [4.0, 1e-7, 1e21, 0.1, -0.0, 123456789012345680000.0, 5e-324, 1.5e300]
    assert canonical_bytes(numbers) == b"[4,1e-7,1e+21,0.1,0,123456789012345680000,5e-324,1.5e+300]"
    assert canonical_bytes({"b": 1, "a": "\u20ac\n"}) == b'{"a":"\xe2\x82\xac\\n","b":1}'


def test_a_missing_rule_that_local_tasks_do_not_have_is_refused():
    domain = Domain.from_bounds(["a"], (0, 1), missing="centre")
    with pytest.raises(DomainError, match="complete records"):
        make_task(domain=domain, public=None)


def test_the_level_that_counts_as_one_is_named():
    target = Categorical("y", ("none", "some", "much"))
    with pytest.raises(DomainError, match="positive"):
        make_task(target=target)
    assert make_task(target=target, positive="much").target.positive == "much"
    with pytest.raises(DomainError, match="one of"):
        make_task(target=target, positive="most")


def test_a_file_that_is_no_task_is_refused(tmp_path):
    (tmp_path / "t.toml").write_text("= [", encoding="utf-8")
    with pytest.raises(DomainError):
        Task.load(tmp_path / "t.toml")


def test_every_public_name_can_be_imported():
    import discreet.local

    for name in discreet.local.__all__:
        assert getattr(discreet.local, name) is not None
