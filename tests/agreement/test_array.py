"""Ten floats that radiate into one another: a sea of a quarter of an hour, then still water."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.results.energy import energy_scale

WAVES, STOP, STILL = 1000.0, 60.0, 240.0  # the sea, how long it dies away, still water [s]
AFTER = 60.0  # the record goes on: its end joins its beginning, which comes early upstream [s]


def array():
    """Two rows of five vertical cylinders, each moored by itself, in head waves."""
    bodies = [
        sw.Body(
            f"float{k + 1}",
            hull=sw.Cylinder(radius=2.0, draft=1.5, height=2.2, panel_size=1.2),
            position=(12.0 * (k % 5) - 24.0, 12.0 * (k // 5) - 6.0, 0.0),
        )
        for k in range(10)
    ]
    mooring = {"stiffness": {"Surge": 1e4}, "damping": {"Surge": 1e4, "Pitch": 1e4}}
    return sw.System(
        "array",
        bodies,
        [sw.Planar(f"guide{k}", sw.WORLD.at(*b.position), b) for k, b in enumerate(bodies, 1)],
        moorings=[sw.LinearMooring(f"mooring{k}", b, **mooring) for k, b in enumerate(bodies, 1)],
    )


def dying_sea():
    """Fifty waves of random phase that stop."""
    rng = np.random.default_rng(5)
    time = np.arange(0.0, WAVES + STOP + STILL + AFTER, 0.25)
    omega = np.linspace(0.7, 2.2, 50) + rng.uniform(-0.01, 0.01, 50)
    elevation = 0.05 * np.cos(np.outer(time, omega) + rng.uniform(0, 2 * np.pi, 50)).sum(axis=1)
    rise = np.clip(time / 40.0, 0.0, 1.0) * np.clip((WAVES + STOP - time) / STOP, 0.0, 1.0)
    window = np.sin(np.pi / 2 * rise) ** 2
    return sw.MeasuredWave(tuple(time), tuple(elevation * window), omega_max=2.8)


@pytest.mark.slow
def test_ten_coupled_floats_keep_their_energy_and_come_to_rest():
    system = array()
    data = sw.run_bem(system, np.linspace(0.25, 3.0, 23), [0.0])
    model = sw.compile(system, data, fit={"error": 0.05})
    A = np.abs(model.hydro.table.added_mass).max(axis=0)
    assert (A[2, 8::6] > 1e-3 * A[2, 2]).all()  # the first float feels every other
    run = sw.simulate(model, dying_sea(), duration=WAVES + STOP + STILL, output_step=0.5)
    assert run.attrs["result"] == "success"
    passed = max(energy_scale(run), float(np.abs(run.work.sel(element="excitation")).max()))
    assert np.abs(run.energy_residual.values).max() < 1e-4 * passed
    # neither in the sea nor in still water does a motion grow
    for dof in ("Surge", "Heave", "Pitch"):
        motion = run.position.sel(dof=dof)
        early, late, still, rest = (
            motion.sel(time=slice(*span)).std("time").mean().item()
            for span in ((100, 400), (700, 1000), (1070, 1130), (1240, 1300))
        )
        assert late < 1.5 * early, dof
        assert rest < min(0.02 * late, 0.5 * still), dof
