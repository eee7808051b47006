"""The family and link that an estimator's parameters name; a loss takes the place of both."""

from __future__ import annotations

from typing import Any

from discreet.glm import Family, Link, Loss, LossFamily
from discreet.glm import family as family_of
from discreet.glm import link as link_of


def chosen_family(family: Any, link: Any, loss: Any) -> tuple[Family, Link]:
    """The family and its link; those that represent the loss, which is refused together with
    another family or link.
    """
    if loss is None:
        chosen = family_of(family)
        return chosen, chosen.default_link if link is None else link_of(link)
    if not isinstance(loss, Loss):
        raise ValueError(f"loss must be a discreet.Loss, such as discreet.huber(1.0), got {type(loss).__name__}")
    if family not in ("gaussian", None) or link is not None:
        raise ValueError("loss= replaces family= and link=: pass it alone; a Loss has its own link")
    return LossFamily(loss), link_of(loss.link)
