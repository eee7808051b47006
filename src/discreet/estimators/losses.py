"""A user's loss as an estimator's family and link."""

from __future__ import annotations

from typing import Any

from discreet.glm import Family, Link, Loss, LossFamily, link


def loss_family(loss: Any, family: Any, linked: Any) -> tuple[Family, Link]:
    """The family that represents the loss, and its link; refused together
    with another family or link.
    """
    if not isinstance(loss, Loss):
        raise ValueError(f"loss must be a discreet.Loss, such as discreet.huber(1.0), got {type(loss).__name__}")
    if family not in ("gaussian", None) or linked is not None:
        raise ValueError("loss= replaces family= and link=: pass it alone; a Loss has its own link")
    return LossFamily(loss), link(loss.link)
