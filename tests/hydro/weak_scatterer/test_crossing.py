"""Bodies that cross the surface: meshes with room to spare, new meshes, runs."""

import pickle

import numpy as np
import pytest

import swelltree as sw
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.entry import entry_loads
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.masses import masses
from swelltree.hydro.weak_scatterer.motion.crossing import required_states
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import (
    Bodies,
    Water,
    evaluate,
    placed_at,
    prepare,
)
from swelltree.hydro.weak_scatterer.motion.mesher import (
    CUT,
    DRY,
    ENTERING,
    IN,
    OPEN,
    OUT,
    SHUT,
    UNDER,
)
from swelltree.hydro.weak_scatterer.motion.scene import vertices_at
from swelltree.hydro.weak_scatterer.motion.smoothing import vertex_areas
from swelltree.hydro.weak_scatterer.motion.transfer import transferred
from swelltree.hydro.weak_scatterer.remeshed import carried
from swelltree.jit import content_key, jax, jnp
from swelltree.model.effect import Instant, InternalState
from swelltree.multibody.kinematics import Frames, Motion, Pose

rng = np.random.default_rng(11)


def two_bodies(z=0.2, **options):
    """A ball that may cross the surface beside a box that floats."""
    box = sw.Body(
        "box", position=(-2.0, 0, 0), hull=sw.Box(length=1.6, width=1.0, height=0.8, draft=0.4)
    )
    ball = sw.Body("ball", mass=700.0, inertia=(70.0,) * 3, position=(1.0, 0, z),
                   hull=sw.Sphere(0.5, offset=(0, 0, z)))  # fmt: skip
    tank = sw.WeakScatterer(
        "tank", radius=9.0, spacing=0.5, far_spacing=2.5, levels=2, symmetric=True,
        crossing=["ball"], **({"panel_size": 0.35} | options),
    )  # fmt: skip
    joints = [
        sw.SubsetJoint("afloat", sw.WORLD.at(-2.0, 0, 0), box, dofs=("Heave",)),
        sw.Slider("rail", sw.WORLD.at(1.0, 0, z), ball, axis="z"),
    ]
    return sw.System("two", [box, ball], joints, [tank], water=sw.Water(rho=1000.0))


@pytest.fixture(scope="module")
def water_of_two():
    return sw.compile(two_bodies())


@pytest.mark.parametrize(
    ("state", "z"),
    [
        pytest.param(DRY, 1.5, marks=pytest.mark.slow),
        pytest.param(CUT, 0.1, marks=pytest.mark.slow),
        (UNDER, -1.0),
    ],
)
def test_room_to_spare_changes_nothing(state, z, water_of_two):
    """The same mesh with and without empty places: rates, added mass and wrench."""
    effect = water_of_two.effect(WeakScatterers)
    mesher = effect.mesher
    reference = mesher.described()
    reference[1, 0], reference[1, 3] = state, z
    plain, active = mesher.plain(reference)
    roomy = jax.tree.map(jnp.asarray, mesher.scene(reference))
    plain = jax.tree.map(jnp.asarray, plain)
    p = jnp.asarray(reference[:, 1:4]) + jnp.array([0.0, 0.0, 0.03])
    v = jnp.asarray(rng.normal(size=(2, 6)) * [0.1, 0, 0.3, 0, 0.2, 0])
    complete = Bodies(p, jnp.tile(jnp.eye(3), (2, 1, 1)), v)
    some = jax.tree.map(lambda x: x[np.array(active)], complete)
    xy = np.asarray(plain.still)[: plain.boundary.surface, :2]
    stored = np.flatnonzero(np.asarray(roomy.boundary.used.vertices[: roomy.boundary.surface]))
    far = np.asarray(roomy.still)[stored, :2]
    order = [int(np.argmin(((far - q) ** 2).sum(1))) for q in xy]
    phi, eta = (np.sin(xy @ k) * 0.1 for k in rng.normal(size=(2, 2)))
    full = np.zeros((2, roomy.boundary.surface))
    full[:, stored[order]] = phi, eta
    run = jax.jit(
        lambda s, b, f, e: evaluate(s, Still(), prepare(s, Still(), 0.0, b), 0.0, Water(f, e), b)
    )
    a, b = run(plain, some, phi, eta), run(roomy, complete, full[0], full[1])
    rows = np.concatenate([np.arange(6) + 6 * i for i in active])
    large = np.abs(a.added_mass).max()
    np.testing.assert_allclose(
        np.asarray(b.added_mass)[np.ix_(rows, rows)], a.added_mass, atol=1e-9 * large
    )
    np.testing.assert_allclose(np.asarray(b.wrench)[rows], a.wrench, atol=1e-9 * 1e4)
    for ours, theirs in zip(b.surface, a.surface, strict=True):
        np.testing.assert_allclose(np.asarray(ours)[..., stored[order]], theirs, atol=1e-9)
    others = np.setdiff1d(np.arange(12), rows)
    assert np.abs(np.asarray(b.wrench)[others]).max(initial=0.0) == 0.0


def test_values_that_are_quadratic_go_over_exactly_and_water_that_closes_begins_at_rest():
    x, y = (a.reshape(-1) for a in np.meshgrid(np.arange(-10, 11) / 10, np.arange(0, 11) / 10))
    x, y = x + rng.uniform(-0.02, 0.02, x.shape), np.where(y > 0, y + 0.01 * np.sin(40 * x), y)
    taken = (np.hypot(x, y) > 0.6).astype(float)  # a hole
    old = np.stack([x, y], -1)
    wet = np.flatnonzero(taken)
    angle = np.linspace(0.05, 3.1, 40)
    around = np.stack([np.cos(angle), np.sin(angle)], -1) * rng.uniform(0.7, 0.85, (40, 1))
    new = np.concatenate([old[wet[:20]], around, [[0.0, 0.0], [0.03, 0.1]]])
    rough = rng.normal(size=len(x))
    values = np.stack([1.0 + x - 2 * x * x + 0.7 * y * y, rough])
    got = transferred(*(jnp.asarray(a) for a in (old, taken, values, new)), True)
    u, v = new[:60].T
    np.testing.assert_allclose(got[0, :60], 1.0 + u - 2 * u * u + 0.7 * v * v, atol=2e-3)
    np.testing.assert_allclose(got[1, :20], rough[wet[:20]], atol=1e-4)
    assert np.abs(got[1]).max() <= np.abs(rough).max()
    np.testing.assert_allclose(got[:, 60:], 0.0, atol=1e-12)


def scenes_around(effect, z, *states):
    """Meshes of the ball in some states at a height, and their vertices."""
    mesher, result = effect.mesher, []
    for state in states:
        reference = mesher.described()
        reference[1, 0], reference[1, 3] = state, z
        scene = jax.tree.map(jnp.asarray, mesher.scene(reference))
        p, R = jnp.asarray(reference[:, 1:4]), jnp.tile(jnp.eye(3), (2, 1, 1))
        result.append((scene, vertices_at(scene, Still(), 0.0, p, R)))
    return zip(*result, strict=True)


@pytest.mark.parametrize("way", [(CUT, UNDER), (UNDER, CUT)])
def test_water_that_closes_over_a_body_or_opens_comes_from_nowhere_and_brings_no_energy(
    way, water_of_two
):
    """Water stands high around the waterline, and there is as much of it afterwards."""
    effect = water_of_two.effect(WeakScatterers)
    (old, new), (before, after) = scenes_around(effect, -0.41, *way)
    n = old.boundary.surface
    away = np.hypot(*(np.asarray(before)[:n, :2] - [1.0, 0.0]).T)
    eta = (
        0.3
        * np.exp(-np.maximum(away - 0.3, 0.0) / 0.5)
        * np.asarray(old.boundary.used.vertices[:n])
    )
    phi = np.cos(away)
    top = carried(old, new, [before, after], jnp.asarray(np.stack([phi, eta])))
    areas = [np.asarray(vertex_areas(s, x[:n, :2])) for s, x in ((old, before), (new, after))]
    volume, later = (areas[0] * eta).sum(), (areas[1] * np.asarray(top[1])).sum()
    assert later == pytest.approx(volume, rel=1e-9)
    energy = (areas[0] * eta**2).sum(), (areas[1] * np.asarray(top[1]) ** 2).sum()
    assert energy[1] == pytest.approx(energy[0], rel=0.1)
    assert float(jnp.abs(top[1]).max()) < 0.35


@pytest.mark.parametrize(
    ("state", "z", "wet"), [(CUT, 0.1, 0.4), (UNDER, -1.0, 1.0), (DRY, 1.5, 0)]
)
def test_displaced_mass_is_that_of_the_hull_under_the_surface(state, z, wet, water_of_two):
    effect = water_of_two.effect(WeakScatterers)
    (scene,), _ = scenes_around(effect, z, state)
    p = jnp.array([[-2.0, 0.0, 0.0], [1.0, 0.0, z]])
    bodies = Bodies(p, jnp.tile(jnp.eye(3), (2, 1, 1)), jnp.zeros((2, 6)))
    placed = placed_at(scene, Still(), 0.0, bodies)
    found = masses(scene, Still(), 0.0, jnp.zeros(scene.boundary.surface), bodies, placed)
    volume = np.pi * wet**2 * (3 * 0.5 - wet) / 3
    np.testing.assert_allclose(found.displaced, [640.0, 1000.0 * volume], rtol=0.03, atol=1e-6)
    assert float(found.surface) == 0.0


def test_waterline_that_grows_sweeps_over_the_water_that_stands_there(water_of_two):
    """The rate of the mass on the surface is that of its values and that of its edge."""
    effect = water_of_two.effect(WeakScatterers)
    (scene,), _ = scenes_around(effect, 0.2, CUT)
    n, R = scene.boundary.surface, jnp.tile(jnp.eye(3), (2, 1, 1))
    v = jnp.asarray([[0.2, 0, -0.1, 0, 0.1, 0], [0.1, 0, -0.4, 0, 0, 0]])

    def at(dt):
        p = jnp.array([[-2.0, 0.0, 0.0], [1.0, 0.0, 0.2]]) + dt * v[:, :3]
        turned = R + dt * jnp.cross(v[:, None, 3:], jnp.eye(3)).transpose(0, 2, 1)
        bodies = Bodies(p, turned, v)
        placed = placed_at(scene, Still(), 0.0, bodies)
        place = placed.vertices[:n, :2]
        # a field that stays where it is in the world, as the mesh moves in it
        eta = 0.3 + 0.05 * place[:, 0] - 0.02 * place[:, 1]
        return masses(scene, Still(), 0.0, eta, bodies, placed)

    ahead, here, behind = at(1e-5), at(0.0), at(-1e-5)
    rate = float(ahead.surface - behind.surface) / 2e-5
    assert float(here.swept) == pytest.approx(-rate, rel=1e-3)
    assert float(here.swept) > 50.0


def test_states_change_where_they_are_said_to_and_not_back_at_once(water_of_two):
    effect = water_of_two.effect(WeakScatterers)
    mesher, h = effect.mesher, effect.mesher.size

    def counted(z, before, speed=0.0):
        p = jnp.array([[-2.0, 0.0, 0.0], [1.0, 0.0, z]])
        v = jnp.zeros((2, 6)).at[1, 2].set(speed)
        bodies = Bodies(p, jnp.tile(jnp.eye(3), (2, 1, 1)), v)
        now = required_states(mesher, False, Still(), 0.0, bodies, jnp.array([CUT, before]))
        assert float(now[0]) == CUT  # the box may not cross
        return float(now[1])

    z = mesher.floaters[1].surface.vertices[:, 2]
    bottom, top, tall = z.min(), z.max(), np.ptp(z)
    deep, lifted = -bottom - IN * h, -bottom - OUT * h
    assert counted(deep + 0.01, DRY) == DRY
    assert counted(deep - 0.01, DRY) == CUT
    assert counted(deep + 0.01, CUT) == CUT
    assert counted(lifted + 0.01, CUT) == DRY
    shut, open_ = -top + SHUT * tall, -top + OPEN * tall
    assert counted(shut + 0.01, CUT) == CUT
    assert counted(shut - 0.01, CUT) == UNDER
    assert counted(open_ - 0.01, UNDER) == UNDER
    assert counted(open_ + 0.01, UNDER) == CUT
    # a step may pass over one of them
    assert counted(shut - 1.0, DRY) == UNDER
    assert counted(deep + 1.0, UNDER) == DRY
    # one that hits the water stays out of the mesh until it is slow, or well under
    assert counted(deep - 0.3, DRY, -2.0) == DRY
    assert counted(deep - 0.3, DRY, -0.3) == CUT
    assert counted(-bottom - 0.4 * tall, CUT, -1.9) == CUT
    # one that shoots out of it leaves the mesh
    assert counted(-bottom - 0.2 * tall, CUT, 1.9) == DRY
    assert counted(-top - 0.2 * tall, UNDER, 1.9) == DRY
    assert counted(-top - 0.4 * tall, UNDER, 1.9) == UNDER
    assert counted(-top - 0.2 * tall, UNDER, -1.9) == UNDER
    assert counted(-top - 0.4 * tall, DRY, -2.0) == DRY
    assert counted(-top - 0.6 * tall, DRY, -2.0) == UNDER


def entering(model, z, speed=0.0, dof=2, state=DRY):
    """Loads on the ball while it is not in the mesh."""
    effect = model.effect(WeakScatterers)
    p = jnp.array([[-2.0, 0.0, 0.0], [1.0, 0.0, z]])
    v = jnp.zeros((2, 6)).at[1, dof].set(speed)
    turns, none = jnp.tile(jnp.eye(3), (2, 1, 1)), jnp.zeros((2, 3))
    frames = Frames(turns, turns, none, none, none, none)  # of joints, which nobody asks for
    motion = Motion(Pose(p, turns), v, frames, none[:, 0], none[:, 0])
    now = Instant(jnp.asarray(0.0), motion, InternalState())
    return entry_loads(effect, model, now, jnp.array([CUT, state]))


def test_body_that_enters_carries_what_it_displaces(water_of_two):
    z = 0.5 - 0.15  # a cap of 0.15 m of the ball is wet
    found = entering(water_of_two, z)
    volume = np.pi * 0.15**2 * (3 * 0.5 - 0.15) / 3
    # 512 flat triangles with the volume of the ball, three rows of them in the cap
    assert float(found.volume[1]) == pytest.approx(volume, rel=0.03)
    force = 1000.0 * 9.81 * float(found.volume[1])
    assert float(found.wrench[1, 2]) == pytest.approx(force, rel=1e-9)
    assert np.abs(np.delete(np.asarray(found.wrench).reshape(-1), 8)).max() < 1e-6 * force
    assert float(found.volume[0]) == 0.0
    meshed = entering(water_of_two, z, -1.0, state=CUT)
    for part in meshed:
        assert np.abs(np.asarray(part)).max() == 0.0


def test_added_mass_of_a_sphere_half_under_a_surface_without_potential(water_of_two):
    """Half the displacement in heave (its image completes a sphere), 0.273 of it in sway."""
    A = np.asarray(entering(water_of_two, 0.0).added_mass)[6:9, 6:9]
    half = 1000.0 * 2.0 / 3.0 * np.pi * 0.5**3
    assert A[2, 2] / half == pytest.approx(0.5, rel=0.02)
    assert A[0, 0] / half == pytest.approx(0.273, rel=0.06)
    np.testing.assert_allclose(A, np.diag(np.diag(A)), atol=1e-9 * half)


@pytest.mark.parametrize("z", [0.35, 0.05, -0.3, -0.7])
def test_what_a_body_that_enters_loses_is_in_the_water_or_in_spray(water_of_two, z):
    """Power of the water on the ball, and rates of stored energy and spray; half when covered."""
    speed, dt = -2.0, 1e-5
    here = entering(water_of_two, z, speed)
    ahead, behind = (entering(water_of_two, z + k * speed * dt, speed) for k in (1, -1))
    rate = float(ahead.stored - behind.stored) / (2 * dt)
    power = float(here.wrench[1, 2]) * speed
    assert power == pytest.approx(-rate + float(here.spray), rel=1e-6)
    gain = float(ahead.added_mass[8, 8] - behind.added_mass[8, 8]) / (2 * dt)
    lost = 0.5 * gain * speed**2 if z > -0.5 else 0.0
    assert float(here.spray) == pytest.approx(-lost, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"mode": "linear"}, "keeps bodies at their mean positions"),
        ({"bodies": ["box"]}, "crossing names 'ball', which is none of its bodies"),
    ],
)
def test_crossing_that_cannot_be_is_refused(changes, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.compile(two_bodies(**changes))


def test_body_above_the_water_that_may_not_cross_is_refused():
    system = two_bodies()
    tank = system.forces[0].replace(crossing=["box"])
    high = system.bodies[1].replace(position=(1.0, 0, 1.5), hull=sw.Sphere(0.5, offset=(0, 0, 1.5)))
    with pytest.raises(sw.SwelltreeError, match="above the water, which it may not cross"):
        sw.compile(system.replace(bodies=(system.bodies[0], high), forces=(tank,)))


def test_what_a_mesher_remembers_is_no_part_of_a_run(water_of_two):
    """A run that goes on from a file is the one that wrote it, though it made meshes since."""
    mesher = water_of_two.effect(WeakScatterers).mesher
    before = content_key(mesher)
    reference = mesher.described()
    reference[1, 3] += 0.01
    mesher.scene(reference)
    assert reference.tobytes() in mesher.known.values
    assert content_key(mesher) == before
    copy = pickle.loads(pickle.dumps(mesher))
    assert copy == mesher
    assert reference.tobytes() not in copy.known.values


def gone(times, rate):
    """Integral of a rate from the start."""
    return np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(times))])


@pytest.mark.slow
def test_ball_that_falls_into_the_water_keeps_its_books_and_goes_on_bit_by_bit(tmp_path):
    """Dry, entering and under water: mass of the water, energy, and a second half again."""
    system = two_bodies(z=0.55, step=0.03)
    rail = system.joints[1].replace(velocity=-1.5)
    model = sw.compile(system.replace(joints=(system.joints[0], rail)))
    how = {"duration": 0.9, "output_step": 0.03, "chunk": 11, "progress": False}
    run = sw.simulate(model, checkpoint=tmp_path / "run", **how)
    assert run.attrs["result"] == "success"
    state = run.weak_scatterer_state.sel(body="ball").values
    assert sorted(set(state)) == [DRY, UNDER, ENTERING]
    # mass: what the bodies displace stands on the surface, or is gone to the beach or swept over
    t = run.time.values
    displaced = run.weak_scatterer_displaced_mass.sum("body").values
    wet = run.weak_scatterer_surface_mass.values + run.weak_scatterer_remeshing_mass.values
    wet = wet + gone(t, run.weak_scatterer_beach_mass_rate.values)
    wet = wet + gone(t, run.weak_scatterer_swept_mass_rate.values)
    touched = state > DRY
    missing = (wet - displaced + displaced[0])[touched]
    print("mass", displaced.min(), displaced.max(), missing)
    assert np.ptp(displaced) > 450.0
    assert np.abs(missing).max() < 0.02 * np.ptp(displaced)
    # energy: changes of the mesh bring little
    moved = float(run.kinetic_energy.sum("body").max())
    brought = run.weak_scatterer_remeshing.values
    shut = int(np.flatnonzero(state == UNDER)[0])
    print("energy", brought / moved, float(np.abs(run.energy_residual).max()) / moved)
    assert abs(brought[shut] - brought[shut - 1]) < 0.02 * moved
    assert float(np.abs(run.energy_residual).max()) < 0.02 * moved
    # the last chunks again, from their file
    stored = sorted(p.name for p in (tmp_path / "run").iterdir())
    (tmp_path / "run").joinpath(stored[-1]).unlink()
    again = sw.simulate(model, checkpoint=tmp_path / "run", resume=True, **how)
    for name in ("position", "weak_scatterer_elevation", "weak_scatterer_state",
                 "weak_scatterer_remeshing", "weak_scatterer_force"):  # fmt: skip
        np.testing.assert_array_equal(again[name].values, run[name].values)
