"""Where the question mark of an estimator's box in a notebook leads: to discreet's own documentation, if it is there.

The project has no address on the web of its own, so there is no link that would hold for everybody. ``DISCREET_DOCS``
names the site, as an address or a folder; in a clone it is what ``make docs`` has built. Where there is none, the box
has no link: scikit-learn's own would lead to pages that know nothing of these classes.
"""

from __future__ import annotations

import os
from pathlib import Path

_IN_A_CLONE = Path(__file__).resolve().parents[3] / "build" / "docs"


class LinkedToDocs:
    """For estimators: scikit-learn asks for the link when it draws the box."""

    def _get_doc_link(self) -> str:
        page = f"api/generated/discreet.{type(self).__name__}.html"
        place = os.environ.get("DISCREET_DOCS", "")
        if "://" in place:
            return f"{place.rstrip('/')}/{page}"
        found = (Path(place) if place else _IN_A_CLONE).expanduser().resolve() / page
        return found.as_uri() if found.is_file() else ""
