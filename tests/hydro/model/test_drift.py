"""Second-order loads: mean drift, Newman's rule, transfer functions."""

import numpy as np
import pytest

import swelltree as sw
from made_drift import MASS, OMEGA, RHO, drift_data, mean_drift, smooth_pairs, smooth_sums
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.drift.data import check_double_counting
from swelltree.hydro.drift.loads import drift_loads, mean_drift_at, transfer_at
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import dispersion

WATER = sw.Water(rho=RHO)
SEA = sw.IrregularSea(sw.Jonswap(Hs=2.0, Tp=8.0), seed=3, components=40)


def system(center=(0.0, 0.0, 0.0)):
    body = sw.Body("box", MASS, (1e8, 1e8, 1e8), position=center)
    return sw.System("s", [body], [sw.Free("free", sw.WORLD, body)], water=WATER)


def table(drift, second=("mean", "qtf", "sum"), **options):
    center = options.get("center", (0.0, 0.0, 0.0))
    data = drift_data(second=second, **options)
    return sw.compile(system(center), data, radiation="none", drift=drift).hydro.table


def waves(amplitude, omega, beta=None, phase=None, ramp=0.0):
    amplitude, omega = np.asarray(amplitude, float), np.asarray(omega, float)
    beta = 0.0 * omega if beta is None else np.asarray(beta, float)
    phase = 0.0 * omega if phase is None else np.asarray(phase, float)
    return Components(amplitude, omega, dispersion(omega, np.inf, 9.81), beta, phase, ramp)


def force(table, sea, duration=600.0):
    loads = drift_loads(table, sea, duration)
    return loads.step * np.arange(len(loads.force)), loads.force, loads.rate


def direct(t, sea, Q, P=None, x=0.0):
    """The double sums, term by term, of waves along x."""
    a = sea.complex_amplitude * np.exp(1j * sea.wavenumber * x)
    w1, w2 = np.meshgrid(sea.omega, sea.omega, indexing="ij")
    out = 0.0
    for i in range(len(a)):
        for j in range(len(a)):
            line = np.exp(-1j * (w1[i, j] - w2[i, j]) * t)
            out = out + np.real(a[i] * a[j].conj() * line[:, None] * Q(w1[i, j], w2[i, j]))
            if P is not None:
                line = np.exp(-1j * (w1[i, j] + w2[i, j]) * t)
                out = out + np.real(a[i] * a[j] * line[:, None] * P(w1[i, j], w2[i, j]))
    return out


FIVE = waves([0.6, 0.8, 1.0, 0.5, 0.3], OMEGA[[3, 7, 12, 18, 25]], phase=[0.1, 2.0, 4.0, 5.0, 1.0])


@pytest.mark.parametrize("method", ["mean", "newman", "qtf"])
def test_regular_wave_pushes_with_amplitude_squared_times_the_data(method):
    _, found, rate = force(table(method, ("mean", "qtf")), waves([1.7], [OMEGA[9]]))
    exact = 1.7**2 * mean_drift(OMEGA[9])
    assert np.abs(found - exact).max() < 1e-9 * np.abs(exact).max()
    assert np.abs(rate).max() < 1e-9 * np.abs(exact).max()


@pytest.mark.parametrize("method", ["mean", "newman", "qtf"])
def test_mean_of_an_irregular_sea_is_the_sum_over_its_waves(method):
    sea = waves(np.linspace(0.2, 1.0, 20), OMEGA[4:24], phase=np.arange(20.0) ** 2)
    repeat = 2 * np.pi / (OMEGA[1] - OMEGA[0])
    t, found, _ = force(table(method, ("mean", "qtf")), sea, repeat)
    exact = (sea.amplitude[:, None] ** 2 * mean_drift(sea.omega)).sum(0)
    # the sea repeats, so that its mean is exact; the grid does not divide its period
    mean = np.array([np.trapezoid(row, t) for row in found.T]) / t[-1]
    if method == "mean":
        assert mean == pytest.approx(exact, rel=1e-12)
    inside = t <= repeat
    fine = np.linspace(0.0, repeat, 4001)[:-1]
    mean = np.array([np.interp(fine, t[inside], row[inside]).mean() for row in found.T])
    assert np.abs(mean - exact).max() < 2e-3 * np.abs(exact).max()


def test_full_double_sum_of_differences_and_sums():
    t, found, rate = force(table("qtf"), FIVE, 50.0)
    exact = direct(t, FIVE, smooth_pairs, smooth_sums)
    assert np.abs(found - exact).max() < 1e-8 * np.abs(exact).max()
    slope = np.gradient(exact, t, axis=0, edge_order=2)
    assert np.abs(rate - slope)[2:-2].max() < 2e-2 * np.abs(slope).max()


def test_equal_frequencies_of_the_transfer_function_are_the_mean_drift_everywhere():
    found = table("qtf")
    mean = table("mean").drift.mean
    omega = np.random.default_rng(0).uniform(OMEGA[0], OMEGA[-1], 50)
    n = np.arange(50)
    Q = transfer_at(found.drift.difference, omega, 0.0 * omega, n, n)
    # also between the data's frequencies: both are linear along the diagonal
    D = mean_drift_at(mean, omega, 0.0 * omega)
    assert np.abs(Q - D).max() < 1e-12 * np.abs(D).max()


def test_mean_drift_is_taken_from_the_diagonal_when_only_a_transfer_function_is_given():
    mean = table("newman", ("qtf",)).drift.mean
    assert np.asarray(mean.force)[:, 0] == pytest.approx(mean_drift(OMEGA), rel=1e-12)


def test_newman_is_the_full_sum_of_newmans_transfer_function():
    sea = waves(np.full(9, 0.4), OMEGA[2:29:3], phase=np.arange(9) ** 2.0)
    t, by_rule, rate = force(table("newman"), sea, 300.0)
    again, by_pairs, pair_rate = force(table("qtf", ("newman",)), sea, 300.0)
    assert t == pytest.approx(again)
    size = np.abs(by_pairs).max(axis=0) + 1e-9
    assert (np.abs(by_rule - by_pairs) / size).max() < 1e-8
    assert np.abs(rate - pair_rate).max() < 1e-8 * np.abs(pair_rate).max()
    assert by_rule[:, 0].min() >= 0.0  # surge is pushed only


def test_symmetry_of_the_transfer_functions_between_the_data():
    found = table("qtf").drift
    rng = np.random.default_rng(2)
    omega = rng.uniform(OMEGA[0], OMEGA[-1], 40)
    i, j = rng.integers(0, 40, (2, 300))
    for pairs, mirror in ((found.difference, np.conj), (found.sum, lambda x: x)):
        one = transfer_at(pairs, omega, 0 * omega, i, j)
        two = transfer_at(pairs, omega, 0 * omega, j, i)
        assert np.abs(one - mirror(two)).max() < 1e-12 * np.abs(one).max()


def test_interpolated_transfer_function_is_near_the_smooth_one():
    found = table("qtf").drift
    rng = np.random.default_rng(4)
    omega = rng.uniform(OMEGA[0], OMEGA[-1], 60)
    i, j = rng.integers(0, 60, (2, 500))
    for pairs, exact in ((found.difference, smooth_pairs), (found.sum, smooth_sums)):
        Q = transfer_at(pairs, omega, 0 * omega, i, j)
        away = np.abs(Q - exact(omega[i], omega[j])).max()
        # linear in steps of 0.05 rad/s: h^2/8 times the second derivative
        assert away < 1e-2 * np.abs(Q).max()


@pytest.mark.parametrize("method", ["mean", "newman", "qtf"])
def test_forces_go_with_the_square_of_the_amplitude(method):
    here = table(method)
    one = force(here, FIVE, 60.0)[1]
    twice = force(here, waves(2 * FIVE.amplitude, FIVE.omega, phase=FIVE.phase), 60.0)[1]
    assert np.abs(twice - 4 * one).max() < 1e-9 * np.abs(twice).max()


def test_a_body_elsewhere_feels_the_same_force_later():
    # data about the origin, with the body at x; phases of the file are at the global origin
    x, shifted = 35.0, drift_data(second=("qtf", "sum"), center=(35.0, 0.0, 0.0))
    k = OMEGA**2 / 9.81
    minus = np.exp(1j * (k[:, None] - k[None]) * x)[:, :, None, None]
    plus = np.exp(1j * (k[:, None] + k[None]) * x)[:, :, None, None]
    shifted["qtf_difference"] = shifted["qtf_difference"] * minus
    shifted["qtf_sum"] = shifted["qtf_sum"] * plus
    there = sw.compile(system((x, 0, 0)), shifted, radiation="none", drift="qtf").hydro.table
    t, found, _ = force(there, FIVE, 60.0)
    exact = direct(t, FIVE, smooth_pairs, smooth_sums, x)
    assert np.abs(found - exact).max() < 1e-8 * np.abs(exact).max()


def test_shift_of_the_data_moves_the_phases_of_transfer_functions():
    from swelltree.hydro.data.frames import shift

    data = shift(drift_data(second=("qtf", "sum")), 35.0, 0.0)
    there = sw.compile(system((35.0, 0, 0)), data, radiation="none", drift="qtf").hydro.table
    t, found, _ = force(there, FIVE, 60.0)
    exact = direct(t, FIVE, smooth_pairs, smooth_sums, 35.0)
    assert np.abs(found - exact).max() < 1e-8 * np.abs(exact).max()


def test_moment_about_another_reference_point():
    data = drift_data(second=("mean",))
    body = sw.Body("box", MASS, (1e8, 1e8, 1e8), reference_point=(0.0, 0.0, -2.0))
    own = sw.System("s", [body], [sw.Free("free", sw.WORLD, body)], water=WATER)
    low = sw.compile(own, data, radiation="none", drift="mean").hydro.table
    found = force(low, waves([1.0], [OMEGA[9]]))[1][0]
    exact = mean_drift(OMEGA[9])
    # about a point 2 m lower, surge has the arm +2 m about +y
    assert found[4] == pytest.approx(exact[4] + 2.0 * exact[0])


def test_the_square_of_the_ramp():
    quiet = waves([1.0], [OMEGA[9]], ramp=30.0)
    t, found, rate = force(table("newman"), quiet, 100.0)
    r = np.where(t < 30.0, 0.5 * (1 - np.cos(np.pi * t / 30.0)), 1.0)
    exact = r**2 * mean_drift(OMEGA[9])[0]
    assert found[:, 0] == pytest.approx(exact, abs=1e-9 * exact.max())
    slope = np.where(t < 30.0, r * np.pi / 30.0 * np.sin(np.pi * t / 30.0), 0.0)
    slope = slope * mean_drift(OMEGA[9])[0]
    assert rate[:, 0] == pytest.approx(slope, abs=1e-9 * slope.max())


def test_headings_between_the_data_and_mean_heading_of_crossing_waves():
    headings = np.radians(np.arange(-90, 91, 15))
    data = drift_data(second=("newman",), headings=headings)
    model = sw.compile(system(), data, radiation="none", drift="qtf")
    pairs = model.hydro.table.drift.difference
    omega, beta = OMEGA[[8, 8]], np.radians([10.0, 50.0])
    Q = transfer_at(pairs, omega, beta, np.array([0]), np.array([1]))[0]
    assert Q[:2] == pytest.approx(mean_drift(OMEGA[8], np.radians(30.0))[:2], rel=1e-8)
    assert any("mean heading" in line for line in model.report)
    mean = table("mean", headings=headings).drift.mean
    D = mean_drift_at(mean, omega[:1], np.radians([7.5]))[0]
    assert D[0] == pytest.approx(mean_drift(OMEGA[8], np.radians(7.5))[0], rel=1e-2)


def test_crossing_waves_use_the_data_where_they_hold_them():
    data = drift_data(second=("qtf",), headings=(0.0,))
    one = data["qtf_difference"].values[:, :, 0]
    # (0, 0), (0, 0.6), (0.6, 0.6): the fourth combination follows by symmetry
    values = np.stack([one, 2j * one, 3 * one], axis=2)
    data = data.drop_vars(["qtf_difference", "difference_heading_1", "difference_heading_2"])
    data["qtf_difference"] = (
        ("difference_omega_1", "difference_omega_2", "difference_headings", "influenced_dof"),
        values,
    )
    data = data.assign_coords(
        difference_heading_1=("difference_headings", [0.0, 0.0, 0.6]),
        difference_heading_2=("difference_headings", [0.0, 0.6, 0.6]),
    )
    pairs = sw.compile(system(), data, radiation="none", drift="qtf").hydro.table.drift.difference
    assert pairs.crossing
    omega, beta = OMEGA[[4, 9]], np.array([0.0, 0.6])
    i, j = np.array([0, 1]), np.array([1, 0])
    there, back = transfer_at(pairs, omega, beta, i, j)
    assert there == pytest.approx(2j * smooth_pairs(*omega))
    assert back == pytest.approx(there.conj())
    half = transfer_at(pairs, omega, np.array([0.3, 0.3]), i, j)[0]
    mixed = (0.25 + 0.75) * smooth_pairs(*omega) + 0.25 * 2j * smooth_pairs(*omega)
    mixed = mixed + 0.25 * (2j * smooth_pairs(*omega[::-1])).conj()
    assert half == pytest.approx(mixed)


def test_pairs_outside_the_data_give_no_force_and_the_run_says_so():
    data = drift_data(second=("qtf",))
    apart = np.abs(OMEGA[:, None] - OMEGA[None]) > 0.301
    values = data["qtf_difference"].values.copy()
    values[apart] = np.nan
    data["qtf_difference"] = (data["qtf_difference"].dims, values)
    model = sw.compile(system(), data, radiation="none", drift="qtf")
    assert any("frequencies up to 0.3 rad/s" in line for line in model.report)
    assert any("no sum-frequency" in line for line in model.report)
    pairs = model.hydro.table.drift.difference
    Q = transfer_at(pairs, OMEGA[[4, 9, 20]], np.zeros(3), np.array([0, 0]), np.array([1, 2]))
    assert Q[0] == pytest.approx(smooth_pairs(OMEGA[4], OMEGA[9]))
    assert not Q[1].any()
    with pytest.warns(SwelltreeWarning, match=r"50 % of the sea's energy lies outside"):
        drift_loads(model.hydro.table, waves([1.0, 1.0], [1.0, 2.5]), 50.0)


def test_freedoms_that_the_data_leave_out_are_told():
    data = drift_data(second=("mean",))
    data["mean_drift"].loc[{"influenced_dof": "box__Heave"}] = np.nan
    model = sw.compile(system(), data, radiation="none", drift="newman")
    assert any("say nothing of 'box__Heave'" in line for line in model.report)
    assert not np.asarray(model.hydro.table.drift.mean.force)[..., 2].any()
    assert np.asarray(model.hydro.table.drift.mean.force)[..., 0].any()


def test_drift_with_headings_of_its_own():
    data = drift_data(second=("mean",))
    values = data["mean_drift"].values[:-1]
    data = data.drop_vars("mean_drift")
    data["mean_drift_own_headings"] = (
        ("drift_omega", "drift_direction", "influenced_dof"),
        np.repeat(values, 2, axis=1),
    )
    data = data.assign_coords(drift_omega=OMEGA, drift_direction=[0.0, 1.0])
    found = sw.compile(system(), data, radiation="none", drift="mean").hydro.table
    assert force(found, waves([1.0], [OMEGA[9]]))[1][0] == pytest.approx(mean_drift(OMEGA[9]))


@pytest.mark.parametrize(
    ("drift", "second", "message"),
    [
        ("newmann", ("mean",), "Did you mean 'newman'"),
        ("mean", (), "needs mean drift coefficients, which the hydro data do not hold"),
        ("newman", (), "Read data with a .8, .9 or .12d file"),
        ("qtf", ("mean",), "They hold mean drift: use drift='newman'"),
        ("qtf", (), "Read data with a .12d file, or leave drift out"),
    ],
)
def test_missing_data_are_named_with_what_to_do(drift, second, message):
    with pytest.raises(SwelltreeError, match=message):
        sw.compile(system(), drift_data(second=second), radiation="none", drift=drift)


def test_momentum_of_all_bodies_together_is_not_enough():
    data = drift_data(second=())
    data["mean_drift_total"] = ("total", [1.0])
    with pytest.raises(SwelltreeError, match="only the sum over all bodies"):
        sw.compile(system(), data, radiation="none", drift="mean")


@pytest.mark.parametrize("drift", [None, "none"])
def test_without_drift_nothing_is_added(drift):
    model = sw.compile(system(), drift_data(), radiation="none", drift=drift)
    assert apply_sea(model, FIVE, 30.0).hydro.drift is None


def test_drift_and_nonlinear_hull_forces_of_one_body_are_refused():
    data = drift_data(second=("mean",))
    with pytest.raises(SwelltreeError, match="body 'box': drift 'newman' and nonlinear"):
        check_double_counting(["box"], "newman", data)
    with pytest.raises(SwelltreeError, match="body 'box'"):
        check_double_counting(["box"], "newman")
    check_double_counting(["box"], "none", data)
    check_double_counting([], "qtf", data)
    check_double_counting(["other"], "qtf", data)  # has no second-order data
    without = data.assign_attrs(second_order_force="without Froude-Krylov")
    check_double_counting(["box"], "qtf", without)


def test_long_records_of_many_waves_are_exact():
    sea = sw.realise(
        sw.IrregularSea(
            sw.Jonswap(Hs=3.0, Tp=8.0), components=200, omega_min=0.31, omega_max=1.79, jitter=True
        ),
        WATER,
    )
    here = table("qtf")
    loads = drift_loads(here, sea, 10800.0)
    assert len(loads.force) * loads.step > 10800.0
    # 2e4 pairs at five instants far apart, by the double sum of the same interpolated data
    rows = np.linspace(0, 10800.0 / loads.step, 5).astype(int)
    omega, z = np.asarray(sea.omega), np.asarray(sea.complex_amplitude)
    z = z * np.exp(-1j * np.outer(rows * float(loads.step), omega))
    i, j = (k.ravel() for k in np.indices((len(omega), len(omega))))
    exact = 0.0
    for pairs, other in ((here.drift.difference, z.conj()), (here.drift.sum, z)):
        Q = transfer_at(pairs, omega, np.asarray(sea.beta), i, j)
        exact = exact + np.real((z[:, i] * other[:, j]) @ Q)
    assert np.abs(loads.force[rows] - exact).max() < 1e-8 * np.abs(loads.force).max()


def test_drift_without_hydro_data_is_refused():
    with pytest.raises(SwelltreeError, match="drift 'mean' needs hydro data"):
        sw.compile(system(), drift="mean")


def test_second_order_data_survive_a_file(tmp_path):
    data = drift_data(second=("mean", "qtf", "sum"))
    data = data.assign_attrs(second_order_force="without Froude-Krylov")
    sw.write_hydro(data, tmp_path / "box.nc")
    again = sw.read_hydro(tmp_path / "box.nc")
    assert again.attrs["second_order_force"] == "without Froude-Krylov"
    for method in ("newman", "qtf"):
        one, two = (
            force(sw.compile(system(), x, radiation="none", drift=method).hydro.table, FIVE, 60.0)
            for x in (data, again)
        )
        assert two[1] == pytest.approx(one[1], rel=1e-12)


def test_compiling_refuses_drift_of_a_nonlinear_hull():
    from swelltree.hydro.linear.build import HydroOptions, build_hydro

    data = drift_data()
    model = sw.compile(system(), data, radiation="none")
    options = HydroOptions(radiation="none", nonlinear=("box",), drift="mean")
    with pytest.raises(SwelltreeError, match="would count the second-order force"):
        build_hydro(system().resolved, model, model.hydro.mean, data, options)


def around():
    return np.radians(np.arange(-90, 91, 15))


@pytest.mark.parametrize("method", ["newman", "qtf"])
def test_mean_in_a_short_crested_sea_is_the_sum_over_its_headings(method):
    here = table(method, ("mean", "newman"), headings=around())
    wide = sw.IrregularSea(
        sw.Jonswap(Hs=2.0, Tp=8.0),
        components=60,
        spacing="equal",
        jitter=False,
        spreading=sw.Cos2s(s=20, directions=5),
        omega_min=0.4,
        omega_max=1.7,
    )
    sea = sw.realise(wide, WATER)
    period = float(sea.repeat_period)
    t, found, _ = force(here, sea, period)
    mean_of_data = table("mean", ("mean",), headings=around()).drift.mean
    D = mean_drift_at(mean_of_data, sea.omega, sea.beta)
    exact = (sea.amplitude[:, None] ** 2 * D).sum(0)
    fine = np.linspace(0.0, period, 8001)[:-1]
    mean = np.array([np.interp(fine, t, row).mean() for row in found.T])
    assert np.ptp(sea.beta) > 0.3
    assert np.abs(mean - exact).max() < 5e-3 * np.abs(exact).max()


def test_each_body_gets_its_own_drift_in_its_own_place():
    one, two = drift_data("box", second=("mean",)), drift_data("far", second=("mean",))
    bodies = [
        sw.Body(name, MASS, (1e8,) * 3, position=(x, 0, 0)) for name, x in (("far", 40), ("box", 0))
    ]
    joints = [sw.Free(f"{body.name}_free", sw.WORLD, body) for body in bodies]
    both = sw.System("s", bodies, joints, water=WATER)
    labels = [*one.influenced_dof.values, *two.influenced_dof.values]
    data = one.reindex(influenced_dof=labels, radiating_dof=labels, fill_value=0.0)
    for name, scale in (("mean_drift", 3.0), ("excitation_force", 1.0)):
        rest = two[name].reindex(influenced_dof=labels, fill_value=0.0)
        data[name] = data[name] + scale * rest
    for name in ("added_mass", "radiation_damping", "hydrostatic_stiffness"):
        rest = two[name].reindex(influenced_dof=labels, radiating_dof=labels, fill_value=0.0)
        data[name] = data[name] + rest
    places = [[0.0, 0.0, 0.0], [40.0, 0.0, 0.0]]
    data = data.drop_dims("body").assign_coords(body=["box", "far"])
    for name in ("rotation_center", "center_of_mass", "center_of_buoyancy"):
        data[name] = (("body", "xyz"), places)
    data["displaced_volume"] = ("body", [MASS / RHO] * 2)
    model = sw.compile(both, data, radiation="none", drift="newman")
    t, found, _ = force(model.hydro.table, FIVE, 60.0)
    far, box = (found[:, 6 * model.layout.bodies.index(name)] for name in ("far", "box"))
    alone = force(table("newman", ("mean",)), FIVE, 60.0)[1][:, 0]
    assert box == pytest.approx(alone, rel=1e-9)
    a = FIVE.complex_amplitude * np.exp(40j * FIVE.wavenumber)
    size = a * np.sqrt(3.0 * mean_drift(FIVE.omega)[:, 0])
    exact = np.abs(np.exp(-1j * np.outer(t, FIVE.omega)) @ size) ** 2
    assert far == pytest.approx(exact, rel=1e-8)
