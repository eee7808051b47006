"""The collector as a process: one event loop, one writer thread, nothing written to the log but starts and failures."""

from __future__ import annotations

import uvicorn
from starlette.applications import Starlette

from discreet.service.limits import Limits


def serve(app: Starlette, *, host: str, port: int, limits: Limits | None = None) -> None:
    """Run until interrupted; what was accepted before is stored before this returns."""
    limits = limits or Limits()
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,  # addresses and times of devices are nobody's business
        server_header=False,
        limit_concurrency=limits.connections,
        backlog=limits.connections,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=20,
    )
