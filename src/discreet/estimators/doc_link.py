"""The link of an estimator's box in a notebook: discreet's own documentation, if it is available.

The project has no web address of its own, so no link works for everyone. ``DISCREET_DOCS`` gives
the site, as an address or a folder; in a clone it is what ``make docs`` has built. Without it the
box has no link: scikit-learn's default would lead to pages that do not contain these classes.
"""

from __future__ import annotations

import os
from pathlib import Path

_IN_A_CLONE = Path(__file__).resolve().parents[3] / "build" / "docs"


class LinkedToDocs:
    """For estimators: scikit-learn calls this when it draws the box."""

    def _get_doc_link(self) -> str:
        page = f"api/generated/discreet.{type(self).__name__}.html"
        place = os.environ.get("DISCREET_DOCS", "")
        if "://" in place:
            return f"{place.rstrip('/')}/{page}"
        found = (Path(place) if place else _IN_A_CLONE).expanduser().resolve() / page
        return found.as_uri() if found.is_file() else ""
