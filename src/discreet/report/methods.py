"""``model.report(path)``, for every fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from discreet.documents import write_whole
from discreet.results.methods import ResultMethods


class ReportMethods(ResultMethods):
    """For a class that has ``results_`` and can be saved."""

    def report(self, path: str | PathLike[str], *, command: str = "") -> None:
        """Write a report for a reviewer who reads no code: one HTML file, offline, without scripts,
        ready to print.

        It holds what ``save`` writes and nothing else.

        Parameters
        ----------
        path : str or path
            The HTML file to write.
        command : str, default ''
            What to show as the command that made it.
        """
        from discreet import __version__
        from discreet.report.model_page import model_page

        results = self._fitted_results()
        page = model_page(results, self._document(), self._spans(), command=command, version=__version__)
        write_whole(Path(path), page.encode())

    def _spans(self) -> Mapping[str, float]:
        """How wide each feature's declared range is."""
        return {}
