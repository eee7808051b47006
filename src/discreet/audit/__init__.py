"""Audits that anyone can run: does a model keep the promise that it prints?"""

from discreet.audit.replay import Replay, replay

__all__ = ["Replay", "replay"]
