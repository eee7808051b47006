"""A user's loss as an estimator's family and link."""

from __future__ import annotations

from typing import Any

from discreet.glm import Family, Link, Loss, LossFamily, link


def loss_family(loss: Any, family: Any, linked: Any) -> tuple[Family, Link]:
    """The family that the loss stands for, and its link; refused beside a family or link of another model."""
    if not isinstance(loss, Loss):
        raise ValueError(f"loss must be a discreet.Loss, such as discreet.huber(1.0), got {type(loss).__name__}")
    if family not in ("gaussian", None) or linked is not None:
        raise ValueError("loss= takes the place of family= and link=: pass it alone; a Loss has a link of its own")
    return LossFamily(loss), link(loss.link)
