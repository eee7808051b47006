"""An audit's state is data: it is read back unchanged, and reading a foreign file runs no code."""

from __future__ import annotations

import json
import math
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet import Categorical, Domain, LinearRegression, Numeric, SparseLinearRegression
from discreet.audit import resume
from discreet.audit.plain import plain, restored
from discreet.audit.suite import Finding, Settings, Suite, audit_estimator
from discreet.privacy import GDP, Approximate, Pure, Release, Repeated, Split


def through_json(value):
    return restored(json.loads(json.dumps(plain(value), allow_nan=False)))


def models():
    domain = Domain((Numeric("z", 0, 1), Categorical("c", ("u", 7, "a")), Numeric("y", 0, 1)))
    common = {"epsilon": 1.0, "delta": 1e-6}
    yield LinearRegression(**common, bounds_X=(-1, 1), bounds_y=(-1, 1), solver="moments"), None, 40
    yield LinearRegression(**common, domain=domain, solver="moments"), "y", 0
    yield SparseLinearRegression(**common, bounds_X=(-1, 1), bounds_y=(-1, 1), sparsity=2), None, 0


@pytest.mark.parametrize(("model", "target", "runs"), list(models()), ids=["arrays", "frames", "picks"])
def test_a_finding_comes_back_as_it_was(model, target, runs):
    found = audit_estimator(model, Settings(runs=runs, rows=100, climbs=0, box_rows=100, workers=1, target=target))
    back = through_json(found)
    assert isinstance(back, Finding)
    assert back.to_dict() == found.to_dict()
    assert str(back.worst) == str(found.worst)
    assert str(back.box) == str(found.box)
    assert back.worst.report == found.worst.report
    for here, there in zip(back.worst.data, found.worst.data, strict=True):
        assert type(here) is type(there)
        assert np.array_equal(np.asarray(here, dtype=object), np.asarray(there, dtype=object))


def test_columns_of_a_frame_keep_their_order_and_their_types():
    frame = pd.DataFrame({"z": [1.5, math.nan], "a": ["x", 3], "m": [True, False], "b": [1, 2]})
    back = through_json((frame, frame["a"]))
    pd.testing.assert_frame_equal(back[0], frame)
    pd.testing.assert_series_equal(back[1], frame["a"])
    assert list(through_json(pl.DataFrame({"z": [1.0], "a": ["x"]})).columns) == ["z", "a"]


def test_costs_infinities_and_splits_come_back():
    for cost in (GDP(0.3), Pure(1.0), Approximate(1.0, 1e-6), Repeated(Pure(0.1, bounded_range=True), 4)):
        release = Release("sum", math.inf, 2.0, cost, Split(1, 3, cost, GDP(0.5), True), 2)
        assert through_json(release) == release
    assert through_json((math.inf, -math.inf, None, True, "x")) == (math.inf, -math.inf, None, True, "x")
    assert math.isnan(through_json(math.nan))


class Planted:
    """What a pickle would run."""

    def __reduce__(self):
        return os.mkdir, ("planted",)


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps({"question": "x", "found": Planted()}),
        b"",
        b"[" * 100_000,
        b"null",
        b'{"question": "x"}',
        b'{"question": "HERE", "found": {"kind": "os.mkdir", "value": "planted"}}',
        b'{"question": "HERE", "found": {"kind": "record", "type": "Path", "fields": [["x", "planted"]]}}',
        b'{"question": "HERE", "found": {"kind": "record", "type": "Finding", "fields": [["x", 1]]}}',
        b'{"question": "HERE", "found": {"kind": "array", "type": "|O", "shape": [1], "data": "AAAA"}}',
        b'{"question": "HERE", "found": {"kind": "array", "type": "<f8", "shape": [9], "data": "AAAA"}}',
        b'{"question": "HERE", "found": {"kind": "unit", "fields": {"unit": "x"}}}',
        b'{"question": "HERE", "found": {"kind": ["x"]}}',
        b'{"question": "HERE", "found": {"kind": "float", "value": "x"}}',
    ],
)
def test_a_foreign_state_file_runs_nothing_and_is_replaced(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    settings = Settings(state_folder=str(tmp_path))
    path = Path(settings.state("model", "finding"))
    path.write_bytes(content.replace(b"HERE", json.dumps(resume._question(settings.question)).encode()[1:-1]))
    found = Finding("model", "Models", True, None, None, 1.0)
    for _ in range(2):
        assert Suite(settings).run("model", settings, lambda: found) == found
    assert not (tmp_path / "planted").exists()
    assert json.loads(path.read_text())["found"]["type"] == "Finding"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", pickle.dumps(Planted())])
def test_a_file_that_holds_no_runs_is_named(tmp_path, monkeypatch, content):
    from discreet.audit.runs import _Store

    monkeypatch.chdir(tmp_path)
    path = tmp_path / "runs.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"runs\.npz holds no runs of an audit"):
        _Store(path, "key").load()
    path.unlink()
    np.savez(path, key=np.array("key"), lengths0=np.array([1]), values0=np.array([Planted()], dtype=object))
    with pytest.raises(ValueError, match="holds no runs"):
        _Store(path, "key").load()
    assert not (tmp_path / "planted").exists()


def test_no_code_of_discreet_loads_a_pickle():
    import discreet

    root = Path(discreet.__file__).parent
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        # Spark's workers are sent pickled functions and answer in kind, within one job of one user.
        if path.name != "spark_frames.py":
            assert "pickle.load" not in text, path
        assert "allow_pickle=True" not in text, path
