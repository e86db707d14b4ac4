"""Floats on their actual wetted hull: at rest, dropped, capsized, in waves small and steep."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.hydro.bem.hydrostatics import hydrostatics
from swelltree.hydro.froude_krylov.build import linear_froude_krylov
from swelltree.hydro.froude_krylov.hulls import Hulls
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.model.solved import total_loads
from swelltree.multibody.formulations import State, formulation
from swelltree.multibody.kinematics import Pose
from swelltree.results.energy import energy_scale
from swelltree.spatial.rotations import turn_quat
from swelltree.waves.sea import realise

SHAPES = {
    "box": sw.Box(20.0, 10.0, 6.0, 3.0, panel_size=1.5),
    "cylinder": sw.Cylinder(5.0, 3.0, 6.0, panel_size=1.0),
    "sphere": sw.Sphere(5.0, panel_size=0.6),
}


def floating(hull, *, water=None, joint=None, **body) -> sw.System:
    own = sw.Body("f", hull=hull, **body)
    return sw.System(
        "s", [own], [sw.Free("j", sw.WORLD, own, **(joint or {}))], water=water or sw.Water()
    )


def test_floats_of_their_own_displacement_stay_at_rest():
    bodies = [
        sw.Body(name, hull=hull, position=(30.0 * i, 0.0, 0.0), com=(0.0, 0.0, -1.0))
        for i, (name, hull) in enumerate(SHAPES.items())
    ]
    joints = [sw.Free(f"j_{body.name}", sw.WORLD, body) for body in bodies]
    model = sw.compile(sw.System("s", bodies, joints), nonlinear=True)
    # at rest free steps grow until they are barely stable, and the tolerance holds them
    free = sw.simulate(model, duration=100.0)
    assert np.abs(free.position.values - free.position.values[0]).max() < 1e-6
    run = sw.simulate(model, duration=100.0, max_step=0.2)
    assert np.abs(run.position.values - run.position.values[0]).max() < 1e-9
    weight = np.asarray(model.bodies.mass)
    np.testing.assert_allclose(1025.0 * run.submerged_volume.values[-1], weight, rtol=1e-12)


def made_data(system, omega, beta):
    """Data of a body: exact hydrostatics, Froude-Krylov force of fine panels, some diffraction."""
    import xarray as xr

    body, water = system.resolved.body("f"), system.water
    fine = body.replace(hull=body.hull.replace(panel_size=0.4 * body.hull.panel_size))
    place = np.array(body.position) + np.array(body.reference)
    FK = linear_froude_krylov(fine, Pose(place, np.eye(3)), water, omega, beta)
    k = omega[:, None] ** 2 / water.g
    FK = FK * np.exp(1j * k * (place[0] * np.cos(beta) + place[1] * np.sin(beta)))[..., None]
    found = hydrostatics(body, water)
    dofs = [f"f__{dof}" for dof in ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")]
    size = body.mass * np.array([0.5, 0.5, 1.0, 4.0, 4.0, 4.0])
    A = np.repeat(np.diag(size)[None], len(omega) + 1, axis=0)
    B = 0.3 * A * np.append(omega, 0.0)[:, None, None]
    F = np.concatenate([FK * (1.0 + 0.3 * np.exp(0.4j)), 0.0 * FK[:1]])
    both = ("influenced_dof", "radiating_dof")
    data = {
        "added_mass": (("omega", *both), A),
        "radiation_damping": (("omega", *both), B),
        "excitation_force": (("omega", "wave_direction", "influenced_dof"), F),
        "hydrostatic_stiffness": (both, found.stiffness),
        "displaced_volume": ("body", [found.volume]),
        "center_of_buoyancy": (("body", "xyz"), found.center_of_buoyancy[None]),
        "center_of_mass": (("body", "xyz"), np.array([body.center_of_mass]) + body.position),
        "rotation_center": (("body", "xyz"), place[None]),
        "rho": water.rho,
        "g": water.g,
        "water_depth": water.depth,
    }
    coords = {
        "omega": np.append(omega, np.inf),
        "wave_direction": beta,
        "influenced_dof": dofs,
        "radiating_dof": dofs,
        "body": ["f"],
        "xyz": ["x", "y", "z"],
    }
    return xr.Dataset(data, coords, {"time_convention": "exp(-iwt)"})


OMEGA, BETA = np.linspace(0.4, 1.6, 7), np.array([0.0, 0.6])
CENTRE = {"com": (0.0, 0.0, -1.0), "position": (4.0, 2.0, 0.0)}


def wrenches(model, wave, times, moves):
    """Wrench of all forces at some times, with the body moved a little from its start."""
    how = formulation("path_matrix")
    model = apply_sea(model, realise(wave, model.water), 20.0)
    out = []
    for t, move in zip(times, moves, strict=True):
        q = np.array(model.start.q)
        q = np.concatenate([q[:3] + move[:3], turn_quat(q[3:], move[3:])])
        state = State(q, np.zeros(6), np.zeros(0))
        motion = how.kinematics(model, np.array(t), state).motion
        out.append(total_loads(model, np.array(t), motion).wrench[0])
    return np.array(out)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("stretching", ["wheeler", "constant"])
def test_at_one_centimetre_the_wrench_is_that_of_the_linear_model(name, stretching):
    system = floating(SHAPES[name], **CENTRE)
    data = made_data(system, OMEGA, BETA)
    linear = sw.compile(system, data, radiation="none")
    hull = sw.compile(system, data, radiation="none", nonlinear=True, stretching=stretching)
    rng = np.random.default_rng(0)
    t = rng.uniform(0.0, 12.0, 20)
    moves = rng.uniform(-1.0, 1.0, (20, 6)) * [0.01, 0.01, 0.01, 1e-3, 1e-3, 1e-3]
    for beta in BETA:
        wave = sw.RegularWave(0.01, omega=1.0, beta=beta)
        one, other = wrenches(linear, wave, t, moves), wrenches(hull, wave, t, moves)
        for part in (slice(0, 3), slice(3, 6)):
            size = np.abs(one[:, part]).max()
            assert np.abs(one - other)[:, part].max() < 0.01 * size


def test_waves_alone_on_a_held_float_differ_by_the_square_of_the_amplitude():
    system = floating(SHAPES["box"], **CENTRE)
    data = made_data(system, OMEGA, BETA)
    linear = sw.compile(system, data, radiation="none")
    hull = sw.compile(system, data, radiation="none", nonlinear=True)
    t, still = np.arange(0.0, 6.0, 0.5), np.zeros((12, 6))
    off = []
    for a in (0.02, 0.04):
        wave = sw.RegularWave(a, omega=1.0, beta=0.6)
        off.append(np.abs(wrenches(hull, wave, t, still) - wrenches(linear, wave, t, still)))
    # the linear parts are equal by construction, not only within the error of panels
    ratio = off[1][:, :3].max() / off[0][:, :3].max()
    assert 3.8 < ratio < 4.2


@pytest.mark.slow
def test_frequency_domain_has_the_whole_linear_excitation_and_the_stiffness_of_the_hull():
    system = floating(sw.Cylinder(5.0, 3.0, 6.0, panel_size=2.0), **CENTRE)
    data = made_data(system, OMEGA, BETA)
    model = sw.compile(system, data, radiation="none", nonlinear=True)
    found = sw.rao(model, omega=[1.0]).rao.values[0, :, 0]
    row = data.sel(omega=1.0)
    B = row.radiation_damping.values
    D = -row.added_mass.values - 1j * B + data.hydrostatic_stiffness.values
    M = np.zeros((6, 6))
    M[:3, :3] = model.bodies.mass[0] * np.eye(3)
    M[3:, 3:] = model.bodies.inertia[0]
    expected = np.linalg.solve(D - M, row.excitation_force.values.T).T
    # sections of the panels have the true area
    assert np.abs(found - expected).max() < 2e-3 * np.abs(expected).max()


@pytest.mark.slow
def test_a_sphere_dropped_from_its_own_radius_comes_to_rest_with_its_energy_accounted():
    hull = sw.Sphere(5.0, panel_size=1.0)
    system = floating(hull, joint={"position": {"Heave": 5.0}}, reference_point=(0.0, 0.0, 0.0))
    at_rest = floating(hull, reference_point=(0.0, 0.0, 0.0))
    data = made_data(at_rest, OMEGA, BETA)
    model = sw.compile(system, data, radiation="constant", omega=1.0, nonlinear=True)
    run = sw.simulate(model, duration=60.0)
    heave = run.position.values[:, 0, 2]
    assert run.attrs["result"] == "success"
    assert heave[0] == 5.0
    assert heave.min() < -2.0
    assert np.abs(heave[-40:]).max() < 0.2
    assert np.abs(run.energy_residual.values).max() < 1e-4 * energy_scale(run)


def test_a_barge_that_capsizes_and_turns_right_round_keeps_its_energy():
    hull = sw.Box(20.0, 8.0, 6.0, 3.0, panel_size=2.0)
    system = floating(hull, com=(0.0, 0.0, 2.5), joint={"velocity": {"Roll": 4.0, "Pitch": 0.1}})
    run = sw.simulate(sw.compile(system, nonlinear=True), duration=8.0, output_step=0.05, rtol=1e-7)
    # the deck has been down, and up again
    up = run.rotation.values[:, 0, 2, 2]
    first_down = int(np.argmin(up > -0.9))
    assert up[first_down] < -0.9
    assert up[first_down:].max() > 0.9
    # buoyancy stores energy, so this is a true balance
    assert run.work.sel(element="hull f").values.max() == 0.0
    assert np.abs(run.energy_residual.values).max() < 1e-4 * energy_scale(run)


def test_heading_and_origin_do_not_matter():
    hull = sw.Box(12.0, 6.0, 4.0, 2.0, panel_size=2.0)
    angle, shift = 0.9, np.array([31.0, -17.0])
    c, s = np.cos(angle), np.sin(angle)
    water = sw.Water(depth=25.0)
    wave = sw.RegularWave(1.0, period=6.0, beta=0.4)
    k = float(realise(wave, water).wavenumber[0])
    way = k * (shift @ [np.cos(0.4 + angle), np.sin(0.4 + angle)])
    there = wave.replace(beta=0.4 + angle, phase=-way)
    here = floating(hull, water=water, com=(0.0, 0.0, -0.5))
    moved = floating(
        hull,
        water=water,
        com=(0.0, 0.0, -0.5),
        position=(*shift, 0.0),
        rotation_deg=(0.0, 0.0, np.degrees(angle)),
    )
    a = sw.simulate(sw.compile(here, nonlinear=True), wave, duration=8.0, rtol=1e-8)
    b = sw.simulate(sw.compile(moved, nonlinear=True), there, duration=8.0, rtol=1e-8)
    p, q = a.position.values[:, 0], b.position.values[:, 0]
    back = (q[:, :2] - shift) @ np.array([[c, -s], [s, c]])
    np.testing.assert_allclose(back, p[:, :2], atol=1e-5)
    np.testing.assert_allclose(q[:, 2:5], p[:, 2:5], atol=1e-5)
    assert np.abs(p[:, 2]).max() > 0.3


@pytest.mark.slow
def test_a_steep_wave_and_the_same_field_on_a_grid_move_a_float_alike():
    import xarray as xr

    water = sw.Water(depth=30.0)
    steep = sw.StreamFunctionWave(2.0, period=5.0)
    field = realise(steep, water)
    t, x, z = np.arange(0.0, 6.01, 0.05), np.linspace(-12.0, 12.0, 97), np.linspace(-4, 2.5, 53)
    T, X, Z = np.meshgrid(t, x, z, indexing="ij")
    data = xr.Dataset(
        {
            "elevation": (("time", "x"), sw.elevation(field, T[..., 0], X[..., 0])),
            "pressure": (("time", "x", "z"), sw.kinematics(field, T, X, 0.0, Z, water).pressure),
        },
        {"time": t, "x": x, "z": z},
    )
    system = floating(sw.Box(6.0, 3.0, 3.0, 1.5, panel_size=1.0), water=water)
    model = sw.compile(system, nonlinear=True)
    a = sw.simulate(model, steep, duration=6.0).position.values[:, 0]
    b = sw.simulate(model, sw.GriddedSea(data), duration=6.0).position.values[:, 0]
    assert np.abs(a[:, 2]).max() > 0.5
    assert np.abs(a - b).max() < 5e-3


@pytest.mark.slow
def test_work_of_the_waves_is_in_the_energy_budget():
    system = floating(sw.Cylinder(2.0, 2.0, 4.0, panel_size=0.8), com=(0.0, 0.0, -1.0))
    sea = sw.IrregularSea(sw.Jonswap(1.5, 6.0), spreading=sw.Cos2s(10.0), ramp=5.0)
    run = sw.simulate(sw.compile(system, nonlinear=True), sea, duration=20.0)
    assert np.abs(run.energy_residual.values).max() < 1e-4 * energy_scale(run)
    force = run.froude_krylov_force.values[-1, 0]
    assert np.isfinite(force).all()
    assert np.abs(force).max() > 1e3


def test_only_named_bodies_are_nonlinear():
    a, b = (sw.Body(n, hull=sw.Sphere(1.0), position=(x, 0, 0)) for n, x in (("a", 0), ("b", 9)))
    system = sw.System("s", [a, b], [sw.Free("ja", sw.WORLD, a), sw.Free("jb", sw.WORLD, b)])
    model = sw.compile(system, nonlinear=["b"])
    group = model.effect(Hulls)
    assert group.names == ("hull b",)
    assert group.bodies == (1,)


def test_a_member_that_the_hull_may_hold_is_told():
    body = sw.Body("f", hull=sw.Sphere(1.0))
    leg = sw.MorisonMember("leg", body.at(0, 0, -3), body.at(0, 0, -1), diameter=0.3)
    system = sw.System("s", [body], [sw.Free("j", sw.WORLD, body)], forces=[leg])
    assert "member 'leg' and the hull of body 'f'" in sw.compile(system, nonlinear=True).report[0]
    assert not sw.compile(system.replace(forces=[leg.replace(inertia=False)])).report


BAD = [
    ({"nonlinear": ["g"]}, r"nonlinear names body 'g', which is not in the system.*bodies are"),
    ({"nonlinear": ["dry"]}, "body 'dry': it has no hull, which nonlinear forces need"),
    ({"nonlinear": True, "stretching": "wheler"}, "stretching 'wheler' is not known.*'wheeler'"),
]


@pytest.mark.parametrize(("options", "sentence"), BAD)
def test_mistakes_are_told(options, sentence):
    f, dry = sw.Body("f", hull=sw.Sphere(1.0)), sw.Body("dry", mass=1.0, inertia=(1, 1, 1))
    joints = [sw.Free("j", sw.WORLD, f), sw.Weld("w", f, dry)]
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.compile(sw.System("s", [f, dry], joints), **options)


def test_a_field_on_a_grid_is_refused_where_linear_excitation_is_needed():
    import xarray as xr

    grid = {"time": [0.0, 1.0], "x": [0.0, 1.0], "z": [-1.0, 0.0]}
    flat = {"elevation": (("time", "x"), np.zeros((2, 2)))}
    flat["pressure"] = (("time", "x", "z"), np.zeros((2, 2, 2)))
    sea = sw.GriddedSea(xr.Dataset(flat, grid))
    system = floating(SHAPES["box"], **CENTRE)
    data = made_data(system, OMEGA, BETA)
    with pytest.raises(sw.SwelltreeError, match="field ends at 1 s, but the run lasts 9 s"):
        sw.simulate(sw.compile(system, nonlinear=True), sea, duration=9.0)
    with pytest.raises(sw.SwelltreeError, match="not linear and has no linear excitation"):
        sw.simulate(sw.compile(system, data, radiation="none"), sea, duration=1.0)
    with pytest.raises(sw.SwelltreeError, match="does not state how it is diffracted"):
        sw.simulate(sw.compile(system, data, radiation="none", nonlinear=True), sea, duration=1.0)


@pytest.mark.slow
def test_a_steep_wave_is_diffracted_by_its_first_harmonic():
    system = floating(SHAPES["box"].replace(panel_size=3.0), **CENTRE)
    data = made_data(system, OMEGA, BETA)
    model = sw.compile(system, data, radiation="constant", omega=1.0, nonlinear=True)
    low, steep = sw.RegularWave(0.05, omega=1.0), sw.StreamFunctionWave(0.1, omega=1.0)
    a, b = (sw.simulate(model, wave, duration=15.0).position.values[:, 0] for wave in (low, steep))
    # a low steep wave is a regular one
    assert np.abs(a[:, 2]).max() > 0.02
    assert np.abs(a - b).max() < 0.01 * np.abs(a[:, 2]).max()


@pytest.mark.slow
def test_motion_at_one_centimetre_is_that_of_the_linear_model():
    system = floating(SHAPES["box"].replace(panel_size=2.0), **CENTRE)
    hold = {"Surge": 1e5, "Sway": 1e5, "Yaw": 1e7}
    system = system.replace(moorings=[sw.LinearMooring("m", "f", stiffness=hold)])
    data = made_data(system, OMEGA, BETA)
    runs = [
        sw.simulate(
            sw.compile(system, data, radiation="constant", omega=1.0, nonlinear=kind),
            sw.RegularWave(0.01, omega=1.0, beta=0.6, ramp=10.0),
            duration=40.0,
        ).position.values[:, 0]
        for kind in (False, True)
    ]
    for part in (slice(0, 3), slice(3, 6)):
        size = np.abs(runs[0][:, part] - runs[0][0, part]).max()
        assert np.abs(runs[0] - runs[1])[:, part].max() < 0.01 * size
