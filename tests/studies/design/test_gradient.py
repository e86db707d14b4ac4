"""Derivatives of runs: against differences of the same steps, JAX's own derivatives, formulas."""

from typing import Any

import numpy as np
import pytest

import swelltree as sw
from made_oscillator import POWER, oscillator
from swelltree.describe.options import GradientOptions, TracedOptions, complete
from swelltree.integrate.problem import start
from swelltree.integrate.runge_kutta.adjoint import Steps, values_within
from swelltree.integrate.runge_kutta.explicit import TABLEAUS, explicit
from swelltree.jit import Program, jax, jnp, ravel_pytree
from swelltree.studies.design.adjoint import followed_back, recorded
from swelltree.studies.design.chain import Design, RunOf, chain_of
from swelltree.studies.design.gradient import value_of
from swelltree.studies.time.smooth import problem_of

FIXED: dict[str, Any] = {
    "solver": "rk4",
    "step": 0.1,
    "duration": 30.0,
    "output_step": 0.3,
    "settled": 6.0,
}


def differences(function, h):
    return (8 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))) / (12 * h)


def direction_of(design, names):
    """A random direction: change of every parameter by about its own size."""
    rng = np.random.default_rng(3)
    result = {}
    for name in names:
        value = design.value(name)
        result[name] = rng.standard_normal(value.shape) * np.where(value == 0.0, 1.0, value)
    return result


def agreement(model, sea, objective, names, h=1e-4, **options):
    """Derivative along a random direction over that by differences of whole runs, less one."""
    design = Design(model, sea)
    along = direction_of(design, names)
    found = sw.gradient(model, sea, objective, names, **options)

    def value(s):
        moved = {name: np.asarray(design.value(name) + s * d) for name, d in along.items()}
        other = design.at(moved)
        return value_of(other, objective, complete(GradientOptions, **options))

    flat = np.concatenate([np.ravel(d) for d in along.values()])
    return float(found.derivative.values @ flat) / differences(value, h) - 1.0


def test_value_is_that_of_the_run():
    model = sw.compile(oscillator())
    options: dict[str, Any] = {"duration": 20.0, "output_step": 0.1}
    found = sw.gradient(model, None, POWER, "ptos.pto.damping", **options)
    run = sw.simulate(model, **options)
    mean = float(sw.statistics(run.absorbed_power).sel(statistic="mean").sum())
    assert float(found.objective) == pytest.approx(mean, rel=1e-12)


def test_power_of_a_damper_changes_as_the_formula_says():
    # P = c (a w)^2 / 2 with a = F / |k - m w^2 + i c w|, over whole periods of the steady motion
    m, k, c, F, w = 3.0, 40.0, 3.0, 5.0, 4.0
    period = 2 * np.pi / w
    model = sw.compile(oscillator(m, k, c, F, w))
    names = ["ptos.pto.damping", "ptos.pto.stiffness", "bodies.mass.mass"]
    found = sw.gradient(
        model,
        None,
        POWER,
        names,
        duration=60 * period,
        output_step=period / 40,
        settled=50 * period,
        solver="rk4",
        step=period / 400,
    )
    a, b = k - m * w**2, c * w
    size = F**2 * w**2 / 2
    whole = (a * a + b * b) ** 2
    exact = [
        size * (a * a - b * b) / whole,
        -size * c * 2 * a / whole,
        size * c * 2 * a * w**2 / whole,
    ]
    assert found.derivative.values == pytest.approx(exact, rel=1e-6)
    assert list(found.unit.values) == ["N s/m, N m s/rad", "N/m, N m/rad", "kg"]


@pytest.mark.slow
def test_agrees_with_derivatives_of_jax():
    model = sw.compile(oscillator())
    options: dict[str, Any] = {"duration": 1.0, "output_step": 0.25, "solver": "rk4", "step": 0.125}

    def last(damping):
        run = sw.simulate_traced(
            model.with_values({"pto.damping": damping}), max_steps_per_output=3, **options
        )
        return run["position"][-1, 0, 0]

    found = sw.gradient(
        model, None, lambda run: run["position"][-1, 0, 0], "pto.damping", **options
    )
    assert float(found.derivative[0]) == pytest.approx(float(jax.grad(last)(2.0)), rel=1e-9)


@pytest.mark.parametrize("solver", ["rk4", "tsit5", "dopri5"])
def test_derivatives_are_those_of_the_accepted_steps(solver):
    # the same steps again, as the explicit step takes them, with other numbers
    device = sw.gallery.sphere(damping=1e4)
    options = complete(TracedOptions, duration=8.0, output_step=0.13, solver=solver)
    if solver == "rk4":
        options |= {"step": 0.05}  # samples within steps
    run = RunOf.prepared(Design(device.model(), device.sea), options)
    chain = chain_of(run, ["ptos.pto.damping", "bodies.sphere.mass"], options)
    record = recorded(run, 1e9)
    rng = np.random.default_rng(0)
    slopes = rng.standard_normal(record.values.shape)
    lam, slope = followed_back(record, chain.varied, chain.changes, chain.theta, slopes)

    problem = problem_of(run.task.model, run.task.formulation)
    settle = problem.settle
    assert settle is not None
    tableau, args = TABLEAUS[solver], (run.model, chain.changes)
    unravel = ravel_pytree(record.like)[1]
    free = run.stepper.free

    def again(args, theta, steps, y):
        model = chain.varied(args, theta)

        def one(y, step):
            carry = start(0.0, unravel(y))._replace(t=step.t)
            never = jnp.zeros((), bool)
            sampled = step.sampled if free else None
            tried = explicit(
                tableau, problem, model, carry, step.h, step.latest, never, False, sampled
            )
            after = ravel_pytree(settle(model, step.t_end, tried.y))[0]
            stages = jnp.concatenate(
                [x.reshape(len(x), -1) for x in jax.tree.leaves(tried.stages)], axis=1
            )
            new = step._replace(y=y, end=ravel_pytree(tried.y)[0], stages=stages)
            keep = jnp.where(step.accepted, after, y)
            return keep, (new, keep)

        return jax.lax.scan(one, y, steps)[1]

    program = Program(again)

    def total(s, by_theta, by_start):
        y = record.values[0] + s * by_start
        result = slopes[0] @ y
        for part in record.parts:
            steps, after = program(args, chain.theta + s * by_theta, part.steps, y)
            steps, after = Steps(*map(np.asarray, steps)), np.asarray(after)
            rows = slice(*part.samples)
            inside = values_within(tableau, steps, part.which, record.times[rows])
            values = np.where(part.landed[:, None], after[part.which], inside)
            result, y = result + np.sum(slopes[rows] * values), after[-1]
        return result

    for by_theta, by_start in (
        (chain.theta * rng.standard_normal(len(chain.theta)), 0.0),
        (0.0, 1e-2 * rng.standard_normal(len(lam))),
    ):
        exact = differences(lambda s, a=by_theta, b=by_start: total(s, a, b), 1e-3)
        found = np.sum(slope * by_theta) + np.sum(lam * by_start)
        assert found == pytest.approx(exact, rel=1e-8)


def test_a_direct_number_is_one_entry_of_the_model_with_slope_one():
    """By either name, although the radiation of the flap is fitted by its motions."""
    device = sw.gallery.oswec()
    options = complete(TracedOptions, duration=2.0, output_step=0.5)
    run = RunOf.prepared(Design(device.model(), device.sea), options)
    chain = chain_of(run, ["pto.damping", "bodies.flap.mass"], options)
    damping, mass = (run.design.value(name) for name in ("pto.damping", "flap.mass"))
    np.testing.assert_array_equal(chain.by_theta @ chain.theta, [damping, mass])
    np.testing.assert_array_equal(np.sort(chain.by_theta), [[0.0, 1.0], [0.0, 1.0]])
    assert not chain.by_start.any()


def test_little_memory_gives_the_same_derivatives():
    model = sw.compile(oscillator())
    options: dict[str, Any] = {"duration": 60.0, "output_step": 0.05, "solver": "rk4", "step": 0.05}
    names = ["ptos.pto.damping", "bodies.mass.mass"]
    all_kept = sw.gradient(model, None, POWER, names, **options)
    remade = sw.gradient(model, None, POWER, names, memory=1.0, **options)
    assert remade.attrs["parts_recomputed"] > 1
    assert all_kept.attrs["parts_recomputed"] == 0
    assert np.array_equal(all_kept.derivative, remade.derivative)


def test_sphere_in_waves_by_differences():
    device = sw.gallery.sphere(damping=1e4)
    names = ["ptos.pto.damping", "bodies.sphere.mass", "sea.spectrum.Hs"]
    assert abs(agreement(device.model(), device.sea, POWER, names, **FIXED)) < 1e-8


@pytest.mark.slow
def test_height_period_and_phase_of_a_wave_by_differences():
    device = sw.gallery.sphere(damping=1e4)
    sea = sw.RegularWave(height=2.0, period=9.0, phase=0.3, ramp=5.0)
    names = ["sea.height", "sea.period", "sea.phase"]
    assert abs(agreement(device.model(), sea, POWER, names, 1e-5, **FIXED)) < 1e-6


@pytest.mark.slow
def test_height_period_and_heading_of_a_wave_by_differences():
    device = sw.gallery.spar()
    sea = sw.RegularWave(height=2.0, period=9.0, beta=0.3, ramp=5.0)
    names = ["sea.height", "sea.period", "sea.beta"]
    objective = sw.rms_of("displacement", body="spar", dof="Heave")
    options = FIXED | {"start": "described"}
    assert abs(agreement(device.model(), sea, objective, names, 1e-5, **options)) < 1e-6


@pytest.mark.slow
def test_lines_by_differences_from_their_equilibrium():
    device = sw.gallery.spar()
    names = ["lines.line1.rest_length", "lines.line2.type.EA", "bodies.spar.mass"]
    objective = sw.smooth_max_of("displacement", body="spar", dof="Surge", sharpness=5.0)
    assert abs(agreement(device.model(), device.sea, objective, names, 1e-4, **FIXED)) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "names"),
    [
        ("rm3", ["ptos.pto.damping", "bodies.spar.mass", "bodies.float.com", "sea.spectrum.Hs"]),
        ("oswec", ["ptos.pto.damping", "bodies.flap.mass", "ptos.pto.stiffness"]),
        (
            "barges",
            ["ptos.pto1.damping", "moorings.mooring.stiffness.Surge", "sea.spectrum.Hs"],
        ),
        ("hinge_barge", ["sea.height"]),
    ],
)
def test_gallery_by_differences(device, names):
    ready = getattr(sw.gallery, device)()
    assert abs(agreement(ready.model(), ready.sea, POWER, names, **FIXED)) < 1e-6


@pytest.mark.slow
def test_loop_of_joints_by_differences():
    model = sw.compile(four_bar())
    objective = lambda run: run["joint_coordinate"][-1, 0]  # noqa: E731
    names = ["crank.mass", "brake.damping", "bodies.coupler.mass"]
    options: dict[str, Any] = {"solver": "rk4", "step": 0.02, "duration": 0.6, "output_step": 0.1}
    assert abs(agreement(model, None, objective, names, **options)) < 1e-6


def four_bar():
    crank = sw.Body("crank", mass=2.0, inertia=(0.2, 0.2, 0.2), position=(0, 0, 0.5))
    coupler = sw.Body("coupler", mass=3.0, inertia=(0.9, 0.9, 0.9), position=(1.0, 0, 1.0))
    rocker = sw.Body("rocker", mass=2.0, inertia=(0.2, 0.2, 0.2), position=(2.0, 0, 0.5))
    return sw.System(
        "four_bar",
        [crank, coupler, rocker],
        [
            sw.Hinge("a", sw.WORLD.at(0, 0, 0), crank.at(0, 0, -0.5)),
            sw.Hinge("b", crank.at(0, 0, 0.5), coupler.at(-1.0, 0, 0)),
            sw.Hinge("c", coupler.at(1.0, 0, 0), rocker.at(0, 0, 0.5)),
            sw.Hinge("d", sw.WORLD.at(2.0, 0, 0), rocker.at(0, 0, -0.5)),
        ],
        [sw.JointForce("brake", "a", damping=0.4, stiffness=30.0, rest_position=0.4)],
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("ptos.pto.dampin", "there is no 'dampin'.*damping"),
        ("pto.dampin", "no number 'dampin'.*damping"),
        ("sea.height", "no described sea"),
        ("bodies.mass.name", "is not a number"),
        ([], "no parameters are given"),
    ],
)
def test_unknown_parameters_are_rejected_with_what_there_is(parameters, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.gradient(sw.compile(oscillator()), None, POWER, parameters, duration=1.0)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (lambda run: run["position"][-1, 0], r"array of shape \(6,\)"),
        (sw.mean_of("absorbed"), "no channel 'absorbed'.*absorbed_power"),
        (sw.mean_of("absorbed_power", pto="ram"), "no pto 'ram'.*It has 'pto'"),
        (sw.mean_of("absorbed_power", body="mass"), "no dimension 'body'"),
        (sw.rms_of("position", body="mass"), "6 entries along"),
    ],
)
def test_objectives_that_are_no_number_are_rejected(objective, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.gradient(sw.compile(oscillator()), None, objective, "pto.damping", duration=1.0)


def test_what_has_no_derivative_is_named():
    model = sw.compile(oscillator())
    with pytest.raises(sw.SwelltreeError, match="solver 'stiff' has no adjoint"):
        sw.gradient(model, None, POWER, "pto.damping", duration=1.0, solver="stiff")
    system = oscillator()
    latched = sw.LatchingPto("latch", joint="rail", release_after=0.2)
    with pytest.raises(sw.SwelltreeError, match=r"switches at events \(.*'latch'"):
        sw.gradient(
            sw.compile(system.replace(ptos=(*system.ptos, latched))),
            None,
            POWER,
            "pto.damping",
            duration=1.0,
        )
