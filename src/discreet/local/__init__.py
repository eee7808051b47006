"""Local privacy: a device randomizes its one record, a collector adds reports and fits many models.

Everything is imported when first used, so that a device loads only what ``Client`` needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.local.client import Client
    from discreet.local.collection import Collection
    from discreet.local.task import Task
    from discreet.local.wire import WireError

_HOMES = {
    "Client": "client",
    "Collection": "collection",
    "Task": "task",
    "WireError": "wire",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"discreet.local.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'discreet.local' has no attribute {name!r}")
