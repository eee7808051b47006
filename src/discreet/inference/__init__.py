"""Standard errors, intervals and tests from released quantities."""

from discreet.inference.glm import GlmResult
from discreet.inference.linear import LinearResult, Moments

__all__ = ["GlmResult", "LinearResult", "Moments"]
