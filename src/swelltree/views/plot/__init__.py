"""Plots of results and data, by name: `plot.timeseries`, `plot.spectrum`, `plot.rao` ...

Every function returns a figure that a notebook shows by itself; `write_figure` keeps it as PNG,
SVG or PDF. Units come from the attributes of the data. Nothing here touches the plotting state of
the user.
"""

from swelltree.views.plot.frequency import hydro, rao, spectrum
from swelltree.views.plot.matrix import matrix
from swelltree.views.plot.operability import operability
from swelltree.views.plot.overview import energy, motion, sea
from swelltree.views.plot.ranges import line_ranges
from swelltree.views.plot.shapes import line_profile, mode, topology
from swelltree.views.plot.style import to_png, write_figure
from swelltree.views.plot.time import forces, phase, timeseries
from swelltree.views.plot.water import free_surface

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
