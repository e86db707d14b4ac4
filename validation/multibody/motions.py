r"""Motions with a closed form: a pendulum, a heavy top, a body spinning freely.

Each checks a different part of the theory: large angles and time, gyroscopic moments and reactions,
and attitudes near 90 degrees of pitch, where Euler angles fail and quaternions do not.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ellipk

from swelltree.describe import WORLD, Ball, Body, Free, Hinge, System, Water
from swelltree.spatial.rotations import matrix_to_quat
from validation.multibody.systems import WEIGHTLESS
from validation.run import places, run
from validation.table import Check, case

STEPPING = "error of the time stepping at rtol 1e-12"


@case("joints", "pendulum_period", source="complete elliptic integral K")
def pendulum_period() -> list[Check]:
    r"""Physical pendulum let go at 150 degrees.

    .. math:: T = 4 \sqrt{I / (m g l)}\; K(\sin(\theta_0 / 2))
    """
    mass, inertia, arm, g, start = 3.0, 0.4, 0.8, 9.81, np.radians(150.0)
    body = Body("bob", mass, (0.1, inertia, 0.4), position=(0.0, 0.0, -arm))
    hinge = Hinge("hinge", WORLD, body.at(0.0, 0.0, arm), axis="y", position=start)
    system = System("pendulum", (body,), (hinge,), water=Water(g=g))
    omega = np.sqrt(mass * g * arm / (inertia + mass * arm**2))
    period = 4.0 / omega * float(ellipk(np.sin(start / 2.0) ** 2))
    times = period * np.array([0.0, 0.25, 9.25, 9.5])  # start, low, low, far side
    result = run(system, times=times)
    angle, rate = result["joint_coordinate"].values[:, 0], result["joint_rate"].values[:, 0]
    # how far from the lowest point, in time, after a quarter and after nine and a quarter
    late = np.abs(angle[1:3] / rate[1:3]) / period
    fastest = 2.0 * omega * np.sin(start / 2.0)
    return [
        Check("quarter period", float(late[0]), 1e-10, "T", STEPPING),
        Check("nine and a quarter", float(late[1] / 9.25), 1e-10, "T", STEPPING),
        Check("turning point, angle", float(abs(angle[3] + start)), 1e-9, "rad", STEPPING),
        Check("maximum speed", float(abs(rate[1]) / fastest - 1.0), 1e-10, "", STEPPING),
    ]


@case("joints", "heavy_top", source="steady precession, closed form")
def heavy_top(formulations: tuple[str, ...] = ("path_matrix", "lagrange")) -> list[Check]:
    r"""Symmetrical top on a ball joint in steady precession.

    .. math:: m g l = I_3 (\dot\psi + \dot\varphi \cos\theta) \dot\varphi
                      - I_t \dot\varphi^2 \cos\theta

    with :math:`I_t` about the fixed point. The tilt stays, the axis goes round at the rate
    :math:`\dot\varphi`, and the pivot carries weight and centripetal force.
    """
    mass, arm, axial, across, g = 2.0, 0.5, 0.08, 0.12, 9.81
    tilt, precession = np.radians(50.0), 1.4
    about_point = across + mass * arm**2
    spin = mass * g * arm / (axial * precession) + (
        about_point / axial - 1.0
    ) * precession * np.cos(tilt)
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    omega = precession * np.array([0.0, 0.0, 1.0]) + spin * axis
    top = Body(
        "top",
        mass,
        (across, across, axial),
        position=tuple(arm * axis),
        rotation_deg=(0.0, np.degrees(tilt), 0.0),
    )
    velocity = dict(zip(("Roll", "Pitch", "Yaw"), omega.tolist(), strict=True))
    ball = Ball("ball", WORLD, top.at(0.0, 0.0, -arm), velocity=velocity)
    system = System("heavy top", (top,), (ball,), water=Water(g=g))
    away, force = 0.0, 0.0
    for how in formulations:
        result = run(system, 10.0, 0.1, formulation=how)
        phase = precession * result["time"].values
        radial = np.stack([np.cos(phase), np.sin(phase), 0.0 * phase], axis=1)
        path = arm * (np.sin(tilt) * radial + np.cos(tilt) * np.array([0.0, 0.0, 1.0]))
        away = max(away, float(np.abs(places(result)[:, 0] - path).max()))
        needed = -mass * precession**2 * arm * np.sin(tilt) * radial
        needed = needed + np.array([0.0, 0.0, mass * g])
        ours = result["reaction"].values[:, 0, :3]
        force = max(force, float(np.abs(ours - needed).max() / (mass * g)))
    count = f", {len(formulations)} formulations"
    return [
        Check("centre of mass, 10 s" + count, away, 1e-9, "m", STEPPING),
        Check("force at the pivot" + count, force, 1e-9, "weights", STEPPING),
    ]


@case("joints", "pitch_90_degrees", source="free symmetrical body, closed form")
def pitch_90_degrees(formulations: tuple[str, ...] = ("path_matrix", "lagrange")) -> list[Check]:
    r"""Symmetrical body adrift that starts at 90 degrees of pitch and passes there again.

    .. math:: R(t) = R_{L}(|L| t / I_t)\, R_0\, R_{3}((1 - I_3/I_t)\, \omega_3 t)

    with L the angular momentum and 3 the axis of symmetry.
    """
    across, axial = 2.0, 0.7
    R0 = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # Ry(90 deg)
    body = Body("body", 1.5, (across, across, axial), rotation_deg=(0.0, 90.0, 0.0))
    worst, nearest = 0.0, 1.0
    for local in (np.array([0.0, 1.0, 0.0]), np.array([0.4, -0.9, 1.3])):
        omega = R0 @ local
        velocity = dict(zip(("Roll", "Pitch", "Yaw"), omega.tolist(), strict=True))
        joint = Free("free", WORLD, body, velocity=velocity)
        system = System("adrift", (body,), (joint,), water=WEIGHTLESS)
        momentum = R0 @ (np.array([across, across, axial]) * local)
        for how in formulations:
            # the plain pitching passes 90 degrees after every half turn, at a sample
            result = run(system, 4.0 * np.pi, np.pi / 8.0, formulation=how)
            exact = np.stack(
                [
                    _turn(momentum, np.linalg.norm(momentum) / across * t)
                    @ R0
                    @ _turn(np.array([0.0, 0.0, 1.0]), (1.0 - axial / across) * local[2] * t)
                    for t in result["time"].values
                ]
            )
            quat, ours = matrix_to_quat(exact), result["quaternion"].values[:, 0]
            gap = np.minimum(*(np.linalg.norm(ours - k * quat, axis=1) for k in (1.0, -1.0)))
            worst = max(worst, 2.0 * float(gap.max()))
            if local[2] == 0.0:
                sine = np.abs(result["rotation"].values[4:, 0, 2, 0])
                nearest = min(nearest, float(1.0 - sine.max()))
    count = f", {len(formulations)} formulations"
    return [
        Check("attitude, 12.6 s" + count, worst, 1e-9, "rad", STEPPING),
        Check("1 - |sin pitch| at the passage", nearest, 1e-12, "", "the run does pass there"),
    ]


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation by an angle about an axis (Rodrigues)."""
    x, y, z = axis / np.linalg.norm(axis)
    S = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * S + (1.0 - np.cos(angle)) * S @ S
