"""A task is the same document in every form, and cannot promise more than its noise gives."""

from __future__ import annotations

import json

import pytest
from local_tasks import make_task

from discreet.errors import DomainError, GuaranteeError
from discreet.local import Task


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


@pytest.mark.parametrize("field", ["epsilon", "goal", "name", "radius"])
def test_every_field_changes_the_digest(field):
    content = make_task().to_dict()
    content[field] = {"epsilon": 4.5, "goal": 7, "name": "other", "radius": 1.3}[field]
    assert Task.from_dict(content).digest != make_task().digest


@pytest.mark.parametrize(
    ("field", "value"),
    [("mu", 1.0), ("epsilon", 3.9), ("delta", 9e-7), ("rounds", 2)],
)
def test_a_promise_that_the_noise_does_not_keep_is_refused(field, value):
    content = make_task().to_dict()
    content[field] = value
    with pytest.raises(GuaranteeError):
        Task.from_dict(content)


def test_paper_noise_that_is_too_small_is_refused():
    content = make_task(calibration="paper").to_dict()
    content["mu"] *= 0.99  # claims less than the printed noise costs
    with pytest.raises(GuaranteeError):
        Task.from_dict(content)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", 2),
        ("transform", [[1.0]]),
        ("transform", [[float("nan")] * 4] * 4),
        ("transform", "x"),
        ("radius", 0.0),
        ("radius", float("nan")),
        ("closes", "soon"),
        ("goal", 1.5),
        ("goal", 0),
        ("reports", "all"),
        ("round", 2),
        ("columns", []),
        ("columns", [{"name": "a"}]),
        ("target", {"name": "a", "low": 0, "high": 1}),
        ("target", None),
        ("epsilon", None),
        ("extra", 1),
    ],
)
def test_a_wrong_field_is_named_and_refused(field, value):
    content = make_task().to_dict()
    content[field] = value
    with pytest.raises(DomainError):
        Task.from_dict(content)


def test_a_file_that_is_no_task_is_refused(tmp_path):
    (tmp_path / "t.toml").write_text("= [", encoding="utf-8")
    with pytest.raises(DomainError):
        Task.load(tmp_path / "t.toml")


def test_every_public_name_can_be_imported():
    import discreet.local

    for name in discreet.local.__all__:
        assert getattr(discreet.local, name) is not None
