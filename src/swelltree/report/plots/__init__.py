"""Plots of results and data, by name: `plot.timeseries`, `plot.spectrum`, `plot.rao` ...

Every function returns a figure that a notebook shows by itself; `write_figure` keeps it as PNG, SVG
or PDF. Units come from the attributes of the data. The global state of matplotlib is not changed.
"""

from swelltree.report.plots.frequency import hydro, matrix, rao, spectrum
from swelltree.report.plots.overview import energy, line_ranges, motion, operability, sea
from swelltree.report.plots.shapes import free_surface, line_profile, mode, topology
from swelltree.report.plots.time import forces, phase, timeseries, to_png, write_figure

__all__ = [
    "energy",
    "forces",
    "free_surface",
    "hydro",
    "line_profile",
    "line_ranges",
    "matrix",
    "mode",
    "motion",
    "operability",
    "phase",
    "rao",
    "sea",
    "spectrum",
    "timeseries",
    "to_png",
    "topology",
    "write_figure",
]
