"""Bodies on dynamic lines: energy, impacts, contact, networks, release, failure."""

from functools import cache

import numpy as np
import pytest

import swelltree as sw

CHAIN = sw.LineType("chain", 0.15, 150.0, EA=1e9, BA=1e7)
THREAD = sw.LineType("thread", 0.01, 1e-3, EA=1e7)  # next to no mass


def ball(mass=500.0, position=(0.0, 0.0, 0.0), **more):
    return sw.Body("ball", mass=mass, inertia=(mass, mass, mass), position=position, **more)


def on_a_line(body, line, water=None, **more):
    return sw.compile(
        sw.System(
            "hanging",
            bodies=[body],
            joints=[sw.Free("free", sw.WORLD, body)],
            water=sw.Water(rho=1e-9) if water is None else water,
            lines=[line],
            **more,
        )
    )


@pytest.mark.slow
def test_elastic_line_without_mass_is_a_spring():
    body = ball(position=(3.0, 0.0, -10.0))
    line = sw.Line("rope", (0, 0, 0), body, 10.0, sw.LineType("r", 0.01, 1e-4, EA=5e5), segments=1)
    spring = sw.SpringDamper(
        "rope", sw.WORLD.at(0, 0, 0), body, stiffness=5e4, rest_length=10.0, tension_only=True
    )
    system = sw.System(
        "spring",
        bodies=[body],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(rho=1e-9),
        forces=[spring],
    )
    when = {"duration": 5.0, "output_step": 0.1}
    smooth = sw.simulate(sw.compile(system), rtol=1e-9, atol=1e-10, **when)
    errors = [
        float(
            abs(
                sw.simulate(on_a_line(body, line), step=h, start="described", **when).position
                - smooth.position
            ).max()
        )
        for h in (0.02, 0.01)
    ]
    # the law of the line is in the strain of Green: half a strain of 1 % off
    assert errors[1] < 0.02
    assert errors[1] < errors[0]


@cache
def moored_float(axial="elastic", segments=10):
    body = sw.Body(
        "float", mass=6e5, inertia=(1e7, 1e7, 1e7), position=(0, 0, -2), displaced_volume=620.0
    )
    lines = [
        sw.Line(
            f"line{k}",
            (400 * np.cos(a), 400 * np.sin(a), -100),
            body.at(5 * np.cos(a), 5 * np.sin(a), -2),
            425.0,
            CHAIN,
            segments=segments,
            axial=axial,
        )
        for k, a in enumerate(2.0 * np.pi / 3.0 * np.arange(3))
    ]
    return sw.System(
        "moored float",
        bodies=[body],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(depth=100.0),
        current=sw.PowerLawCurrent(speed=0.5, exponent=1 / 7),
        lines=lines,
        moorings=[sw.LinearMooring("water plane", body, {"Heave": 8e5, "Roll": 2e7, "Pitch": 2e7})],
        forces=[sw.QuadraticDrag("drag", body, {"Surge": 4e4, "Sway": 4e4, "Heave": 8e4})],
    )


def test_equilibrium_of_dynamic_lines_is_that_of_catenaries():
    system = moored_float()
    rest = sw.equilibrium(sw.compile(system))
    static = system.replace(
        current=None, lines=[line.replace(model="quasi_static") for line in system.lines]
    )
    catenary = sw.equilibrium(sw.compile(static))
    still = sw.equilibrium(sw.compile(system.replace(current=None)))
    # ten segments follow a catenary to a per cent or two
    assert still.fairlead_tension.values == pytest.approx(
        catenary.fairlead_tension.values, rel=0.02
    )
    assert abs(still.position - catenary.position).max() < 0.05
    # the current carries the float along
    surge = [float(x.position.sel(dof="Surge").isel(body=0)) for x in (rest, still)]
    assert surge[0] > surge[1] + 0.05


@pytest.mark.slow
def test_rest_stays_at_rest():
    model = sw.compile(moored_float().replace(current=None))
    run = sw.simulate(model, duration=20.0, output_step=1.0, step=0.1)
    assert np.ptp(run.position.values, axis=0).max() < 1e-6
    assert np.ptp(run.fairlead_tension.values, axis=0).max() < 1.0


@cache
def bridle(axial="elastic"):
    """A float held by two anchors and itself through one junction with a clump weight."""
    body = ball(2e4, (0, 0, -1), displaced_volume=25.0)
    knot = sw.Junction("knot", (0, 0, -30), mass=500.0, volume=0.05)
    rope = sw.LineType("rope", 0.05, 5.0, EA=1e7)
    lines = [
        sw.Line("left", (-80, 0, -60), knot, 90.0, rope, segments=6, axial=axial),
        sw.Line("right", (80, 0, -60), knot, 90.0, rope, segments=6, axial=axial),
        sw.Line("up", knot, body, 30.0, rope, segments=5, axial=axial),
    ]
    return sw.System(
        "bridle",
        bodies=[body],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(depth=60.0),
        lines=lines,
        junctions=[knot],
        moorings=[sw.LinearMooring("plane", body, {"Heave": 1e5, "Roll": 1e4, "Pitch": 1e4})],
    )


def test_forces_at_a_junction_balance():
    rest = sw.equilibrium(sw.compile(bridle()))
    tension = rest.fairlead_tension
    assert float(tension.sel(line="left")) == pytest.approx(float(tension.sel(line="right")))
    q = rest.line_position

    def pull(line, end):
        """Force of the segment at the junction, and its node's weight in water."""
        nodes = q.sel(line=line).values
        used = int(rest.line_segments.sel(line=line))
        nodes = nodes[-used - 1 :]
        d = nodes[-2] - nodes[-1] if end == "B" else nodes[1] - nodes[0]
        T = rest.line_tension.sel(line=line).values[-used:]
        size = T[-1] if end == "B" else T[0]
        length = {"left": 15.0, "right": 15.0, "up": 6.0}[line]
        weight = 0.5 * length * (5.0 - 1025.0 * np.pi / 4.0 * 0.05**2) * 9.81
        return size * d / np.linalg.norm(d) - np.array([0, 0, weight])

    total = pull("left", "B") + pull("right", "B") + pull("up", "A")
    total[2] -= (500.0 - 1025.0 * 0.05) * 9.81
    assert abs(total).max() < 1e-8 * 1e6


@pytest.mark.slow
def test_mirrored_lines_pull_alike_in_waves():
    run = sw.simulate(
        sw.compile(bridle()),
        sw.RegularWave(amplitude=1.0, period=8.0, beta=np.pi / 2, ramp=8.0),
        duration=20.0,
        output_step=0.5,
        step=0.1,
    )
    T = run.fairlead_tension
    assert T.sel(line="left").values == pytest.approx(T.sel(line="right").values, rel=1e-6)
    assert run.attrs["steps_rescued"] == 0


@pytest.mark.slow
def test_released_line_lets_the_float_go():
    system = moored_float().replace(current=None)
    first = system.lines[0].replace(release_time=2.0)
    model = sw.compile(system.replace(lines=[first, *system.lines[1:]]))
    run = sw.simulate(model, duration=10.0, output_step=0.5, step=0.05)
    held = run.sel(time=slice(0, 1.9)).fairlead_tension
    assert np.ptp(held.values, axis=0).max() < 10.0
    free = run.sel(time=slice(2.5, None))
    assert (free.fairlead_tension.sel(line="line0") == 0.0).all()
    # the other two pull it away from where the line was
    assert float(run.position.sel(dof="Surge").isel(body=0, time=-1)) < -1.0
    gap = free.line_position.sel(line="line0").isel(line_node=-1)
    assert float(abs(gap - free.position.isel(body=0, dof=slice(0, 3)).values).max()) > 3.0


@pytest.mark.slow
def test_line_breaks_at_its_tension():
    system = moored_float().replace(current=None)
    rest = float(sw.equilibrium(sw.compile(system)).fairlead_tension[0])
    weak = [line.replace(release_tension=1.2 * rest) for line in system.lines]
    push = sw.Table(time=[0.0, 30.0, 100.0], value=[0.0, -6e5, -6e5])
    pushed = sw.AppliedForce("push", system.bodies[0], force=(push, 0.0, 0.0))
    model = sw.compile(system.replace(lines=weak, forces=[*system.forces, pushed]))
    run = sw.simulate(model, duration=40.0, output_step=0.25, step=0.05)
    # it is pushed away from the anchor of the first line, which comes taut and breaks first
    broken = run.fairlead_tension.values == 0.0
    first = broken.any(axis=1).argmax()
    assert broken[first].tolist() == [True, False, False]
    assert run.fairlead_tension.values[:first, 0].max() < 1.25 * rest
    assert float(run.position.sel(dof="Surge").isel(body=0, time=-1)) < -5.0


def test_inextensible_line_that_is_pulled_too_far_is_named():
    body = ball()
    slider = sw.Slider("drive", sw.WORLD, body, axis="x", motion=sw.Polynomial([0.0, 1.0]))
    line = sw.Line("leash", (-9.0, 0, 0), body, 10.0, THREAD, segments=4, axial="inextensible")
    system = sw.System(
        "pulled", bodies=[body], joints=[slider], water=sw.Water(rho=1e-9), lines=[line]
    )
    with pytest.warns(sw.SwelltreeWarning, match="line 'leash' is pulled .* beyond its length"):
        run = sw.simulate(
            sw.compile(system), duration=3.0, output_step=0.1, step=0.05, start="described"
        )
    assert 0.8 < run.time.values[-1] < 1.2  # what was computed is kept
    assert np.isfinite(run.position.values).all()


def test_box_dropped_on_the_seabed_comes_to_rest_on_its_corners():
    body = sw.Body(
        "box", mass=5e4, inertia=(8e4, 1e5, 1.5e5), position=(0, 0, -8.0), displaced_volume=24.0
    )
    corners = [(x, y, -1.0) for x in (-2.0, 2.0) for y in (-1.5, 1.5)]
    system = sw.System(
        "landing",
        bodies=[body],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(depth=10.0),
        contacts=[sw.SeabedContact("feet", body, at=corners)],
        seabed=sw.Seabed(friction=0.4),
    )
    run = sw.simulate(
        sw.compile(system), duration=6.0, output_step=0.05, step=0.05, start="described"
    )
    weight = (5e4 - 1025.0 * 24.0) * 9.81
    assert float(run.contact_force.sel(axis="z").isel(time=-1).sum()) == pytest.approx(weight)
    assert run.position.values[-1, 0, :3] == pytest.approx([0, 0, -9.0], abs=1e-6)
    assert run.position.values[:, 0, 2].min() > -9.0 - 1e-8


@pytest.mark.parametrize("ground", [{}, {"stiffness": 1e6, "damping": 1e5}], ids=["rigid", "soft"])
def test_work_of_the_seabed_on_a_landing_box_is_booked(ground):
    body = sw.Body(
        "box",
        mass=5e4,
        inertia=(8e4, 1e5, 1.5e5),
        position=(0, 0, -8.0),
        displaced_volume=24.0,
        rotation_deg=(3, 5, 0),
    )
    corners = [(x, y, -1.0) for x in (-2.0, 2.0) for y in (-1.5, 1.5)]
    system = sw.System(
        "landing",
        bodies=[body],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(depth=10.0),
        contacts=[sw.SeabedContact("feet", body, at=corners, area=0.5)],
        seabed=sw.Seabed(friction=0.3, **ground),
    )
    step = 0.02
    run = sw.simulate(
        sw.compile(system), duration=6.0, output_step=0.1, step=step, start="described"
    )
    assert run.attrs["result"] == "success"
    assert float(run.work.sel(element="seabed contact")[-1]) < -2.4e5
    # a sample's energy in free fall is m (a h)^2 / 8 above that of the half steps beside it, which
    # the steps conserve, and equal to it at rest; on soft ground 0.1 J is still moving
    fall = 9.81 * (1.0 - 1025.0 * 24.0 / 5e4)
    sampled = 5e4 * (fall * step) ** 2 / 8.0
    assert float(run.energy_residual[-1]) == pytest.approx(-sampled, abs=0.1)


@pytest.mark.slow
def test_friction_holds_a_body_on_a_gentle_slope_and_lets_it_slide_on_a_steep_one():
    def slid(friction):
        body = sw.Body(
            "block",
            mass=1e4,
            inertia=(1e4, 1e4, 1e4),
            position=(0, 0, -9.0),
            rotation_deg=(0, -5.711, 0),
        )
        corners = [(x, y, -1.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
        system = sw.System(
            "slope",
            bodies=[body],
            joints=[sw.Free("free", sw.WORLD, body)],
            water=sw.Water(depth=10.0, rho=1e-9),
            contacts=[sw.SeabedContact("feet", body, at=corners)],
            seabed=sw.Seabed(slope=(0.1, 0.0), friction=friction),
        )
        run = sw.simulate(
            sw.compile(system), duration=3.0, output_step=0.5, step=0.02, start="described"
        )
        return float(run.position.values[-1, 0, 0] - run.position.values[1, 0, 0])

    assert abs(slid(0.2)) < 0.05  # creeps: friction is smoothed
    assert slid(0.02) < -2.0  # free fall down the slope would be -0.5 (0.1 - 0.02) g t^2


@pytest.mark.slow
def test_run_stopped_between_chunks_goes_on_as_if_never_stopped(tmp_path):
    model = sw.compile(moored_float(segments=5))
    wave = sw.RegularWave(amplitude=1.0, period=10.0)
    when = {"output_step": 0.2, "step": 0.1, "chunk": 10}
    full = sw.simulate(model, wave, duration=6.0, **when)
    first = sw.simulate(model, wave, duration=6.0, checkpoint=tmp_path / "run", **when)
    again = sw.simulate(model, wave, duration=6.0, checkpoint=tmp_path / "run", resume=True, **when)
    for run in (first, again):
        assert (run.position.values == full.position.values).all()
        assert (run.line_tension.values == full.line_tension.values).all()


def test_mooring_is_refused_where_forces_switch():
    system = moored_float()
    body = system.bodies[0]
    latch = sw.LatchingPto("latch", sw.WORLD.at(0, 0, -50), body, damping=1e5, release_after=1.0)
    with pytest.raises(sw.SwelltreeError, match="switches at events"):
        sw.simulate(sw.compile(system.replace(ptos=[latch])), duration=1.0)


def test_steady_state_refuses_dynamic_lines():
    with pytest.raises(sw.SwelltreeError, match="dynamic lines and contacts are not"):
        sw.steady_state(
            sw.compile(moored_float()), sw.RegularWave(amplitude=1, period=9), harmonics=3
        )


@pytest.mark.slow
def test_a_brake_on_a_moored_float_holds_and_slides():
    """Vertical to an arm: the float stands until a swell lifts more than the brake can hold."""
    system = moored_float(segments=5)
    body = system.bodies[0]
    options = {"duration": 20.0, "output_step": 0.1, "step": 0.05}
    swell = sw.Harmonic(amplitude=2e5, omega=1.0)
    lift = sw.AppliedForce("lift", body, force=(0, 0, swell))
    runs = []
    # where it is described 5e5 N are out of balance, which a brake holds as well
    for limit in (8e5, 1e5):
        brake = sw.CoulombPto("brake", sw.WORLD.at(0, 0, -50), body, friction=limit, stick=True)
        changed = system.replace(ptos=[brake], forces=[*system.forces, lift])
        runs.append(sw.simulate(sw.compile(changed), **options))
    held, slides = runs
    assert held.attrs["result"] == slides.attrs["result"] == "success"
    moved = [np.ptp(run["pto_stroke"].values[20:, 0]) for run in runs]
    assert moved[0] < 1e-4
    assert moved[1] > 0.05
    assert np.abs(slides["pto_force"].values).max() < 1e5 * (1 + 1e-6)
    assert set(np.unique(slides["pto_mode"].values)) == {0.0, 1.0}
