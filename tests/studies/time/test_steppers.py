"""Siblings behind one interface: what every way of stepping has in common."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, vessel
from swelltree.describe.options import TracedOptions, complete
from swelltree.integrate.stepper import Stepper, drive
from swelltree.studies.time.complementarity.plan import grid
from swelltree.studies.time.simulate import stepper_of
from swelltree.studies.time.task import Stepping, read_task


def pendulum() -> sw.Model:
    """A body that swings about two axes, with a spring."""
    a = sw.Body("a", mass=3.0, inertia=(0.3, 0.5, 0.4), position=(0.2, 0.0, -0.5))
    top = sw.Universal("top", sw.WORLD, a.at(-0.2, 0, 0.5), velocity={"Roll": 1.0, "Pitch": 2.0})
    spring = sw.SpringDamper("spring", sw.WORLD.at(1, 0, 0), a, stiffness=30.0, damping=1.0)
    return sw.compile(sw.System("pendulum", [a], [top], [spring]))


@pytest.fixture(scope="module")
def model():
    return pendulum()


def stepper(model, solver, **stepping) -> Stepper:
    options = complete(TracedOptions, duration=1.0, output_step=0.1, start="described")
    task = read_task(model, None, options | {"solver": solver} | stepping)
    return stepper_of(task, 3)


@pytest.mark.parametrize("solver", ["tsit5", "two_step"])
def test_every_stepper_fills_the_same_channels_through_one_driver(model, solver):
    times = np.linspace(0.0, 1.0, 11)
    run = drive(stepper(model, solver, step=0.05), times, chunk=3, progress=False)
    assert run.message == "time stepping: the solve finished."
    assert np.array_equal(run.times, times)
    channels = run.channels()
    assert {len(x) for x in channels.values()} == {11}
    blank = run.stepper.blank(3)
    shapes = {name: np.shape(x)[1:] for name, x in run.stepper.observe(times[:3], blank).items()}
    assert shapes == {name: x.shape[1:] for name, x in channels.items()}
    again = drive(run.stepper, times, chunk=3, progress=False)
    assert all(np.array_equal(x, channels[name]) for name, x in again.channels().items())


def test_both_families_name_the_same_channels(model):
    smooth, two_step = (
        sw.simulate(model, duration=0.4, output_step=0.1, solver=solver, step=0.05, chunk=3)
        for solver in ("rk4", "two_step")
    )
    assert set(two_step.variables) - set(smooth.variables) == {"iterations", "residual"}
    assert set(smooth.variables) <= set(two_step.variables)
    for name in smooth.data_vars:
        assert smooth[name].dims == two_step[name].dims
        assert smooth[name].attrs == two_step[name].attrs


BESIDE = {"time", "phase", "solved", "code", "loop_margin"}  # what only traced runs give


def test_traced_runs_have_the_names_and_values_of_labelled_ones(model):
    options = {"duration": 0.4, "output_step": 0.1, "solver": "rk4", "step": 0.05}
    plain, traced = sw.simulate(model, **options), sw.simulate_traced(model, **options)
    assert set(traced) - BESIDE == set(plain.data_vars)
    for name in plain.data_vars:
        assert np.allclose(traced[name], plain[name].values, rtol=1e-9, atol=1e-9), name


@pytest.mark.slow
def test_traced_runs_of_dynamic_lines_have_the_names_and_values_of_labelled_ones():
    ball = sw.Body("ball", mass=50.0, inertia=(4, 4, 4), position=(0.3, 0.2, -2.0))
    rope = sw.LineType("rope", diameter=0.02, mass_per_length=0.5, EA=2e5)
    line = sw.Line("line", sw.WORLD.at(0, 0, 0), ball, 2.2, rope, segments=4)
    rail = sw.Slider("rail", sw.WORLD, ball, axis=(0.1, 0.0, 1.0))
    pto = sw.LinearPto("ram", joint="rail", damping=40.0)
    push = sw.AppliedForce("push", ball, force=(0.0, 0.0, sw.Harmonic(200.0, 3.0)))
    system = sw.System("hung", [ball], [rail], [push], ptos=[pto], lines=[line])
    model = sw.compile(system)
    options = {"duration": 0.4, "output_step": 0.1, "step": 0.05}
    plain = sw.simulate(model, **options)
    traced = sw.simulate_traced(model, start=sw.moored_start(model), **options)
    assert set(traced) - BESIDE == set(plain.data_vars)
    assert {"fairlead_tension", "absorbed_power", "reaction"} <= set(traced)
    for name in set(traced) - BESIDE - {"iterations", "residual"}:  # of solves to other tolerances
        values = plain[name].values
        size = max(np.abs(values).max(initial=0.0), 1.0)
        assert np.allclose(traced[name], values, atol=1e-6 * size), name


def test_two_steps_reach_uneven_output_times(model):
    times = np.array([0.05, 0.2, 0.25, 0.7, 1.0])
    options = {"solver": "two_step", "step": 0.025, "chunk": 3}  # programs for three samples
    uneven = sw.simulate(model, times=times, **options)
    even = sw.simulate(model, duration=1.0, output_step=0.05, **options)
    assert np.array_equal(uneven.time, times)
    picked = even.sel(time=times, method="nearest")
    assert np.array_equal(uneven.position, picked.position)
    assert np.array_equal(uneven.reaction, picked.reaction)


def test_uneven_runs_stop_resume_and_go_on(model, tmp_path):
    times = np.array([0.0, 0.1, 0.15, 0.4, 0.45, 0.9, 1.0])
    options = {"solver": "two_step", "step": 0.05, "extremes": ["velocity"], "chunk": 3}
    full = sw.simulate(model, times=times, checkpoint=tmp_path, **options)
    (tmp_path / "chunk_000002.npz").unlink()
    again = sw.simulate(model, times=times, checkpoint=tmp_path, resume=True, **options)
    first = sw.simulate(model, times=times[:4], **options)
    second = sw.simulate(model, times=times[3:], start=first, **options)
    for name in ("position", "velocity_max", "velocity_mean", "spring_tension"):
        assert np.array_equal(full[name], again[name])
        assert np.array_equal(full[name][4:], second[name][1:])


def test_a_step_that_leads_to_all_times():
    h, marks = grid(np.array([0.0, 0.3, 0.5, 1.1]), 0.15)
    assert h == pytest.approx(0.1)
    assert np.array_equal(marks, [0, 3, 5, 11])
    rng = np.random.default_rng(2)
    for _ in range(20):
        step = rng.uniform(0.01, 0.2)
        requested = np.unique(np.append(rng.integers(0, 400, 9), [7, 8]))
        h, marks = grid(step * requested, 1.5 * step)
        assert np.allclose(h * marks, step * requested, rtol=1e-9)
        assert h <= 1.5 * step
    with pytest.raises(sw.SwelltreeError, match=r"no step between .* leads to all of them"):
        grid(np.array([0.0, 1.0 / np.pi, 1.0]), 0.1)
    with pytest.raises(sw.SwelltreeError, match=r"times: 0\.37 s is not a multiple of step 0\.1 s"):
        grid(np.array([0.0, 0.3, 0.37]), 0.1, 0.1)


def test_axes_that_follow_the_yaw_in_two_steps_of_second_order():
    body = sw.Body("vessel", mass=MASS, inertia=(1e6, 8e6, 8e6))
    push = sw.AppliedForce("push", body, force=(2e4, 1e4, 0.0), torque=(0.0, 0.0, 4e5))
    free = sw.Free("free", sw.WORLD, body)
    system = sw.System("vessel", [body], [free], [push], water=sw.Water(rho=1000.0))
    model = sw.compile(system, vessel(), frame="yaw", yaw_time=5.0, fit={"error": 0.02})
    wave = sw.RegularWave(amplitude=0.3, omega=1.0, ramp=5.0, beta=0.4)
    when = {"duration": 15.0, "output_step": 1.0}
    exact = sw.simulate(model, wave, rtol=1e-9, atol=1e-10, **when)
    assert float(exact.mean_yaw[-1, 0]) > 1.0
    errors = []
    for h in (0.1, 0.05):
        run = sw.simulate(model, wave, solver="two_step", step=h, **when)
        names = ("position", "mean_yaw", "kinetic_energy", "radiation_force")
        gaps = [abs(run[name] - exact[name])[1:].max() / abs(exact[name]).max() for name in names]
        errors.append([float(gap) for gap in gaps])
    assert np.abs(np.log2(np.divide(*errors)) - 2.0).max() < 0.15
    # the memory force follows the acceleration, whose error is largest
    assert max(errors[1]) < 1e-2


def test_options_are_refused_before_anything_runs(model):
    with pytest.raises(sw.SwelltreeError, match="chunk 0 is not a number of samples"):
        sw.simulate(model, duration=1.0, chunk=0)
    with pytest.raises(sw.SwelltreeError, match=r"max_step -1\.0 s is not positive"):
        Stepping.of(max_step=-1.0)
    with pytest.raises(sw.SwelltreeError, match=r"no method 'tsit6'.*Did you mean 'tsit5'"):
        sw.simulate(model, duration=1.0, solver="tsit6")
