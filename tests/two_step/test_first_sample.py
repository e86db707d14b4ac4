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


@pytest.mark.parametrize("formulation", ["lagrange", "path_matrix"])
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
