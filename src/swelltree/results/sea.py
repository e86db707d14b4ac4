"""The sea of a run, kept in its result: every plane wave, as JSON in an attribute."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from swelltree.waves.airy import Components
from swelltree.waves.stream_function import StreamWave, bound_components

ROWS = ("amplitude", "omega", "wavenumber", "beta", "phase")
UNITS = "amplitude m, omega rad/s, wavenumber 1/m, beta rad (towards), phase rad at the origin"


def sea_text(waves: Any) -> str:
    """The plane waves of a realised sea; empty for a field on a grid, which has none.

    A steep wave is given by the harmonics of its surface.
    """
    if isinstance(waves, StreamWave):
        waves = bound_components(waves)
    if not isinstance(waves, Components):
        return ""
    rows = {name: _digits(getattr(waves, name)) for name in ROWS}
    text = {"units": UNITS, "ramp": float(waves.ramp), **rows}
    return json.dumps(text, separators=(",", ":"))


def _digits(values: Any) -> list[float]:
    # nine digits place a crest within a millimetre after hours
    return [float(f"{x:.9g}") for x in np.asarray(values, float)]


def sea_of(dataset: Any) -> Components | None:
    """The plane waves kept in a result, or None."""
    text = dataset.attrs.get("wave_components", "")
    if not text:
        return None
    rows = json.loads(text)
    return Components(*(np.array(rows[name]) for name in ROWS), ramp=float(rows["ramp"]))
