"""Runs in time: accuracy, chunks, resume, divergence, options."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.options import Sampling, complete
from swelltree.studies.time.task import output_times

g, LENGTH = 9.81, 1.5


def pendulum(**force) -> sw.System:
    bob = sw.Body("bob", mass=2.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, -LENGTH))
    hinge = sw.Hinge("hinge", sw.WORLD, bob.at(0, 0, LENGTH), position=0.4)
    forces = [sw.JointForce("element", "hinge", **force)] if force else []
    return sw.System("pendulum", [bob], [hinge], forces)


@pytest.fixture(scope="module")
def model():
    return sw.compile(pendulum())


def test_energy_of_a_pendulum_is_kept(model):
    run = sw.simulate(model, duration=10.0, output_step=0.1, rtol=1e-10, atol=1e-12)
    swing = float(run.kinetic_energy.sum("body").max())
    assert float(np.abs(run.energy_residual).max()) < 1e-8 * swing


def test_damper_takes_exactly_the_energy_lost():
    run = sw.simulate(
        sw.compile(pendulum(damping=0.8)), duration=5.0, output_step=0.1, rtol=1e-10, atol=1e-12
    )
    energy = run.kinetic_energy.sum("body") + run.potential_energy.sum("element")
    lost = float(energy[0] - energy[-1])
    assert lost > 1.0
    # both sides come from the same integration: equal to its tolerance
    assert float(-run.work.sel(element="element")[-1]) == pytest.approx(lost, rel=1e-8)


@pytest.mark.parametrize("solver", ["dopri5", "rk4", "stiff"])
def test_solvers_agree_with_tsit5(model, solver):
    reference = sw.simulate(model, duration=2.0, output_step=0.5, rtol=1e-10, atol=1e-12)
    options = {"step": 0.002} if solver == "rk4" else {"rtol": 1e-8, "atol": 1e-10}
    run = sw.simulate(model, duration=2.0, output_step=0.5, solver=solver, **options)
    gap = np.abs(run.joint_coordinate - reference.joint_coordinate).max()
    # tolerance 1e-8 over about ten steps per second; rk4: (h w)^4/120 per radian
    assert float(gap) < 1e-6


def test_rk4_converges_with_order_four(model):
    exact = sw.simulate(
        model, duration=2.0, output_step=1.0, rtol=1e-13, atol=1e-14
    ).joint_coordinate[-1, 0]
    errors = [
        abs(
            float(
                sw.simulate(
                    model, duration=2.0, output_step=1.0, solver="rk4", step=h
                ).joint_coordinate[-1, 0]
                - exact
            )
        )
        for h in (0.04, 0.02, 0.01)
    ]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    # the error term of order 5 changes the ratio by a few per cent
    assert np.abs(orders - 4.0).max() < 0.15


def test_resumed_run_equals_the_uninterrupted_one_bit_for_bit(model, tmp_path):
    full = sw.simulate(model, duration=4.0, output_step=0.1, chunk=10)
    folder = tmp_path / "run.ckpt"
    sw.simulate(model, duration=4.0, output_step=0.1, chunk=10, checkpoint=folder)
    files = sorted(folder.iterdir())
    assert len(files) >= 4
    for file in files[2:]:
        file.unlink()
    resumed = sw.simulate(
        model, duration=4.0, output_step=0.1, chunk=10, checkpoint=folder, resume=True
    )
    assert np.array_equal(full.position, resumed.position)
    assert np.array_equal(full.velocity, resumed.velocity)


def test_checkpoint_of_another_run_is_refused(model, tmp_path):
    folder = tmp_path / "run.ckpt"
    sw.simulate(model, duration=1.0, output_step=0.1, chunk=5, checkpoint=folder)
    with pytest.raises(sw.SwelltreeError):
        sw.simulate(
            model, duration=1.0, output_step=0.1, chunk=5, rtol=1e-4, checkpoint=folder, resume=True
        )


def test_chunk_length_does_not_change_the_motion(model):
    one = sw.simulate(model, duration=2.0, output_step=0.1, chunk=200)
    many = sw.simulate(model, duration=2.0, output_step=0.1, chunk=7)
    assert np.array_equal(one.position, many.position)


def escaping(t, motion):
    """A force that grows without bound as the body moves away."""
    x = motion.position
    return 50.0 * x * (x @ x), 0.0 * x


def test_diverging_run_stops_with_time_and_body_and_keeps_its_start():
    body = sw.Body("runaway", mass=1.0, inertia=(1, 1, 1), position=(1.0, 0, 0))
    system = sw.System(
        "blow up",
        [body],
        [sw.Slider("rail", sw.WORLD, body, axis="x")],
        forces=[sw.AppliedForce("push", body, function=escaping)],
        water=sw.Water(g=0.0),
    )
    with pytest.warns(sw.SwelltreeWarning, match=r"stopped at t = .*runaway"):
        run = sw.simulate(sw.compile(system), duration=10.0, output_step=0.01)
    assert 0.1 < float(run.time[-1]) < 1.0
    assert np.isfinite(run.position).all()
    assert run.attrs["result"] != "success"


def test_long_run_with_sparse_output_stays_small(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = sw.simulate(model, duration=1000.0, output_step=10.0)
    assert len(run.time) == 101
    assert run.attrs["result"] == "success"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": -1.0}, "duration -1 s is not positive"),
        ({"duration": 1.0, "output_step": 2.0}, "output_step 2 s must lie between"),
        ({"duration": 1.0, "formulation": "pathmatrix"}, "Did you mean 'path_matrix'"),
        ({"duration": 1.0, "solver": "rk45"}, "there is no method 'rk45'"),
        ({"duration": 1.0, "rtol": 0.0}, "rtol 0.0 is not positive"),
        ({"duration": 1.0, "step": -0.1, "solver": "rk4"}, "step -0.1 s is not positive"),
        ({"times": [1.0, 0.5]}, "times must be increasing"),
    ],
)
def test_bad_options_are_refused(model, options, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.simulate(model, **options)


def test_output_times_end_at_the_duration(model):
    assert output_times(
        model, None, complete(Sampling, duration=1.0, output_step=0.3)
    ) == pytest.approx([0, 0.3, 0.6, 0.9, 1.0])
    assert len(output_times(model, None, complete(Sampling, duration=10.0, output_step=0.1))) == 101
