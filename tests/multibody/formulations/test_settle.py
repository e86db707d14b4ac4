"""Back onto the constraints: what settling restores and what it leaves alone."""

import numpy as np
import pytest

import swelltree as sw
from agreement.compare import QUICK, some, trajectory
from multibody.formulations.examples import bar, floating_tree, spatial_loop
from swelltree.jit import jax, jnp
from swelltree.multibody.formulations import State, formulation
from swelltree.multibody.formulations.equations import Phase, observe, settle, start_phase
from swelltree.multibody.formulations.lagrange import Lagrange
from swelltree.multibody.formulations.partition import Partition
from swelltree.multibody.inertia import apply_inertia


def compiled_loop():
    system, added_mass = spatial_loop()
    return sw.compile(system, added_mass=added_mass)


def quick(function):
    return jax.jit(function, compiler_options=QUICK)


def momenta(model, kin):
    """Linear momentum, angular momentum about the origin, and first moment of mass."""
    v, p = kin.motion.v, kin.motion.pose.p
    each = apply_inertia(kin.inertia, v[:, :, None])[:, :, 0]
    angular = (each[:, 3:] + jnp.cross(p, each[:, :3])).sum(0)
    centre = (kin.inertia.mass[:, None] * (p + kin.inertia.arm)).sum(0)
    return each[:, :3].sum(0), angular, centre


@pytest.mark.parametrize("name", some("path_matrix", "partition", "lagrange"))
def test_settling_brings_a_disturbed_loop_back(name):
    model = compiled_loop()
    how = formulation(name)
    rng = np.random.default_rng(5)

    def run(model, shift, kick):
        y = start_phase(model, how)
        state = State(y.state.q + shift, y.state.s + kick, y.state.chart)
        zero = jnp.zeros(())
        back = settle(model, how, zero, settle(model, how, zero, Phase(state, y.work)))
        kin = how.kinematics(model, zero, back.state)
        slip = kin.rows.jacobian @ kin.motion.v.ravel() - kin.rows.velocity_rhs
        before = observe(model, how, zero, Phase(state, y.work))["closure"]
        return before, observe(model, how, zero, back)["closure"], jnp.abs(slip).max()

    y = jax.eval_shape(lambda m: start_phase(m, how), model)
    shift = 1e-4 * rng.normal(size=y.state.q.shape)
    kick = 1e-2 * rng.normal(size=y.state.s.shape)
    before, after, slip = quick(run)(model, shift, kick)
    assert before > 1e-5
    # Newton squares 1e-4 at every one of its four corrections: rounding remains
    assert after < 1e-13
    assert slip < 1e-12


def test_projection_of_velocities_keeps_linear_and_angular_momentum():
    model, how = sw.compile(floating_tree()), Lagrange()

    def run(model, kick):
        y = start_phase(model, how)
        off = State(y.state.q, y.state.s + kick, y.state.chart)
        back = how.settle(model, jnp.zeros(()), off)
        one = momenta(model, how.kinematics(model, jnp.zeros(()), off))
        other = momenta(model, how.kinematics(model, jnp.zeros(()), back))
        return one, other, jnp.abs(back.s - off.s).max()

    kick = 0.1 * np.random.default_rng(2).normal(size=30)
    one, other, change = quick(run)(model, kick)
    assert change > 0.01
    for before, after in zip(one, other, strict=True):
        # reactions are equal and opposite: only rounding
        assert np.abs(np.asarray(before - after)).max() < 1e-13


def test_projection_of_positions_keeps_the_centre_of_mass():
    model, how = sw.compile(floating_tree(velocity=False)), Lagrange()

    def run(model, shift):
        y = start_phase(model, how)
        off = State(y.state.q + shift, y.state.s, y.state.chart)
        back = how.settle(model, jnp.zeros(()), off)
        one = momenta(model, how.kinematics(model, jnp.zeros(()), off))
        other = momenta(model, how.kinematics(model, jnp.zeros(()), back))
        return one[2], other[2], jnp.abs(back.q - off.q).max()

    shift = np.zeros(3 * 5 + 4 * 5 + 3)
    shift[:15] = 1e-4 * np.random.default_rng(2).normal(size=15)
    one, other, change = quick(run)(model, shift)
    assert change > 1e-5
    # exact to first order; turning offset centres of mass by 1e-4 adds its square
    assert np.abs(np.asarray(one - other)).max() < 1e-7


def test_a_worn_partition_is_chosen_again_and_keeps_the_velocities():
    model = compiled_loop()
    eager, lazy = Partition(limit=1.01), Partition(limit=1e9)
    rng = np.random.default_rng(0)

    def run(model, chart, how):
        # start from the same motion in another, usable but poor, partition
        good = lazy.start(model)
        v = lazy.kinematics(model, jnp.zeros(()), good).motion.v.ravel()
        m = len(model.all_rows)
        poor = State(good.q, v[chart[m:].astype(int)], chart)
        settled = how.settle(model, jnp.zeros(()), poor)
        kin = how.kinematics(model, jnp.zeros(()), settled)
        before = how.condition(model, how.kinematics(model, jnp.zeros(()), poor), poor)
        return before, how.condition(model, kin, settled), v, kin.motion.v.ravel(), settled.chart

    m = len(model.all_rows)
    for _ in range(50):
        chart = rng.permutation(18).astype(float)
        before, after, v, stored, chosen = quick(lambda a, b: run(a, b, eager))(model, chart)
        if 10.0 < float(before) < 1e4:
            break
    assert after < before
    assert set(np.asarray(chosen)[:m]) != set(chart[:m])
    # the poor partition loses digits in proportion to the largest entry of P
    assert np.abs(np.asarray(v - stored)).max() < 1e-15 * float(before) * 100
    same = quick(lambda a, b: run(a, b, lazy))(model, chart)
    assert np.array_equal(np.asarray(same[4]), chart)


def violation(model, how, t, y):
    """Largest violation of any joint equation."""
    return jnp.abs(how.kinematics(model, t, y.state).rows.residual).max()


def test_baumgarte_keeps_drift_bounded_but_projection_keeps_none():
    links = [bar("one", 0.5), bar("two", 1.5)]
    joints = [
        sw.Hinge("a", sw.WORLD, links[0].at(-0.5)),
        sw.Hinge("b", links[0].at(0.5), links[1].at(-0.5)),
    ]
    model = sw.compile(sw.System("double pendulum", links, joints))
    drift = {
        how.stabilisation: trajectory(
            model, how, np.linspace(0.0, 4.0, 41), rtol=1e-6, atol=1e-9, watch=violation
        )
        for how in (Lagrange(), Lagrange("baumgarte"))
    }
    assert drift["projection"].max() < 1e-13
    # feedback leaves what the time stepping errs within its time constant of 0.1 s
    assert 1e-10 < drift["baumgarte"].max() < 1e-4
