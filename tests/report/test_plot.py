"""Plots of results: what is drawn is what the data say, with their units."""

import json

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from made_hydro import heaving_float
from made_result import HOSTILE, made_run, made_system
from swelltree.report import plots as plot
from swelltree.report.frequency import record_spectrum
from swelltree.waves.spectra import jonswap


@pytest.fixture(scope="module")
def run():
    return made_run(lines=2)


def lines_of(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines}


def titles(fig):
    return [(ax.get_title("left"), ax.get_title("right")) for ax in fig.axes]


def test_timeseries_takes_labels_and_units_from_the_data(run):
    fig = plot.timeseries(run, "position", body=["one", "two"], dof=["Heave", "Pitch"])
    assert [unit for _, unit in titles(fig)] == ["m", "deg"]
    drawn = lines_of(fig.axes[1])["two Pitch"]
    requested = np.degrees(run["position"].sel(body="two", dof="Pitch").values)
    assert drawn[:, 1] == pytest.approx(requested)
    assert titles(plot.timeseries(run["elevation"]))[0][1] == "m"
    assert titles(plot.timeseries(run, "pto_force"))[0][1] == "kN m"
    with pytest.raises(sw.SwelltreeError, match=r"no variable 'positoin' in time. Did you mean"):
        plot.timeseries(run, "positoin")


def test_spectrum_of_the_sea_holds_its_energy():
    run = made_run(duration=600.0, step=0.2, channels=())
    ax = plot.spectrum(run).axes[0]
    omega, density = lines_of(ax)["elevation"].T
    energy = np.trapezoid(density, omega)
    requested = float(run["elevation"].sel(time=slice(10, None)).var())
    assert energy == pytest.approx(requested, rel=0.15)
    x, parts = lines_of(ax)["components of the sea"].T
    assert 4 * np.sqrt(np.trapezoid(parts, x)) == pytest.approx(2.0, rel=0.1)
    with pytest.raises(sw.SwelltreeError, match=r"64 or more even samples"):
        plot.spectrum(run.isel(time=slice(0, 60)))


def test_forces_of_a_body_by_cause(run):
    fig = plot.forces(run, "two")
    assert len(fig.axes) == 6
    drawn = lines_of(fig.axes[0])["excitation force"]
    requested = run["excitation_force"].sel(body="two", dof="Surge").values
    factor = {"kN": 1e-3, "MN": 1e-6, "N": 1.0}[titles(fig)[0][1]]
    assert drawn[:, 1] == pytest.approx(factor * requested)
    with pytest.raises(sw.SwelltreeError, match=r"body 'tow' is not in the result. Did you mean"):
        plot.forces(run, "tow")


def test_phase_of_a_joint_and_of_a_body(run):
    drawn = plot.phase(run, "hinge 0__Pitch").axes[0].lines[0].get_xydata()
    assert drawn[:, 0] == pytest.approx(
        np.degrees(run["joint_coordinate"].sel(coordinate="hinge 0__Pitch").values)
    )
    assert plot.phase(run, "one__Heave").axes[0].get_xlabel() == "one Heave [m]"
    with pytest.raises(sw.SwelltreeError, match=r"is not a coordinate of the result"):
        plot.phase(run, "nothing")


def test_profile_of_a_line(run):
    fig = plot.line_profile(run, "line 1", time=20.0)
    heights = fig.axes[0].lines[0].get_ydata()
    assert heights == pytest.approx(run["line_position"].sel(time=20.0, method="nearest")[1, :, 2])
    assert titles(fig)[1] == ("Tension from end A to end B", "kN")
    with pytest.raises(sw.SwelltreeError, match=r"the result has no lines"):
        plot.line_profile(made_run(duration=5.0))


def test_ranges_along_a_line_are_those_of_its_samples(run):
    fig = plot.line_ranges(run, "line 1")
    assert [unit for _, unit in titles(fig)] == ["kN", "m"]
    window = run.sel(line="line 1", time=slice(10.0, None))  # after the ramp
    drawn = lines_of(fig.axes[0])
    tension = 1e-3 * window["line_tension"].values
    assert drawn["max"][:, 1] == pytest.approx(tension.max(0))
    assert drawn["min"][:, 1] == pytest.approx(tension.min(0))
    length = np.linalg.norm(np.diff(window["line_position"].values, axis=1), axis=-1).mean(0)
    assert drawn["mean"][:, 0] == pytest.approx(np.cumsum(length) - 0.5 * length)
    clearance = lines_of(fig.axes[1])["min"]
    assert clearance[:, 1] == pytest.approx(window["line_position"].values[..., 2].min(0) + 50.0)
    assert clearance[-1, 0] == pytest.approx(length.sum())
    with pytest.raises(sw.SwelltreeError, match=r"line 'line 3' is not in the result"):
        plot.line_ranges(run, "line 3")
    with pytest.raises(sw.SwelltreeError, match=r"there are no lines"):
        plot.line_ranges(made_run(duration=5.0))


def test_clearance_is_the_distance_from_a_sloped_or_uneven_bed_and_idle_segments_do_not_count(run):
    drawing = json.loads(run.attrs["drawing"])
    place = run["line_position"].copy()
    place[:, 0, :3] = place[:, 0, 3:4].values  # three idle segments
    some = run.assign(line_position=place)

    def found(**bed):
        some.attrs["drawing"] = json.dumps(drawing | bed)
        return sw.line_ranges(some)

    slope = np.array([0.1, -0.2])
    plane = found(bed={"slope": slope.tolist()})
    after = place.sel(time=slice(10.0, None)).values
    away = (after[..., 2] + 50.0 - after[..., :2] @ slope) / np.sqrt(1.0 + slope @ slope)
    requested = away.min(0)
    requested[0, :3] = np.nan
    least = plane["line_clearance"].sel(statistic="min").values
    assert least == pytest.approx(requested, nan_ok=True)
    assert np.isnan(plane["line_tension"].sel(statistic="max").values[0]).sum() == 3
    x, y = np.linspace(-200.0, 200.0, 9), np.linspace(-150.0, 150.0, 7)
    depth = 50.0 - slope[0] * x[:, None] - slope[1] * y
    grid = found(bed={"x": x.tolist(), "y": y.tolist(), "depth": depth.tolist()})
    assert grid["line_clearance"].values == pytest.approx(
        plane["line_clearance"].values, nan_ok=True
    )
    assert "line_clearance" not in found(depth=None)


def test_a_mode_is_drawn_from_its_shape():
    shape = np.zeros((2, 3, 6))
    shape[0, :, 2] = 1.0
    modes = xr.Dataset(
        {
            "natural_period": ("mode", [8.0, 5.0]),
            "damping_ratio": ("mode", [0.01, 0.02]),
            "shape_real": (("mode", "body", "dof"), shape),
            "shape_imag": (("mode", "body", "dof"), 0.0 * shape),
        },
        {"mode": [1, 2], "body": ["one", "two", "three"]},
        {"drawing": made_run(duration=1.0).attrs["drawing"]},
    )
    ax = plot.mode(modes, 1).axes[0]
    assert ax.get_title("left") == "Mode 1: 8 s, damping 1 %"
    rest, down, up = (line.get_ydata().mean() for line in ax.lines[:3])
    assert down < rest < up
    with pytest.raises(sw.SwelltreeError, match=r"mode 3 is not in the result. It has 1 to 2"):
        plot.mode(modes, 3)


def test_hydro_shows_data_kernel_and_fit():
    data = heaving_float()
    label = "float__Heave"
    fig = plot.hydro(data, label, fit={"error": 0.1})
    omega, added = lines_of(fig.axes[0])["data"].T
    own = data["added_mass"].sel(influenced_dof=label, radiating_dof=label)
    assert added == pytest.approx(own.sel(omega=omega).values)
    assert any(name.startswith("fit, ") for name in lines_of(fig.axes[0]))
    with pytest.raises(sw.SwelltreeError, match=r"the data have no 'x__Heave'"):
        plot.hydro(data, "x__Heave")


def test_topology_names_every_body_and_joint():
    words = {text.get_text() for text in plot.topology(made_system()).axes[0].texts}
    assert {"world", "one", "two", "three", "float", "hinge 0", "hinge 1"} <= words


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_not_taken_for_formulas(tmp_path):
    run = made_run(HOSTILE, duration=30.0)
    for fig in (plot.motion(run), plot.timeseries(run), plot.topology(made_system(HOSTILE))):
        assert plot.to_png(fig).startswith(b"\x89PNG")


def test_figures_are_kept_as_files(run, tmp_path):
    fig = plot.energy(run)
    assert plot.write_figure(fig, tmp_path / "a.svg").read_text().startswith("<?xml")
    assert fig._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(sw.SwelltreeError, match=r"kept as \.png, \.svg or \.pdf"):
        plot.write_figure(fig, tmp_path / "a.jpg")


def test_the_peak_of_a_spectrum_does_not_hang_on_the_samples():
    """One record of 25 minutes, sampled every 0.05 to 0.5 s."""
    rng = np.random.default_rng(3)
    omega = np.linspace(0.3, 2.0, 400)
    S = jonswap(omega, 2.0, 8.0, 3.3)
    a = np.sqrt(2 * S * (omega[1] - omega[0]))
    time = np.arange(0.0, 1500.0, 0.05)
    record = np.cos(np.outer(time, omega) + rng.uniform(0, 2 * np.pi, len(omega))) @ a
    tops = []
    for every in (1, 5, 10):
        w, found = record_spectrum(time[::every], record[::every])
        tops.append(found.max())
        assert np.trapezoid(found, w) == pytest.approx(record.var(), rel=0.1)
    assert tops == pytest.approx([tops[0]] * 3, rel=0.02)
    # seventeen segments and their window leave some 20 %
    assert tops[0] == pytest.approx(S.max(), rel=0.35)


def test_spectra_of_rotations_have_a_panel_and_a_unit_of_their_own():
    run = made_run(duration=200.0, step=0.2, channels=())
    fig = plot.spectrum(run, "position", body="one")
    units = [unit for _, unit in titles(fig)]
    assert units == ["m² s/rad", "deg² s/rad"]
    labels = [set(lines_of(ax)) for ax in fig.axes]
    assert labels == [
        {"one Surge", "one Sway", "one Heave"},
        {"one Roll", "one Pitch", "one Yaw"},
    ]


def test_rao_plots_show_the_freedoms_that_move_and_no_empty_panel():
    omega = np.linspace(0.4, 2.0, 12)
    rng = np.random.default_rng(0)
    motion = np.zeros((12, 1, 2, 6), complex)
    motion[:, 0, 0, 2] = rng.uniform(0.2, 1.0, 12) * 1j
    motion[:, 0, 1, 4] = 0.1
    motion[:, 0, 1, 0] = 1e-7  # rounding
    joints = np.zeros((12, 1, 8), complex)
    joints[:, 0, 6] = 0.3
    labels = [f"float__{dof}" for dof in ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")]
    data = xr.Dataset(
        {
            "rao": (("omega", "wave_direction", "body", "dof"), motion),
            "coordinate_rao": (("omega", "wave_direction", "coordinate"), joints),
            "capture_width": (("omega", "wave_direction", "pto"), np.zeros((12, 1, 1))),
        },
        coords={
            "omega": omega,
            "body": ["one", "two"],
            "dof": ["Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw"],
            "coordinate": [*labels, "slide__Surge", "hinge__Pitch"],
            "element": ["pto"],
        },
    )
    fig = sw.plot.rao(data)
    assert [ax.get_title(loc="left") for ax in fig.axes] == ["Heave", "Pitch", "Joint strokes"]
    assert [len(ax.lines) for ax in fig.axes] == [1, 1, 1]
    shown = fig.axes[1].lines[0]
    assert shown.get_label() == "two"
    assert np.allclose(shown.get_ydata(), np.degrees(0.1))
    with pytest.raises(sw.SwelltreeError, match="nothing moves"):
        sw.plot.rao(0.0 * data)


def test_fit_of_a_model_follows_the_data_of_its_motions():
    device = sw.gallery.sphere()
    model = device.model()
    fig = plot.hydro(device.hydro, "sphere__Heave", fit=model)
    for ax in fig.axes[:3]:
        data, fit = ax.lines[:2]
        gap = np.interp(fit.get_xdata(), *data.get_data()) - fit.get_ydata()
        assert abs(gap).max() < 0.03 * np.ptp(data.get_ydata())  # the fit is within 2 %
    assert fig.axes[0].lines[1].get_label() == "fit of the model, 6 states"
    with pytest.raises(sw.SwelltreeError, match="no fitted radiation"):
        plot.hydro(device.hydro, fit=device.model(radiation="none"))
    with pytest.raises(sw.SwelltreeError, match="the model has no body 'float'"):
        plot.hydro(sw.gallery.rm3().hydro, "float__Heave", fit=model)
