"""Laws of conservation of a tree adrift, and the order of the classical Runge-Kutta method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import System
from validation.multibody.systems import floating_tree
from validation.run import places, run
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr


def momenta(system: System, result: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum of every body about the origin, (time, body, 3) each.

    Reference points must be the centres of mass.
    """
    mass = np.array([body.mass for body in system.bodies])
    inertia = np.array([body.inertia_matrix for body in system.bodies])
    R, v = result["rotation"].values, result["velocity"].values
    linear = mass[:, None] * v[:, :, :3]
    spin = np.einsum("tbij,bjk,tblk,tbl->tbi", R, inertia, R, v[:, :, 3:])
    return linear, np.cross(places(result), linear) + spin


@case("joints", "floating_tree", source="conservation laws")
def conservation(formulations: tuple[str, ...] = ("path_matrix", "lagrange")) -> list[Check]:
    """Six bodies adrift for 20 s: hinge, slider, universal, ball, skew hinge, free root."""
    system = floating_tree()
    checks = []
    for how in formulations:
        result = run(system, 20.0, 0.1, formulation=how, rtol=1e-12, atol=1e-14)
        kinetic = result["kinetic_energy"].sum("body").values
        change = np.abs(result["energy_residual"].values).max() / kinetic.min()
        linear, angular = momenta(system, result)
        checks += [
            Check(f"{how}: energy", float(change), 1e-9, "K", "rtol 1e-12 over 2000 steps"),
            Check(f"{how}: linear momentum", _change(linear), 1e-10, "Σ m|v|", "the same"),
            Check(f"{how}: angular momentum", _change(angular), 1e-9, "Σ |H|", "the same"),
        ]
    return checks


def _change(each: np.ndarray) -> float:
    """Largest change of the sum over bodies, in parts of the smallest sum of sizes."""
    total = each.sum(1)
    size = np.linalg.norm(each, axis=2).sum(1).min()
    return float(np.linalg.norm(total - total[0], axis=1).max() / size)


@case("joints", "rk4_order", source="order of the classical Runge-Kutta method")
def rk4_order(formulation: str = "path_matrix") -> list[Check]:
    """Halving the step divides the error by sixteen."""
    model = compile_system(floating_tree())
    exact = places(run(model, 2.0, 2.0, formulation=formulation, rtol=1e-13, atol=1e-14))[-1]
    steps = np.array([0.04, 0.02, 0.01])
    errors = np.array(
        [
            np.abs(
                places(run(model, 2.0, 2.0, formulation=formulation, solver="rk4", step=h))[-1]
                - exact
            ).max()
            for h in steps
        ]
    )
    order = np.log2(errors[:-1] / errors[1:])
    reason = "next term of the error, one step size away"
    return [
        Check("order, step 0.04 to 0.02 s", float(order[0]), 0.2, "", reason, reference=4.0),
        Check("order, step 0.02 to 0.01 s", float(order[1]), 0.1, "", reason, reference=4.0),
    ]
