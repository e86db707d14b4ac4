"""Strips, cables and hulls in many wave components: machine code beside XLA."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.waves import airy

SEA = sw.IrregularSea(
    sw.Jonswap(Hs=3.0, Tp=8.0), seed=4, components=21, beta=0.7, ramp=3.0, omega_max=2.1
)
AHEAD = sw.IrregularSea(sw.Jonswap(Hs=3.0, Tp=9.0), seed=1, omega_max=2.2)


def members(depth: float) -> sw.System:
    """Two hinged bodies with slanted members, up to the actual surface and to the still water."""
    mass = 1.2e5
    a = sw.Body("a", mass=mass, inertia=(4e6, 5e6, 3e6), position=(0.5, -0.3, -6.0))
    b = sw.Body("b", mass=mass, inertia=(3e6, 4e6, 3e6), position=(12.0, 0.4, -5.0))
    legs = [
        sw.MorisonMember(
            "leg", a.at(-1, 0.5, -6), a.at(1.5, -0.4, 8), diameter=3.0, Cd=0.9, Ca=1.0,
            end_Cd=1.0, end_Ca=0.8, strips=11, buoyancy=True,
        ),
        sw.MorisonMember(
            "brace", a.at(0, 3, -5), a.at(2, -3, 4), diameter=1.2, end_diameter=0.8, Cd=1.1,
            strips=5, surface="still", axial_Cd=0.05,
        ),
        sw.MorisonMember(
            "arm", b.at(-4, 0, 0), b.at(5, 1, 2), diameter=2.5, Cd=0.7, Ca=0.9, strips=9,
            buoyancy=True, lumping="nodes",
        ),
    ]  # fmt: skip
    hold = {"Surge": 4e4, "Sway": 4e4, "Yaw": 1e6, "Heave": 2e5, "Roll": 4e6, "Pitch": 4e6}
    return sw.System(
        "legs",
        [a, b],
        [
            sw.Free("float", sw.WORLD, a),
            sw.Hinge("hinge", a.at(6, 0, 0.3), b.at(-6, 0.1, 0.2), axis="y"),
        ],
        legs,
        moorings=[sw.LinearMooring("hold", a, stiffness=hold, damping={"Heave": 1e5})],
        current=sw.PowerLawCurrent(0.4, depth=40.0),
        water=sw.Water(depth=depth),
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("depth", [30.0, float("inf")])
def test_run_of_strips_by_machine_code_is_that_of_xla(depth, monkeypatch):
    model = sw.compile(members(depth))
    runs = {}
    for engine in ("llvm", "xla"):
        monkeypatch.setenv("SWELLTREE_ENGINE", engine)
        runs[engine] = sw.simulate(model, SEA, duration=8.0, output_step=0.5)
    assert runs["llvm"].attrs["engine"] == "LLVM"
    assert runs["xla"].attrs["engine"].startswith("XLA")
    for name in ("position", "velocity", "member_force"):
        ours, theirs = (runs[engine][name].values for engine in ("llvm", "xla"))
        assert ours == pytest.approx(theirs, abs=1e-9 * np.abs(theirs).max()), name


@pytest.mark.parametrize("stretching", airy.STRETCHINGS)
@pytest.mark.parametrize("depth", [9.0, float("inf")])
def test_sums_over_components_in_loops_are_those_of_arrays(depth, stretching):
    import jax

    water = sw.Water(depth=depth)
    waves = sw.components(SEA, water)
    rng = np.random.default_rng(3)
    x, y = 30.0 * rng.normal(size=(2, 7))
    z = rng.uniform(-8.0, 2.0, size=7)
    t = 2.3
    flow = airy.kinematics(waves, t, x, y, z, water, stretching)
    eta = airy.elevation(waves, t, x, y)

    @jax.jit
    def looped(t, x, y, z):
        return (
            airy.surface_and_motion(waves, t, x, y, z, water, stretching),
            airy.surface_and_head(waves, t, x, y, z, water, stretching),
            tuple(airy.kinematics(waves, t, x, y, z, water, stretching)),
            airy.elevation(waves, t, x[0], y[0]),
        )

    motion, head, again, first = looped(t, x, y, z)
    exact = (eta, flow.velocity, flow.acceleration)
    for ours, theirs in zip(motion, exact, strict=True):
        assert np.asarray(ours) == pytest.approx(theirs, abs=1e-12 * np.abs(theirs).max())
    for ours, theirs in zip(again, flow, strict=True):
        assert np.asarray(ours) == pytest.approx(theirs, abs=1e-12 * np.abs(theirs).max())
    assert np.asarray(head[0]) == pytest.approx(eta, abs=1e-12)
    assert np.asarray(head[1]) == pytest.approx(flow.pressure / (water.rho * water.g), abs=1e-12)
    assert float(first) == pytest.approx(eta[0], abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
def test_run_of_barges_by_the_implicit_solver_is_machine_code(monkeypatch):
    model = sw.gallery.barges().model(fit={"error": 0.05})
    runs = {}
    for engine in ("llvm", "xla"):
        monkeypatch.setenv("SWELLTREE_ENGINE", engine)
        runs[engine] = sw.simulate(model, AHEAD, duration=5.0, output_step=0.1, solver="stiff")
    assert runs["llvm"].attrs["engine"] == "LLVM"
    ours, theirs = (runs[engine].position.values for engine in ("llvm", "xla"))
    assert ours == pytest.approx(theirs, abs=1e-9 * np.abs(theirs).max())
