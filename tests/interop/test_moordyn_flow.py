"""Waves and currents that stand in files beside a MoorDyn input."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.model.sea import compile_current

MOORING = """\
--------------------- MoorDyn Input File ---------------------
one chain
---------------------- LINE TYPES ----------------------
TypeName  Diam   Mass/m  EA        BA/-zeta  EI       Cd   Ca   CdAx  CaAx
(name)    (m)    (kg/m)  (N)       (N-s/-)   (N-m^2)  (-)  (-)  (-)   (-)
chain     0.25   390.0   1.6e9     -0.8      0        1.4  1.0  0.6   0.0
---------------------- POINTS ----------------------
ID   Attachment  X       Y     Z      Mass   Volume  CdA   Ca
(#)  (word)      (m)     (m)   (m)    (kg)   (m^3)   (m^2) (-)
1    Fixed       60.0    0.0   -50.0  0      0       0     0
2    Coupled     0.0     0.0   0.0    0      0       0     0
---------------------- LINES ----------------------
ID   LineType  AttachA  AttachB  UnstrLen  NumSegs  Outputs
(#)  (name)    (#)      (#)      (m)       (-)      (-)
1    chain     1        2        85.0      6        -
---------------------- OPTIONS ----------------------
50      WtrDpth
{options}
---------------------- need this line ----------------------
"""


def read(folder, options, **files):
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    path = folder / "lines.txt"
    path.write_text(MOORING.format(options=options))
    return sw.read_moordyn(path)


def flow(current, t, *points):
    compiled = compile_current(current, sw.Water(depth=50.0))
    velocity, acceleration = compiled.flow(np.asarray(t), np.array(points, float))
    return np.asarray(velocity), np.asarray(acceleration)


def test_steady_profile_is_interpolated_by_components(tmp_path):
    profile = (
        "---- steady ----\nnotes\nz (m), ux, uy, uz\n-40 0.0 0.4 0\n-10 1.2 0.0 0.1\n0 0.6 0 0\n"
    )
    file = read(tmp_path, "1 Currents", current_profile=profile)
    velocity, acceleration = flow(file.current, 0.0, (3, 4, -25), (0, 0, -49), (0, 0, 2))
    np.testing.assert_allclose(velocity, [[0.6, 0.2, 0.05], [0, 0.4, 0], [0.6, 0, 0]], atol=1e-12)
    # the flow at -25 m rises through the profile: w du/dz
    np.testing.assert_allclose(acceleration[0, 0], 0.05 * 1.2 / 30.0)
    assert file.system("s", fairleads_on=sw.WORLD).current == file.current


def test_dynamic_profile_of_one_two_or_three_components(tmp_path):
    head = "---- dynamic ----\nnotes\n2\n3\n 0.0 -40.0\n\n"
    file = read(tmp_path, "2 Currents", current_profile_dynamic=head + "0 0 0 0 0\n20 2 1 0 4\n")
    velocity, acceleration = flow(file.current, 5.0, (1, 2, -20))
    np.testing.assert_allclose(velocity, [[0.375, 0.5, 0.0]])
    np.testing.assert_allclose(acceleration, [[0.075, 0.1, 0.0]])
    along_x = read(tmp_path, "2 Currents", current_profile_dynamic=head + "0 0 0\n20 2 1\n")
    np.testing.assert_allclose(flow(along_x.current, 90.0, (0, 0, 0))[0], [[2.0, 0.0, 0.0]])
    with pytest.raises(
        sw.SwelltreeError, match=r"dynamic.txt' line 7: expected a time and 2, 4 or 6"
    ):
        read(tmp_path, "2 Currents", current_profile_dynamic=head + "0 0 0 0\n20 2 1 0\n")


def grid_text(field):
    axes = [-10.0, 30.0], [-5.0, 5.0, 6.0], [-50.0, -20.0, 0.0], [0.0, 8.0, 20.0]
    rows = [" ".join(str(len(axis)) for axis in axes)]
    rows += [" ".join(map(str, axis)) for axis in axes]
    for x in axes[0]:
        for t in axes[3]:
            for z in axes[2]:
                for y in axes[1]:
                    rows.append(" ".join(map(str, (x, y, z, t, *field(t, x, y, z)))))
    return "\n".join(rows) + "\n"


def linear_field(t, x, y, z):
    """Multilinear, so that interpolation on any grid is exact."""
    return 0.1 + 0.02 * x - 0.01 * y * t, 0.05 * z + 0.03 * t, 0.01 * x + 0.002 * z * y


def test_a_grid_in_space_and_time_gives_velocity_and_acceleration(tmp_path):
    file = read(tmp_path, "5 Currents", current_profile_4d=grid_text(linear_field))
    rng = np.random.default_rng(3)
    points = rng.uniform((-10, -5, -50), (30, 6, 0), (7, 3))
    exact = compile_current(
        sw.FlowField(lambda t, x, y, z: linear_field(t, x, y, z)), sw.Water(depth=50.0)
    )
    for t in (0.0, 3.3, 8.0, 17.9):
        velocity, acceleration = flow(file.current, t, *points)
        expected = exact.flow(np.asarray(t), points)
        np.testing.assert_allclose(velocity, expected[0], atol=1e-12)
        np.testing.assert_allclose(acceleration, expected[1], atol=1e-12)
    # beyond the grid its edge is held and nothing accelerates
    velocity, acceleration = flow(file.current, 99.0, (500.0, 60.0, 9.0))
    np.testing.assert_allclose(velocity[0], linear_field(20.0, 30.0, 6.0, 0.0))
    np.testing.assert_allclose(acceleration, 0.0, atol=1e-15)
    short = "\n".join(grid_text(linear_field).splitlines()[:-1])
    with pytest.raises(sw.SwelltreeError, match=r"ends too early: expected the velocity at \[30"):
        read(tmp_path, "5 Currents", current_profile_4d=short)


def elevation(sea, t, x=0.0, y=0.0):
    return np.asarray(sw.elevation(sw.realise(sea, sw.Water(depth=50.0)), t, x, y))


def test_sums_of_components_have_moordyns_phase(tmp_path):
    rows = "0.0 0 0\n0.5 1.5 0.5 0.3\n0.9 0 -0.4 -1.2\n0.9 0.2 0.0\n"
    file = read(tmp_path, "7 WaveKin", wave_frequencies=rows)
    t, x, y = np.linspace(0.0, 30.0, 7), 12.0, -7.0
    expected = 0.0
    for omega, A, beta in ((0.5, 1.5 + 0.5j, 0.3), (0.9, -0.4j, -1.2), (0.9, 0.2, 0.0)):
        k = float(sw.dispersion(omega, 50.0, 9.81))
        way = k * (x * np.cos(beta) + y * np.sin(beta))
        expected = expected + abs(A) * np.sin(omega * t - way + np.angle(A))
    assert elevation(file.sea, t, x, y) == pytest.approx(expected, abs=1e-9)


def test_spectra_for_inverse_transforms_are_first_made_even(tmp_path):
    file = read(tmp_path, "2 WaveKin", wave_frequencies="0 0 0\n0.2 1 0\n0.4 0 3\n0.8 1 1\n")
    t = np.linspace(0.0, 40.0, 9)
    # 0.6 rad/s lies between two rows; of the highest frequency half is left
    parts = {0.2: 1.0, 0.4: 3j, 0.6: 0.5 + 2j, 0.8: 0.5 + 0.5j}
    expected = sum(np.real(A * np.exp(1j * omega * t)) for omega, A in parts.items())
    assert elevation(file.sea, t) == pytest.approx(expected, abs=1e-9)


def test_a_wave_record_comes_back_as_the_sea(tmp_path):
    time = np.arange(0.0, 60.0, 0.5)
    turn = 2 * np.pi * time / 60.0  # of the record, so that it has no mean
    record = np.sin(6 * turn) + 0.3 * np.cos(13 * turn)
    text = "\n".join(f"{t} {z}" for t, z in zip(time, record, strict=True))
    file = read(tmp_path, "3 WaveKin\n0.5 dtWave", wave_elevation=text)
    assert isinstance(file.sea, sw.MeasuredWave)
    assert elevation(file.sea, time[20:60]) == pytest.approx(record[20:60], abs=1e-6)


WATER_KIN = """MoorDyn Waves and Currents input file
notes
------------------- WAVES -----------------
{waves} WaveKinMod - kind
"{record}" WaveKinFile - record
0.5 dtWave - step
30 WaveDir - heading (deg)
2 - X wave input type
-24, 150, 100 - X wave grid point data
2 - Y wave input type
-100, 100, 5 - Y wave grid point data
2 - Z wave input type
-600, 0, 60 - Z wave grid point data
------------------- CURRENT -----------------
{current} CurrentMod - kind
z-depth x-current y-current
(m) (m/s) (m/s)
-11.0 0.2 0
0.0 0.4 -0.2
--------------------- need this line ------------------
"""


def test_water_file_of_openfast_has_record_and_profile(tmp_path):
    record = "\n".join(f"{0.5 * k} {np.sin(0.4 * k)}" for k in range(40))
    text = WATER_KIN.format(waves=3, record="record.txt", current=1)
    file = read(tmp_path, '"water.txt" WaterKin', water=text, record=record)
    assert file.sea.beta == pytest.approx(np.radians(30.0))
    np.testing.assert_allclose(flow(file.current, 0.0, (0, 0, -5.5))[0], [[0.3, -0.1, 0.0]])
    other = WATER_KIN.format(waves=2, record="", current=2)
    file = read(tmp_path, '"water.txt" WaterKin', water=other)
    assert file.sea is None
    assert file.current is None
    assert [note for note in file.notes if "SeaState" in note]


def test_missing_and_unknown_flow_files_are_named(tmp_path):
    with pytest.warns(sw.SwelltreeWarning, match="WaveKin 3 needs 'wave_elevation.txt', which"):
        file = read(tmp_path, "3 WaveKin")
    assert file.sea is None
    with pytest.raises(sw.SwelltreeError, match="line 18: Currents 4 cannot be read"):
        read(tmp_path, "4 Currents")
    with pytest.raises(sw.SwelltreeError, match="line 18: WaveKin 5 cannot be read"):
        read(tmp_path, "5 WaveKin")


def test_a_grid_returns_from_a_case_file():
    grid = sw.CurrentGrid(u=(0.1, 0.2, 0.3, 0.4), time=(0.0, 9.0), z=(-20.0, 0.0))
    body = sw.Body("b", mass=1.0, inertia=(1, 1, 1))
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], current=grid)
    assert sw.loads(system.to_toml()).system == system
    with pytest.raises(sw.SwelltreeError, match="v has 3 values for 4 points of the grid"):
        grid.replace(v=(1.0, 2.0, 3.0))
    with pytest.raises(sw.SwelltreeError, match=r"z -20.0 follows 0.0. Give increasing"):
        grid.replace(z=(0.0, -20.0))


def test_a_grid_pushes_a_line_as_a_uniform_current_does(tmp_path):
    """Both in one engine; the grid is the same flow at all of its points."""
    file = read(tmp_path, "")
    uniform = sw.UniformCurrent(0.8, beta=0.5)
    u, v = 0.8 * np.cos(0.5), 0.8 * np.sin(0.5)
    grid = sw.CurrentGrid(u=(u,) * 8, v=(v,) * 8, time=(0.0, 3.0), x=(-9.0, 90.0), z=(-50.0, 0.0))
    ends = []
    for current in (uniform, grid):
        model = sw.compile(file.system("s", fairleads_on=sw.WORLD, current=current))
        run = sw.simulate(model, duration=1.0, output_step=0.5, step=0.05, progress=False)
        assert run.attrs["engine"].startswith("LLVM")
        ends.append(run["fairlead_tension"].values)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9)
