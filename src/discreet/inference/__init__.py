"""Standard errors, intervals and tests from released quantities."""

from discreet.inference.linear import Moments, residual_fact

__all__ = ["Moments", "residual_fact"]
