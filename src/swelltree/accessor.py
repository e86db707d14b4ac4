"""The accessor `swelltree` of xarray datasets: `import swelltree.accessor` makes it known.

On a result: `run.swelltree.statistics()`, `run.swelltree.plot.timeseries("position")`,
`run.swelltree.report("run.html")`, `run.swelltree.view()`; in a notebook `run.swelltree` shows a
summary. On hydrodynamic data: `data.swelltree` shows what they hold and what is wrong with them,
`data.swelltree.plot.hydro("float__Heave")` the coefficients.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from swelltree.describe.errors import SwelltreeError
from swelltree.report import plots as plot
from swelltree.report.html import table
from swelltree.report.report import write_report
from swelltree.report.serve import Served, view
from swelltree.report.tables import chips, findings
from swelltree.results.statistics import statistics

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Plots:
    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def __getattr__(self, name: str) -> Callable[..., Figure]:
        if name not in plot.__all__ or name in ("to_png", "write_figure", "topology"):
            raise AttributeError(f"there is no plot '{name}'")
        return functools.partial(getattr(plot, name), self._dataset)

    def __dir__(self) -> list[str]:
        return [name for name in plot.__all__ if name not in ("to_png", "write_figure", "topology")]


@xr.register_dataset_accessor("swelltree")
class Accessor:
    """Functions of swelltree for a result or hydrodynamic data."""

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    @property
    def plot(self) -> Plots:
        return Plots(self._dataset)

    def statistics(self, start: float | None = None) -> xr.Dataset:
        """Statistics of every channel in time (`swelltree.statistics`)."""
        return statistics(self._dataset, start)

    def report(self, path: str | Path, **more: Any) -> Path:
        """Write the page of this result (`swelltree.write_report`)."""
        return write_report(self._dataset, path, **more)

    def view(self, **more: Any) -> Served:
        """Show this result in the browser (`swelltree.view`)."""
        return view(self._dataset, **more)

    def _repr_html_(self) -> str:
        if "radiating_dof" in self._dataset.dims:
            return _hydro_html(self._dataset)
        name = str(self._dataset.attrs.get("study_name", "")) or "result"
        rows = [
            (name, f"{values.dims}", str(values.attrs.get("units", "")))
            for name, values in self._dataset.data_vars.items()
        ]
        return (
            f"<div><p>{_text(name)}</p><ul>{chips(self._dataset)}</ul>{findings(self._dataset)}"
            + table(["variable", "dimensions", "units"], [[str(x) for x in row] for row in rows])
            + "</div>"
        )


def _text(words: str) -> str:
    from html import escape

    return escape(words)


def _hydro_html(data: xr.Dataset) -> str:
    from swelltree.hydro.data.report import hydro_report
    from swelltree.hydro.data.write import hydro_outline

    try:
        findings = hydro_report(data)
    except SwelltreeError:
        findings = []
    return f"<pre>{_text(hydro_outline(data, findings))}</pre>"
