"""Runs by machine code of our own against the same runs by XLA."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.engine.machine.program import ASKED
from swelltree.studies.time.engines import engine_of
from swelltree.validation.machines.pto_systems import oscillator


def chain():
    """Three bodies with hinges in space, springs, a damper and stops that are reached."""
    bodies = [
        sw.Body(f"b{k}", mass=2.0 + k, inertia=(0.2, 0.3, 0.4), position=(0.6 + 1.1 * k, 0.1, 0.2))
        for k in range(3)
    ]
    joints, base = [], sw.WORLD
    for k, body in enumerate(bodies):
        axis = (0.2 * k, 1.0, 0.1)
        at = base if k == 0 else base.at(0.5, 0, 0)
        joints.append(sw.Hinge(f"h{k}", at, body.at(-0.6, 0, 0), axis=axis, position=0.3))
        base = body
    stops = {"lower": -0.6, "upper": 0.4, "stop_stiffness": 900.0, "stop_damping": 3.0}
    forces = [sw.JointForce("brake", "h1", damping=0.4, **stops)]
    return sw.System("chain", bodies, joints, forces)


def latched():
    """Held for 0.35 s at each standstill."""
    return oscillator(sw.LatchingPto("latch", joint="rail", release_after=0.35))


def barges():
    return sw.gallery.barges().model(fit={"error": 0.2})


SEA = sw.IrregularSea(sw.Jonswap(Hs=2.5, Tp=8.5), omega_max=2.2, seed=3)
CASES = {
    "chain, tsit5": (lambda: sw.compile(chain()), None, {"solver": "tsit5"}),
    "chain, dopri5": (lambda: sw.compile(chain()), None, {"solver": "dopri5"}),
    "chain, rk4": (lambda: sw.compile(chain()), None, {"solver": "rk4", "step": 0.01}),
    "latch": (lambda: sw.compile(latched()), None, {"duration": 6.0}),
    "barges in a sea": (barges, SEA, {}),
    "barges in a sea, rk4": (barges, SEA, {"solver": "rk4", "step": 0.05}),
}


def both(monkeypatch, make, wave, how):
    model = make()
    how = {"duration": 2.0, "output_step": 0.1, **how}
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    by_llvm = sw.simulate(model, wave, **how)
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    return by_llvm, sw.simulate(model, wave, **how)


def same(found, right, near):
    """All channels within a share of their size; the energy residual, of that of the energies."""
    assert set(found.data_vars) == set(right.data_vars)
    energy = [float(np.abs(right[name]).max()) for name in ("kinetic_energy", "potential_energy")]
    for name, x in right.data_vars.items():
        if x.dtype.kind == "f":
            size = max(float(np.abs(x).max()), 1.0)
            size = max(energy) if name == "energy_residual" else size
            np.testing.assert_allclose(
                found[name], x, rtol=near, atol=near * size, err_msg=str(name)
            )


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("name", CASES)
def test_run_by_llvm_is_that_by_xla(monkeypatch, name):
    found, right = both(monkeypatch, *CASES[name])
    assert found.attrs["engine"] == "LLVM"
    assert right.attrs["engine"] == f"XLA: {ASKED}"
    # the search for an event ends within 1e-10 s: rounding may take it one step more or less
    counts = ("events",) if "events" in right.attrs else ("steps_accepted", "rate_evaluations")
    for count in counts:
        assert found.attrs[count] == right.attrs[count]
    # what a latch found 1e-10 s late still has to stop, within 0.1 s: 1e-9 of the acceleration
    same(found, right, 1e-8 if "events" in right.attrs else 1e-9)


slow = pytest.mark.slow
GALLERY = ["sphere", "oswec", "rm3", "spar", "tank", "barges", "hinge_barge"]


@pytest.mark.parametrize("name", [GALLERY[0], *(pytest.param(x, marks=slow) for x in GALLERY[1:])])
def test_runs_of_the_gallery_are_machine_code(monkeypatch, name):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    device = getattr(sw.gallery, name)()
    run = sw.SimulateStudy("run", duration=20.0, output_step=0.1, sea=device.sea)
    assert engine_of(device.model(), run) == "LLVM"


def test_what_cannot_be_flattened_runs_by_xla_and_says_why(monkeypatch):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    model = sw.compile(chain())
    run = sw.SimulateStudy("run", duration=1.0, solver="stiff")
    assert engine_of(model, run) == "XLA: the implicit solver"
    result = sw.simulate(model, duration=0.2, output_step=0.1, solver="stiff")
    assert result.attrs["engine"] == "XLA: the implicit solver"
