"""An example device, and the location of the gallery data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swelltree.system import System
from swelltree.system.waters.seas import Sea

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.model.model import Model


def data_file(name: str) -> Path:
    """Location of the data of that name in the package."""
    return Path(str(resources.files("swelltree.gallery").joinpath("data", f"{name}.nc")))


def refined(system: System, sizes: Sequence[float]) -> System:
    """A system with other panels.

    Args:
        system: of bodies with hulls.
        sizes: of the panels of each body [m].
    """
    pairs = zip(system.bodies, sizes, strict=True)
    bodies = (body.replace(hull=body.hull.replace(panel_size=size)) for body, size in pairs)
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

    @property
    def hydro(self) -> xr.Dataset:
        """Hydrodynamic data, by a BEM run of this project."""
        from swelltree.hydro.readers.read import read_hydro

        return read_hydro(self.file, check=False).drop_vars(list(self.apart))

    @property
    def bare(self) -> System:
        """The description without hulls, for hydrodynamic data of another code."""
        bodies = tuple(body.replace(hull=None) for body in self.system.bodies)
        return self.system.replace(bodies=bodies)

    def model(self, **options: Any) -> Model:
        """The compiled model.

        Args:
            options: of `compile`, such as radiation or fit.
        """
        from swelltree.compiler.compile import compile

        return compile(self.system, self.hydro, **options)
