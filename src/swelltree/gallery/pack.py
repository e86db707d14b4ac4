"""Hydrodynamic data as small files of the package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.describe import System
from swelltree.describe.bodies.hulls import Union
from swelltree.describe.environment.seas import Sea
from swelltree.hydro.data.report import RESIDUALS, contradictions

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.model.model import Model

STORED_VARIABLES = (
    "added_mass",
    "radiation_damping",
    "excitation_force",
    "haskind_residual",
    "far_field_residual",
    "hydrostatic_stiffness",
    "inertia_matrix",
    "center_of_mass",
    "rotation_center",
    "center_of_buoyancy",
    "displaced_volume",
    "rho",
    "g",
    "water_depth",
)


def sound(data: xr.Dataset) -> xr.Dataset:
    """Frequencies below the first at which the data violate the checks too much."""
    worst = np.any([contradictions(data, name)[1].any(axis=1) for name in RESIDUALS], axis=0)
    omega = data["omega"].values
    end = omega[worst].min(initial=np.inf)
    return data.isel(omega=(omega < end) | np.isinf(omega))


def write(data: xr.Dataset, path: Path) -> None:
    """Write compactly what a run needs: single precision, compressed, complex as (re, im)."""
    import xarray as xr

    data = data[list(STORED_VARIABLES)]
    for name in RESIDUALS:
        data[name] = data[name].round(4).astype("float32")
    force = data["excitation_force"]
    parts = xr.concat([force.real, force.imag], dim="complex").astype("float32")
    data = data.assign(excitation_force=parts.assign_attrs(force.attrs))
    data = data.assign_coords(complex=["re", "im"])
    for name in ("added_mass", "radiation_damping"):
        # what symmetry makes zero is zero, and takes no room
        values = data[name]
        size = np.sqrt(np.abs(values.values).max(axis=0).diagonal())
        small = np.abs(values.values) < 1e-7 * size[:, None] * size[None, :]
        data[name] = values.copy(data=np.where(small, 0.0, values.values)).astype("float32")
    packed = {"zlib": True, "complevel": 9, "shuffle": True}
    names = ("added_mass", "radiation_damping", "excitation_force", *RESIDUALS)
    encoding = dict.fromkeys(names, packed)
    data.to_netcdf(path, engine="h5netcdf", encoding=encoding)


# --- An example device, and the location of the gallery data


def data_file(name: str) -> Path:
    return Path(str(resources.files("swelltree.gallery").joinpath("data", f"{name}.nc")))


def refined(system: System, sizes: Sequence[float | Sequence[float]]) -> System:
    """A system with other panels.

    Args:
        system: of bodies with hulls.
        sizes: of the panels of each body, or of each part of its hull [m].
    """
    bodies = []
    for body, size in zip(system.bodies, sizes, strict=True):
        each = np.broadcast_to(size, len(body.hull.parts)).tolist()
        parts = [p.replace(panel_size=s) for p, s in zip(body.hull.parts, each, strict=True)]
        hull = parts[0] if len(parts) == 1 else Union(tuple(parts))
        bodies.append(body.replace(hull=hull))
    return system.replace(bodies=tuple(bodies))


@dataclass(frozen=True)
class Ready:
    """A described system with its data.

    Args:
        system: the description.
        file: of its hydrodynamic data, read by `hydro`.
        sea: one that suits it.
        source: where its dimensions come from.
        apart: variables of the file that do not belong to this description.
    """

    system: System
    file: Path
    sea: Sea
    source: str
    apart: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<gallery device {self.system!r}, data {self.file.name}>"

    @property
    def hydro(self) -> xr.Dataset:
        """Hydrodynamic data from a BEM run of this project."""
        from swelltree.hydro.readers.read import read_hydro

        return read_hydro(self.file, check=False).drop_vars(list(self.apart))

    @property
    def bare(self) -> System:
        """The description without hulls, for hydrodynamic data of other codes."""
        bodies = tuple(body.replace(hull=None) for body in self.system.bodies)
        return self.system.replace(bodies=bodies)

    def model(self, **options: Any) -> Model:
        """The compiled model.

        Args:
            options: of `compile`, such as radiation or fit.
        """
        from swelltree.compiler.compile import compile

        return compile(self.system, self.hydro, **options)
