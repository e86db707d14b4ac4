"""Samples of runs whose steps pass over them: closed loops, energy, memory, both engines."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import heaving_float
from multibody.formulations.examples import four_bar
from swelltree.results.energy import energy_moved
from swelltree.studies.time import smooth

SEA = sw.IrregularSea(sw.Jonswap(1.5, 6.0), seed=3, ramp=7.0)


def both(monkeypatch, model, sea=None, **how):
    """A run as it is, and one whose steps land on every sample."""
    free = sw.simulate(model, sea, **how)
    with monkeypatch.context() as patch:
        patch.setattr(smooth, "_free_until", lambda task, step: -np.inf)
        return free, sw.simulate(model, sea, **how)


def buoy():
    body = sw.Body("float", mass=2.6e5, inertia=(1, 1, 1))
    rail = sw.Slider("heave", sw.WORLD, body)
    pto = sw.LinearPto("pto", joint="heave", damping=5e4)
    system = sw.System("buoy", [body], [rail], ptos=[pto], water=sw.Water(rho=1000.0))
    return sw.compile(system, heaving_float())


def lost(run):
    energies = (run[name].values for name in ("kinetic_energy", "potential_energy", "work"))
    return float(np.abs(run.energy_residual).max()) / float(energy_moved(*energies))


@pytest.mark.parametrize("formulation", ["path_matrix", "partition", "lagrange"])
def test_loops_are_closed_at_samples_within_steps(monkeypatch, formulation):
    model = sw.compile(four_bar())
    how = {"duration": 3.0, "output_step": 0.01, "formulation": formulation}
    free, landed = both(monkeypatch, model, **how)
    assert free.attrs["steps_accepted"] < 0.7 * landed.attrs["steps_accepted"]
    assert float(free.closure.max()) < 1e-9
    # the tolerance of 1e-6 of a step, over some thirty steps of a fast motion
    assert np.abs(free.position - landed.position).max() < 3e-5
    assert lost(free) < 3e-6


@pytest.mark.parametrize("solver", ["tsit5", "dopri5"])
def test_floating_body_within_the_tolerance_of_a_landed_run(monkeypatch, solver):
    how = {"duration": 60.0, "output_step": 0.05, "solver": solver, "rtol": 1e-6}
    free, landed = both(monkeypatch, buoy(), SEA, **how)
    assert free.attrs["rate_evaluations"] < 0.55 * landed.attrs["rate_evaluations"]
    for name in ("position", "velocity", "radiation_wrench", "work"):
        if name in free:
            near = 3e-6 * float(np.abs(landed[name]).max())
            assert np.abs(free[name] - landed[name]).max() < near, name
    assert lost(free) < 2e-7


def test_fixed_steps_beside_samples_keep_the_memory_exact(monkeypatch):
    """Steps of their own length carry the radiation on exactly; divided ones do not."""
    how = {"duration": 40.0, "output_step": 0.07, "solver": "rk4"}
    exact = sw.simulate(buoy(), SEA, **how | {"step": 0.0035})
    free, landed = both(monkeypatch, buoy(), SEA, **how, step=0.1)
    assert free.attrs["steps_accepted"] == 400
    assert landed.attrs["steps_accepted"] == len(free.time) - 1
    size = float(np.abs(exact.position).max())
    assert np.abs(free.position - exact.position).max() < 1e-3 * size
    assert np.abs(landed.position - exact.position).max() < 1e-3 * size


def test_extremes_within_steps_are_those_of_samples_and_ends_of_steps():
    how = {"duration": 20.0, "output_step": 0.05}
    fine = sw.simulate(buoy(), SEA, **how)
    stored = sw.simulate(buoy(), SEA, extremes=["pto_force"], **how)
    assert np.allclose(
        stored.position, fine.position, rtol=0, atol=1e-12
    )  # looking changes nothing
    values = stored.pto_force.values[:, 0]
    both = np.stack([values[1:], values[:-1]])
    assert (stored.pto_force_max.values[1:, 0] >= both.max(0)).all()
    assert (stored.pto_force_min.values[1:, 0] <= both.min(0)).all()
    size = np.abs(values).max()
    mean = stored.pto_force_mean.values[1:, 0]
    assert np.abs(mean - both.mean(0)).max() < 1e-3 * size  # curved a little between samples
    # some steps end between samples, and lie higher than both there
    assert (stored.pto_force_max.values[1:, 0] > both.max(0)).any()
    sparse = sw.simulate(buoy(), SEA, extremes=["pto_force"], duration=20.0, output_step=1.0)
    blocks = np.stack([values[20 * k : 20 * k + 21] for k in range(20)])  # both ends included
    assert np.abs(sparse.pto_force_max.values[1:, 0] - blocks.max(1)).max() < 0.05 * size
    mean = 0.5 * (blocks[:, 1:] + blocks[:, :-1]).mean(1)
    assert np.abs(sparse.pto_force_mean.values[1:, 0] - mean).max() < 0.05 * size
