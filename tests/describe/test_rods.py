"""Descriptions of rods, and what they stand for in a system."""

import numpy as np
import pytest

import swelltree as sw


def rod(**changes):
    specified = {"name": "spar", "A": (1, 2, -20), "B": (1, 2, 5), "diameter": 2.0}
    return sw.Rod(**(specified | {"mass_per_length": 2000.0} | changes))


def test_rod_becomes_a_body_a_joint_and_a_member():
    system = sw.System("s", rods=[rod(Cdn=0.7, Can=0.9, Cd_end=0.3, Ca_end=0.4, segments=6)])
    body, joint, member = system.body("spar"), system.joint("spar_free"), system.forces[0]
    assert body.mass == pytest.approx(50e3)
    np.testing.assert_allclose(body.com, (0, 0, 12.5))
    # a solid cylinder
    across = 50e3 * (25.0**2 / 12 + 1.0**2 / 4)
    np.testing.assert_allclose(body.inertia, (across, across, 25e3))
    assert joint.type == "free"
    assert member.lumping == "nodes"
    assert member.strips == 6
    assert (member.Cd, member.Ca, member.end_Cd, member.end_Ca) == (0.7, 0.9, 0.3, 0.4)
    assert member.buoyancy


@pytest.mark.parametrize("B", [(4, -1, 2.5), (1, 2, -25.0), (1, 2, 7.0), (1, 9, -20.0)])
def test_ends_of_the_rod_are_where_they_were_described(B):
    one = rod(B=B)
    system = sw.System("s", rods=[one])
    np.testing.assert_allclose(system.world_point(one.end_A), (1, 2, -20), atol=1e-12)
    np.testing.assert_allclose(system.world_point(one.end_B), B, atol=1e-12)
    half = system.world_point(one.at(0.5 * one.length))
    np.testing.assert_allclose(half, 0.5 * (np.array((1, 2, -20)) + B), atol=1e-12)


def test_rod_on_a_turned_body_goes_with_it():
    base = sw.Body("base", 1e6, (1e8,) * 3, position=(5, 0, -3), rotation_deg=(0, 90, 0))
    arm = rod(A=base.at(0, 0, 1), B=base.at(0, 0, 4), attachment="fixed")
    system = sw.System("s", [base], [sw.Free("f", sw.WORLD, base)], rods=[arm])
    np.testing.assert_allclose(system.world_point(arm.end_B), (9, 0, -3), atol=1e-12)
    assert system.joint("spar_weld").base == base.at(0, 0, 1)
    pinned = sw.System("s", [base], system.joints[:1], rods=[arm.replace(attachment="pinned")])
    assert pinned.joint("spar_pin").type == "ball"


def test_rods_survive_replace_and_toml():
    system = sw.System("s", rods=[rod(), rod(name="other", A=(0, 0, -9), B=(3, 0, -9))])
    again = system.replace(water=sw.Water(rho=1000.0))
    assert again.rods == system.rods
    assert len(again.bodies) == len(again.joints) == len(again.forces) == 2
    text = system.to_toml()
    assert "spar_strips" not in text
    assert sw.loads(text).system == system
    fewer = system.replace(rods=system.rods[:1])
    assert [body.name for body in fewer.bodies] == ["spar"]
    assert len(fewer.forces) == 1


def test_rod_whose_body_is_changed_is_no_rod_any_more():
    system = sw.System("s", rods=[rod()])
    heavier = system.replace(bodies=[system.body("spar").replace(mass=9e4)])
    assert heavier.rods == ()
    assert heavier.body("spar").mass == 9e4
    assert len(heavier.forces) == 1


def test_lines_end_on_rods():
    one = rod()
    line = sw.Line("tow", (-50, 0, -30), one.end_A, 70.0, sw.chain(0.05))
    system = sw.System("s", rods=[one], lines=[line], water=sw.Water(depth=30))
    np.testing.assert_allclose(system.end_point(system.lines[0].B), (1, 2, -20), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: rod(diameter=0.0), "rod 'spar': diameter 0.0 is not positive."),
        (lambda: rod(Can=-1.0), "rod 'spar': Can -1.0 is negative. Give zero or more."),
        (lambda: rod(segments=0), "rod 'spar': segments 0 is too few."),
        (lambda: rod(B=(1, 2, -20)), "rod 'spar': the ends coincide."),
        (
            lambda: rod(attachment="glued"),
            "rod 'spar': attachment 'glued' is not a way to hold a rod.",
        ),
        (
            lambda: rod(A=sw.Point("float", (0, 0, 0))),
            "rod 'spar': end A is on 'float' but end B on 'world'.",
        ),
        (
            lambda: rod(A=sw.Point("float", (0, 0, 0)), B=sw.Point("float", (0, 0, 1))),
            "rod 'spar': its ends are on 'float' but it is free.",
        ),
        (
            lambda: rod(A=sw.Junction("knot", (0, 0, 0))),
            "rod 'spar': A junction 'knot' is the end of a line.",
        ),
        (
            lambda: sw.System(
                "s",
                rods=[
                    rod(
                        A=sw.Point("fl", (0, 0, 0)),
                        B=sw.Point("fl", (0, 0, 1)),
                        attachment="pinned",
                    )
                ],
            ),
            "rod 'spar': body 'fl' is not in the system.",
        ),
        (
            lambda: sw.System(
                "s", [sw.Body("spar", 1.0)], [sw.Free("f", sw.WORLD, "spar")], rods=[rod()]
            ),
            "body 'spar': the name is used already by body 'spar'.",
        ),
        (lambda: sw.System("s"), "system 's': has no bodies."),
    ],
)
def test_mistakes_are_told_in_a_sentence(make, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        make()
