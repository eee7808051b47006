"""The shown results as CSV, as JSON, and as a self-contained Python program."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from discreet.local.task import Task
from discreet.service.snapshot import FittedModel, Snapshot

# The mean of the label as a function of the linear predictor, in Python; other models give the
# predictor itself.
_MEANS = {
    "logistic": "1 / (1 + math.exp(-predictor))",
    "sigmoid": "1 / (1 + math.exp(-predictor))",
    "identity": "predictor",
    "poisson": "math.exp(predictor)",
    "exponential": "math.exp(predictor)",
    "softplus": "math.log1p(math.exp(predictor))",
    "cubic": "predictor**3 / 3",
    "boosting": "0.5 + predictor / (4 * math.sqrt(1 + predictor**2 / 4))",
}


def as_csv(task: Task, now: Snapshot) -> str:
    """One line per coefficient, in the features' own units; ``half_range`` converts to the other
    unit.
    """
    shares = sorted({share for model in now.models for c in model.coefficients for share in c.moved_by})
    moves = [f"moved_by_{share}_percent" for share in shares]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = ["model", "name", "estimate", "low", "high", "half_range", *moves]
    writer.writerow([*head, "reports", "epsilon", "delta", "task"])
    for model in now.models:
        for c in model.coefficients:
            moved = [c.moved_by[share] for share in shares]
            half_range = "" if c.span is None else c.span
            row = [model.name, c.name, c.value, c.low, c.high, half_range, *moved]
            writer.writerow([*row, now.fitted, task.epsilon, task.delta, task.digest])
    return out.getvalue()


def as_document(task: Task, now: Snapshot) -> dict[str, Any]:
    """Everything the page shows, as JSON."""
    about = {"name": task.name, "digest": task.digest, "target": task.target.name}
    return {"task": about, "epsilon": task.epsilon, "delta": task.delta, "level": 0.95, **now.to_dict()}


def as_python(task: Task, now: Snapshot, model: FittedModel) -> str:
    """Coefficients, intervals and a prediction, without any library."""
    estimates = "".join(f"    {c.name!r}: {_spelt(c.value)},\n" for c in model.coefficients)
    intervals = "".join(f"    {c.name!r}: ({_spelt(c.low)}, {_spelt(c.high)}),\n" for c in model.coefficients)
    mean = _MEANS.get(model.name, "predictor")
    what = f"the expected {task.target.name}" if model.name in _MEANS else "the linear predictor"
    return f'''"""{_plain(task.name)}: {model.name} model of {now.fitted:,} randomized reports.

Each report: epsilon {task.epsilon:g}, delta {task.delta:g}. Task {task.digest}.
"""
import math

estimates = {{
{estimates}}}
intervals = {{  # 95 %
{intervals}}}


def predict(record):
    """For one record: {_plain(what)}.

    Names are the features; a category is 1 or 0 under "column=value".
    """
    features = (name for name in estimates if name != "intercept")
    predictor = estimates.get("intercept", 0.0) + sum(estimates[name] * record[name] for name in features)
    return {mean}
'''


def _spelt(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"float({str(value)!r})"


def _plain(text: str) -> str:
    """The text without anything that could end the docstring around it."""
    return text.replace("\\", "/").replace('"', "'")
