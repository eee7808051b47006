"""Local privacy: each device randomizes its own record; a collector adds reports and fits models.

Everything is imported when first used, so that a device loads only what ``Client`` needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.local.client import Client
    from discreet.local.collection import Collection
    from discreet.local.estimate import fit
    from discreet.local.forecasting import forecast, influence
    from discreet.local.guarantee import in_words, local_guarantee, shuffled_epsilon
    from discreet.local.links import Link
    from discreet.local.make import new_task
    from discreet.local.models import LocalGLM, LocalRegression
    from discreet.local.pilot import pilot_task, second_task
    from discreet.local.printed import PrintedLink, printed_second, printed_task
    from discreet.local.results import LocalResult
    from discreet.local.simulation import simulate
    from discreet.local.task import Task
    from discreet.local.wire import WireError

_HOMES = {
    "Client": "client",
    "Collection": "collection",
    "Link": "links",
    "LocalGLM": "models",
    "LocalRegression": "models",
    "LocalResult": "results",
    "PrintedLink": "printed",
    "Task": "task",
    "WireError": "wire",
    "fit": "estimate",
    "forecast": "forecasting",
    "in_words": "guarantee",
    "influence": "forecasting",
    "local_guarantee": "guarantee",
    "new_task": "make",
    "pilot_task": "pilot",
    "printed_second": "printed",
    "printed_task": "printed",
    "second_task": "pilot",
    "shuffled_epsilon": "guarantee",
    "simulate": "simulation",
}

__all__ = [
    "Client",
    "Collection",
    "Link",
    "LocalGLM",
    "LocalRegression",
    "LocalResult",
    "PrintedLink",
    "Task",
    "WireError",
    "fit",
    "forecast",
    "in_words",
    "influence",
    "local_guarantee",
    "new_task",
    "pilot_task",
    "printed_second",
    "printed_task",
    "second_task",
    "shuffled_epsilon",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"discreet.local.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'discreet.local' has no attribute {name!r}")
