"""After a batch: did the motion of all cases stay where linear data hold?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.model.model import Model
from swelltree.studies.doctor.sea import beyond_linear
from swelltree.system.errors import warn_user
from swelltree.system.findings import Finding

if TYPE_CHECKING:
    import xarray as xr


def with_findings(model: Model, result: xr.Dataset) -> xr.Dataset:
    """The result with what the extremes of positions show, also as warnings.

    Amplitudes are those of the case that went farthest from its mean, for each DOF; without
    statistics of positions nothing is found.

    Args:
        model: that was run.
        result: of a batch.
    """
    hydro = model.hydro
    position = result.get("position")
    if hydro is None or position is None or "statistic" not in position.dims:
        return result
    least, mean, most = (position.sel(statistic=name) for name in ("min", "mean", "max"))
    up, down = ((x - y).max("case") for x, y in ((most, mean), (mean, least)))
    away = up.where(up > down, down)
    stiffness, found = np.asarray(hydro.stiffness), list[Finding]()
    for name in map(str, away["body"].values):
        k = model.layout.bodies.index(name)
        amplitude = away.sel(body=name).values
        if np.any(stiffness[6 * k : 6 * k + 6]) and np.isfinite(amplitude).all():
            reach = float(np.broadcast_to(np.asarray(hydro.reach), model.layout.n_bodies)[k])
            found += beyond_linear(model, name, amplitude, reach, "did")
    count = result.sizes["case"]
    for finding in found:
        text = f"at least one of {count} cases: {finding.sentence}"
        warn_user(text)
    return result.assign_attrs(findings="\n".join(str(finding) for finding in found))
