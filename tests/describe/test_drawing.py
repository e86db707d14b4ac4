"""Shapes of bodies in pictures."""

import numpy as np

import swelltree as sw
from swelltree.describe.drawing import drawing, unpack_shape


def test_a_body_that_carries_a_winch_is_drawn_as_a_crane():
    ship = sw.Body("ship", hull=sw.Box(40, 12, 6, 3))
    jib = sw.Body("jib", mass=1e4, inertia=(1e5, 1e5, 1e4), position=(0, 0, 3))
    load = sw.Body("load", mass=2e3, inertia=(1e3, 1e3, 1e3), position=(0, 12, 4))
    rope = sw.Line("rope", jib.at(0, 12, 16), load, 15.0, sw.wire_rope(0.03), segments=3)
    system = sw.System(
        "crane",
        [ship, jib, load],
        [
            sw.Free("float", sw.WORLD, ship),
            sw.Hinge("slew", ship.at(0, 0, 3), jib, axis="z"),
            sw.Free("hang", sw.WORLD, load),
        ],
        lines=[rope],
        winches=[sw.Winch("winch", rope, drum=40.0)],
    )
    drawn = drawing(system)
    by_name = {body["name"]: body for body in drawn["bodies"]}
    vertices = unpack_shape(drawn["shapes"][by_name["jib"]["shape"]]).vertices
    # the boom ends where the rope leaves, the drum stands on the foot
    ends = vertices[np.linalg.norm(vertices - [0, 12, 16], axis=1) < 1.0]
    assert len(ends) == 4
    assert np.allclose(ends.mean(0), [0, 12, 16], atol=1e-3)
    assert np.allclose(vertices[:8].mean(0), 0.0, atol=1e-3)
