"""One BLAS thread inside a block: the blocks themselves run in parallel, and two layers of threads fight."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread_per_block() -> AbstractContextManager[Any]:
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit
