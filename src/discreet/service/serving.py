"""The collector as a process: one event loop and one writer thread; it logs starts and failures."""

from __future__ import annotations

import logging
import math
import resource
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette

from discreet.service.connection import SPARE, Admission, BoundedConnection
from discreet.service.limits import Limits
from discreet.service.repeated_lines import OnceAMinute

_OTHER_FILES = 128  # files for libraries, the database, connections and the log


def serve(
    app: Starlette, *, host: str, port: int, limits: Limits | None = None, proxies: frozenset[str] = frozenset()
) -> None:
    """Run until interrupted; what was accepted before is stored before this returns.

    ``proxies`` are addresses of reverse proxies, which limit their own clients and report the
    protocol.
    """
    for name in ("uvicorn.error", "discreet.service"):
        logging.getLogger(name).addFilter(OnceAMinute())
    limits = with_room_for_files(limits or Limits())
    with suppress(KeyboardInterrupt):
        make_server(app, host=host, port=port, limits=limits, proxies=proxies).run()


def make_server(
    app: Starlette, *, host: str, port: int, limits: Limits, proxies: frozenset[str] = frozenset()
) -> uvicorn.Server:
    """The server that ``serve`` runs."""
    admission = Admission(limits, app.state.metrics.refusals, proxies)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=cast("Any", partial(BoundedConnection, admission)),
        ws="none",
        log_level="warning",
        access_log=False,  # the log must hold no addresses or times of devices
        server_header=False,
        backlog=2048,
        timeout_keep_alive=math.ceil(limits.idle_seconds),
        timeout_graceful_shutdown=math.ceil(limits.shutdown_seconds),
        forwarded_allow_ips=sorted(proxies) or None,
    )
    return uvicorn.Server(config)


def with_room_for_files(limits: Limits) -> Limits:
    """Raise the limit of open files to what connections need, or lower the connections' limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = limits.connections + SPARE + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return limits
    return replace(limits, connections=max(1, soft - SPARE - _OTHER_FILES))
