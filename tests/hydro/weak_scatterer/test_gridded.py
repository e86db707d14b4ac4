"""A sea on a grid as the incident wave of weak scatterers."""

import functools

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.incident.interface import flow, residuals, surface
from swelltree.hydro.weak_scatterer.incident.of_sea import main_frequency, steep_wave
from swelltree.jit import jax, jnp
from swelltree.waves.sea import elevation, kinematics, realise

WATER = sw.Water(depth=6.0)
OMEGA, HEIGHT = 2.2, 0.5
WAVE = sw.StreamFunctionWave(height=HEIGHT, omega=OMEGA, phase=0.4, ramp=1.0)
RADIUS = 16.0


def on_grid(end=2.0, reach=RADIUS, top=0.6, finer=1.0, without=(), **changes):
    """The steep wave as a user's field; its ramp is that of the sea on the grid."""
    steady = realise(WAVE.replace(ramp=0.0), WATER)
    t = np.linspace(0.0, end, int(end / 0.05 * finer) + 1)
    x = np.linspace(-reach, reach, int(4 * reach * finer) + 1)
    z = np.linspace(-6.0, top, int(30 * finer) + 1)
    T, X, Z = np.meshgrid(t, x, z, indexing="ij")
    found = kinematics(steady, T, X, 0.0 * X, Z, WATER)
    plane = np.meshgrid(t, x, indexing="ij")
    velocity = np.asarray(found.velocity)
    data = {
        "elevation": (("time", "x"), np.asarray(elevation(steady, *plane))),
        "pressure": (("time", "x", "z"), np.asarray(found.pressure)),
    } | {n: (("time", "x", "z"), velocity[..., i]) for i, n in enumerate("uvw")}
    data = {name: row for name, row in data.items() if name not in without}
    set_ = xr.Dataset(data, coords={"time": t, "x": x, "z": z})
    return sw.GriddedSea(set_, **({"interpolation": "cubic", "ramp": 1.0} | changes))


def ball(**options):
    body = sw.Body("ball", position=(0, 0, -2.5), hull=sw.Sphere(1.0, offset=(0, 0, -2.5)))
    rail = sw.Slider("rail", sw.WORLD.at(0, 0, -2.5), body, axis="z")
    pto = sw.LinearPto("pto", joint="rail", stiffness=4e4, damping=2e3)
    tank = {"radius": RADIUS, "spacing": 1.6, "far_spacing": 4.0, "levels": 2, "panel_size": 0.8}
    water = sw.WeakScatterer("sea", **(tank | {"symmetric": True, "step": 0.1} | options))
    return sw.System("ball", [body], [rail], [water], ptos=[pto], water=WATER)


@functools.cache
def compiled(options):
    return sw.compile(ball(**dict(options)))


def incident(sea, **options):
    model = compiled(tuple(sorted(options.items())))
    return model.effect(WeakScatterers).in_sea(model, realise(sea, WATER)).wave


@pytest.mark.slow
def test_flow_from_a_grid_is_that_of_the_wave_it_was_made_of_and_converges():
    known = steep_wave(realise(WAVE, WATER), WATER)
    rng = np.random.default_rng(3)
    x = jnp.asarray(rng.uniform([-12, -12, -5], [12, 12, -0.4], size=(40, 3)))
    errors = []
    for finer in (1.0, 2.0):
        wave = incident(on_grid(finer=finer))
        row = []
        for t in (0.63, 1.41):  # within the ramp, and after it
            ours, theirs = jax.jit(flow)(wave, t, x), flow(known, t, x)
            pairs = zip(ours[1:], theirs[1:], strict=True)
            row.append([float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs])
            top, want = surface(wave, t, x[:, :2]), surface(known, t, x[:, :2])
            np.testing.assert_allclose(top.level, want.level, atol=2e-3 * HEIGHT)
            np.testing.assert_allclose(top.slope, want.slope, atol=5e-3)
            # the potential of a grid has a constant of its own while the wave grows, and squares of
            # velocities are ramped otherwise
            off, size = np.asarray(ours.rate - theirs.rate), np.abs(theirs.rate).max()
            np.testing.assert_allclose(off, off.mean(), atol=(0.02 if t < 1.0 else 2e-3) * size)
        trace = np.trace(ours.hessian, axis1=1, axis2=2)
        assert np.abs(trace).max() < 0.05 * np.abs(ours.hessian).max()
        errors.append(np.max(row, axis=0))
    assert errors[0].max() < 0.04
    # values of second order, slopes of first at least
    assert (errors[1] < 0.6 * errors[0]).all()


def test_grid_of_an_exact_wave_leaves_little_of_the_conditions_on_its_surface():
    wave = incident(on_grid())
    xy = jnp.stack([jnp.linspace(-12.0, 12.0, 30), jnp.zeros(30)], -1)
    at = jnp.concatenate([xy, surface(wave, 1.5, xy).level[:, None]], 1)
    dynamic, kinematic = residuals(wave, 1.5, at, WATER.g)
    assert np.abs(dynamic).max() < 0.01 * WATER.g * HEIGHT
    assert np.abs(kinematic).max() < 0.02 * OMEGA * HEIGHT


def test_frequency_of_a_grid_is_that_of_its_wave():
    assert main_frequency(realise(on_grid(end=9.0), WATER)) == pytest.approx(OMEGA, rel=0.1)


@pytest.mark.slow
def test_body_in_a_sea_on_a_grid_moves_as_in_the_wave_it_was_made_of():
    model = sw.compile(ball())
    how = {"duration": 2.0, "output_step": 0.2, "progress": False}
    ours, theirs = (sw.simulate(model, sea, **how) for sea in (on_grid(), WAVE))
    z = [run.joint_coordinate.values[:, 0] for run in (ours, theirs)]
    size = np.abs(z[1]).max()
    assert size > 0.01
    # the ramps of the two differ in squares of velocities
    np.testing.assert_allclose(z[0], z[1], atol=0.01 * size)


@pytest.mark.parametrize(
    ("changes", "options", "sentence"),
    [
        ({"without": ("u",)}, {}, "has no velocities u, v, w"),
        ({"interpolation": "linear"}, {}, "interpolated linearly"),
        ({"reach": 12.0}, {}, "reaches from x = -12 m to 12 m, the tank from -16 m to 16 m"),
        ({"top": 0.1}, {}, "ends at z = 0.1 m, below its crests"),
        ({}, {"mode": "body_exact"}, "a sea on a grid rises above the mean surface"),
        ({}, {"radius": 9.0, "far_spacing": 3.0}, "shorter than the wavelength"),
    ],
)
def test_grids_that_cannot_be_a_sea_of_the_tank_are_refused(changes, options, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        incident(on_grid(**({"end": 2.85} | changes)), **options)


def test_grid_with_a_side_is_refused_by_half_a_tank():
    sea = on_grid(end=2.85)
    wide = sea.data.expand_dims(y=[-20.0, 20.0])
    with pytest.raises(sw.SwelltreeError, match="varies along y or flows there"):
        incident(sw.GriddedSea(wide, interpolation="cubic"))
