"""Lines come to rest however many segments they have."""

import re
import warnings

import numpy as np
import pytest

import swelltree as sw
from line_systems import moored
from swelltree.integrate.complementarity.relax import LAST_STEP
from swelltree.integrate.complementarity.state import LIGHT


@pytest.mark.slow
@pytest.mark.parametrize("segments", [20, 50])
def test_three_chains_on_a_soft_bed_come_to_rest(segments):
    chain = sw.LineType("chain", 0.15, 150.0, EA=1e9, damping_ratio=0.8, Cdn=1.6)
    float_ = sw.Body("float", mass=1e6, inertia=(1e8, 1e8, 1e8))
    lines = []
    for k, angle in enumerate(np.deg2rad([180.0, 60.0, -60.0])):
        x, y = np.cos(angle), np.sin(angle)
        ends = (405 * x, 405 * y, -100.0), float_.at(5 * x, 5 * y, -2.0)
        lines.append(sw.Line(f"line{k}", *ends, 430.0, chain, segments=segments))
    system = sw.System(
        "moored",
        [float_],
        [sw.Weld("held", sw.WORLD, float_)],
        lines=lines,
        water=sw.Water(1025.0, 9.81, 100.0),
        seabed=sw.Seabed(stiffness=3e6, damping=3e5),
    )
    result = sw.simulate(sw.compile(system), duration=2.0, output_step=0.1, progress=False)
    tension = result.fairlead_tension.values
    # the elastic catenary by integration: 377.5 kN; lumping costs a percent
    assert np.ptp(tension, axis=0).max() < 1e-3 * tension.mean()
    assert np.ptp(tension, axis=1).max() < 1e-6 * tension.mean()


@pytest.mark.slow
def test_turned_float_comes_to_rest_in_few_steps():
    """Moments of lines are those of the next pose: yaw does not swing from step to step."""
    body = sw.Body("float", mass=6e5, inertia=(1e7, 1e7, 1e7), position=(15, 4, -2))
    chain = sw.LineType("chain", 0.15, 150.0, EA=1e9, BA=1e7)
    lines = [
        sw.Line(
            f"line{k}",
            (400 * np.cos(a), 400 * np.sin(a), -100),
            body.at(5 * np.cos(a), 5 * np.sin(a), -2),
            425.0,
            chain,
            segments=10,
        )
        for k, a in enumerate(2.0 * np.pi / 3.0 * np.arange(3))
    ]
    plane = {"Heave": 8e5, "Roll": 2e7, "Pitch": 2e7}
    system = sw.System(
        "far",
        bodies=[body.replace(displaced_volume=620.0)],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(depth=100.0),
        lines=lines,
        moorings=[sw.LinearMooring("water plane", body, plane)],
    )
    rest = sw.equilibrium(sw.compile(system))
    assert rest.attrs["iterations"] < 60
    assert rest.attrs["largest_motion"] < 1e-7


@pytest.mark.slow
def test_heavy_body_dropped_with_a_pinned_boom_comes_to_rest():
    """From the air, with a boom that turns far: inertia is that of bodies as they are turned."""
    body = sw.Body("barge", mass=2e5, inertia=(3e7,) * 3, position=(3.0, -2.0, 4.0))
    tall = {"Can": 1.0, "Cdn": 0.8, "segments": 3}
    rods = [
        sw.Rod("leg", body.at(0, 0, 2), body.at(0, 0, 12), 5.0, 1e3, attachment="fixed", **tall),
        sw.Rod("boom", body.at(2, 1, 2), body.at(6, -3, 10), 1.5, 2e2, attachment="pinned", **tall),
    ]
    rope = sw.LineType("rope", diameter=0.12, mass_per_length=60.0, EA=5e7)
    lines = [
        sw.Line("bow", (-150.0, 40.0, -60.0), body.at(-2, 0, -3), 175.0, rope, segments=5),
        sw.Line("stern", (130.0, 60.0, -60.0), body.at(2, 0.5, -3), 165.0, rope, segments=5),
    ]
    free = sw.Free("free", sw.WORLD, body)
    system = sw.System("s", [body], [free], rods=rods, lines=lines, water=sw.Water(depth=60.0))
    rest = sw.equilibrium(sw.compile(system))
    assert rest.attrs["largest_motion"] < 1e-7
    # the boom floats upright; the leg carries the barge at the surface
    assert np.abs(rest.position.sel(body="boom").values[3:5]).max() < 1e-6
    assert rest.position.sel(body="barge").values[2] == pytest.approx(-11.9, abs=0.2)


@pytest.mark.slow
def test_light_clump_between_stiff_lines_comes_to_rest():
    """One of its lines is described a tenth too short; its residual is never that of its mass."""
    clump = sw.Body("clump", mass=30.0, inertia=(0.1,) * 3, position=(52.0, 3.0, -43.0))
    knot = sw.Junction("knot", position=(10.0, -2.0, -20.0))
    cable = sw.LineType("cable", 0.116, 25.0, EA=3.6e8, damping_ratio=1.0)
    lines = [
        sw.Line("tether", (52.0, 3.0, -50.0), clump.at(0, 0, 0), 7.0, cable, segments=1),
        sw.Line("ground", (100.0, 0.0, -50.0), clump.at(0.1, 0, 0), 50.0, cable, segments=5),
        sw.Line("riser", knot, clump.at(-0.1, 0, 0), 43.0, cable, segments=5),
        sw.Line("top", (-60.0, 0.0, -5.0), knot, 85.0, cable, segments=5),
    ]
    free = sw.Free("free", sw.WORLD, clump)
    parts = {"junctions": [knot], "lines": lines, "water": sw.Water(depth=50.0)}
    rest = sw.equilibrium(sw.compile(sw.System("s", [clump], [free], **parts)))
    assert rest.attrs["largest_motion"] < 1e-7
    assert rest.attrs["iterations"] < 250


def spun(moment, stiffness=0.0):
    """A buoy under water on a tether, which does not hold its yaw; described beside its rest."""
    body = sw.Body(
        "buoy",
        mass=8e3,
        inertia=(2e4, 2.2e4, 1.5e4),
        displaced_volume=10.0,
        position=(3.0, -2.0, -18.0),
        rotation_deg=(0.0, 0.0, 40.0),
    )
    rope = sw.LineType("rope", 0.05, 4.0, EA=5e6, damping_ratio=0.5)
    return sw.System(
        "s",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        [sw.AppliedForce("spin", body, torque=(0.0, 0.0, moment))],
        lines=[sw.Line("tether", (2.2, -1.5, -40.0), body.at(0, 0, -1.5), 20.0, rope, segments=2)],
        water=sw.Water(depth=40.0),
        moorings=[sw.LinearMooring("twist", body, {"Yaw": stiffness})] if stiffness else [],
    )


def test_what_never_rests_is_told_with_its_motion(monkeypatch):
    monkeypatch.setattr("swelltree.integrate.complementarity.relax.MAX_STEPS", 25)
    with pytest.warns(
        sw.SwelltreeWarning, match="after 25 steps body 'buoy' still moves"
    ) as reported:
        rest = sw.equilibrium(sw.compile(spun(0.02)))
    text = next(str(w.message) for w in reported if "still moves" in str(w.message))
    (moved,) = (float(x) for x in re.findall(r"by (\S+) m or rad from one", text))
    assert rest.attrs["largest_motion"] == pytest.approx(moved, rel=0.05)
    # from rest a step turns it by moment / inertia * h^2, with a twentieth of the inertia, and a
    # matrix of rotation changes by that or, at 45 degrees, by 0.7 of it
    turned = 0.02 / ((1.0 - LIGHT) * 1.5e4) * LAST_STEP**2
    assert 0.65 * turned < moved < 1.05 * turned


@pytest.mark.parametrize(
    ("make", "most"),
    [
        # of 154 steps of 64 s, the last of which went a seventh of what was left
        (lambda: sw.compile(moored(3)), 60),
        # of 34 steps, each 0.73 of the one before
        pytest.param(lambda: sw.gallery.spar("dynamic").model(), 20, marks=pytest.mark.slow),
    ],
)
def test_motions_that_grow_smaller_slowly_lead_to_rest_in_few_steps(make, most):
    model = make()
    rest = sw.equilibrium(model)
    assert rest.attrs["iterations"] < most
    # it stays there: what is left to go is not a multiple of the last motion
    run = sw.simulate(model, duration=20.0, output_step=5.0, progress=False)
    assert float(abs(run.velocity).max()) < 1e-8


@pytest.mark.slow
def test_stiff_float_on_slack_lines_comes_to_rest():
    """Described askew: a stub of 0.2 m segments with a bending stiffness of 8e7 N m^2."""
    stub = sw.LineType("stub", 0.8, 130.0, EA=2e9, EI=8e7, damping_ratio=0.5)
    tether = sw.LineType("tether", 0.025, 4.0, EA=2.5e7, EI=1e3, damping_ratio=0.5)
    rope = sw.LineType("rope", 0.01, 0.2, EA=5e6, EI=30.0, damping_ratio=0.5)
    chain = sw.LineType("chain", 0.03, 5.0, EA=3.5e7, EI=2e3, damping_ratio=0.5)
    low, foot, top = (
        sw.Junction(name, position)
        for name, position in (
            ("low", (-0.8, 1.5, -1.3)),
            ("foot", (-0.8, 1.5, -0.2)),
            ("top", (-0.4, 1.5, 0.3)),
        )
    )
    lines = [
        sw.Line("float", foot, top, 0.63, stub, segments=3),
        sw.Line("tether", low, foot, 1.1, tether, segments=5),
    ]
    knots = [low, foot, top]
    anchors = [(-14.2, -6.7, -15.8), (14.2, 6.7, -16.0), (-14.2, 6.7, -15.9)]
    ends = [(-10.8, -4.7, -14.6), (10.5, 5.4, -14.4), (-10.4, 5.1, -15.7)]
    for k, (anchor, at) in enumerate(zip(anchors, ends, strict=True)):
        knots.append(sw.Junction(f"end{k}", at))
        lines.append(sw.Line(f"rope{k}", low, knots[-1], 17.75, rope, segments=21))
        lines.append(sw.Line(f"chain{k}", knots[-1], anchor, 4.4, chain, segments=5))
    bed = sw.Seabed(stiffness=3e6, damping=3e5)
    system = sw.System(
        "tripod", lines=lines, junctions=knots, seabed=bed, water=sw.Water(depth=16.0)
    )
    rest = sw.equilibrium(sw.compile(system))
    assert rest.attrs["largest_motion"] < 1e-7
    position = rest.junction_position
    x, y, z = (position.sel(junction="top") - position.sel(junction="foot")).values
    assert np.hypot(x, y) < 1e-5
    assert z == pytest.approx(0.63, rel=1e-4)


def test_what_rests_is_not_told_to_move():
    with warnings.catch_warnings():
        warnings.simplefilter("error", sw.SwelltreeWarning)
        rest = sw.equilibrium(sw.compile(spun(0.02, 0.5)))
    assert rest.attrs["largest_motion"] < 1e-7
    # the spring is slack where the buoy is described
    yaw = rest.position.sel(body="buoy").values[5]
    assert yaw - np.deg2rad(40.0) == pytest.approx(0.02 / 0.5, abs=1e-3)
