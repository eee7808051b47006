"""Standard errors, intervals and tests from noisy answers."""

from discreet.inference.linear import LinearResult, Moments

__all__ = ["LinearResult", "Moments"]
