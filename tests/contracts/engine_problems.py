"""One table with all types of cells, and models for which every engine must give the same bits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from discreet import Categorical, Domain, LinearRegression, LogisticRegression, Numeric, PoissonRegressor
from discreet.domain import Encoder
from discreet.engines import Engine, open_engine
from discreet.errors import PrivacyLeakWarning
from discreet.estimators.formula import formula_columns
from discreet.estimators.table_input import table_layout
from discreet.rows import Labels, LinearMap, PowerSums, SecondMoment, product_parts, query_sum, score_sum

ROWS = 400
DOMAIN = Domain(
    (
        Numeric("age", 0, 90),
        Numeric("bmi", 10, 50),
        Numeric("dose", 0, 1),
        Categorical("sex", ("f", "m", "x")),
        Categorical("site", (1, 2, 3)),
        Numeric("cost", 0, 100),
        Categorical("sick", ("no", "yes")),
        Numeric("claims", 0, 20),
        Numeric("years", 0.1, 5),
    )
)


def table(rows: int = ROWS, seed: int = 0) -> pa.Table:
    """Numbers of several types, texts, nulls, and persons with one to many rows, some of them twice
    the same.
    """
    random = np.random.default_rng(seed)
    age = random.integers(18, 95, rows)
    bmi = random.normal(27, 6, rows)
    dose = random.uniform(0, 1, rows).astype(np.float32)
    columns = {
        "age": pa.array(age, pa.int32()),
        "bmi": pa.array(bmi),
        "dose": pa.array(dose, mask=random.random(rows) < 0.1),
        "sex": pa.array(random.choice(["f", "m", "x", "?"], rows), mask=random.random(rows) < 0.05),
        "site": pa.array(random.integers(1, 5, rows), pa.int64()),
        "cost": pa.array(0.5 * age + bmi + random.normal(0, 5, rows)),
        "sick": pa.array(np.where(random.random(rows) < 1 / (1 + np.exp(-(age - 55) / 20)), "yes", "no")),
        "claims": pa.array(random.poisson(age / 40), pa.int16()),
        "years": pa.array(random.uniform(0.2, 4, rows)),
        # Some rows have no id.
        "person": pa.array(
            random.integers(0, rows // 6 + 1, rows) * 10**15, pa.int64(), mask=random.random(rows) < 0.05
        ),
    }
    made = pa.table(columns)
    return pa.concat_tables([made.slice(0, rows - rows // 10), made.slice(0, rows // 10)]).combine_chunks()


@dataclass(frozen=True)
class Problem:
    """An estimator without its seed, and what ``fit_table`` is told about the columns."""

    make: Callable[..., Any]
    target: str
    features: tuple[str, ...] | None  # None with a formula, which names them
    groups: str | None = None
    exposure: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def estimator(self, **options: Any) -> Any:
        settings = {"epsilon": 2.0, "delta": 1e-5, "domain": DOMAIN, "random_state": 7} | self.options | options
        return self.make(**settings)

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        if self.features is not None:
            return list(self.features)
        return formula_columns(self.estimator(), [], None, None)[1]

    @property
    def asked(self) -> dict[str, Any]:
        return {"target": self.target, "features": self.features, "groups": self.groups, "exposure": self.exposure}


NUMBERS = ("age", "bmi")
PROBLEMS = {
    "linear": Problem(LinearRegression, "cost", NUMBERS),
    "logistic": Problem(LogisticRegression, "sick", NUMBERS),
    "poisson with exposure": Problem(PoissonRegressor, "claims", NUMBERS, exposure="years"),
    "groups": Problem(LinearRegression, "cost", NUMBERS, groups="person", options={"rows_per_person": 2}),
    "groups, categories and missing cells": Problem(
        LogisticRegression, "sick", ("dose", "sex"), groups="person", options={"rows_per_person": 3}
    ),
    "missing cells": Problem(LinearRegression, "cost", ("age", "dose")),
    "categories": Problem(LogisticRegression, "sick", ("age", "sex", "site")),
    "formula": Problem(
        PoissonRegressor,
        "claims",
        None,
        options={"formula": "claims ~ age * sex + bs(bmi, 4) + I(dose**2):C(site, reference=2) + offset(log(years))"},
    ),
}


def fitted(problem: Problem, given: Any, **options: Any) -> tuple[Any, ...]:
    """The bits of a model of this table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        model = problem.estimator(**options).fit_table(given, **problem.asked)
    return bits(model)


def bits(model: Any) -> tuple[Any, ...]:
    return np.asarray(model.coef_).tobytes(), np.asarray(model.intercept_).tobytes(), str(model.privacy_)


def in_memory(problem: Problem, rows: pa.Table) -> tuple[Any, ...]:
    """The bits of ``fit`` on arrays and frames, which every table must give."""
    frame = rows.to_pandas()
    more = {} if problem.exposure is None else {"exposure": frame[problem.exposure]}
    groups = None if problem.groups is None else frame[problem.groups].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        if problem.features is None:
            return bits(problem.estimator().fit(frame.astype({"sex": object}), None, groups, **more))
        x = frame[list(problem.features)].astype({"sex": object} if "sex" in problem.features else {})
        return bits(problem.estimator().fit(x, frame[problem.target], groups, **more))


def engine_of(problem: Problem, given: Any) -> Engine:
    """The engine alone, for questions that need no fit."""
    estimator = problem.estimator()
    column = estimator._target(problem.target)
    exposure = None if problem.exposure is None else DOMAIN[problem.exposure]
    encoder = estimator._make_encoder(problem.columns, column, exposure)
    layout = table_layout(
        encoder,
        partial(estimator._label_numbers, target=column),
        groups=problem.groups,
        rows_per_person=estimator.rows_per_person,
        text_labels=estimator._label_texts(problem.target),
    )
    return open_engine(given, layout)


def sums(problem: Problem, given: Any) -> list[Any]:
    """Exact sums of three questions, asked in one pass."""
    width = problem.estimator()._make_encoder(problem.columns, None, None).width
    questions = [
        PowerSums(width, 2.0),
        SecondMoment(np.zeros(width), 0.4, 1.7, 0.05, 0.3, 2.0, 1.0, 0.6),
        score_sum(
            LinearMap(np.random.default_rng(3).normal(size=(width + 2, width + 1))), Labels(0.5, 2.5), _score, 1.5, 0.8
        ),
    ]
    together = engine_of(problem, given).sum_rows(partial(_side_by_side, questions))
    found, start = [], 0
    for question, shape in zip(questions, _shapes(questions, width), strict=True):
        size = int(np.prod(shape))
        found.append(query_sum(question, together[start : start + size].reshape(shape)).tolist())
        start += size
    return found


def _score(y: Any, eta: Any, bound: Any) -> Any:
    return np.clip(eta - y, -bound, bound)


def _side_by_side(questions: list[Any], block: Any, used: Any) -> Any:
    return np.concatenate([product_parts(question, block, used).ravel() for question in questions])


def _shapes(questions: list[Any], width: int) -> list[tuple[int, ...]]:
    empty = Encoder(Domain.from_bounds([f"x{i}" for i in range(width)], (-1, 1)), Numeric("y", -1, 1)).encode(
        np.zeros((0, width)), np.zeros(0)
    )
    return [product_parts(question, empty, None).shape for question in questions]


PARTITIONINGS = range(20)  # seeds; several of them have an empty part


def cuts(rows: int, seed: int) -> list[int]:
    """Borders of a random partitioning: some parts are empty, some hold nearly everything."""
    random = np.random.default_rng(seed)
    borders = np.sort(random.integers(0, rows + 1, random.integers(1, 7)))
    return [0, *borders.tolist(), *([borders[-1].item()] if seed % 3 == 0 else []), rows]


def parts(given: pa.Table, seed: int) -> list[pa.Table]:
    """The rows in another order, in parts."""
    shuffled = given.take(np.random.default_rng(seed).permutation(given.num_rows))
    borders = cuts(given.num_rows, seed)
    return [shuffled.slice(a, b - a) for a, b in pairwise(borders)]
