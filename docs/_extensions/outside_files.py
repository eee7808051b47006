"""Links from a page to Markdown outside docs (measured tables, clients) become downloads of that
file.
"""

from __future__ import annotations

import re
from typing import Any

_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+(?:benchmarks|clients|experiments)/[^)#\s]+\.md)\)")


def setup(app: Any) -> dict[str, bool]:
    """Rewrite each page as it is read."""
    app.connect("source-read", _rewrite)
    return {"parallel_read_safe": True}


def _rewrite(app: Any, page: str, source: list[str]) -> None:
    source[0] = _LINK.sub(lambda found: "{download}`" + found[1].replace("`", "") + f" <{found[2]}>`", source[0])
