"""The first sample of the two-step scheme is the start as it was given."""

import numpy as np
import pytest

import swelltree as sw


def linkage():
    """Two links and a spring in general position, moving fast."""
    a = sw.Body("a", mass=3.0, inertia=(0.3, 0.5, 0.4), position=(0.2, 0.0, -0.5))
    b = sw.Body("b", mass=2.0, inertia=(0.2, 0.3, 0.1), position=(0.5, 0.1, -1.2))
    joints = [
        sw.Universal("top", sw.WORLD, a.at(-0.2, 0, 0.5), velocity={"Roll": 1.0, "Pitch": 2.0}),
        sw.Universal("knee", a.at(0.2, 0.1, -0.3), b.at(-0.1, 0, 0.4), velocity={"Roll": -3.0}),
    ]
    spring = sw.SpringDamper("spring", sw.WORLD.at(1, 1, 0), b, stiffness=80.0, damping=3.0)
    return sw.compile(sw.System("linkage", [a, b], joints, forces=[spring]))


@pytest.mark.parametrize(
    "formulation", ["path_matrix", pytest.param("lagrange", marks=pytest.mark.slow)]
)
def test_first_sample_has_the_velocity_given_and_its_acceleration(formulation):
    model = linkage()
    exact = sw.simulate(model, times=[0.0, 1e-6], progress=False).isel(time=0)
    fine = sw.simulate(model, duration=0.1, rtol=1e-10, atol=1e-12, progress=False).isel(time=-1)
    ends = []
    for h in (0.02, 0.01):
        run = sw.simulate(
            model,
            duration=0.1,
            output_step=h,
            step=h,
            solver="two_step",
            formulation=formulation,
            progress=False,
        )
        first = run.isel(time=0)
        assert first.velocity.values == pytest.approx(exact.velocity.values, abs=1e-12)
        assert first.acceleration.values == pytest.approx(exact.acceleration.values, abs=1e-8)
        assert first.reaction.values == pytest.approx(exact.reaction.values, abs=1e-7)
        ends.append(np.abs(run.position.values[-1] - fine.position.values).max())
    # the half step before the first is right to second order, and so is what follows
    assert ends[0] / ends[1] == pytest.approx(4.0, rel=0.25)


def test_first_sample_of_a_load_on_a_line():
    load = sw.Body("load", mass=2e3, inertia=(2e3,) * 3, position=(3.0, 0.5, -9.0))
    rope = sw.LineType("rope", 0.03, 4.0, EA=4e6, BA=4e4)
    line = sw.Line("hoist", sw.WORLD.at(0, 0, 0), load, 9.4, rope, segments=5)
    speed = {"Surge": 1.0, "Heave": -0.3, "Pitch": 0.4}
    joint = sw.Free("free", sw.WORLD, load, velocity=speed)
    model = sw.compile(sw.System("hung", [load], [joint], lines=[line]))
    run = sw.simulate(
        model, duration=0.04, output_step=0.02, step=0.02, start="described", progress=False
    )
    first = run.isel(time=0, body=0)
    assert first.velocity.values == pytest.approx([1.0, 0.0, -0.3, 0.0, 0.4, 0.0], abs=1e-12)
    # weight and the pull of the line at its end
    assert first.acceleration.values[:3] == pytest.approx(first.wrench.values[:3] / 2e3, rel=1e-9)
    # its line is 0.15 m beyond its length, so that the load is pulled back along it
    pull = first.acceleration.values[:3] + [0.0, 0.0, 9.81]
    along = -np.array([3.0, 0.5, -9.0])
    assert pull @ along / np.linalg.norm(pull) / np.linalg.norm(along) > 0.99


LINES = {
    "elastic": {},
    "bending": {"EI": 3e3, "clamp_B": (0.3, 0.1, -0.9)},
    "released later": {"release_time": 5.0},
}


def hung_on(kind, **start):
    """A load on a taut line that is fixed beside its reference point."""
    more = dict(LINES.get(kind, {}))
    load = sw.Body("load", mass=2e3, inertia=(2e3, 1.5e3, 1e3), position=(3.0, 0.5, -9.0))
    rope = sw.LineType("rope", 0.03, 4.0, EA=4e6, BA=4e4, EI=more.pop("EI", 0.0))
    more |= {"axial": "inextensible"} if kind == "inextensible" else {}
    length = 9.2 if kind == "inextensible" else 9.0
    end = load.at(0.1, 0.2, 0.4)
    line = sw.Line("hoist", sw.WORLD.at(0, 0, 0), end, length, rope, segments=5, **more)
    joint = sw.Free("free", sw.WORLD, load, **start)
    return sw.compile(sw.System("hung", [load], [joint], lines=[line]))


def first_of(model, h):
    run = sw.simulate(
        model, duration=2 * h, output_step=h, step=h, start="described", progress=False
    )
    return run.isel(time=0)


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.slow if k == "bending" else ()) for k in LINES]
)
def test_first_acceleration_of_a_load_on_a_line_does_not_depend_on_the_step(kind):
    speed = {"Surge": 1.0, "Heave": -0.3, "Pitch": 0.4, "Yaw": 0.2}
    model = hung_on(kind, velocity=speed)
    coarse, fine = (first_of(model, h) for h in (0.02, 0.002))
    for name in ("acceleration", "wrench", "line_tension", "fairlead_tension"):
        a, b = coarse[name].values, fine[name].values
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9 * np.abs(b).max()), name


def test_first_tension_is_that_of_stretch_and_its_rate():
    model = hung_on("elastic", velocity={"Surge": 1.0, "Heave": -0.3, "Pitch": 0.4, "Yaw": 0.2})
    first = first_of(model, 0.02)
    nodes = first.line_position.values[0]
    arm = np.array([0.1, 0.2, 0.4])
    # nodes are at rest but for the end on the load
    v_end = np.array([1.0, 0.0, -0.3]) + np.cross([0.0, 0.4, 0.2], arm)
    d = nodes[-1] - nodes[-2]
    length = np.linalg.norm(d)
    tension = 4e6 * (length / 1.8 - 1.0) + 4e4 * (d @ v_end / length) / 1.8
    assert first.line_tension.values[0, -1] == pytest.approx(tension, rel=1e-7)


def test_first_acceleration_under_a_line_that_cannot_stretch_is_of_second_order():
    model = hung_on("inextensible")
    found = [first_of(model, h).acceleration.values[0] for h in (0.04, 0.02, 0.01)]
    ahead, after = (np.abs(a - b).max() for a, b in (found[:2], found[1:]))
    assert after < 0.01 * np.abs(found[2]).max()
    assert ahead / after == pytest.approx(4.0, rel=0.3)
