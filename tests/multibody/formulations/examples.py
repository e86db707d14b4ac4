"""Small systems that the tests of the formulations share."""

import numpy as np

import swelltree as sw

BAR = {"mass": 2.0, "inertia": (0.1, 0.4, 0.5)}


def bar(name, x=0.0, y=0.0, z=0.0, **more):
    """A body of two kilograms."""
    return sw.Body(name, position=(x, y, z), **(BAR | more))


def floating_tree(velocity=True):
    """A free root with hinge, slider, universal and ball on three branches; no gravity."""
    bodies = [
        bar("root", reference_point=(0.1, -0.2, 0.05)),
        bar("arm", 1.0, com=(0.05, 0.1, 0.0)),
        bar("ram", 2.0, 0.0, 0.3),
        bar("fin", 0.0, 1.0),
        bar("bob", 0.0, 0.0, -1.0),
    ]
    rate = 1.0 if velocity else 0.0
    joints = [
        sw.Free("float", sw.WORLD, "root", velocity={"Surge": 0.3 * rate, "Yaw": 0.7 * rate}),
        sw.Hinge(
            "elbow", bodies[0].at(0.5), bodies[1].at(-0.5), (1.0, 2.0, 0.5), velocity=0.9 * rate
        ),
        # described with its base on the leaf side
        sw.Slider("piston", bodies[2].at(-0.5, 0, -0.3), bodies[1].at(0.5), velocity=-0.4 * rate),
        sw.Universal(
            "knuckle", bodies[0].at(0, 0.5), bodies[3].at(0, -0.5), ("z", "x"),
            position={"Yaw": 0.3, "Roll": -0.4}, velocity={"Yaw": 0.5 * rate, "Roll": -0.8 * rate},
        ),
        sw.Ball(
            "shoulder", bodies[0].at(0, 0, -0.5), bodies[4].at(0, 0, 0.5),
            velocity={"Pitch": 0.6 * rate, "Roll": 0.2 * rate},
        ),
    ]  # fmt: skip
    return sw.System("floating tree", bodies, joints, water=sw.Water(g=0.0))


def four_bar(**last):
    """A planar four-bar of hinges about y: three of its equations are redundant."""
    crank, coupler, rocker = (
        bar("crank", 0.0, 0.0, 0.5),
        bar("coupler", 1.0, 0.0, 1.25),
        bar("rocker", 2.0, 0.0, 0.75),
    )
    joints = [
        sw.Hinge("a", sw.WORLD.at(0, 0, 0), crank.at(0, 0, -0.5), velocity=1.0),
        sw.Hinge("b", crank.at(0, 0, 0.5), coupler.at(-1.0, 0, -0.25)),
        sw.Hinge("c", coupler.at(1.0, 0, 0.25), rocker.at(0, 0, 0.75)),
        sw.Hinge("d", sw.WORLD.at(2, 0, 0), rocker.at(0, 0, -0.75), **last),
    ]
    return sw.System("four bar", [crank, coupler, rocker], joints)


def spatial_loop():
    """A loop hinge-ball-universal-hinge between the world and three bodies, one freedom."""
    rng = np.random.default_rng(3)
    places = [(0.0, 0.0, 0.6), (0.9, 0.3, 1.2), (1.8, 0.2, 0.5)]
    bodies = [bar(name, *p) for name, p in zip("abc", places, strict=True)]
    ends = [(0.0, 0.0, 0.0), (0.3, 0.1, 1.1), (1.6, 0.4, 1.0), (2.0, 0.0, 0.0)]

    def local(i, point):
        return bodies[i].at(*(np.array(point) - places[i]))

    joints = [
        sw.Hinge("r1", sw.WORLD.at(*ends[0]), local(0, ends[0]), (0.2, 1.0, 0.1), velocity=0.8),
        sw.Ball("s", local(0, ends[1]), local(1, ends[1])),
        sw.Universal("u", local(1, ends[2]), local(2, ends[2]), orientation_deg=(20, 10, 40)),
        sw.Hinge("r2", sw.WORLD.at(*ends[3]), local(2, ends[3]), (-0.1, 1.0, 0.3)),
    ]
    A = rng.normal(size=(18, 18))
    return sw.System("spatial loop", bodies, joints), 0.2 * A @ A.T / 18 + 0.1 * np.eye(18)


def turning_pair():
    """A wheel on two hinges of one axis through its centre, the second one cut; spins freely."""
    wheel = bar("wheel")
    joints = [
        sw.Hinge("left", sw.WORLD.at(0, -0.2, 0), wheel.at(0, -0.2, 0), velocity=9.0),
        sw.Hinge("right", sw.WORLD.at(0, 0.2, 0), wheel.at(0, 0.2, 0), cut=True),
    ]
    return sw.System("wheel", [wheel], joints)


def chain(n):
    """n bodies on hinges about y and x in turn, hanging askew and swinging."""
    links = [bar(f"link{i}", 0.1 + 0.2 * i) for i in range(n)]
    joints = [sw.Hinge("h0", sw.WORLD, links[0].at(-0.1), "y", position=0.3, velocity=0.2)]
    for i in range(1, n):
        joints.append(
            sw.Hinge(
                f"h{i}",
                links[i - 1].at(0.1),
                links[i].at(-0.1),
                "yx"[i % 2],
                position=0.05 * np.sin(i),
                velocity=0.1 * np.cos(i),
            )
        )
    return sw.System("chain", links, joints)
