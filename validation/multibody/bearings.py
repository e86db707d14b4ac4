r"""A flap on more bearings than it needs, against the compound pendulum.

About an axis e that leans against the vertical only the gravity across it acts,
:math:`I \ddot\varphi = -m g_\perp d \sin\varphi`. Released at rest from :math:`\varphi_0`, with
:math:`\omega^2 = m g_\perp d / I` and :math:`k = \sin(\varphi_0/2)`,

.. math:: \sin(\varphi/2) = k \operatorname{sn}(K(k) - \omega t, k).
"""

from __future__ import annotations

import numpy as np

from swelltree.describe import WORLD, Ball, Body, Cylindrical, Hinge, System
from swelltree.describe.values import NamedValues
from swelltree.spatial.rotations import about_axis
from validation.run import run
from validation.table import Check, case

MASS, INERTIA, ARM = 40.0, np.array([6.0, 9.0, 4.0]), 0.8  # kg, kg m^2, m
AXIS = np.array([0.55, -0.62, 0.37])  # leans against everything
RELEASED = 2.0  # rad
APART = 0.7  # m from the middle to each bearing
GRAVITY = 9.81  # m/s^2
SECOND = {"hinge": Hinge, "cylindrical": Cylindrical, "ball": Ball}


def directions() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The axis, the way the flap hangs, and the way across both."""
    e = AXIS / np.linalg.norm(AXIS)
    hangs = e * e[2] - np.array([0.0, 0.0, 1.0])
    hangs = hangs / np.linalg.norm(hangs)
    return e, hangs, np.cross(e, hangs)


def flap(second: str) -> System:
    """The flap as it is released, on a hinge and a second bearing on the same axis."""
    e, hangs, _ = directions()
    center = ARM * about_axis(e, np.array(RELEASED)) @ hangs
    body = Body("flap", MASS, tuple(INERTIA), position=tuple(center))
    kind = SECOND[second]
    axis: NamedValues = {} if kind is Ball else {"axis": tuple(e)}
    places = [APART * e, -APART * e]
    first, other = ((WORLD.at(*p), body.at(*(p - center))) for p in places)
    joints = [Hinge("first", *first, tuple(e)), kind("second", *other, **axis)]
    return System("flap on two bearings", [body], joints)


def pendulum(t: np.ndarray) -> np.ndarray:
    """Angle of the compound pendulum from where it hangs [rad]."""
    from scipy.special import ellipj, ellipk

    e, hangs, _ = directions()
    across = GRAVITY * -hangs[2]
    # inertia is given in the axes of the flap, which are those of the world at its release
    inertia = float(e @ (INERTIA * e)) + MASS * ARM**2
    omega, k = np.sqrt(MASS * across * ARM / inertia), np.sin(0.5 * RELEASED)
    return 2.0 * np.arcsin(k * ellipj(ellipk(k**2) - omega * t, k**2)[0])


@case("joints", "two_bearings", source="compound pendulum, elliptic functions, 20 s")
def two_bearings() -> list[Check]:
    """Flap on a hinge and a second hinge, cylindrical or ball joint, its axis in no plane."""
    _, hangs, across = directions()
    checks = []
    for second in SECOND:
        for how in ("path_matrix", "partition", "lagrange"):
            result = run(flap(second), 20.0, 0.1, formulation=how, rtol=1e-10, atol=1e-12)
            place = result["position"].values[:, 0, :3]
            angle = np.arctan2(place @ across, place @ hangs)
            off = float(np.abs(angle - pendulum(result["time"].values)).max())
            reason = "rtol 1e-10 over about nine periods"
            checks.append(Check(f"hinge and {second}, {how}: angle", off, 1e-7, "rad", reason))
    return checks
