"""Coulomb friction of the seabed: it holds below its limit, in time and in statics."""

import numpy as np
import pytest

import swelltree as sw

MASS, VOLUME, DEPTH = 2e3, 0.8, 5.0
CORNERS = [(x, y, -0.5) for x in (-1.0, 1.0) for y in (-0.8, 0.8)]
CHAIN = sw.LineType("chain", 0.15, 150.0, EA=1e9, damping_ratio=0.5)


def on_slope(friction, direction=0.7, steep=0.3, **more):
    """A box that stands flat on a slope which falls in some direction."""
    slope = -steep * np.cos(direction), -steep * np.sin(direction)
    normal = np.array([-slope[0], -slope[1], 1.0]) / np.sqrt(1.0 + steep**2)
    lean = float(np.degrees(np.arctan(steep)))
    body = sw.Body(
        "box",
        mass=MASS,
        inertia=(1.5e3, 2e3, 2.5e3),
        position=tuple(0.5 * normal - [0.0, 0.0, DEPTH]),
        rotation_deg=(0.0, lean, float(np.degrees(direction))),
        displaced_volume=VOLUME,
    )
    return sw.compile(
        sw.System(
            "box",
            [body],
            [sw.Free("free", sw.WORLD, body)],
            contacts=[sw.SeabedContact("feet", body, CORNERS)],
            water=sw.Water(depth=DEPTH),
            seabed=sw.Seabed(depth=DEPTH, slope=slope, friction=friction, **more),
        )
    )


@pytest.mark.parametrize("more", [{}, {"friction_velocity": 1e-6}], ids=["", "old file"])
def test_box_on_a_slope_stays_where_friction_is_more_than_the_slope(more):
    result = sw.simulate(on_slope(0.5, **more), duration=3.0, step=0.02, start="described")
    assert result.attrs["result"] == "success"
    place = result.position.values[:, 0, :3]
    # contacts give by less than a micrometre, then nothing moves
    assert np.abs(place - place[0]).max() < 1e-6
    assert np.abs(place[-1] - place[75]).max() < 1e-10
    push = result.contact_force.values[-1].sum(0)
    assert push == pytest.approx([0, 0, (MASS - 1025.0 * VOLUME) * 9.81], abs=1.0)


def test_box_slides_with_what_friction_leaves_of_its_weight():
    friction, steep, direction = 0.2, 0.3, 0.7
    result = sw.simulate(
        on_slope(friction, direction, steep), duration=2.0, step=0.02, start="described"
    )
    assert result.attrs["result"] == "success"
    slope = np.arctan(steep)
    pull = (np.sin(slope) - friction * np.cos(slope)) * (1.0 - 1025.0 * VOLUME / MASS) * 9.81
    place = result.position.values[:, 0, :3]
    way = place - place[0]
    down = np.cos(slope) * np.array([np.cos(direction), np.sin(direction)])
    assert way[-1, :2] == pytest.approx(0.5 * pull * 2.0**2 * down, rel=1e-3)


def test_thrown_box_comes_to_a_stop_and_stays():
    body = sw.Body("box", mass=MASS, inertia=(1.5e3, 2e3, 2.5e3), position=(0, 0, 0.5 - DEPTH))
    free = sw.Free("free", sw.WORLD, body, velocity={"Surge": 0.9, "Sway": -0.5})
    system = sw.System(
        "box",
        [body],
        [free],
        contacts=[sw.SeabedContact("feet", body, CORNERS)],
        water=sw.Water(depth=DEPTH),
        seabed=sw.Seabed(friction=0.25),
    )
    result = sw.simulate(sw.compile(system), duration=1.5, step=0.01, start="described")
    assert result.attrs["result"] == "success"
    place = result.position.values[:, 0, :2]
    speed = np.hypot(0.9, 0.5)
    way = speed**2 / (2 * 0.25 * 9.81) * np.array([0.9, -0.5]) / speed
    assert place[-1] - place[0] == pytest.approx(way, abs=0.01)  # a step of the speed at first
    assert np.abs(place[-1] - place[-20]).max() < 1e-9


def test_equilibrium_of_dynamic_lines_has_the_friction_of_the_bed():
    found = {}
    for model in ("quasi_static", "dynamic"):
        line = sw.Line("l", (-500.0, 120.0, -100.0), (30.0, 0, 0), 575.0, CHAIN, model, segments=40)
        system = sw.System(
            "l", lines=[line], water=sw.Water(depth=100.0), seabed=sw.Seabed(friction=0.5)
        )
        rest = sw.equilibrium(sw.compile(system))
        found[model] = [float(rest[f"{end}_tension"][0]) for end in ("fairlead", "anchor")]
    assert found["dynamic"][0] == pytest.approx(found["quasi_static"][0], rel=0.01)
    assert found["dynamic"][1] == pytest.approx(
        found["quasi_static"][1], abs=0.02 * found["dynamic"][0]
    )
    # without friction the anchor would feel the tension of the touchdown
    assert found["dynamic"][1] < 0.5 * found["dynamic"][0]


def test_heavy_anchor_stays_where_it_is_described_below_its_friction():
    for span in (285.0, 295.0):
        body = sw.Body(
            "anchor", mass=20e3, inertia=(2e4,) * 3, position=(-span, 5.0, -99.5),
            displaced_volume=2.5,
        )  # fmt: skip
        line = sw.Line(
            "l", body.at(1.0, 0, -0.4), (0, 0, 0), 330.0, CHAIN.replace(EA=5e8), segments=12
        )
        feet = [(x, y, -0.5) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
        system = sw.System(
            "anchor",
            [body],
            [sw.Free("free", sw.WORLD, body)],
            lines=[line],
            contacts=[sw.SeabedContact("feet", body, feet)],
            water=sw.Water(depth=100.0),
            seabed=sw.Seabed(friction=0.8),
        )
        rest = sw.equilibrium(sw.compile(system))
        place = rest.position.values[0, :3]
        pull = rest.anchor_force.values[0]
        press = (20e3 - 1025.0 * 2.5) * 9.81 - pull[2]
        assert np.hypot(*pull[:2]) <= 0.8 * press * 1.001
        assert np.abs(place - [-span, 5.0, -99.5]).max() < 5e-3
    # a run begins there: what its contacts give is no energy that a run would miss
    run = sw.simulate(sw.compile(system), duration=1.0, output_step=0.05, step=0.05, progress=False)
    assert run.attrs["result"] == "success"
    assert np.abs(run.position.values[:, 0] - run.position.values[0, 0]).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("by", ["line", "stage"])
def test_end_A_on_a_rigid_bed_is_released(by):
    """What is tied on the ground is not held by the ground as well."""
    body = sw.Body(
        "buoy", mass=2e4, inertia=(1e4,) * 3, position=(0, 0, -2.0), displaced_volume=22.5
    )
    held = sw.LinearMooring("w", body, {"Heave": 2e5, "Roll": 5e5, "Pitch": 5e5, "Surge": 1e3})
    more = {"release_time": 1.0} if by == "line" else {}
    line = sw.Line(
        "l", (-150, 10, -50), body.at(0, 0, -1), 170.0, CHAIN, segments=8, release_end="A", **more
    )
    stages = [sw.Operation("o", [sw.Stage("release", "l", start=1.0)])] if by == "stage" else []
    system = sw.System(
        "s",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        moorings=[held],
        lines=[line],
        water=sw.Water(depth=50.0),
        operations=stages,
    )
    run = sw.simulate(sw.compile(system), duration=4.0, output_step=0.5)
    assert run.attrs["result"] == "success"
    assert float(run.anchor_tension[0, 0]) > 1e3
    assert float(run.anchor_tension[-1, 0]) == 0.0
    assert np.linalg.norm(run.line_position.values[-1, 0, 0] - [-150, 10, -50]) > 0.05


def landing(turned, velocity, friction):
    """A box thrown, turned, onto a slope, with points at all its corners."""
    body = sw.Body(
        "box",
        mass=MASS,
        inertia=(1.5e3, 2e3, 2.5e3),
        position=(0.3, -0.2, -3.9),
        rotation_deg=turned,
        displaced_volume=VOLUME,
    )
    names = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
    free = sw.Free("free", sw.WORLD, body, velocity=dict(zip(names, velocity, strict=True)))
    corners = CORNERS + [(x, y, -z) for x, y, z in CORNERS]
    return sw.System(
        "box",
        [body],
        [free],
        contacts=[sw.SeabedContact("corners", body, corners)],
        water=sw.Water(depth=5.2),
        seabed=sw.Seabed(friction=friction, slope=(0.1, 0.05)),
    )


@pytest.mark.slow
def test_landings_on_several_corners_find_what_sticks():
    """In every step: forces within the cone, and at last no motion at all."""
    normal = np.array([-0.1, -0.05, 1.0]) / np.sqrt(1.0 + 0.1**2 + 0.05**2)
    rng = np.random.default_rng(1)
    hardest = 0
    for _ in range(12):
        velocity = rng.normal(size=6) * [0.5, 0.5, 0.5, 1, 1, 1]
        turned = rng.normal(size=3) * [20, 20, 60]
        friction = float(rng.choice([0.2, 0.5, 0.9]))
        model = sw.compile(landing(tuple(turned), tuple(map(float, velocity)), friction))
        run = sw.simulate(
            model, duration=3.0, step=0.02, output_step=0.02, start="described", progress=False
        )
        assert run.attrs["result"] == "success"
        assert run.attrs["steps_rescued"] == 0
        push = run.contact_force.values
        up = push @ normal
        along = np.linalg.norm(push - up[..., None] * normal, axis=-1)
        # what the tolerance of a step leaves: 1e-10 m of a mass of 2 t in 0.02 s
        assert (along - friction * up).max() < 1e-3
        assert np.abs(run.velocity.values[-1]).max() < 1e-12
        hardest = max(hardest, int(run.iterations.max()))
    # some of these landings are not found at once: the law is smoothed less and less for them
    assert hardest > 12


@pytest.mark.slow
@pytest.mark.parametrize(("span", "friction"), [(305.0, 0.8), (300.0, 0.3), (295.0, 0.1)])
def test_anchor_pulled_by_more_than_its_friction_is_dragged_until_it_holds(span, friction):
    body = sw.Body(
        "anchor", mass=20e3, inertia=(2e4,) * 3, position=(-span, 5.0, -99.5), displaced_volume=2.5
    )
    line = sw.Line("l", body.at(1.0, 0, -0.4), (0, 0, 0), 330.0, CHAIN.replace(EA=5e8), segments=12)
    feet = [(x, y, -0.5) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    system = sw.System(
        "anchor",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        lines=[line],
        contacts=[sw.SeabedContact("feet", body, feet)],
        water=sw.Water(depth=100.0),
        seabed=sw.Seabed(friction=friction),
    )
    rest = sw.equilibrium(sw.compile(system))
    pull = rest.anchor_force.values[0]
    press = (20e3 - 1025.0 * 2.5) * 9.81 - pull[2]
    # on its feet, at the limit: a step of statics may drag it a little too far
    assert rest.position.values[0, 2] == pytest.approx(-99.5, abs=1e-4)
    assert rest.position.values[0, 0] > -span + 1.0
    assert np.hypot(*pull[:2]) / (friction * press) == pytest.approx(1.0, abs=1e-3)
