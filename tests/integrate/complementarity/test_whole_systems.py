"""Bodies, joints, added mass and memory in the two-step scheme."""

import dataclasses
from functools import cache

import numpy as np
import pytest

import swelltree as sw


@cache
def tumbling(gravity: float = 0.0):
    """Three hinged bodies with eccentric masses and dense added mass, spinning in space."""
    bodies = [
        sw.Body(
            f"b{i}",
            mass=100.0 + 10 * i,
            inertia=(20, 50, 60),
            com=(0.2, 0.1, -0.1),
            reference_point=(0, 0, 0),
            position=(2.0 * i, 0, 0),
        )
        for i in range(3)
    ]
    joints = [sw.Free("free", sw.WORLD, bodies[0])]
    joints += [
        sw.Hinge(f"h{i}", bodies[i].at(1, 0, 0), bodies[i + 1].at(-1, 0, 0), axis="y")
        for i in range(2)
    ]
    system = sw.System("chain", bodies=bodies, joints=joints, water=sw.Water(g=gravity))
    A = 5.0 * np.random.default_rng(0).normal(size=(18, 18))
    model = sw.compile(system, added_mass=A @ A.T)
    s = np.array([0.3, 0.1, 0.2, 1.0, 0.7, -0.8, 0.5, -0.6])
    return model.replace(start=dataclasses.replace(model.start, s=s))


@cache
def tumbled(formulation: str, step: float):
    return sw.simulate(
        tumbling(),
        duration=10.0,
        output_step=0.1,
        step=step,
        solver="two_step",
        formulation=formulation,
    )


def half_step_energy(model, run, h):
    """Kinetic energy between samples that lie one step apart."""
    R, p, v = run.rotation.values, run.position.values[..., :3], run.velocity.values
    com = p + np.einsum("tnij,nj->tni", R, model.bodies.com)
    # the mean velocity is that of both half steps: undo the average from the first one on
    v_dot = run.acceleration.values
    half = v + 0.5 * h * v_dot
    W = np.einsum("tnji,tnj->tni", R, half[..., 3:])[:-1]
    linear = np.diff(com, axis=0) / h
    K = 0.5 * np.einsum("n,tni,tni->t", model.bodies.mass, linear, linear)
    K += 0.5 * np.einsum("tni,nij,tnj->t", W, model.bodies.inertia, W)
    flat = half[:-1].reshape(len(K), -1)
    return K + 0.5 * np.einsum("ti,ij,tj->t", flat, model.added_mass, flat)


@pytest.mark.parametrize(
    "formulation", ["lagrange", pytest.param("path_matrix", marks=pytest.mark.slow)]
)
def test_tumbling_bodies_keep_their_energy(formulation):
    run = tumbled(formulation, 0.1)
    # the first sample is the start as given, not the mean of two half steps
    K = half_step_energy(tumbling(), run, 0.1)[1:]
    assert np.ptp(K) < 1e-11 * K[0]
    assert run.closure.max() < 1e-10


def test_joint_coordinates_and_multipliers_give_the_same_motion():
    a, b = tumbled("lagrange", 0.1), tumbled("path_matrix", 0.1)
    assert abs(a.position - b.position).max() < 1e-8
    assert abs(a.reaction - b.reaction).max() < 0.03 * abs(a.reaction).max()  # order 2 both


def test_two_steps_converge_to_the_smooth_solution_at_second_order():
    exact = sw.simulate(tumbling(), duration=10.0, output_step=0.1, rtol=1e-10, atol=1e-11)
    errors = [
        [float(abs(tumbled("lagrange", h)[x] - exact[x]).max()) for x in ("position", "rotation")]
        for h in (0.1, 0.05)
    ]
    order = np.log2(np.array(errors[0]) / errors[1])
    assert (abs(order - 2.0) < 0.1).all()


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["lagrange", "path_matrix"])
def test_hinged_barges_with_memory_and_pto_converge_at_second_order(formulation):
    model = sw.gallery.barges().model(fit={"error": 0.05})
    when = {"duration": 30.0, "output_step": 0.5}
    sea = sw.gallery.barges().sea
    exact = sw.simulate(model, sea, rtol=1e-10, atol=1e-11, **when)
    found = []
    for h in (0.1, 0.05, 0.025):
        run = sw.simulate(
            model,
            sw.gallery.barges().sea,
            solver="two_step",
            formulation=formulation,
            step=h,
            **when,
        )
        hinge = (run.reaction - exact.reaction).sel(joint="hinge1", dof=["Surge", "Heave"])
        found.append(
            [
                float(abs(run.position - exact.position).max()),
                float(abs(run.rotation - exact.rotation).max()),
                float(abs(hinge.isel(time=slice(1, None))).max()),
            ]
        )
        assert run.closure.max() < 1e-10
    order = np.log2(np.array(found[:-1]) / np.array(found[1:]))
    assert (abs(order - 2.0) < 0.1).all()


def test_energy_budget_of_a_falling_chain_closes_with_the_step():
    run = sw.simulate(tumbling(9.81), duration=2.0, output_step=0.05, step=0.025, solver="two_step")
    coarse = sw.simulate(
        tumbling(9.81), duration=2.0, output_step=0.05, step=0.05, solver="two_step"
    )
    ratio = abs(coarse.energy_residual).max() / abs(run.energy_residual).max()
    assert 3.0 < ratio < 5.0


def test_solver_of_lines_refuses_other_formulations():
    with pytest.raises(sw.SwelltreeError, match="solver='two_step' with 'lagrange'"):
        sw.simulate(tumbling(), duration=1.0, solver="two_step", formulation="composite_body")


def test_output_step_must_be_a_multiple_of_the_step():
    with pytest.raises(
        sw.SwelltreeError, match=r"output_step 0\.1 s is not a multiple of step 0\.03"
    ):
        sw.simulate(tumbling(), duration=1.0, output_step=0.1, step=0.03, solver="two_step")
