"""The box of an estimator in a notebook links to discreet's documentation, or to nothing."""

from __future__ import annotations

import pytest
from sklearn.utils import estimator_html_repr

from discreet import DomainEncoder, LinearRegression, Numeric, PrivateGridSearchCV
from discreet.estimators import doc_link

MODEL = LinearRegression(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1))
OURS = [MODEL, PrivateGridSearchCV(MODEL, {"alpha": [1.0]}), DomainEncoder([Numeric("x", 0, 1)])]


@pytest.mark.parametrize("estimator", OURS, ids=lambda one: type(one).__name__)
def test_the_box_links_to_our_page(estimator, monkeypatch, tmp_path):
    monkeypatch.setattr(doc_link, "_IN_A_CLONE", tmp_path)
    monkeypatch.delenv("DISCREET_DOCS", raising=False)
    assert estimator._get_doc_link() == ""
    assert 'href="' not in estimator_html_repr(estimator)

    page = tmp_path / "api" / "generated" / f"discreet.{type(estimator).__name__}.html"
    page.parent.mkdir(parents=True)
    page.write_text("<title>here</title>")
    assert estimator._get_doc_link() == page.as_uri()
    monkeypatch.setenv("DISCREET_DOCS", "http://localhost:8000/")
    link = f"http://localhost:8000/api/generated/discreet.{type(estimator).__name__}.html"
    assert f'href="{link}"' in estimator_html_repr(estimator)
