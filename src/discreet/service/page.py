"""The collector's pages: progress, models with their intervals, and the guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from functools import cache
from html import escape

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from discreet.local import in_words
from discreet.local.task import Task
from discreet.local.unit import Unit
from discreet.service.assets import asset_address
from discreet.service.export import as_python
from discreet.service.form import Form
from discreet.service.numbers import number, rough
from discreet.service.operations import Operations
from discreet.service.plot import forest_plot
from discreet.service.results import LIAR_SHARES
from discreet.service.snapshot import Coefficient, FittedModel, Snapshot
from discreet.service.width_plot import width_plot

_TITLES = {"identity": "Linear"}
_SCALES = {"logistic": "the log-odds", "sigmoid": "the log-odds", "poisson": "the logarithm of the expected count"}


@dataclass(frozen=True)
class View:
    """One model in one unit: the plot and the table show the same numbers."""

    unit: str
    unit_name: str
    caption: str
    coefficients: tuple[Coefficient, ...]
    plot: Markup


@dataclass(frozen=True)
class ModelTab:
    """The content of one tab; ``fitted`` is None before the first fit."""

    name: str
    title: str
    fitted: FittedModel | None
    usable: str = ""  # the share of complete records
    views: tuple[View, ...] = ()
    width_plot: Markup | None = None
    python: str = ""


def overview(
    task: Task, now: Snapshot, *, models: tuple[str, ...], signed_in: bool, operations: Operations | None = None
) -> str:
    """The analyst's page; ``operations`` is given only for those who run the collection."""
    fitted = {model.name: model for model in now.models}
    return _render(
        "dashboard.html",
        task=task,
        now=now,
        models=[_tab(task, now, name, fitted.get(name), first=place == 0) for place, name in enumerate(models)],
        closing=_closing(task),
        promise=in_words(task),
        signed_in=signed_in,
        operations=operations,
    )


def join(task: Task, form: Form) -> str:
    """The participant's page."""
    assert isinstance(task.randomizer, Unit)
    return _render(
        "join.html",
        task=task,
        form=form,
        promise=in_words(task),
        belief=_believed(0.5, task.epsilon),
        rare=("1", _believed(0.01, task.epsilon)),
        candidates=task.randomizer.candidates,
    )


def login(task: Task, *, wrong: bool) -> str:
    """The form for analysts."""
    return _render("login.html", task=task, wrong=wrong)


def _tab(task: Task, now: Snapshot, name: str, fitted: FittedModel | None, *, first: bool) -> ModelTab:
    title = _TITLES.get(name, name.capitalize())
    if fitted is None or not fitted.coefficients:
        return ModelTab(name, title, fitted)
    scale = _SCALES.get(name, f"{task.target.name}" if name == "identity" else "the linear predictor")
    halves = tuple(c.per_half_range() for c in fitted.coefficients)
    views = (
        _view("half", "over half a feature’s range", scale, title, halves),
        _view("unit", "per unit of a feature", scale, title, fitted.coefficients),
    )
    points = [(point.reports, point.widths[name]) for point in now.widths if name in point.widths]
    forecast = now.forecast if first else ()
    drawn = None
    if points:
        label = f"{title} model: typical half-width against the number of reports; {_spoken(points)}"
        drawn = Markup(width_plot(points, forecast, now.goal, label))
    return ModelTab(name, title, fitted, _usable(fitted), views, drawn, as_python(task, now, fitted))


def _usable(fitted: FittedModel) -> str:
    if fitted.usable is None:
        return ""
    return f"{100 * min(fitted.usable, 1.0):.0f} % ± {196 * fitted.usable_std:.0f} %"


def _view(unit: str, unit_name: str, scale: str, title: str, coefficients: tuple[Coefficient, ...]) -> View:
    caption = f"Change of {scale} {unit_name}, with 95 % intervals."
    plot = Markup(forest_plot(coefficients, f"{title} model: effects with 95 % intervals, {unit_name}"))
    return View(unit, unit_name, caption, coefficients, plot)


def _spoken(points: list[tuple[int, float]]) -> str:
    (first, wide), (last, narrow) = points[0], points[-1]
    return f"{number(wide)} at {first:,} reports, {number(narrow)} at {last:,}"


def _closing(task: Task) -> str:
    if task.closes == "goal":
        return f"Closes at {task.goal:,} reports"
    day = date.fromisoformat(task.closes)
    return f"Closes after {day.day} {day:%B %Y}"


def _believed(before: float, epsilon: float) -> str:
    """The largest posterior probability after one report, in percent, rounded up."""
    odds = math.exp(min(epsilon, 36.0)) * before / (1 - before)
    after = 100 * odds / (1 + odds)
    decimals = 1 if after < 99.9 else 3
    return f"{min(math.ceil(after * 10**decimals) / 10**decimals, 100.0):g}"


def breakable(name: str) -> Markup:
    """The name with line breaks allowed after underscores and equals signs."""
    return Markup(escape(name).replace("_", "_<wbr>").replace("=", "=<wbr>"))


def _render(template: str, **content: object) -> str:
    return _environment().get_template(template).render(**content)


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("discreet.service"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(asset=asset_address, shares=LIAR_SHARES)
    found.filters.update(number=number, rough=rough, breakable=breakable)
    return found
