"""Saved models: they come back with every bit, hold no data, and a damaged file is an error that
says so.
"""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_fits import BOUNDS, PRIVATE, table

import discreet
from discreet import Categorical, Domain, GeneralizedLinearRegressor, Ledger, LinearRegression, Numeric
from discreet.cli import main
from discreet.errors import DiscreetError, DomainError
from discreet.glm import Logit
from discreet.glm.families import NegativeBinomial
from discreet.local import LocalRegression, new_task, simulate
from discreet.local import fit as local_fit
from discreet.local.links import decreasing

SCHEMA = json.loads((Path(discreet.__file__).parents[2] / "docs" / "model.schema.json").read_text(encoding="utf-8"))
ALL = ["linear", "moments", "without", "paper", "logistic", "classes", "poisson", "relu", "pgd", "sparse", "search"]
X, LABELS = table()


@pytest.fixture(scope="module")
def mixed():
    """A model with a category, an exposure, a ledger and a family of a declared shape."""
    frame = X.assign(region=np.array(["south", "north", "west"])[np.arange(len(X)) % 3])
    domain = Domain(
        (
            *(Numeric(name, *bounds) for name, bounds in BOUNDS.items()),
            Categorical("region", ("west", "north", "south")),
        )
    )
    return frame, domain


def back(model, folder):
    path = folder / "model.json"
    model.save(path)
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), SCHEMA)
    return discreet.load(path)


@pytest.mark.parametrize("name", ALL)
def test_a_model_comes_back_with_every_bit(fitted, name, tmp_path):
    model = fitted[name]
    loaded = back(model, tmp_path)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert str(loaded.summary()) == str(model.summary())
    assert str(loaded.summary(predictive=True)) == str(model.summary(predictive=True))
    assert loaded.privacy_ == model.privacy_
    if name in ("logistic", "classes"):
        assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    if name == "linear":
        assert np.array_equal(loaded.predict_interval(X[:9]), model.predict_interval(X[:9]))
        assert loaded.get_params()["epsilon"] == model.epsilon
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_categories_exposure_families_and_the_ledger_come_back(mixed, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    frame, domain = mixed
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=5, delta=1e-6)
    model = GeneralizedLinearRegressor(
        **PRIVATE,
        family=NegativeBinomial(0.7),
        domain=domain,
        bounds_y=(0, 30),
        bounds_exposure=(0.5, 2),
        ledger=ledger,
    )
    model.set_params(ledger=ledger)
    years = np.linspace(0.5, 2, len(frame))
    loaded = back(model.fit(frame, LABELS["claims"], exposure=years), tmp_path)
    assert np.array_equal(loaded.predict(frame, exposure=years), model.predict(frame, exposure=years))
    assert loaded.results_.names[-2:] == ("region=north", "region=south")
    assert loaded.family == NegativeBinomial(0.7)
    paid = loaded.results_.payment
    assert (paid.ledger, paid.file) == (ledger.id, "budget.ledger")
    assert (paid.before, paid.after) == (paid.total, ledger.remaining)
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert not any(repr(float(value)) in text for value in np.ravel(X.to_numpy()[:200]))


def test_a_formula_comes_back(mixed, tmp_path):
    frame, domain = mixed
    model = LinearRegression(
        **PRIVATE, formula="cost ~ zeta * C(region) + bs(age, 4)", domain=domain, bounds_y=(-1000, 1000)
    ).fit(frame.assign(cost=LABELS["cost"]))
    loaded = back(model, tmp_path)
    assert loaded.formula == model.formula
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    assert str(loaded.summary()) == str(model.summary())


@pytest.fixture(scope="module")
def local_results():
    domain = Domain((Numeric("b", 0, 1), Numeric("a", -1, 1), Categorical("c", ("no", "yes"))))
    task = new_task("t", domain=domain, target=Categorical("answer", ("no", "yes")), epsilon=10.0, goal=200_000)
    rng = np.random.default_rng(0)
    rows = {"b": rng.random(200_000), "a": rng.uniform(-1, 1, 200_000), "c": rng.choice(["no", "yes"], 200_000)}
    answers = np.where(rng.random(200_000) < 0.2 + 0.5 * rows["b"], "yes", "no")
    collection = simulate(task, rows, answers, rng)
    return pd.DataFrame(rows)[:50], local_fit(task, collection, ["logistic", LocalRegression(decreasing(Logit()))])


def test_a_local_model_comes_back(local_results, tmp_path):
    rows, (model, own) = local_results
    loaded = back(model, tmp_path)
    assert np.array_equal(loaded.predict(rows), model.predict(rows))
    assert str(loaded.summary()) == str(model.summary())
    assert loaded.results_.names == ("const", "b", "a", "c=yes")
    assert loaded.results_.odds_ratios().loc["b", "odds ratio"] > 1
    text = str(loaded.summary())
    assert "200,000 reports (public)" in text
    assert max(map(len, text.split("\n"))) <= 78
    with pytest.raises(DomainError, match="cannot be saved; pickle it"):
        own.save(tmp_path / "own.json")
    rows.to_csv(tmp_path / "new.csv", index=False)
    words = ["predict", str(tmp_path / "model.json"), str(tmp_path / "new.csv"), "--out", str(tmp_path / "s.csv")]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert pd.read_csv(tmp_path / "s.csv")["prediction"].to_numpy() == pytest.approx(model.predict(rows))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(version=2), "newer discreet"),
        (lambda d: d.update(version="1"), "has no version"),
        (lambda d: d.update(format="other"), "not a model file"),
        (lambda d: d.update(kind="magic"), "kind must be"),
        (lambda d: d.pop("results"), "lacks 'results'"),
        (lambda d: d.update({"class": "Ledger"}), "class must be an estimator"),
        (lambda d: d["parameters"].update(solver="magic", ledger="/x"), "no parameter 'ledger'"),
        (lambda d: d["columns"].reverse(), "columns must match the feature names"),
        (lambda d: d["results"]["coefficients"].reverse(), "in their order"),
        (lambda d: d["results"]["coefficients"].pop(), "rows and columns"),
        (lambda d: d["results"]["covariance"][0].pop(), "rows of one length"),
        (lambda d: d["results"]["guarantee"]["releases"][0]["cost"].update(mu="0x"), "cost is not one"),
        (lambda d: d["results"]["guarantee"].update(neighbours="nobody"), "neighbours must be one of"),
    ],
)
def test_a_damaged_file_says_what_is_wrong(fitted, tmp_path, change, said):
    fitted["linear"].save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    change(document)
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(DomainError, match=said):
        discreet.load(tmp_path / "model.json")


@pytest.mark.parametrize("text", ["", "{", "[" * 5000, '{"format": NaN}', '{"a": 1, "a": 2}', "1" * 9000, "null"])
def test_what_is_no_document_is_an_error_and_no_traceback(tmp_path, text):
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(DomainError, match=r"model\.json"):
        discreet.load(tmp_path / "model.json")
    told = CliRunner().invoke(main, ["show", str(tmp_path / "model.json")])
    assert told.exit_code == 1
    assert told.stderr.startswith("Error: ")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def places(document, here=()):
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in inner:
        yield (*here, key)
        yield from places(value, (*here, key))


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_no_edit_of_a_file_is_a_traceback(fitted, tmp_path, data):
    name = data.draw(st.sampled_from(["linear", "classes", "sparse", "paper"]))
    path = tmp_path / f"{name}.json"
    fitted[name].save(path)
    document = json.loads(path.read_text())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(sorted(places(document), key=str)))
        holder = document
        for key in place[:-1]:
            holder = holder[key]
        if data.draw(st.booleans()):
            holder[place[-1]] = data.draw(ANYTHING)
        else:
            del holder[place[-1]]
    path.write_text(json.dumps(document))
    try:
        loaded = discreet.load(path)
        str(loaded.summary())
        loaded.predict(X[:3])
    except DiscreetError:
        pass


def test_predict_and_show_in_the_terminal(fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fitted["logistic"].save("model.json")
    new = X[:50].assign(patient=np.arange(50))
    new.loc[3, "age"] = np.nan
    pq.write_table(pa.Table.from_pandas(new[["patient", "mid", "age", "zeta"]]), "new.parquet")
    new.to_csv("new.csv", index=False)
    told = CliRunner().invoke(main, ["predict", "model.json", "new.parquet", "--out", "a.parquet", "--keep", "patient"])
    assert told.exit_code == 0, told.output
    assert "50 rows" in told.output
    scores = pq.read_table("a.parquet").to_pandas()
    assert list(scores.columns) == ["patient", "prediction", "probability of 0", "probability of 1"]
    chances = fitted["logistic"].predict_proba(new[["zeta", "age", "mid"]])
    assert np.array_equal(scores["probability of 1"], chances[:, 1], equal_nan=True)
    assert scores["prediction"].isna().tolist() == [i == 3 for i in range(50)]
    told = CliRunner().invoke(main, ["predict", "model.json", "new.csv", "--out", "b.csv"])
    assert told.exit_code == 0, told.output
    assert pd.read_csv("b.csv")["probability of 1"].to_numpy() == pytest.approx(chances[:, 1], nan_ok=True)
    shown = CliRunner().invoke(main, ["show", "model.json", "--releases"])
    assert str(fitted["logistic"].summary()) in shown.output
    assert "of mu^2" in shown.output
    new.drop(columns="age").to_csv("less.csv", index=False)
    refused = CliRunner().invoke(main, ["predict", "model.json", "less.csv", "--out", "c.csv"])
    assert refused.exit_code == 1
    assert "no column 'age'" in refused.stderr
    assert not Path("c.csv").exists()


def test_what_cannot_be_saved_says_so(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        LinearRegression(**PRIVATE).save(tmp_path / "model.json")


def test_a_declared_loss_comes_back_and_one_of_your_own_does_not(tmp_path):
    asked = {**PRIVATE, "sparsity": 2, "bounds_X": BOUNDS, "bounds_y": (-1000, 1000)}
    model = discreet.SparseRegressor(**asked, loss=discreet.huber(50.0)).fit(X, LABELS["cost"])
    loaded = back(model, tmp_path)
    assert loaded.loss == discreet.huber(50.0)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    own = discreet.SparseRegressor(**asked, loss=discreet.Loss(np.tanh, 1.0)).fit(X, LABELS["cost"])
    with pytest.raises(DomainError, match="cannot be saved; pickle it"):
        own.save(tmp_path / "own.json")
