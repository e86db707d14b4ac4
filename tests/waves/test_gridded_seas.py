"""A user's field on a grid: interpolated, held at its edges, and checked."""

import numpy as np
import pytest
import xarray as xr

import swelltree as sw

WATER = sw.Water(depth=40.0)
WAVE = sw.RegularWave(1.0, period=7.0, beta=0.3)


def field(step: float = 1.0, y: bool = True) -> xr.Dataset:
    """The regular wave on a grid below the still water."""
    waves = sw.realise(WAVE, WATER)
    t, x = np.arange(0.0, 8.01, 0.25 * step), np.arange(-12.0, 12.01, step)
    z = np.arange(-8.0, 0.01, step)
    across = np.arange(-12.0, 12.01, step) if y else np.zeros(1)
    T, X, Y, Z = np.meshgrid(t, x, across, z, indexing="ij")
    motion = sw.kinematics(waves, T, X, Y, Z, WATER)
    axes = ("time", "x", "y", "z")
    surface = sw.elevation(waves, T[..., 0], X[..., 0], Y[..., 0])
    data = {"elevation": (axes[:3], surface), "pressure": (axes, motion.pressure)}
    data |= {n: (axes, motion.velocity[..., i]) for i, n in enumerate("uvw")}
    return xr.Dataset(data, dict(zip(axes, (t, x, across, z), strict=True)))


def errors(sea) -> np.ndarray:
    """Largest errors of elevation, pressure head, velocity and acceleration."""
    rng = np.random.default_rng(0)
    x, y, z = rng.uniform([-11, -11, -7], [11, 11, -0.1], (300, 3)).T
    t = rng.uniform(0.5, 7.0, 300)
    grid, exact = sw.realise(sea, WATER), sw.realise(WAVE, WATER)
    a, b = (sw.kinematics(w, t, x, y, z, WATER) for w in (grid, exact))
    pairs = [(sw.elevation(grid, t, x, y), sw.elevation(exact, t, x, y))]
    pairs += [((a.pressure) / (WATER.rho * WATER.g), b.pressure / (WATER.rho * WATER.g))]
    pairs += [(a.velocity, b.velocity), (a.acceleration, b.acceleration)]
    return np.array([np.abs(found - expected).max() for found, expected in pairs])


def test_linear_interpolation_converges_with_the_square_and_cubic_is_better():
    coarse, fine = errors(sw.GriddedSea(field(2.0))), errors(sw.GriddedSea(field(1.0)))
    assert (fine < 0.35 * coarse).all()
    assert (fine < 0.02).all()
    cubic = errors(sw.GriddedSea(field(1.0), interpolation="cubic"))
    assert (cubic[:3] < 0.1 * fine[:3]).all()


def test_values_on_the_grid_are_kept_and_edges_held():
    data = field()
    for how in ("linear", "cubic"):
        grid = sw.realise(sw.GriddedSea(data, interpolation=how), WATER)
        at = (data.time.values[3], data.x.values[5], data.y.values[2])
        assert float(sw.elevation(grid, *at)) == pytest.approx(float(data.elevation[3, 5, 2]))
        edge = float(sw.elevation(grid, 0.0, 12.0, 0.0))
        assert float(sw.elevation(grid, -3.0, 99.0, 0.0)) == pytest.approx(edge)


def test_a_field_without_y_and_from_a_file(tmp_path):
    flat = field(y=False).isel(y=0, drop=True)
    path = tmp_path / "field.nc"
    flat.to_netcdf(path)
    sea = sw.GriddedSea(path, ramp=2.0)
    a = sw.elevation(sw.realise(sea, WATER), 3.0, 1.0, 7.0)
    b = sw.elevation(sw.realise(sw.GriddedSea(flat, ramp=2.0), WATER), 3.0, 1.0, 0.0)
    assert float(a) == float(b)
    # a case file names the file, relative to itself
    study = {"name": "s", "type": "simulate", "duration": 1.0, "sea": sea.table()}
    assert study["sea"] == {"type": "gridded", "data": str(path), "ramp": 2.0}
    text = (
        '[system]\nname = "s"\nbodies = [{ name = "b", mass = 1.0 }]\n'
        'joints = [{ name = "j", type = "slider", base = "world", follower = "b" }]\n'
        '[[studies]]\nname = "s"\ntype = "simulate"\nduration = 1.0\n'
        'sea = { type = "gridded", data = "field.nc" }\n'
    )
    (tmp_path / "case.toml").write_text(text)
    assert sw.load(tmp_path / "case.toml").studies[0].sea.data == str(path)


BAD = [
    (lambda d: d.drop_vars("pressure"), "the data have no 'pressure'"),
    (lambda d: d.drop_vars("z"), "the data have no coordinate 'z'"),
    (lambda d: d.isel(x=[0, 1, 3]), "x of the grid is not evenly spaced"),
    (lambda d: d.isel(time=[0]), "the grid has one time only"),
    (lambda d: d.assign(pressure=d.pressure * np.nan), "'pressure' holds values that are not"),
    (lambda d: d.assign(pressure=d.pressure.isel(z=0)), "'pressure' has no axis 'z'"),
]


@pytest.mark.parametrize(("spoil", "sentence"), BAD)
def test_mistakes_in_the_data_are_told(spoil, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.realise(sw.GriddedSea(spoil(field())), WATER)


def test_other_mistakes_are_told(tmp_path):
    with pytest.raises(sw.SwelltreeError, match=r"data is not a field. Give an xarray\.Dataset"):
        sw.GriddedSea(3.0)
    with pytest.raises(sw.SwelltreeError, match="cannot be read"):
        sw.realise(sw.GriddedSea(str(tmp_path / "none.nc")), WATER)
    with pytest.raises(sw.SwelltreeError, match="data in memory cannot be written as TOML"):
        sw.GriddedSea(field()).table()
    with pytest.raises(sw.SwelltreeError, match="no components and no linear excitation"):
        sw.components(sw.GriddedSea(field()), WATER)
    bare = sw.realise(sw.GriddedSea(field().drop_vars("u")), WATER)
    with pytest.raises(sw.SwelltreeError, match="have no velocities u, v, w"):
        sw.kinematics(bare, 0.0, 0.0, 0.0, -1.0, WATER)
