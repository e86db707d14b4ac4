"""Radiation fits of this process, for models that are compiled again with other numbers."""

from __future__ import annotations

import warnings
from typing import Any

from swelltree.engine.arrays import Array
from swelltree.hydro.cache import content_key
from swelltree.hydro.radiation.fit import MissedFitWarning, RadiationModel, fit_radiation
from swelltree.system.errors import warn_user

MOST = 16
_RECENT: dict[str, tuple[RadiationModel, list[tuple[Warning | str, type[Warning]]]]] = {}


def recent_fit(omega: Array, A: Array, B: Array, A_inf: Array, **options: Any) -> RadiationModel:
    """As `fit_radiation`; what a fit warns of is said whenever it is used.

    A misfit of K is not: what is asked for is the error of the motion.
    """
    key = content_key(omega, A, B, A_inf, options)
    if key not in _RECENT:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            made = fit_radiation(omega, A, B, A_inf, **options)
        while len(_RECENT) >= MOST:
            _RECENT.pop(next(iter(_RECENT)))
        _RECENT[key] = (
            made,
            [
                (one.message, one.category)
                for one in heard
                if not issubclass(one.category, MissedFitWarning)
            ],
        )
    result, said = _RECENT[key]
    for message, category in said:
        warn_user(message, category)
    return result
