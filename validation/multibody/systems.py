"""Systems that several mechanics cases share, each with a name and a reason to be here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from swelltree.describe import (
    WORLD,
    Ball,
    Body,
    Free,
    Hinge,
    JointForce,
    Slider,
    SpringDamper,
    System,
    Universal,
    Water,
)

if TYPE_CHECKING:
    from swelltree.describe.bodies.body import Point

WEIGHTLESS = Water(g=0.0)


def _link(name: str, x: float, y: float = 0.0, z: float = 0.0, **more: Any) -> Body:
    """A link with three different moments of inertia."""
    return Body(name, 2.0, (0.3, 0.5, 0.6), position=(x, y, z), **more)


def floating_tree() -> System:
    """Six bodies adrift without gravity: hinge, slider, universal, ball and skew hinge.

    Branched, with centres of mass beside the joints, tumbling and moving at every joint, so that
    nothing but the conservation laws keeps its energy and momentum.
    """
    hub = Body("hub", 6.0, (1.5, 2.0, 2.4, 0.1, -0.2, 0.15))
    arm, sled = _link("arm", 1.5, 0.0, 0.3), _link("sled", -1.4, 0.3)
    fork, tip = _link("fork", 0.0, 1.5, -0.2), _link("tip", 2.9, 0.2, 0.3)
    tail = _link("tail", 0.3, 2.8, -0.2, rotation_deg=(10.0, 20.0, 30.0))
    joints = (
        Free("drift", WORLD, hub, velocity=_speeds(0.3, -0.2, 0.1, 0.4, 0.3, -0.5)),
        Hinge("hinge", hub.at(0.8, 0.0, 0.1), arm.at(-0.7, 0.0, -0.2), axis="y", velocity=0.6),
        Slider("slider", hub.at(-0.7, 0.1, 0.0), sled.at(0.7, -0.2, 0.0), axis="z", velocity=-0.4),
        Universal(
            "universal",
            hub.at(0.0, 0.8, -0.1),
            fork.at(0.0, -0.7, 0.1),
            axes=("z", "x"),
            velocity={"Yaw": 0.4, "Roll": -0.3},
        ),
        Ball(
            "ball",
            arm.at(0.7, 0.1, 0.0),
            tip.at(-0.7, -0.1, 0.0),
            velocity={"Roll": 0.2, "Pitch": -0.4, "Yaw": 0.3},
        ),
        Hinge(
            "skew",
            fork.at(0.1, 0.7, 0.0),
            tail.at(0.0, -0.6, 0.1),
            axis=(0.3, -0.5, 0.9),
            velocity=0.5,
        ),
    )
    # keeps the sled near; a force between two bodies changes no momentum
    spring = JointForce("spring", "slider", stiffness=8.0)
    bodies = (hub, arm, sled, fork, tip, tail)
    return System("floating tree", bodies, joints, (spring,), water=WEIGHTLESS)


def _speeds(*values: float) -> dict[str, float]:
    """Initial velocities of a free joint."""
    return dict(zip(("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw"), values, strict=True))


def two_link(
    L1: float, Lc1: float, Lc2: float, m: Sequence[float], inertia: Sequence[float]
) -> System:
    """Two links on a fixed pivot (Paparella et al. 2015, eqs. 33-51), both along x at rest.

    Args:
        L1: from the pivot to the second hinge [m].
        Lc1: from the pivot to the first centre of mass [m].
        Lc2: from the second hinge to the second centre of mass [m].
        m: the two masses [kg].
        inertia: the two moments about y [kg m^2].
    """
    bodies = [
        Body(f"link{i + 1}", m[i], (inertia[i],) * 3, position=(x, 0.0, 0.0))
        for i, x in enumerate((Lc1, L1 + Lc2))
    ]
    joints = (
        Hinge("pivot", WORLD, bodies[0].at(-Lc1, 0.0, 0.0), axis="y"),
        Hinge("hinge", bodies[0].at(L1 - Lc1, 0.0, 0.0), bodies[1].at(-Lc2, 0.0, 0.0), axis="y"),
    )
    return System("two-link", tuple(bodies), joints, water=WEIGHTLESS)


def four_bar(speed: float = 0.0) -> System:
    """Planar four-bar linkage of hinges under gravity; in space its loop is redundant.

    Crank 0.5 m, coupler 1.1 m, rocker 0.9 m, ground 1.2 m. A spring and a damper on the rocker
    take part in the energy.
    """
    # crank upright, coupler to the rocker's end: (0, 0, 0.5) -> (x, 0, z)
    x, z = _meet((0.0, 0.5), 1.1, (1.2, 0.0), 0.9)
    crank = _bar("crank", 1.0, (0.0, 0.0), (0.0, 0.5))
    coupler = _bar("coupler", 2.0, (0.0, 0.5), (x, z))
    rocker = _bar("rocker", 1.5, (1.2, 0.0), (x, z))
    bodies = (crank, coupler, rocker)
    joints = (
        Hinge("a", WORLD, _at(crank, 0.0, 0.0), axis="y", velocity=speed),
        Hinge("b", _at(crank, 0.0, 0.5), _at(coupler, 0.0, 0.5), axis="y"),
        Hinge("c", _at(coupler, x, z), _at(rocker, x, z), axis="y"),
        Hinge("d", WORLD.at(1.2, 0.0, 0.0), _at(rocker, 1.2, 0.0), axis="y"),
    )
    forces = (
        SpringDamper("spring", WORLD.at(2.2, 0.0, 0.8), _at(rocker, x, z), 60.0, 0.3, 0.8),
        JointForce("bearing", "a", damping=0.02),
    )
    return System("four-bar", bodies, joints, forces)


def _bar(name: str, mass: float, a: tuple[float, float], b: tuple[float, float]) -> Body:
    """A slender bar between two points of the x-z plane, body axes along the world's."""
    dx, dz = b[0] - a[0], b[1] - a[1]
    k = mass / 12.0
    inertia = (k * dz**2, k * (dx**2 + dz**2), k * dx**2, 0.0, -k * dx * dz, 0.0)
    return Body(name, mass, inertia, position=(a[0] + dx / 2, 0.0, a[1] + dz / 2))


def _at(body: Body, x: float, z: float) -> Point:
    """Point of a body by its world coordinates in the x-z plane."""
    return body.at(x - body.position[0], 0.0, z - body.position[2])


def _meet(
    a: tuple[float, float], ra: float, b: tuple[float, float], rb: float
) -> tuple[float, float]:
    """Upper point at distance ra from a and rb from b."""
    dx, dz = b[0] - a[0], b[1] - a[1]
    d = (dx**2 + dz**2) ** 0.5
    along = (d**2 + ra**2 - rb**2) / (2 * d)
    up = (ra**2 - along**2) ** 0.5
    return a[0] + (along * dx - up * dz) / d, a[1] + (along * dz + up * dx) / d


def spatial_loop(speed: float = 0.5) -> System:
    """R-S-U-R loop on a floating base: hinge, ball, universal and hinge in space.

    One DOF in the loop, six of the base, which three springs and dampers moor.
    """
    base = Body("base", 20.0, (4.0, 5.0, 6.0))
    crank = Body("crank", 1.5, (0.05, 0.08, 0.09), position=(0.6, 0.0, 0.55))
    coupler = Body("coupler", 2.0, (0.10, 0.14, 0.16), position=(0.1, 0.35, 0.9))
    rocker = Body("rocker", 1.8, (0.09, 0.10, 0.06), position=(-0.5, 0.5, 0.6))
    joints = (
        Free("float", WORLD, base),
        Hinge("R1", base.at(0.6, 0.0, 0.3), crank.at(0.0, 0.0, -0.25), axis="y", velocity=speed),
        Ball("S", crank.at(0.0, 0.0, 0.25), coupler.at(0.5, -0.35, -0.1)),
        Universal("U", coupler.at(-0.5, 0.35, 0.0), rocker.at(0.1, 0.2, 0.3), axes=("x", "z")),
        Hinge("R2", base.at(-0.6, 0.3, 0.3), rocker.at(-0.1, -0.2, -0.3), axis=(0.5, 1.0, 0.2)),
    )
    forces = tuple(
        SpringDamper(f"mooring{i}", WORLD.at(*anchor), base.at(*point), 400.0, 5.0)
        for i, (anchor, point) in enumerate(
            (
                ((4.0, 0.0, 3.0), (1.0, 0.0, 0.0)),
                ((-3.0, 3.0, 3.0), (-0.5, 0.8, 0.0)),
                ((-3.0, -3.0, 3.0), (-0.5, -0.8, 0.0)),
            )
        )
    )
    bodies = (base, crank, coupler, rocker)
    return System("R-S-U-R loop", bodies, joints, forces)


def moored_chain() -> System:
    """Three hinged barges held by springs, swinging a little: an attenuator without water."""
    barges = tuple(
        Body(f"barge{i + 1}", 800.0, (100.0, 700.0, 750.0), position=(4.0 * i, 0.0, 0.0))
        for i in range(3)
    )
    joints = (
        Free("float", WORLD, barges[0], velocity={"Heave": 0.2, "Pitch": 0.05, "Yaw": 0.03}),
        Hinge("h1", barges[0].at(2.0, 0.0, 0.2), barges[1].at(-2.0, 0.0, 0.2), axis="y"),
        Hinge("h2", barges[1].at(2.0, 0.0, 0.2), barges[2].at(-2.0, 0.0, 0.2), axis="y"),
    )
    springs = []
    for barge in barges:
        for side, y in (("port", 1.0), ("starboard", -1.0)):
            x = barge.position[0]
            top = WORLD.at(x + 0.5, 3.0 * y, 6.0)
            springs.append(
                SpringDamper(
                    f"{barge.name}_{side}",
                    top,
                    barge.at(0.5, y, 0.0),
                    4000.0,
                    100.0,
                    rest_length=5.3,
                )
            )
    pto = JointForce("pto", "h1", damping=200.0, stiffness=3000.0)
    return System("moored chain", barges, joints, (*springs, pto))


def sliding_mass() -> System:
    """A buoy on springs with a mass that slides inside, sprung from its foot."""
    buoy = Body("buoy", 600.0, (300.0, 320.0, 150.0))
    mass = Body("mass", 200.0, (20.0, 20.0, 15.0), position=(0.0, 0.0, 0.5))
    joints = (
        Free("float", WORLD, buoy, velocity={"Surge": 0.3, "Roll": 0.1, "Yaw": 0.2}),
        Slider("slide", buoy, mass.at(0.0, 0.0, -0.5), axis="z"),
    )
    springs = tuple(
        SpringDamper(f"line{i}", WORLD.at(*top), buoy.at(*point), 5000.0, 50.0, rest_length=length)
        for i, (top, point, length) in enumerate(
            (
                ((3.0, 0.0, 5.0), (1.0, 0.0, 1.0), 3.8),
                ((-2.0, 2.0, 5.0), (-0.5, 0.8, 1.0), 3.8),
                ((-2.0, -2.0, 5.0), (-0.5, -0.8, 1.0), 3.8),
            )
        )
    )
    foot = SpringDamper("foot", buoy.at(0.0, 0.0, -2.0), mass, 4000.0, 30.0, rest_length=2.9)
    return System("sliding mass", (buoy, mass), joints, (*springs, foot))


# regular: small motions about a rest position, where neighbouring runs part slowly
REGULAR = {
    "moored_chain": moored_chain,
    "sliding_mass": sliding_mass,
    "four_bar": four_bar,
    "spatial_loop": spatial_loop,
}
