"""Results of fitted models: one class for every kind of model, and its summary."""

from discreet.results.results import Results
from discreet.results.shared import NamedMethods
from discreet.results.summary import Summary
from discreet.results.wald import WaldTest

__all__ = ["NamedMethods", "Results", "Summary", "WaldTest"]
