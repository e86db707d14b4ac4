"""Weak scatterers in the linear mode against hydro data of our own boundary-element runs."""

import sys

import numpy as np
import pytest

import swelltree as sw
from support import ROOT, refdata
from validation.hydro.weak_scatterers.systems import (
    crane_on_a_float,
    crane_tank,
    hinged_barges,
)
from validation.mooring.cables import OMEGA

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::swelltree.describe.errors.SwelltreeWarning"),
]
DEEP = sw.Water(rho=1000.0)


def phasor(times, values, omega, periods=2):
    """Complex amplitude exp(-i omega t) over the last periods; a mean and a trend are taken off."""
    last = times > times[-1] - periods * 2 * np.pi / omega
    t = times[last]
    basis = np.stack([np.ones_like(t), t - t.mean(), np.cos(omega * t), np.sin(omega * t)], -1)
    _, _, c, s = np.linalg.lstsq(basis, values[last], rcond=None)[0]
    return c + 1j * s


def in_tank(system, omega, periods=12, **tank):
    """The result of a run in a small wave, and the complex amplitudes of the joints per metre."""
    length = 2 * np.pi * 9.81 / omega**2
    options = {"radius": 1.6 * length, "far_spacing": length / 9, "symmetric": True} | tank
    water = sw.WeakScatterer("tank", **({"mode": "linear"} | options))
    model = sw.compile(system.replace(forces=(*system.forces, water)))
    wave = sw.RegularWave(amplitude=0.01, omega=omega, ramp=3 * 2 * np.pi / omega)
    period = 2 * np.pi / omega
    run = sw.simulate(model, wave, duration=periods * period, output_step=period / 10)
    assert run.attrs["result"] == "success"
    moved = run.joint_coordinate.values
    return [phasor(run.time.values, column, omega) / 0.01 for column in moved.T], run


def by_data(system, omega):
    """The same from hydro data."""
    near = [0.8 * omega, omega, 1.25 * omega]
    data = sw.run_bem(system, omega=near, refine="extrapolate", progress=False)
    found = sw.rao(sw.compile(system, data, radiation="none"), omega=[omega])
    return found.coordinate_rao.isel(omega=0, wave_direction=0).values


def errors(ours, theirs):
    return np.abs(np.array(ours) - theirs) / np.abs(theirs)


def hinged_pair():
    """A dry post on a rail carries a body in the water, which carries another by a hinge."""
    a, b = (
        sw.Body(name, position=(x, 0, -2.2), hull=sw.Sphere(1.0, offset=(0, 0, -2.2)))
        for name, x in (("a", -1.3), ("b", 1.3))
    )
    weight = 100.0
    full = DEEP.rho * 4 / 3 * np.pi
    a = a.replace(mass=full - weight, inertia=(0.4 * full,) * 3, com=(0.0, 0.0, 0.0))
    post = sw.Body("post", weight, (20.0, 20.0, 20.0), position=(-1.3, 0, 1.0))
    joints = [
        sw.Slider("rail", sw.WORLD.at(-1.3, 0, 1.0), post, axis="z"),
        sw.Hinge("knee", post.at(0, 0, -1.7), a.at(0, 0, 1.5), axis="y"),
        sw.Hinge("elbow", a.at(1.3, 0, 0), b.at(-1.3, 0, 0), axis="y"),
    ]
    ptos = [
        sw.LinearPto("lift", joint="rail", stiffness=6e4, damping=1.2e4),
        sw.LinearPto("bend", joint="knee", stiffness=5e4, damping=2e4),
        sw.LinearPto("fold", joint="elbow", stiffness=3e4, damping=2e4),
    ]
    return sw.System("pair", [post, a, b], joints, ptos=ptos, water=DEEP)


def test_two_bodies_on_a_hinge_neither_of_them_the_root_move_as_by_coupled_data():
    omega = 2.5
    ours, _ = in_tank(hinged_pair(), omega, spacing=0.6, fine=3.0, panel_size=0.35)
    assert errors(ours, by_data(hinged_pair(), omega)).max() < 0.02


def by_nested_data(system, omega, size, order=4 / 3):
    """As `by_data` for hulls with edges, from panels that halve those of the coarser run exactly.

    At an edge of 90 degrees the potential goes with the power 2/3 of the distance, and the loads of
    panels of size h are wrong by h^(4/3); three sizes that do not nest show this order badly.
    """
    runs = []
    for h in (size, 0.5 * size):
        bodies = tuple(b.replace(hull=b.hull.replace(panel_size=h)) for b in system.bodies)
        near = [0.8 * omega, omega, 1.25 * omega]
        runs.append(sw.run_bem(system.replace(bodies=bodies), omega=near, progress=False))
    coarse, data = runs
    for name in ("added_mass", "radiation_damping", "excitation_force"):
        data[name].values[:] += (data[name] - coarse[name]).values / (2**order - 1)
    found = sw.rao(sw.compile(system, data, radiation="none"), omega=[omega])
    return found.coordinate_rao.isel(omega=0, wave_direction=0).values


def test_two_barges_on_a_hinge_move_as_by_coupled_data():
    omega = 2.2
    ours, _ = in_tank(hinged_barges(), omega, spacing=0.35, fine=1.0, panel_size=0.2)
    theirs = by_nested_data(hinged_barges(), omega, 0.2)
    print("barges", np.abs(ours), np.abs(theirs), errors(ours, theirs))
    assert errors(ours, theirs).max() < 0.02


def floating(hull, **body):
    float_ = sw.Body("float", hull=hull, **body)
    joint = sw.SubsetJoint("held", sw.WORLD, float_, dofs=("Surge", "Heave"))
    mooring = sw.LinearMooring("moored", float_, stiffness={"Surge": 2000.0})
    return sw.System("float", [float_], [joint], moorings=[mooring], water=DEEP)


@pytest.mark.parametrize("omega", [2.2, 3.0])
def test_floating_sphere_heaves_and_surges_as_by_data(omega):
    system = floating(sw.Sphere(1.0), mass=DEEP.rho * 2 / 3 * np.pi, inertia=(1, 1, 1))
    ours, _ = in_tank(system, omega, spacing=0.25, fine=1.0, panel_size=0.2)
    theirs = by_data(system, omega)
    print("sphere", omega, np.abs(ours), np.abs(theirs), errors(ours, theirs))
    assert errors(ours, theirs).max() < 0.03


@pytest.mark.parametrize("omega", [2.2])
def test_horizontal_cylinder_heaves_and_surges_as_by_data(omega):
    system = floating(sw.HorizontalCylinder(1.0, 3.0, axis="y"))
    ours, _ = in_tank(system, omega, spacing=0.3, fine=1.5, panel_size=0.25)
    theirs = by_data(system, omega)
    print("cylinder", omega, np.abs(ours), np.abs(theirs), errors(ours, theirs))
    assert errors(ours, theirs).max() < 0.03


def test_small_decay_is_that_of_cummins():
    system = floating(sw.Sphere(1.0), mass=DEEP.rho * 2 / 3 * np.pi, inertia=(1, 1, 1))
    joint = sw.Slider("held", sw.WORLD, system.bodies[0], axis="z", position=0.05)
    system = system.replace(joints=(joint,), moorings=())
    how = {"duration": 8.0, "output_step": 0.1}
    water = sw.WeakScatterer(
        "tank", 12.0, 0.25, fine=1.0, panel_size=0.2, far_spacing=1.0, symmetric=True, mode="linear"
    )
    ours = sw.simulate(sw.compile(system.replace(forces=(water,))), **how)
    data = sw.run_bem(system, omega=np.linspace(0.4, 9.0, 22), progress=False)
    theirs = sw.simulate(sw.compile(system, data), **how)
    z = [run.joint_coordinate.values[:, 0] for run in (ours, theirs)]
    print("decay", np.abs(z[0] - z[1]).max() / 0.05)
    assert np.abs(z[0] - z[1]).max() < 0.03 * 0.05


def test_floater_with_crane_cable_and_payload_moves_as_by_cummins_in_a_small_wave():
    """Section 6.2 of Wuillaume et al. (2017): cables need steps of 5 ms, the water does not."""
    from validation.mooring.cables import floater, floater_model

    # both models switch a wave on in their own way: slowly, and compared when it has grown
    wave = sw.RegularWave(amplitude=0.005, omega=OMEGA, ramp=10.0)
    how = {"duration": 14.0, "output_step": 0.1, "start": "equilibrium"}
    tank = sw.WeakScatterer(
        "tank", 9.5, 0.2, ["float"], fine=0.3, far_spacing=1.0, panel_size=0.1, levels=3,
        symmetric=True, mode="linear",
    )  # fmt: skip
    system = floater(True)
    model = sw.compile(system.replace(forces=(*system.forces, tank)))
    ours = sw.simulate(model, wave, step=0.005, **how)
    theirs = sw.simulate(floater_model(True), wave, **how)
    assert ours.attrs["result"] == "success"
    # the load swings on without damping at its own frequency; the tension changes with squares only
    surge = [run.position.sel(body="float", dof="Surge").values for run in (ours, theirs)]
    a, b = (phasor(ours.time.values, row, OMEGA) for row in surge)
    loads = [float(run.fairlead_tension.values.mean()) for run in (ours, theirs)]
    print("6.2", abs(a - b) / abs(b), loads)
    assert abs(a - b) < 0.03 * abs(b)
    assert loads[0] == pytest.approx(loads[1], rel=1e-4)


def test_float_with_crane_cable_and_load_moves_as_by_cummins_when_a_small_wave_has_grown():
    """Section 6.2 with a float that surges, heaves and pitches: its load and the tension too.

    The load swings on without damping at its own frequency, from the ramps of both models, which
    are not quite the same: what is left of that is in the figures.
    """
    system = crane_on_a_float()
    data = sw.run_bem(system, omega=sorted([*np.linspace(0.5, 12.0, 24), OMEGA]), progress=False)
    wave = sw.RegularWave(amplitude=0.005, omega=OMEGA, ramp=10.0)
    how = {"duration": 16.0, "output_step": 0.1, "start": "equilibrium"}
    model = sw.compile(system.replace(forces=(*system.forces, crane_tank("linear"))))
    ours = sw.simulate(model, wave, step=0.005, **how)
    theirs = sw.simulate(sw.compile(system, data), wave, **how)
    assert ours.attrs["result"] == "success"
    rows = []
    for run in (ours, theirs):
        float_, load = (run.position.sel(body=name) for name in ("float", "rope_3"))
        moved = [float_.sel(dof=d).values for d in ("Surge", "Heave", "Pitch")]
        moved += [load.sel(dof=d).values for d in ("Surge", "Heave")]
        moved.append(run.fairlead_tension.values.reshape(len(run.time), -1)[:, 0])
        rows.append([phasor(run.time.values, x, OMEGA) for x in moved])
    off = errors(*np.array(rows))
    print("crane", np.abs(rows[1]), off)
    assert abs(rows[1][5]) > 0.3  # N
    assert (off > 0.0).all()
    assert off.max() < 0.03


def test_load_on_a_cable_and_its_tension_are_those_by_data_in_a_small_wave():
    """Section 6.2 with a floater that heaves too: the tension then changes with the wave itself.

    Both models in the limit of a small wave, at one frequency: added mass, damping and excitation
    of the discrete tank in the place of hydro data (`harmonic`).
    """
    from swelltree.hydro.weak_scatterer.effect import WeakScatterers
    from swelltree.hydro.weak_scatterer.harmonic import harmonic
    from swelltree.waves.sea import realise
    from validation.mooring.cables import hanging, rope

    hull = sw.HorizontalCylinder(0.2, 1.0, axis="y", panel_size=0.05)
    body = sw.Body("float", mass=64.4, inertia=(6.0, 2.0, 6.0), hull=hull)
    joint = sw.SubsetJoint("afloat", sw.WORLD, body, dofs=("Surge", "Heave"))
    spring = sw.LinearMooring("spring", body, stiffness={"Surge": 1990.0})
    plain = sw.System("plain", [body], [joint], moorings=[spring])
    near = [0.8 * OMEGA, OMEGA, 1.25 * OMEGA]
    data = sw.run_bem(plain, omega=near, refine="extrapolate", progress=False)
    tank = sw.WeakScatterer(
        "tank", 9.5, 0.2, ["float"], fine=0.3, far_spacing=1.0, panel_size=0.1, levels=3,
        symmetric=True, mode="linear",
    )  # fmt: skip
    model = sw.compile(plain.replace(forces=(tank,)))
    waves = realise(sw.RegularWave(amplitude=0.01, omega=OMEGA), plain.water)
    A, B, F = harmonic(model.effect(WeakScatterers).in_sea(model, waves).scene, OMEGA, np.inf)
    ours = data.copy(deep=True)
    at = int(np.argmin(np.abs(data.omega.values - OMEGA)))
    assert data.omega.values[at] == pytest.approx(OMEGA)
    ours.added_mass.values[at], ours.radiation_damping.values[at] = A, B
    ours.excitation_force.values[at, 0] = F
    light = body.replace(mass=64.4 - 11.0)  # cable and load hang on it
    system = hanging(light.at(), rope(2.0), [joint], bodies=[light])
    system = system.replace(moorings=(spring,))
    found = [sw.rao(sw.compile(system, d, radiation="none"), omega=[OMEGA]) for d in (ours, data)]
    load = [f.rao.sel(body="rope_3", dof=["Surge", "Heave"]).values.reshape(-1) for f in found]
    stretch = [f.coordinate_rao.values.reshape(-1) for f in found]
    assert np.abs(load[1]).min() > 1.0  # it swings three times as far as the water
    assert 0.0 < errors(*load).max() < 0.03
    # the first element stretches with the tension: 1 N per centimetre of the wave
    part = np.abs(stretch[1]) > 1e-5
    tension = 7.75e7 * np.pi / 4 * 0.0332**2 * np.abs(stretch[1][2:]).max() / 0.5
    print("6.2 load", np.abs(load[1]), errors(*load), tension, errors(*stretch)[part])
    assert tension > 50.0
    assert 0.0 < errors(stretch[0][part], stretch[1][part]).max() < 0.03


def dropped(lift, duration, **tank):
    """Heave of the sphere of IEA OES Task 10, of 5 m, released above its rest."""
    ball = sw.Body("ball", hull=sw.Sphere(5.0))
    joint = sw.Slider("heave", sw.WORLD, ball, axis="z", position=lift)
    options = {"radius": 45.0, "spacing": 1.2, "far_spacing": 4.0, "fine": 5.0, "panel_size": 1.0}
    water = sw.WeakScatterer("tank", **(options | {"symmetric": True} | tank))
    model = sw.compile(sw.System("decay", [ball], [joint], [water], water=DEEP))
    run = sw.simulate(model, duration=duration, output_step=0.2)
    return run.time.values, run.joint_coordinate.values[:, 0], run


@pytest.mark.parametrize("mode", ["linear", "weak_scatterer"])
def test_sphere_dropped_by_a_metre_decays_as_in_inwave(mode):
    """Wendt et al. (2019): InWave is a weak-scatterer code too; the codes differ by centimetres."""
    folder = refdata("ts_sphere")
    table = np.loadtxt(folder / "decay" / "sphere_decay_ref_data.txt", skiprows=1)
    times, heave, run = dropped(1.0, 16.0, mode=mode, step=0.1)
    gap = np.abs(heave - np.interp(times, table[:, 0], table[:, 6]))
    moved = float(np.abs(run.kinetic_energy.sum("body")).max())
    assert run.attrs["result"] == "success"
    print("decay", mode, gap.max(), float(np.abs(run.energy_residual).max()) / moved)
    assert gap.max() < 0.03


@pytest.mark.parametrize(("lift", "spacing", "step"), [(4.5, 1.5, 0.06), (5.0, 1.0, 0.049)])
def test_sphere_dropped_by_its_radius_runs_through(lift, spacing, step):
    """Begins dry or nearly so, goes under but for its top, comes up again; the books close.

    With the meshes of benchmarks/weak_scatterer_drop.py, where 0.083 and 0.065 were missing. (By
    5 m on 1.5 m it is 0.109 at the top of the next rise, and a tenth ends with `energy_lost`.)
    """
    how = {"far_spacing": 5.0, "panel_size": 0.8 * spacing, "levels": 3}
    where = {"spacing": spacing, "step": step, "crossing": ["ball"]}
    times, heave, run = dropped(lift, 6.0, **how, **where)
    moved = float(np.abs(run.kinetic_energy.sum("body")).max())
    lost = float(np.abs(run.energy_residual).max()) / moved
    print("drop", lift, heave.min(), heave[times > 3.0].max(), lost)
    assert run.attrs["result"] == "success"
    assert times[-1] == pytest.approx(6.0)
    assert run.weak_scatterer_state.values[0, 0] == 0.0
    assert -lift < heave.min() < -0.8 * lift
    assert 0.55 * lift < heave[times > 3.0].max() < 0.8 * lift
    assert lost < 0.1
    # no change of the mesh brings more than a twentieth of the largest kinetic energy
    jump = np.abs(np.diff(run.weak_scatterer_remeshing.values)).max() / moved
    print("drop, largest change by a mesh", jump)
    assert jump < 0.06


def test_submerged_sphere_in_a_steep_wave_has_the_harmonics_of_finer_meshes():
    """Section 6.1 of Wuillaume et al. (2017), A = 1.25 m, with 1.0 m between vertices over it.

    Spacings of 1.0, 0.7 and 0.5 m gave 1.917, 1.915 and 1.911: the last figure is frozen, and what
    is left of the coarse one is 0.3 %.
    """
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from weak_scatterer_ceto import measure

    found = measure(1.25, 1.0)
    print("steep", found)
    assert found["result"] == "success"
    assert found["harmonics"][0] == pytest.approx(1.911, rel=0.006)
    assert found["phase"] == pytest.approx(-1.637, abs=0.01)
    assert found["mean"] == pytest.approx(0.073, abs=0.004)
    assert found["harmonics"][1] == pytest.approx(0.027, abs=0.003)
