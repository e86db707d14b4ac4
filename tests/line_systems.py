"""Small systems with dynamic lines, contacts and winches."""

import swelltree as sw
from validation.mooring.winches import hoist

SEA = sw.IrregularSea(sw.Jonswap(Hs=1.5, Tp=7.0), beta=0.7, components=12, seed=4, ramp=1.0)
ROPE = sw.LineType("rope", 0.1, 12.0, EA=2e7, BA=2e5, Cdn=1.2, Cdt=0.1, Can=1.0)


def box(**more):
    return sw.Body("box", mass=2e3, inertia=(1.5e3, 2e3, 2.5e3), position=(0.3, -0.2, -4.0), **more)


def dropped():
    """A box that falls on a hard, sloping way onto its corners."""
    body = box(displaced_volume=0.8)
    corners = [(x, y, -0.5) for x in (-1.0, 1.0) for y in (-0.8, 0.8)]
    return sw.System(
        "dropped",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        contacts=[sw.SeabedContact("feet", body, corners)],
        water=sw.Water(depth=5.2),
        seabed=sw.Seabed(friction=0.3),
    )


def moored(segments, seabed=None, axial="elastic", kind=ROPE):
    """A box on three lines in general directions, partly on the ground, in a current."""
    body = box()
    held = sw.LinearMooring(
        "water", body, {"Heave": 2e4, "Roll": 5e4, "Pitch": 5e4}, pretension={"Heave": 2e3 * 9.81}
    )
    ends = [((28.0, 3.0, -20.0), (1, 0.1, -0.3)), ((-17.0, 24.0, -20.0), (-0.5, 0.8, -0.4))]
    ends.append(((-13.0, -26.0, -20.0), (-0.4, -0.9, -0.2)))
    lines = [
        sw.Line(f"l{k}", foot, body.at(*end), 36.0 + k, kind, segments=segments, axial=axial)
        for k, (foot, end) in enumerate(ends)
    ]
    return sw.System(
        "moored",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        moorings=[held],
        lines=lines,
        water=sw.Water(depth=20.0),
        current=sw.UniformCurrent(0.4, beta=0.5),
        seabed=seabed or sw.Seabed(stiffness=2e5, damping=2e4, friction=0.4),
    )


def two_bodies():
    """Two hinged bodies with a damper, a junction, and lines between all of them."""
    a = sw.Body("a", mass=2e3, inertia=(1e3, 2e3, 2e3), position=(0.2, 0.1, -3.0))
    b = sw.Body("b", mass=1e3, inertia=(5e2, 9e2, 9e2), position=(2.4, 0.1, -3.0))
    hinge = sw.Hinge("hinge", a.at(1.1, 0, 0), b.at(-1.1, 0, 0), axis=(0.1, 1.0, 0.2))
    held = [
        sw.LinearMooring(
            f"w{x.name}",
            x,
            {"Heave": 4e4, "Roll": 8e4, "Pitch": 8e4},
            damping={"Heave": 3e3, "Pitch": 5e3},
            pretension={"Heave": x.mass * 9.81},
        )
        for x in (a, b)
    ]
    clump = sw.Junction("clump", (1.0, 6.0, -9.0), mass=400.0, volume=0.1, drag_area=0.3)
    lines = [
        sw.Line("one", (14.0, 9.0, -20.0), clump, 18.0, ROPE, segments=5),
        sw.Line("two", clump, a.at(0, 0.5, -0.2), 8.5, ROPE, segments=6),
        sw.Line("three", (-19.0, -9.0, -20.0), b.at(0.2, -0.5, 0), 33.0, ROPE, segments=6),
    ]
    return sw.System(
        "two bodies",
        [a, b],
        [sw.Free("free", sw.WORLD, a), hinge],
        [sw.JointForce("damper", "hinge", damping=3e3)],
        moorings=held,
        lines=lines,
        junctions=[clump],
        water=sw.Water(depth=20.0),
        seabed=sw.Seabed(friction=0.2),
    )


def pipe():
    """A pipe that bends, paid out from a reel with a weight at its end, in a current."""
    kind = sw.LineType("pipe", 0.1, 10.0, EA=1e7, EI=1e5, BA=1e4, Cdn=1.2)
    end = sw.Junction("end", (3.0, 0.4, -10.0), mass=50.0)
    line = sw.Line("pipe", (0, 0, -10.0), end, 3.0, kind, segments=6, clamp_A=(1, 0, 0))
    stage = sw.Stage("pay_out", "reel", length=0.8, speed=0.6, ramp=0.3)
    return sw.System(
        "pipe",
        lines=[line],
        junctions=[end],
        winches=[sw.Winch("reel", line)],
        operations=[sw.Operation("lay", [stage])],
        current=sw.UniformCurrent(0.6, beta=1.1),
    )


def lowered():
    """A load on a winch that pays out and stops."""
    stages = [sw.Stage("pay_out", "winch", length=6.0, speed=2.5, ramp=0.4)]
    return hoist(stages, tip=sw.Harmonic(0.4, 2.0))
