"""Conversion of a local model to a document and back; docs/model.schema.json defines its fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.errors import DomainError
from discreet.local.models import as_model
from discreet.local.results import LocalResult
from discreet.local.task import Task
from discreet.results.document import Fields, read_results, results_document
from discreet.results.file import header


def local_document(result: LocalResult) -> dict[str, Any]:
    """The document of a result with its task.

    A user's own mean function is refused, because it could not be read again.
    """
    try:
        known = as_model(result.model).mean_function is result.link
    except ValueError:
        known = False
    if not known:
        raise DomainError(f"a model with the user-defined link {result.link.name!r} cannot be saved; pickle it")
    return {
        **header("local"),
        "model": result.model,
        "task": result.task.to_dict(design=False),
        "reports": result.count,
        "usable": float(result.usable),
        "usable_std": float(result.usable_std),
        "assumption": result.assumption,
        "results": results_document(result.results_),
    }


def read_local(content: Any) -> LocalResult:
    """The result that a document describes."""
    fields = Fields(content, "the document")
    task, results = Task.from_dict(fields.value("task")), read_results(fields.value("results"))
    names = [*(["intercept"] if task.fit_intercept and not _printed(task) else []), *task.names]
    if list(results.names) != ["const" if name == "intercept" else name for name in names]:
        raise DomainError("the coefficients must be those of the task's columns, in their order")
    unknown = np.full((len(names), len(names)), np.nan)
    return LocalResult(
        model=fields.text("model"),
        names=names,
        estimates=results.estimates,
        covariance=unknown if results.covariance is None else results.covariance,
        response=np.full((len(names), task.report_entries), np.nan),
        noise_covariance=unknown if results.noise_covariance is None else results.noise_covariance,
        count=fields.count("reports"),
        task=task,
        link=as_model(fields.text("model")).mean_function,
        usable=fields.number("usable"),
        usable_std=fields.number("usable_std"),
        assumption=fields.text("assumption"),
    )


def _printed(task: Task) -> bool:
    return task.statistic.kind == "predictor"
