"""Ten spheres in a row, hinged to one another: a system of some size for benchmarks.

Each has the data of the sphere alone; waves reach them one after the other.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import xarray as xr

import swelltree as sw

COUNT, APART = 10, 14.0  # bodies, and metres between them


def data() -> xr.Dataset:
    """Data of all, without interaction."""
    one = sw.gallery.sphere().hydro
    names = [f"sphere{k}" for k in range(COUNT)]
    dofs = [f"{name}__{dof}" for name in names for dof in sw_dofs(one)]
    eye = np.eye(COUNT)
    k = np.where(np.isfinite(one.omega), one.omega, 0.0) ** 2 / float(one.g)
    excitation = np.concatenate(
        [
            one.excitation_force.values * np.exp(1j * k * APART * i)[:, None, None]
            for i in range(COUNT)
        ],
        axis=2,
    )
    blocks = {
        name: (
            ("omega", "influenced_dof", "radiating_dof"),
            np.stack([np.kron(eye, x) for x in one[name].values]),
        )
        for name in ("added_mass", "radiation_damping")
    }
    matrices = {
        name: (("influenced_dof", "radiating_dof"), np.kron(eye, one[name].values))
        for name in ("hydrostatic_stiffness", "inertia_matrix")
    }
    shift = np.stack([np.arange(COUNT) * APART, np.zeros(COUNT), np.zeros(COUNT)], axis=1)
    points = {
        name: (("body", "xyz"), one[name].values + shift)
        for name in ("center_of_mass", "rotation_center", "center_of_buoyancy")
    }
    volume = {"displaced_volume": ("body", np.repeat(one.displaced_volume.values, COUNT))}
    rest = {name: one[name] for name in ("rho", "g", "water_depth")}
    return xr.Dataset(
        blocks | matrices | points | volume | rest
        | {"excitation_force": (("omega", "wave_direction", "influenced_dof"), excitation)},
        coords={
            "omega": one.omega, "influenced_dof": dofs, "radiating_dof": dofs,
            "wave_direction": one.wave_direction, "body": names, "xyz": one.xyz,
        },
        attrs=one.attrs,
    )  # fmt: skip


def sw_dofs(one: xr.Dataset) -> list[str]:
    """Names of the six DOFs."""
    return [str(name).split("__")[1] for name in one.influenced_dof.values]


def ten_bodies() -> tuple[Any, Any]:
    """Model and sea."""
    ready = sw.gallery.sphere()
    single = ready.system.bodies[0]
    bodies = [
        sw.Body(f"sphere{k}", single.mass, (2.6e6, 2.6e6, 2.6e6), position=(k * APART, 0.0, -2.0))
        for k in range(COUNT)
    ]
    joints: list[Any] = [sw.Planar("float", sw.WORLD, bodies[0])]
    joints += [
        sw.Hinge(f"hinge{k}", a.at(0.5 * APART, 0, 0), b.at(-0.5 * APART, 0, 0), axis="y")
        for k, (a, b) in enumerate(pairwise(bodies))
    ]
    forces = [sw.JointForce(f"damper{k}", f"hinge{k}", damping=2e6) for k in range(COUNT - 1)]
    mooring = sw.LinearMooring("mooring", bodies[0], stiffness={"Surge": 5e4})
    water = ready.system.water
    system = sw.System("ten", bodies, joints, forces, moorings=[mooring], water=water)
    sea = sw.IrregularSea(sw.Jonswap(Hs=1.0, Tp=8.0), omega_max=2.5, ramp=20.0)
    return sw.compile(system, data()), sea
