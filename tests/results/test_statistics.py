"""Statistics of channels."""

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from made_buoy import buoy_model, buoy_run
from swelltree.model.channels import CHANNELS, attributes
from swelltree.multibody.layout import DOFS
from swelltree.results.displacement import unwrapped
from swelltree.results.statistics import NAMES, of_samples, time_weights
from swelltree.spatial.rotations import about_axis, euler_to_matrix, matrix_to_euler


def test_statistics_of_a_sine_are_known():
    t = np.linspace(0.0, 100.0, 100_001)
    numbers = of_samples(3.0 + 2.0 * np.sin(2 * np.pi * t), time_weights(t))
    found = dict(zip(NAMES, numbers, strict=True))
    assert found["mean"] == pytest.approx(3.0, abs=1e-3)
    assert found["std"] == pytest.approx(np.sqrt(2.0), rel=1e-4)
    assert found["significant"] == pytest.approx(2.0 * np.sqrt(2.0), rel=1e-4)
    assert (found["min"], found["max"]) == pytest.approx((1.0, 5.0), abs=1e-6)
    assert abs(found["crossings"] - 100) <= 1
    assert found["mpm"] == pytest.approx(3.0 + np.sqrt(2.0) * np.sqrt(2 * np.log(100)), rel=1e-2)


def test_the_most_probable_maximum_of_a_gaussian_sea_is_that_of_its_record():
    """The mean of the largest of many records lies a little above the most probable one."""
    rng = np.random.default_rng(5)
    omega = np.linspace(0.9, 1.1, 60)
    t = np.arange(0.0, 1200.0, 0.25)
    a = rng.rayleigh(size=(40, 60))
    phase = rng.uniform(0, 2 * np.pi, (40, 60))
    records = np.einsum("rk,rkt->rt", a, np.cos(omega[:, None] * t - phase[..., None]))
    found = of_samples(records, time_weights(t))
    ratio = found[:, 4] / found[:, 6]
    assert 0.9 < ratio.mean() < 1.15


def test_the_ramp_of_the_sea_does_not_count_and_gaps_neither():
    t = np.arange(0.0, 100.0, 0.1)
    values = np.where(t < 20.0, 1000.0, np.sin(t))
    values[500] = np.nan
    data = xr.Dataset(
        {"x": ("time", values, {"units": "m"})}, {"time": ("time", t, {"ramp": 20.0})}
    )
    with pytest.warns(sw.SwelltreeWarning, match="1 samples of 'x' are not numbers and are left"):
        found = sw.statistics(data)
    assert float(found["x"].sel(statistic="max")) < 1.01
    assert found["x"].attrs["units"] == "m"
    assert found.attrs["statistics_from"] == 20.0
    data["x"][500] = 0.0
    full = sw.statistics(data, start=0.0)
    assert float(full["x"].sel(statistic="max")) == 1000.0
    assert list(sw.statistics(data["x"], start=20.0)["statistic"].values) == list(NAMES)


def spinning(seed):
    """A body that turns about a random axis and swings, sampled at uneven times."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0.0, 60.0, 900))
    yaw = 0.7 * t + 0.3 * np.sin(1.1 * t)
    roll, pitch = 0.2 * np.sin(0.9 * t), 0.1 * np.cos(1.3 * t)
    return t, roll, pitch, yaw


def as_position(t, angles, **about):
    """Positions of one body with Euler angles within one turn, as results have them."""
    values = np.zeros((len(t), 1, 6))
    values[:, 0, 3:] = (np.stack(angles, axis=1) + np.pi) % (2 * np.pi) - np.pi
    return xr.DataArray(
        values,
        {"time": ("time", t, about), "body": ["buoy"], "dof": list(DOFS)},
        ("time", "body", "dof"),
        attrs={"units": "m, rad", "angles": "yes"},
    )


def test_one_variable_leaves_out_the_ramp_that_the_whole_result_leaves_out():
    run = buoy_run()
    full, one = sw.statistics(run), sw.statistics(run["elevation"])
    assert one.attrs["statistics_from"] == full.attrs["statistics_from"] == 12.0
    np.testing.assert_array_equal(full["elevation"], one)
    # a sine of amplitude 1/2 over seven periods
    assert float(one.sel(statistic="std")) == pytest.approx(0.5 / np.sqrt(2), rel=1e-3)
    some = sw.statistics(run["elevation"].isel(time=slice(5, None, 2)))
    assert float(some.sel(statistic="std")) == pytest.approx(0.5 / np.sqrt(2), rel=1e-2)


def test_means_are_over_time_not_over_samples():
    """Half of the time one, half of the time zero, with a hundred times as many samples there."""
    t = np.concatenate([np.linspace(0.0, 50.0, 1000), np.linspace(50.001, 100.0, 10)])
    data = xr.DataArray((t > 50.0).astype(float), {"time": t}, ("time",))
    found = sw.statistics(data)
    assert float(found.sel(statistic="mean")) == pytest.approx(0.5, abs=1e-4)
    assert float(found.sel(statistic="std")) == pytest.approx(0.5, abs=1e-4)


def test_samples_of_one_period_have_equal_weights_however_they_lie():
    rng = np.random.default_rng(2)
    t = np.sort(rng.uniform(0.0, 6.0, 400))
    data = xr.DataArray(
        np.cos(2 * np.pi * t / 6.0) ** 2, {"time": ("time", t, {"period": 6.0})}, ("time",)
    )
    assert float(sw.statistics(data).sel(statistic="mean")) == pytest.approx(0.5, abs=2e-3)


def test_a_gap_is_no_crossing():
    t = np.arange(0.0, 60.0, 0.1)
    values = np.sin(2 * np.pi * t / 10.0) - 0.5
    full = of_samples(values, time_weights(t))[5]
    holes = values.copy()
    holes[[30, 77, 78, 260, 400, 401, 402]] = np.nan
    assert of_samples(holes, time_weights(t))[5] == full
    # a gap over a crossing hides none, one below the mean makes none
    below = np.where(np.arange(len(t)) % 7 == 3, np.nan, -1.0 - 1e-3 * t)
    assert of_samples(below, time_weights(t))[5] == 0


def test_angles_count_on_past_half_a_turn():
    t, roll, pitch, yaw = spinning(4)
    found = sw.statistics(as_position(t, (roll, pitch, yaw)))
    top = found.sel(body="buoy", statistic="max")
    assert float(top.sel(dof="Yaw")) == pytest.approx(yaw.max(), rel=1e-12)
    assert float(top.sel(dof="Roll")) == pytest.approx(roll.max(), rel=1e-12)
    alone = sw.statistics(as_position(t, (roll, pitch, yaw)).sel(dof="Yaw"))
    assert float(alone.sel(statistic="max")[0]) == pytest.approx(yaw.max(), rel=1e-12)
    holes = as_position(t, (roll, pitch, yaw))
    holes[300:303] = np.nan
    with pytest.warns(sw.SwelltreeWarning, match="18 samples of 'the channel' are not numbers"):
        with_gaps = sw.statistics(holes).sel(body="buoy", statistic="max", dof="Yaw")
    assert float(with_gaps) == pytest.approx(yaw.max(), rel=1e-12)


def test_a_body_that_goes_over_has_turned_in_pitch_only():
    """Euler angles of a body that turns about y: pitch stays within a quarter turn, roll jumps."""
    t = np.linspace(0.0, 30.0, 700)
    angle = 0.5 * t
    R = np.zeros((len(t), 3, 3))
    R[:, 0, 0] = R[:, 2, 2] = np.cos(angle)
    R[:, 0, 2], R[:, 2, 0], R[:, 1, 1] = np.sin(angle), -np.sin(angle), 1.0
    data = as_position(t, tuple(matrix_to_euler(R).T))
    found = sw.statistics(data).sel(body="buoy")
    assert float(found.sel(dof="Pitch", statistic="max")) == pytest.approx(15.0, rel=1e-9)
    assert float(np.abs(found.sel(dof=["Roll", "Yaw"])).max()) < 1e-9


def test_a_ball_joint_turns_on_about_a_slanted_axis():
    t = np.linspace(0.0, 40.0, 801)
    axis = np.array([0.48, -0.6, 0.64])
    angle = 0.4 * t
    R = about_axis(np.tile(axis, (len(t), 1)), angle)
    data = xr.DataArray(
        np.concatenate([matrix_to_euler(R), t[:, None]], axis=1),
        {
            "time": t,
            "coordinate": ["b__Roll", "b__Pitch", "b__Yaw", "s__Surge"],
            "coordinate_turns": ("coordinate", [True, True, True, False]),
        },
        ("time", "coordinate"),
        attrs={"units": "m, rad", "angles": "yes"},
    )
    found = unwrapped(data).values
    assert np.abs(np.diff(data.values[:, :3], axis=0)).max() > 3.0
    # the pitch stays below 79 degrees, so that no angle moves faster than 0.4 / cos(79 degrees)
    assert np.abs(np.diff(found[:, :3], axis=0)).max() < 0.05 * 0.4 / np.cos(np.radians(79))
    np.testing.assert_allclose(euler_to_matrix(found[:, :3]), R, atol=1e-12)
    np.testing.assert_array_equal(found[:, 3], t)


def test_rotation_vectors_do_not_go_on_past_half_a_turn():
    """Beyond half a turn a bushing pulls the other way: its deformation is that, not 3.2 rad."""
    data = xr.DataArray(
        np.array([[[0.0, 0.0, 0.0, 0.0, 0.0, yaw]] for yaw in (3.0, 3.1, -3.1, -3.0)]),
        {"time": np.arange(4.0), "dof": ["Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw"]},
        ("time", "bushing", "dof"),
        attrs=attributes(CHANNELS["bushing_deformation"]),
    )
    np.testing.assert_array_equal(unwrapped(data).values, data.values)
    turned = data.isel(bushing=0).assign_attrs(attributes(CHANNELS["position"]))
    assert unwrapped(turned).values[2, 5] == pytest.approx(2.0 * np.pi - 3.1)


def test_a_window_that_holds_nothing_is_refused():
    data = xr.DataArray(np.ones(5), {"time": np.arange(5.0)}, ("time",))
    with pytest.raises(sw.SwelltreeError, match="lies after the last sample, 4 s"):
        sw.statistics(data, start=7.0)
    with pytest.raises(sw.SwelltreeError, match="no dimension 'time'"):
        sw.statistics(data.isel(time=0))


def test_powers_have_no_gaussian_maximum():
    table = sw.statistics(buoy_run())
    power = table["absorbed_power"]
    assert np.isnan(power.sel(statistic="mpm").values).all()
    assert "power is not Gaussian" in power.attrs["mpm"]
    assert np.isfinite(power.sel(statistic="max").values).all()
    assert np.isfinite(table["pto_force"].sel(statistic="mpm").values).all()
    # and no batch gives one
    wave = sw.RegularWave(amplitude=0.5, period=4.0, ramp=4.0)
    batch = sw.simulate_batch(buoy_model(), [wave] * 2, duration=8.0, output_step=0.2, step=0.1)
    assert np.isnan(batch["absorbed_power"].sel(statistic="mpm").values).all()
    assert np.isfinite(batch["displacement"].sel(statistic="mpm", dof="Heave").values).all()


def test_statistics_of_a_run_that_diverged_say_so():
    """Pushed beyond the speed that counts as a motion."""
    bob = sw.Body("bob", 1.0, (1.0, 1.0, 1.0))
    rail = sw.Slider("rail", sw.WORLD, bob, axis="x")
    push = sw.AppliedForce("push", bob.at(), force=(1e5, 0.0, 0.0))
    model = sw.compile(sw.System("run", [bob], [rail], [push]))
    with pytest.warns(sw.SwelltreeWarning):
        run = sw.simulate(model, duration=20.0, output_step=0.1)
    assert run.attrs["result"] != "success"
    with pytest.warns(sw.SwelltreeWarning, match="the run did not reach its end"):
        table = sw.statistics(run)
    assert table.attrs["ended"] == run.attrs["message"]
    with pytest.warns(sw.SwelltreeWarning, match="the run did not reach its end"):
        one = sw.statistics(run["displacement"])
    assert one.attrs["ended"] == run.attrs["message"]
    assert "ended" not in sw.statistics(buoy_run()).attrs
