"""A moored chain of six links, released from a bent shape in calm water.

The links are lighter than the water they displace and are held down by eight mooring springs.
Hinges, universal joints and a slider with springs and dampers join them. Weight, constant
buoyancy and the springs act; there are no waves.
"""

from __future__ import annotations

from typing import Any

import swelltree as sw

LENGTH, WIDTH, HEIGHT = 4.0, 1.2, 0.8  # of a link [m]
GAP = 0.6  # between links [m]
DEPTH = 5.0  # of the chain below the surface [m]
BOTTOM = 18.0  # depth of the anchors [m]
REACH = 10.0  # of a mooring spring to the side [m]
MASS = 3600.0  # of a link, which displaces 3936 kg of water


def link(name: str, x: float) -> sw.Body:
    """A box-shaped link, a little lighter than water, floating upright."""
    squares = (LENGTH**2, WIDTH**2, HEIGHT**2)
    inertia = tuple(MASS * (sum(squares) - side) / 12.0 for side in squares)
    return sw.Body(
        name,
        mass=MASS,
        inertia=inertia,
        position=(x, 0.0, -DEPTH),
        displaced_volume=LENGTH * WIDTH * HEIGHT,
        center_of_buoyancy=(0.0, 0.0, 0.12),
    )


def chain() -> sw.System:
    """Six links, five joints between them, eight mooring springs."""
    pitch = LENGTH + GAP
    links = [link(f"link{i + 1}", (i - 2.5) * pitch) for i in range(6)]
    front, back = (0.5 * pitch, 0.0, 0.0), (-0.5 * pitch, 0.0, 0.0)
    a, b, c, d, e, f = links
    joints = [
        sw.Free("float", sw.WORLD.at(*a.position), a, position={"Sway": 1.5, "Yaw": 0.45}),
        sw.Hinge("knee1", a.at(*front), b.at(*back), axis="z", position=-0.55),
        sw.Universal(
            "cross1",
            b.at(*front),
            c.at(*back),
            axes=("z", "y"),
            position={"Yaw": -0.45, "Pitch": 0.15},
        ),
        sw.Slider("telescope", c.at(*front), d.at(*back), axis="x", position=0.8),
        sw.Universal(
            "cross2",
            d.at(*front),
            e.at(*back),
            axes=("z", "y"),
            position={"Yaw": 0.5, "Pitch": -0.15},
        ),
        sw.Hinge("knee2", e.at(*front), f.at(*back), axis="z", position=0.5),
    ]
    stiffness, damping = 6.0e3, 3.0e3  # of the flexible joints [N m/rad], [N m s/rad]
    forces: list[Any] = [
        sw.JointForce("bend1", "knee1", stiffness=stiffness, damping=damping),
        sw.JointForce("bend2", "cross1", "Yaw", stiffness=stiffness, damping=damping),
        sw.JointForce("sag2", "cross1", "Pitch", stiffness=stiffness, damping=damping),
        sw.JointForce("buffer", "telescope", stiffness=2.5e4, damping=4.0e3),
        sw.JointForce("bend3", "cross2", "Yaw", stiffness=stiffness, damping=damping),
        sw.JointForce("sag3", "cross2", "Pitch", stiffness=stiffness, damping=damping),
        sw.JointForce("bend4", "knee2", stiffness=stiffness, damping=damping),
    ]
    moored = ((a, -1), (c, 0), (d, 0), (f, 1))
    forces += [mooring(body, side, out) for body, out in moored for side in (-1, 1)]
    return sw.System(
        "moored chain",
        bodies=tuple(links),
        joints=tuple(joints),
        forces=tuple(forces),
        sensors=(sw.DistanceSensor("span", a.at(*back), f.at(*front)),),
        water=sw.Water(depth=BOTTOM),
    )


def mooring(body: sw.Body, side: int, out: int) -> sw.SpringDamper:
    """A tight spring from a link down to the bottom, to one side and outwards at the ends."""
    x, _, z = body.position
    fairlead = (0.4 * LENGTH * out, 0.5 * side * WIDTH, -0.5 * HEIGHT)
    anchor = (x + 0.4 * LENGTH * out + 8.0 * out, side * REACH, -BOTTOM)
    run = (anchor[0] - x - fairlead[0], anchor[1] - fairlead[1], anchor[2] - z - fairlead[2])
    length = sum(r * r for r in run) ** 0.5
    return sw.SpringDamper(
        f"{body.name}_{'port' if side > 0 else 'starboard'}",
        sw.WORLD.at(*anchor),
        body.at(*fairlead),
        stiffness=2.5e3,
        damping=300.0,
        rest_length=round(length - 1.4, 3),
        tension_only=True,
    )


def main(duration: float = 30.0) -> None:
    """Simulate and look at the energy and the springs."""
    run = sw.simulate(sw.compile(chain()), duration=duration, output_step=0.05)
    span, tension = run["distance"].sel(pair="span"), run["spring_tension"]
    print(f"span {float(span.min()):.2f} to {float(span.max()):.2f} m")
    print(f"tension up to {float(tension.max()) / 1e3:.2f} kN")
    passed = float(abs(run["work"]).max())
    print(f"energy residual {float(abs(run['energy_residual']).max()) / passed:.1e} of the work")
    # the links stay submerged, where their buoyancy is constant
    assert float(run["position"].sel(dof="Heave").max()) < -0.6
    assert float(abs(run["energy_residual"]).max()) < 1e-4 * passed


if __name__ == "__main__":
    main()
