"""Each check of the report on data that pass it and on data that do not."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from hydro.samples import made_up
from swelltree.describe.environment.water import Water
from swelltree.hydro.data.dataset import HydroParts, assemble, rigid_labels, wavenumber
from swelltree.hydro.data.relations import RESIDUAL
from swelltree.hydro.data.report import RESIDUALS, hydro_report, water_findings

RHO, G = 1000.0, 9.81


def round_buoy(phases=1.0, headings=None):
    """Heave of a round buoy, consistent by construction; the other freedoms make no waves.

    Causal and passive: B + i w (A_inf - A) = c s / (s^2 + 2 z w0 s + w0^2) at s = -i w.
    Excitation follows from damping by Haskind's relation.
    """
    omega = np.arange(0.05, 12.0, 0.05)
    headings = np.arange(0, 360, 30.0) if headings is None else np.asarray(headings)
    w0, z, c, inf = 1.5, 0.5, 2e5, 8e4
    below = (w0**2 - omega**2) ** 2 + (2 * z * w0 * omega) ** 2
    damping = 2 * z * w0 * c * omega**2 / below
    added = inf + c * (w0**2 - omega**2) / below
    n = omega.size
    A, B = np.zeros((2, n, 6, 6))
    A[:, range(6), range(6)] = 1e4
    A[:, 2, 2], B[:, 2, 2] = added, damping
    k = wavenumber(omega, np.inf, G)
    cg = 0.5 * omega / k
    heave = np.sqrt(4 * RHO * G * cg * damping / k)
    force = np.zeros((n, headings.size, 6), dtype=complex)
    force[:, :, 2] = heave[:, None]
    beta = np.deg2rad(headings)
    force[:, :, 0] = -1j * phases * (k * 1e5)[:, None] * np.cos(beta)
    force[:, :, 1] = -1j * phases * (k * 1e5)[:, None] * np.sin(beta)
    parts = HydroParts(
        ["buoy"],
        rigid_labels("buoy"),
        np.append(omega, np.inf),
        np.concatenate([A, np.diag([1e4, 1e4, inf, 1e4, 1e4, 1e4])[None]]),
        np.concatenate([B, np.zeros((1, 6, 6))]),
        RHO,
        G,
        np.inf,
        directions=beta,
        force_omega=omega,
    )
    parts.forces["excitation_force"] = force
    parts.matrices["hydrostatic_stiffness"] = np.zeros((6, 6))
    parts.points["rotation_center"] = np.zeros((1, 3))
    return assemble(parts)


def codes(data, *severities):
    return {f.code for f in hydro_report(data) if not severities or f.severity in severities}


def test_consistent_data_have_no_findings():
    assert codes(round_buoy(), "warning", "error") == set()


def test_conjugate_phases_are_an_error():
    found = [f for f in hydro_report(round_buoy(phases=-1.0)) if f.code == "phase_sense"]
    assert found[0].severity == "error"
    assert "Conjugate the forces" in found[0].sentence


def test_wrong_damping_breaks_haskind_and_causality():
    data = round_buoy()
    data["radiation_damping"] = data.radiation_damping * 1.3
    assert {"haskind", "a_inf"} & codes(data, "warning") >= {"haskind"}


def test_wrong_infinite_added_mass_is_found():
    data = round_buoy()
    data["added_mass"].values[-1, 2, 2] *= 1.2
    assert "a_inf" in codes(data, "warning")


def test_few_headings_are_said_to_leave_haskind_unchecked():
    data = round_buoy(headings=[10.0, 40.0])
    data["added_mass"].values[:, 1, 1] *= 2  # not round
    notes = [f for f in hydro_report(data) if f.code == "haskind"]
    assert notes[0].severity == "note"
    assert "do not cover the circle" in notes[0].sentence


def test_negative_damping_is_found_with_its_frequency():
    data = round_buoy()
    data["radiation_damping"].values[40, 2, 2] = -2e4
    found = next(f for f in hydro_report(data) if f.code == "passivity")
    assert found.numbers["omega"] == pytest.approx(data.omega.values[40])


def test_damping_of_many_bodies_is_judged_by_what_they_radiate_together():
    """Errors of 8 % in the coupling of 30 buoys, which together radiate 15 times as much as one.

    As in a BEM run of 25 buoys in their six degrees of freedom, which was rejected at its end.
    """
    n, omega = 30, np.linspace(0.5, 3.0, 8)
    noise = np.random.default_rng(4).standard_normal((n, n))
    B = 0.5 * np.eye(n) + 0.5 + 0.04 * (noise + noise.T) * np.sqrt(2.0)
    names = [f"buoy{i}" for i in range(n)]
    one = np.ones((omega.size, 1, 1))
    parts = HydroParts(
        names, [f"{x}__Heave" for x in names], omega, 1e4 * one * np.eye(n), 1e3 * one * B, RHO, G,
        np.inf,
    )  # fmt: skip
    parts.points["rotation_center"] = np.zeros((n, 3))
    (found,) = [f for f in hydro_report(assemble(parts)) if f.code == "passivity"]
    lowest, *_, largest = np.linalg.eigvalsh(B)
    assert lowest < -0.2
    assert found.numbers["negative"] == pytest.approx(-lowest / largest, rel=0.1)
    assert found.severity == "warning"


def test_asymmetry_is_found_with_its_pair():
    data = round_buoy()
    data["added_mass"].values[3, 2, 4] = 5e4
    found = next(f for f in hydro_report(data) if f.code == "symmetry")
    assert "buoy__Heave and buoy__Pitch" in found.sentence


def test_spike_is_found():
    data = round_buoy()
    data["added_mass"].values[60, 2, 2] *= 1.5
    data["radiation_damping"].values[60, 2, 2] *= 1.8
    assert "irregular" in codes(data)


def test_band_that_ends_too_early_is_found():
    data = round_buoy()
    data = data.isel(omega=list(range(60)))
    assert "band_edge" in codes(data)
    assert "no_infinite" in codes(data)


def test_too_few_frequencies_are_an_error():
    assert "frequencies" in codes(made_up(n_omega=1), "error")


def test_other_water_is_an_error_with_both_values():
    data = made_up()
    found = water_findings(data, Water(rho=1000.0, g=9.81, depth=30.0))
    assert [f.severity for f in found] == ["error"]
    assert "rho = 1025, the system has 1000" in found[0].sentence
    assert not water_findings(data, Water(rho=1025.0, g=9.81, depth=30.0))
    deep = made_up(depth=500.0)
    assert water_findings(deep, Water(rho=1025.0, g=9.81))[0].severity == "note"
    assert water_findings(data, Water(rho=1025.0, g=9.81))[0].severity == "error"


def test_command_prints_contents_and_findings(tmp_path):
    from typer.testing import CliRunner

    from swelltree.cli import app
    from swelltree.hydro.data.write import write_hydro

    path = write_hydro(round_buoy(phases=-1.0), tmp_path / "buoy.nc")
    result = CliRunner().invoke(app, ["hydro", str(path)])
    assert result.exit_code == 1
    assert "buoy: 6 DOFs about (0, 0, 0) m" in result.output
    assert "error [phase_sense]" in result.output
    missing = CliRunner().invoke(app, ["hydro", str(tmp_path / "no.nc")])
    assert missing.exit_code == 2


def test_data_without_what_a_report_needs_get_a_sentence():
    data = sw.gallery.hinge_barge().hydro
    for name in ("rotation_center", "radiation_damping"):
        with pytest.raises(sw.SwelltreeError, match=f"have no '{name}', so they cannot be"):
            sw.hydro_report(data.drop_vars(name))


def test_resonance_of_water_between_bodies_is_not_an_irregular_frequency():
    """Gaps of 5 m between barges resonate at 1.04 rad/s; a jump of one body alone is reported."""
    data = sw.read_hydro(sw.gallery.barges().file, check=False)
    assert "irregular" not in codes(data)
    B, A = data["radiation_damping"].copy(deep=True), data["added_mass"].copy(deep=True)
    here = {"influenced_dof": "barge1__Surge", "radiating_dof": "barge1__Surge"}
    row = int(np.argmin(np.abs(data["omega"].values - 0.6)))
    for values, part in ((A, -0.3), (B, 0.6)):
        near = values.loc[here]
        near[{"omega": row}] = float(near[row]) + part * float(abs(near[np.isfinite(near)]).max())
    assert "irregular" in codes(data.assign(radiation_damping=B, added_mass=A))


def test_degrees_of_freedom_that_joints_hold_are_not_judged():
    """A sphere that only heaves, its sway unsymmetric and with negative damping."""
    data = sw.read_hydro(sw.gallery.sphere().file, check=False)
    B = data["radiation_damping"].copy(deep=True)
    sway = {"influenced_dof": "sphere__Sway", "radiating_dof": "sphere__Sway"}
    B.loc[sway] = -0.1 * B.loc[sway]
    B.loc[sway | {"radiating_dof": "sphere__Surge"}] = 0.5 * float(B.max())
    data = data.assign(radiation_damping=B)
    every, some = (
        {x.code for x in hydro_report(data, dofs) if x.severity != "note"}
        for dofs in (None, ["sphere__Heave"])
    )
    assert {"symmetry", "passivity"} <= every
    assert not some


def test_degrees_of_freedom_that_small_motions_do_not_have_are_not_judged():
    """Surge of a barge whose hinge is at its waterline, of second order in the angles."""
    device = sw.gallery.tank()
    data = sw.read_hydro(device.file, check=False)
    data["radiation_damping"].loc[
        {"influenced_dof": "barge2__Surge", "radiating_dof": "barge1__Heave"}
    ] += 30.0
    assert "symmetry" in {x.code for x in hydro_report(data)}
    model = sw.compile(device.system, data, radiation="none")
    assert [text for text in model.report if text.startswith("hydro data")] == []


@pytest.mark.parametrize("name", ["spar", "sphere", "tank"])
def test_data_of_the_gallery_state_residuals_within_the_limit(name):
    """5 % at every frequency and in every degree of freedom of the file; compiled silently."""
    device = getattr(sw.gallery, name)()
    data = sw.read_hydro(device.file, check=False)
    for residual in RESIDUALS:
        assert float(data[residual].max()) <= RESIDUAL
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        device.model()


@pytest.mark.parametrize("radiation", ["state_space", "convolution"])
def test_welded_body_is_said_to_be_held_not_to_lack_damping(radiation):
    device = sw.gallery.sphere()
    (ball,) = device.system.bodies
    held = device.system.replace(joints=(sw.Weld("w", sw.WORLD.at(0, 0, -2), ball),))
    reported = [
        x for x in sw.compile(held, device.hydro, radiation=radiation).report if "memory" in x
    ]
    assert reported == ["radiation: the joints hold all bodies of the data, so there is no memory."]


def test_data_without_statics_are_judged():
    """Those of the RM3 leave the displaced volume to the description."""
    data = sw.gallery.rm3().hydro
    assert "displaced_volume" not in data
    assert {"band_edge", "no_stiffness"} <= {one.code for one in hydro_report(data)}


def test_waves_that_are_not_long_for_a_deep_plate_are_not_judged_as_long():
    """The heave force on the spar of the RM3 changes its sign at 0.18 rad/s."""
    data = sw.read_hydro(sw.gallery.rm3().file, check=False)
    assert "long_wave" not in codes(data)
    round_one = sw.read_hydro(sw.gallery.spar().file, check=False)
    assert "long_wave" not in codes(round_one)
    round_one["hydrostatic_stiffness"] = 2.0 * round_one["hydrostatic_stiffness"]
    assert "long_wave" in codes(round_one)


def test_a_residual_that_is_small_in_the_band_is_a_note():
    data = sw.gallery.sphere().hydro.copy(deep=True)
    label, name = "sphere__Heave", "haskind_residual"
    place = data["influenced_dof"].values.tolist().index(label)
    assert data[name].dims == ("omega", "influenced_dof")
    force = np.abs(data["excitation_force"].sel(influenced_dof=label).values[:, 0])
    finite = np.flatnonzero(np.isfinite(data["omega"].values) & (force > 0))
    strong, weak = finite[force[finite].argmax()], finite[force[finite].argmin()]
    assert force[weak] < 0.2 * force[strong]
    for row, severity in ((strong, "warning"), (weak, "note")):
        spoilt = data.copy(deep=True)
        spoilt[name].values[row, place] = 0.1
        (one,) = [x for x in hydro_report(spoilt) if x.code == name]
        assert one.severity == severity
        assert "of sphere__Heave differ by up to 10%" in one.sentence
