"""Set-ups of the thirteen ADAMS cases: one body of 1 kg on one joint or spring.

The body frame is central and principal; `RX_...` are the initial attitudes of the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from swelltree.describe import (
    WORLD,
    Ball,
    Body,
    Cylindrical,
    Distance,
    Free,
    Hinge,
    JointForce,
    Polynomial,
    RevoluteSpherical,
    Slider,
    SpringDamper,
    System,
    Universal,
    Water,
)

if TYPE_CHECKING:
    from swelltree.describe.forces.elements import Force
    from swelltree.describe.joints.joint import Joint


G = 9.80665  # m/s^2
RX_DOWN, RX_UP = (-90.0, 0.0, 0.0), (90.0, 0.0, 0.0)  # Rx(-90 deg), Rx(90 deg)
ROD = (0.04, 0.1, 0.1)  # kg m^2, about the principal axes


def _system(body: Body, joint: Joint | None = None, *forces: Force) -> System:
    joints = () if joint is None else (joint,)
    return System("adams", (body,), joints, forces, water=Water(g=G))


def _rod(position: tuple, rotation_deg: tuple | None = None, inertia: tuple = ROD) -> Body:
    return Body("pendulum", 1.0, inertia, position=position, rotation_deg=rotation_deg)


def revolute() -> System:
    """Pendulum on a hinge about y."""
    body = _rod((2.0, 0.0, 0.0), RX_DOWN)
    return _system(body, Hinge("joint", WORLD, body.at(-2.0, 0.0, 0.0), axis="y"))


def prismatic_1() -> System:
    """Free fall along z."""
    body = _rod((2.0, 0.0, 0.0))
    return _system(body, Slider("joint", WORLD, body.at(-2.0, 0.0, 0.0), axis="z"))


def prismatic_3() -> System:
    """Rest: slides along y, across gravity."""
    body = _rod((3.0, 2.0, 3.0), RX_DOWN)
    return _system(
        body, Slider("joint", WORLD.at(1.0, 2.0, 3.0), body.at(-2.0, 0.0, 0.0), axis="y")
    )


def cylindrical_1() -> System:
    """Free fall along z without turning."""
    body = _rod((2.0, 0.0, 0.0))
    return _system(body, Cylindrical("joint", WORLD, body.at(-2.0, 0.0, 0.0), axis="z"))


def cylindrical_2() -> System:
    """Pendulum about y that could slide along y."""
    body = _rod((2.0, 0.0, 0.0), RX_DOWN)
    return _system(body, Cylindrical("joint", WORLD, body.at(-2.0, 0.0, 0.0), axis="y"))


def spherical() -> System:
    """Pendulum on a ball."""
    body = _rod((2.0, 0.0, 0.0))
    return _system(body, Ball("joint", WORLD, body.at(-2.0, 0.0, 0.0)))


def universal() -> System:
    """Pendulum on a cross: first axis x fixed in ground, second fixed in the body."""
    body = _rod((0.0, 2.0, 0.0), RX_UP, (0.1, 0.1, 0.04))
    joint = Universal(
        "joint", WORLD, body.at(0.0, 0.0, 2.0), axes=("x", "y"), orientation_deg=RX_UP
    )
    return _system(body, joint)


def distance() -> System:
    """Point pendulum on a massless rod."""
    body = _rod((0.0, 2.0, 0.0))
    return _system(body, Distance("joint", WORLD, body))


def revolute_spherical() -> System:
    """Body on a massless link: hinge about z on ground, ball on the body."""
    body = _rod((2.0, 2.0, 0.0), None, (0.1, 0.04, 0.1))
    return _system(body, RevoluteSpherical("joint", WORLD, body.at(0.0, -2.0, 0.0), axis="z"))


def actuator() -> System:
    """Slider along z driven at 1 m/s."""
    body = _rod((0.0, 0.0, 0.0), None, (1.0, 1.0, 1.0))
    return _system(body, Slider("joint", WORLD, body, axis="z", motion=Polynomial((0.0, 1.0))))


def torsion_spring() -> System:
    """Hinge with a torsion spring and damper."""
    swing = revolute()
    spring = JointForce("spring", "joint", stiffness=200.0, damping=10.0)
    return swing.replace(forces=(spring,))


def spring_1() -> System:
    """Body on a spring that starts with no length."""
    body = _rod((0.0, 0.0, 0.0))
    spring = SpringDamper("spring", WORLD, body, stiffness=10.0, damping=0.5, rest_length=0.0)
    return _system(body, Free("joint", WORLD, body), spring)


def spring_2() -> System:
    """Body swinging on a spring."""
    body = _rod((0.0, 2.0, 0.0))
    spring = SpringDamper("spring", WORLD, body, stiffness=100.0, damping=5.0, rest_length=2.0)
    return _system(body, Free("joint", WORLD, body), spring)


SETUPS: dict[str, Callable[[], System]] = {
    "Revolute_Case01": revolute,
    "Prismatic_Case01": prismatic_1,
    "Prismatic_Case03": prismatic_3,
    "Cylindrical_Case01": cylindrical_1,
    "Cylindrical_Case02": cylindrical_2,
    "Spherical_Case01": spherical,
    "Universal_Case01": universal,
    "Distance_Case01": distance,
    "RevSpherical_Case01": revolute_spherical,
    "LinActuator_Case01": actuator,
    "RotSpring_Case01": torsion_spring,
    "TranSpring_Case01": spring_1,
    "TranSpring_Case02": spring_2,
}
