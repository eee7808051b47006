"""Models of the joint release without standard errors, as fitted estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.domain import Categorical, Encoder
from discreet.parties.joint import Joint
from discreet.results import Results


def logistic_estimator(joint: Joint, label: str, features: Sequence[str] | None = None) -> Any:
    """A fitted ``LogisticRegression`` from second moments and Stein's scale (logistic.py)."""
    from discreet.estimators import LogisticRegression
    from discreet.parties.logistic import logistic

    found = logistic(joint, label, features)
    column = next(column for column in joint.columns if column.name == label)
    classes = column.values if isinstance(column, Categorical) else (0, 1)
    model = LogisticRegression(**_promise(joint), domain=joint.declared(label, features)[0].domain, classes=classes)
    model._target(label)
    reason = "coefficients come from second moments through Stein's lemma, whose errors are not known"
    return _adopted(
        model,
        joint,
        label,
        features,
        found.coef,
        found.notes,
        ("bernoulli", "logit"),
        reason,
        "second moments, Stein's scale",
    )


def printed_estimator(
    joint: Joint, label: str, features: Sequence[str] | None = None, *, training: str | None = None
) -> Any:
    """A fitted ``LinearRegression`` as MPR prints it (printed.py)."""
    from discreet.estimators import LinearRegression
    from discreet.parties.printed import printed_ols

    coef = printed_ols(joint, label, features, training=training)
    encoder, target, _ = joint.declared(label, features)
    model = LinearRegression(**_promise(joint), domain=encoder.domain, bounds_y=(target.low, target.high))
    way = (training or joint.plan.method).upper()
    reason = f"the paper prints none for {way}-OLS"
    return _adopted(model, joint, label, features, coef, (), ("gaussian", "identity"), reason, f"{way}-OLS as printed")


def _promise(joint: Joint) -> dict[str, Any]:
    return {"epsilon": joint.privacy.epsilon(joint.plan.delta), "delta": joint.plan.delta}


def _adopted(
    model: Any,
    joint: Joint,
    label: str,
    features: Sequence[str] | None,
    coef: Mapping[str, float],
    notes: Sequence[str],
    kind: tuple[str, str],
    reason: str,
    method: str,
) -> Any:
    encoder, target, names = joint.declared(label, features)
    values = np.array([coef[name] for name in ("const", *encoder.names)])
    results = Results(
        target=label,
        names=("const", *encoder.names),
        shrunk=values,
        estimates=values,
        covariance=None,
        noise_covariance=None,
        privacy=joint.privacy,
        rows=min(one.rows for one in joint.releases),
        family=kind[0],
        link=kind[1],
        model=type(model).__name__,
        delta=joint.plan.delta,
        trust="parties",
        facts=(("Family", f"{kind[0]}, {kind[1]} link"), ("Method", method)),
        notes=tuple(notes),
        no_errors=reason,
    )
    return model.adopt(results, Encoder(encoder.domain, target), names)
