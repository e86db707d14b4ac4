"""Thirteen one-body cases against MSC ADAMS: every joint's motion and its reaction on ground.

The results were distributed with Project Chrono (data/testing/joints). One body of 1 kg under
g = 9.80665 m/s^2 hangs on the world by one joint or spring for five seconds. Reactions are those
on ground, about the joint's point on ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import System
from validation.multibody.adams_setups import SETUPS
from validation.run import ALL, places, run
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr

FORCE, TORQUE = ["Surge", "Sway", "Heave"], ["Roll", "Pitch", "Yaw"]
SOURCE = "MSC ADAMS, by Project Chrono"

POSITION = 1e-3  # m: error of an independent integration (8e-4 m at most) with a margin
ZERO = 1e-6  # N, m/s ...: the reference prints rounding errors up to 1e-14
REACTION = 1e-2  # of the largest reaction: the same, and Chrono's own limit


@dataclass(frozen=True)
class Reference:
    """Columns of a reference file by name."""

    columns: dict[str, np.ndarray]

    @property
    def time(self) -> np.ndarray:
        """Sample times [s]."""
        return self.columns["time_s"]

    def rows(self, *names: str) -> np.ndarray:
        """Columns as one array (time, k)."""
        return np.stack([self.columns[name] for name in names], axis=1)

    def vector(self, name: str) -> np.ndarray:
        """Columns name_x, name_y, name_z."""
        return self.rows(*(f"{name}_{axis}" for axis in "xyz"))


def read(path: Path) -> Reference:
    """A file of the reference data."""
    with path.open() as file:
        names = file.readline().strip().split(",")
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    return Reference(dict(zip(names, values.T, strict=True)))


def ground_reaction(result: xr.Dataset, ground: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force and torque of joint and springs on ground, about the joint's point on ground.

    Ours is the wrench on the follower at the follower's joint point: minus that, shifted.
    """
    reaction = result["reaction"].sel(joint="joint")
    force, torque = reaction.sel(dof=FORCE).values, reaction.sel(dof=TORQUE).values
    if "joint_force" in result:  # the torsion spring acts about y
        torque = torque + result["joint_force"].values * np.array([0.0, 1.0, 0.0])
    arm = result["joint_point"].sel(joint="joint").values - ground
    torque = torque + np.cross(arm, force)
    if "spring_tension" in result:  # pulls the body towards the ground point
        place = result["position"].values[:, 0, :3]
        length = np.maximum(np.linalg.norm(place, axis=1, keepdims=True), 1e-300)
        force = force - result["spring_tension"].values * place / length
    return -force, -torque


def motion_checks(result: xr.Dataset, reference: Reference) -> list[Check]:
    """Position, attitude, velocities and accelerations of the body."""
    place = result["position"].values[:, 0, :3]
    velocity, acceleration = result["velocity"].values[:, 0], result["acceleration"].values[:, 0]
    quat = result["quaternion"].values[:, 0]
    target = reference.rows("q0", "q1", "q2", "q3")
    # a quaternion and its negative are one attitude; twice their distance is the angle between
    apart = np.minimum(*(np.linalg.norm(quat - sign * target, axis=1) for sign in (1.0, -1.0)))
    margin = "error of an independent integration, with a margin"
    checks = [
        Check(
            "position", _worst(place, reference.rows("x", "y", "z")), POSITION, "m", reason=margin
        ),
        Check(
            "attitude", 2.0 * float(apart.max()), POSITION, "rad", "position limit on a 1 m lever"
        ),
    ]
    same = f"{REACTION:.0%} of the largest, as for reactions"
    for name, ours, columns, unit in (
        ("velocity", velocity[:, :3], ("vx", "vy", "vz"), "m/s"),
        ("angular velocity", velocity[:, 3:], ("wx", "wy", "wz"), "rad/s"),
        ("acceleration", acceleration[:, :3], ("ax", "ay", "az"), "m/s^2"),
        ("angular acceleration", acceleration[:, 3:], ("alx", "aly", "alz"), "rad/s^2"),
    ):
        checks.append(relative_check(name, ours, reference.rows(*columns), unit, same))
    return checks


def relative_check(
    name: str, ours: np.ndarray, target: np.ndarray, unit: str, reason: str
) -> Check:
    """Largest difference, allowed one part in a hundred of the largest component."""
    largest = float(np.abs(target).max())
    if largest < ZERO:
        return Check(name, _worst(ours, target), ZERO, unit, "zero except for rounding")
    return Check(name, _worst(ours, target), REACTION * largest, unit, reason)


def _worst(ours: np.ndarray, target: np.ndarray) -> float:
    return float(np.abs(ours - target).max())


def reaction_checks(
    name: str, result: xr.Dataset, reference: Reference, system: System
) -> list[Check]:
    """Force and torque on ground."""
    ground = np.array(system.joint("joint").base.position)
    force, torque = ground_reaction(result, ground)
    reason = f"{REACTION:.0%} of the largest: Chrono's own limit"
    label_force, label_torque = "force on ground", "torque on ground"
    if name == "LinActuator_Case01":
        # along the axis our reaction is the drive's, across it the slider's
        along = np.array([0.0, 0.0, 1.0])
        drive = relative_check(
            "drive on body", -force * along, reference.vector("RforceA"), "N", reason
        )
        across = force * (1.0 - along)
        return [
            drive,
            relative_check(label_force, across, reference.vector("RforceP"), "N", reason),
            relative_check(label_torque, torque, reference.vector("RtorqueP"), "N m", reason),
        ]
    suffix = "_Body1" if name == "RevSpherical_Case01" else ""
    checks = [
        relative_check(label_force, force, reference.vector("Rforce" + suffix), "N", reason),
        relative_check(label_torque, torque, reference.vector("Rtorque" + suffix), "N m", reason),
    ]
    if suffix:
        body = reference.vector("Rforce_Body2")
        checks.append(relative_check("force on body", -force, body, "N", reason))
    return checks


def compare(name: str, folder: Path, formulation: str = "path_matrix") -> list[Check]:
    """One case in one formulation.

    Args:
        name: of the case, as the file.
        folder: of the reference files.
        formulation: by name.
    """
    reference = read(folder / f"{name}.csv")
    system = SETUPS[name]()
    result = run(system, times=reference.time, formulation=formulation, rtol=1e-10, atol=1e-12)
    return motion_checks(result, reference) + reaction_checks(name, result, reference, system)


def _register(name: str) -> None:
    @case("joints", f"adams_{name}", source=SOURCE, needs="mbs_adams_joints")
    def check(folder: Path) -> list[Check]:
        return compare(name, folder)


for _name in SETUPS:
    _register(_name)


def formulation_checks(name: str, others: tuple[str, ...] = ALL[1:]) -> list[Check]:
    """The same case in other formulations: motion and reactions beside those of path_matrix.

    Args:
        name: of the case; no reference data are needed.
        others: formulations to compare.
    """
    system = SETUPS[name]()
    first, *rest = (
        run(system, 5.0, 0.05, formulation=how, rtol=1e-10, atol=1e-12)
        for how in ("path_matrix", *others)
    )
    apart = max(_worst(places(result), places(first)) for result in rest)
    reactions = [result["reaction"].values for result in (first, *rest)]
    largest = float(np.abs(reactions[0]).max())
    differ = max(_worst(reaction, reactions[0]) for reaction in reactions[1:])
    return [
        Check(f"{name}: position", apart, 1e-7, "m", "required for regular systems; rtol 1e-10"),
        Check(f"{name}: reaction", differ / largest, 1e-6, "", "of the largest; rtol 1e-10"),
    ]


@case("joints", "adams_formulations", source="five formulations of one case")
def adams_formulations() -> list[Check]:
    """Every formulation gives the same motion and reactions."""
    return formulation_checks("Universal_Case01")
