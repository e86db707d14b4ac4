"""Files of WAMIT, NEMOH, AQUAPLUS, Capytaine and BEMIO from the reference data."""

import functools

import numpy as np
import pytest

from support import refdata
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.data.dataset import body_names, complete, infinite_added_mass
from swelltree.hydro.data.report import hydro_report
from swelltree.hydro.readers.read import read_hydro

RM3 = {
    "wamit": (("bem_rm3", "wamit", "rm3.out"), {"rho": 1000.0}),
    "capytaine": (("bem_rm3", "capytaine", "rm3_hydrodynamics.nc"), {}),
    "nemoh": (("bem_rm3", "nemoh_v3"), {}),
}
SPHERE = {
    "wamit": (("bem_sphere", "wecsim_wamit", "sphere.out"), {"rho": 1000.0}),
    "capytaine": (("bem_sphere", "wecsim_capytaine", "sphere_hydrodynamics.nc"), {}),
    "nemoh": (("bem_sphere", "wecsim_nemoh_v3"), {}),
}


@functools.cache
def rm3(code):
    parts, options = RM3[code]
    return read_hydro(refdata(*parts), names=("float", "spar"), check=False, **options)


@functools.cache
def sphere(code):
    parts, options = SPHERE[code]
    return read_hydro(refdata(*parts), names=("sphere",), check=False, gaps="drop", **options)


def entry(data, name, omega, dof, other=None):
    row = data[name].isel(omega=int(np.argmin(np.abs(data.omega.values - omega))))
    row = row.sel(influenced_dof=dof)
    return row.sel(radiating_dof=other or dof).item() if "radiating_dof" in row.dims else row.values


def test_rm3_of_wamit_has_the_published_values():
    data = rm3("wamit")
    assert body_names(data) == ("float", "spar")
    np.testing.assert_allclose(data.rotation_center.values[:, 2], [-0.72, -21.29])
    np.testing.assert_allclose(data.displaced_volume, [725.834, 886.691], rtol=1e-7)
    np.testing.assert_allclose(data.center_of_buoyancy.values[:, 2], [-1.292734, -15.603988])
    stiffness = np.diag(data.hydrostatic_stiffness)
    np.testing.assert_allclose(stiffness[[2, 8]], [2_800_981, 277_019], rtol=1e-4)
    A = infinite_added_mass(data)
    assert A is not None
    np.testing.assert_allclose(np.diag(A)[[2, 8]], [1.2328e6, 8.9188e6], rtol=1e-4)
    at = data.sel(omega=[0.78, 0.8], method="nearest").interp(omega=0.785)
    for name, dof, value in (
        ("added_mass", 2, 1.4474e6),
        ("radiation_damping", 2, 5.870e5),
        ("added_mass", 8, 8.909e6),
        ("radiation_damping", 8, 1.2135e5),
    ):
        assert at[name].values[dof, dof] == pytest.approx(value, rel=1e-3)  # interpolated
    np.testing.assert_allclose(
        abs(at.excitation_force.values[0, [2, 8]]), [1.5134e6, 6.893e5], rtol=1e-3
    )


def test_rm3_listing_alone_agrees_with_the_numeric_files(tmp_path):
    path = refdata("bem_rm3", "wamit", "rm3.out")
    lines = path.read_text().splitlines()
    (tmp_path / "rm3.out").write_text("\n".join(lines[:4900]))  # the first 25 frequencies
    with pytest.raises(SwelltreeError, match=r"rm3.out': excitation_force of float__Roll at omega"):
        read_hydro(tmp_path / "rm3.out", rho=1000, check=False)  # the last of them is cut
    data = read_hydro(tmp_path / "rm3.out", rho=1000, check=False, gaps="drop")
    full = rm3("wamit")
    rows = np.flatnonzero(np.isin(full.omega.values.round(5), data.omega.values.round(5)))
    part = full.isel(omega=rows)
    assert part.sizes["omega"] == data.sizes["omega"] > 20
    np.testing.assert_allclose(data.added_mass, part.added_mass, rtol=1e-6)
    np.testing.assert_allclose(data.radiation_damping, part.radiation_damping, rtol=1e-4, atol=1e-6)
    stiff, exact = data.hydrostatic_stiffness.values, part.hydrostatic_stiffness.values
    np.testing.assert_allclose(stiff, exact, atol=1e-4 * np.abs(exact).max())
    heave = [data.excitation_force.values[5, 0, 2], part.excitation_force.values[5, 0, 2]]
    assert abs(heave[0] / heave[1] - 1) < 0.01  # whole degrees
    assert "rounds phases" in data.attrs["notes"]


@pytest.mark.parametrize("code", ["capytaine", "nemoh"])
def test_rm3_phases_of_the_float_agree_between_codes(code):
    one, other = rm3("wamit"), rm3(code)
    omega = other.omega.values
    for dof in ("Surge", "Heave", "Pitch"):
        label = f"float__{dof}"
        a = one.excitation_force.sel(omega=omega, method="nearest").sel(influenced_dof=label)
        b = other.excitation_force.sel(omega=omega, influenced_dof=label)
        a, b = a.values[:, 0], b.values[:, 0]
        strong = abs(a) > 0.05 * abs(a).max()
        apart = np.abs(np.rad2deg(np.angle(a / b)))
        # above 1.45 rad/s Capytaine's and NEMOH's surge is disturbed by irregular frequencies
        low = strong & (omega < 1.45)
        assert low.sum() > 40
        assert apart[low].max() < 2.0, dof
        if dof != "Surge":
            assert np.quantile(apart[strong], 0.9) < 2.0, dof


def test_rm3_heave_of_the_float_agrees_between_codes():
    values = [entry(rm3(code), "added_mass", 0.78, "float__Heave") for code in RM3]
    np.testing.assert_allclose(values, values[0], rtol=0.02)
    # the spar's plate is meshed otherwise: 26 % more
    spar = [entry(rm3(code), "added_mass", 0.78, "spar__Heave") for code in RM3]
    assert spar[1] / spar[0] == pytest.approx(1.26, abs=0.02)
    assert spar[2] / spar[1] == pytest.approx(1.0, abs=0.01)


def test_sphere_of_three_codes_agrees_within_two_percent_of_the_largest_value():
    omega = np.arange(0.3, 3.0, 0.02)
    # irregular frequencies of NEMOH (no lid), named by its report
    omega = omega[(abs(omega - 2.25) > 0.25) & (abs(omega - 2.78) > 0.25)]
    for name in ("added_mass", "radiation_damping", "excitation_force"):
        curves = []
        for code in SPHERE:
            row = sphere(code)[name].sel(omega=omega, method="nearest")
            row = row.sel(influenced_dof="sphere__Heave")
            row = row.sel(radiating_dof="sphere__Heave") if "radiating_dof" in row.dims else row
            curves.append(abs(row.values.reshape(-1)))
        for curve in curves[1:]:
            assert abs(curve - curves[0]).max() < 0.02 * curves[0].max(), name


def test_sphere_of_three_codes_has_the_published_values():
    published = {
        "added_mass": (1.522e5, 1.540e5, 1.538e5),
        "radiation_damping": (8.835e4, 8.911e4, 8.874e4),
        "excitation_force": (4.085e5, 4.072e5, 4.073e5),
    }
    for name, values in published.items():
        found = [abs(entry(sphere(code), name, 1.0, "sphere__Heave")) for code in SPHERE]
        np.testing.assert_allclose(np.ravel(found), values, rtol=5e-4)


def test_sphere_of_bemio_has_the_published_values():
    data = read_hydro(refdata("bem_sphere", "iea_oes_task10", "sphere.h5"))
    A = infinite_added_mass(data)
    assert A is not None
    assert A[2, 2] == pytest.approx(130_877, rel=1e-5)
    assert data.added_mass.values[0, 2, 2] == pytest.approx(218_797, rel=1e-5)
    assert data.radiation_damping.values[:, 2, 2].max() == pytest.approx(95_256, rel=1e-5)
    assert data.hydrostatic_stiffness.values[2, 2] == pytest.approx(770_389, rel=1e-5)
    assert data.excitation_force.values[0, 0, 0].imag < 0  # pushed down the slope
    assert "Froude_Krylov_force" not in data  # the file has only NaN there


def test_cylinder_of_aquaplus_has_the_printed_values():
    data = read_hydro(refdata("bem_cylinder_aquaplus"))
    rows = [
        (0.5, 633367.9, 3258.3, 261642.2, 19084.5),
        (1.0, 749087.8, 234010.5, 223342.5, 17958.1),
        (1.5, 360468.9, 592725.6, 231711.6, 1705.3),
        (2.0, 239112.4, 355817.8, 236557.1, 373.3),
    ]
    for omega, *values in rows:
        found = [
            entry(data, name, omega, f"Cylinder__{dof}")
            for dof in ("Surge", "Heave")
            for name in ("added_mass", "radiation_damping")
        ]
        np.testing.assert_allclose(found, values, rtol=1e-3)
    codes = {finding.code for finding in hydro_report(data)}
    assert "irregular" in codes
    assert "phase_sense" not in codes


def test_oc3_spar_against_the_raw_numbers():
    path = refdata("bem_oc3_spar", "Spar.1")
    data = read_hydro(path, rho=1025, g=9.80665, depth=320, check=False)
    raw = np.loadtxt(path.with_name("Spar.3"))
    row = raw[12345 % len(raw)]
    heading, i = np.deg2rad(row[1]), int(row[2]) - 1
    force = data.excitation_force.sel(wave_direction=heading, method="nearest")
    found = force.values[np.argmin(abs(data.omega.values - 2 * np.pi / row[0])), i]
    assert found == pytest.approx(1025 * 9.80665 * (row[5] - 1j * row[6]), rel=1e-4)
    A = infinite_added_mass(data)
    assert A is not None
    np.testing.assert_allclose(np.diag(A)[[0, 2, 4]], [7.7591e6, 2.4125e5, 3.7936e10], rtol=1e-4)
    K = data.hydrostatic_stiffness.values
    assert K[2, 2] == pytest.approx(332_941, rel=1e-4)
    assert K[3, 3] == pytest.approx(-4.99918e9, rel=1e-4)
    assert data.omega.values[0] == 0
    assert data.sizes["omega"] == 102
    # long waves, reciprocity and Haskind hold: 37 headings all round
    assert {f.code for f in hydro_report(data)} <= {"band_edge"}


def test_oswec_nan_rows_are_reported_and_dropped():
    path = refdata("bem_oswec", "capytaine", "oswec_hydrodynamics.nc")
    with pytest.raises(SwelltreeError, match="432 values at 3 of 500 frequencies"):
        read_hydro(path)
    dropped = read_hydro(path, gaps="drop")
    assert dropped.sizes["omega"] == 497
    assert "3 frequencies are left out" in dropped.attrs["notes"]
    # at the end of the band there is nothing to interpolate from
    assert read_hydro(path, gaps="interpolate").sizes["omega"] == 497
    data = read_hydro(path, gaps="keep")
    assert body_names(data) == ("oswec_flap", "oswec_base_shift")
    np.testing.assert_allclose(data.rotation_center.values[:, 2], [-3.9, -10.9])
    nan = next(f for f in hydro_report(data) if f.code == "nan")
    assert nan.numbers["count"] == 3
    assert nan.numbers["highest"] == pytest.approx(0.12)
    assert "error [nan]" in data.attrs["findings"]
    entire = complete(data)
    assert entire.sizes["omega"] == 497
    assert not np.isnan(entire.added_mass.values).any()
    A = entry(data, "added_mass", 0.8, "oswec_flap__Pitch")
    assert pytest.approx(6.719e6, rel=1e-3) == A
    assert entry(data, "radiation_damping", 0.8, "oswec_flap__Surge") == pytest.approx(
        1.085e6, rel=1e-3
    )


def test_oswec_about_its_hinge():
    from swelltree.hydro.data.frames import move_reference

    path = refdata("bem_oswec", "capytaine", "oswec_hydrodynamics.nc")
    data = read_hydro(path, check=False, gaps="drop")
    hinged = move_reference(data, {"oswec_flap": (0.0, 0.0, -8.9)})
    rows = np.abs(hinged.omega.values - 0.325).argsort()[:2]
    pair = hinged.isel(omega=np.sort(rows))
    A, B = (
        np.interp(0.325, pair.omega, pair[name].values[:, 4, 4])
        for name in ("added_mass", "radiation_damping")
    )
    assert pytest.approx(5.632e7, rel=1e-3) == A
    assert pytest.approx(7.73e5, rel=1e-2) == B


def test_five_segments_are_thirty_freedoms():
    data = read_hydro(refdata("bem_5sa", "5sa_directional_capytaine.nc"))
    assert data.sizes["influenced_dof"] == 30
    assert data.sizes["wave_direction"] == 13
    assert "reference_point" in {f.code for f in hydro_report(data)}
    point = {"segment_1": (18.0, 0.0, -0.2551)}
    reported = read_hydro(
        refdata("bem_5sa", "5sa_capytaine.nc"), rotation_center=point, check=False
    )
    np.testing.assert_allclose(reported.rotation_center.values[0], point["segment_1"])


def test_wrong_stiffness_and_volume_of_nemoh_rm3_are_found():
    findings = hydro_report(rm3("nemoh"))
    ratios = [f.numbers["ratio"] for f in findings if f.code == "long_wave"]
    assert any(abs(r - 0.45) < 0.01 for r in ratios)  # volume of float and spar together
    assert any(abs(r - 0.91) < 0.01 for r in ratios)


def test_negative_damping_of_the_capytaine_spar_is_found():
    passivity = next(f for f in hydro_report(rm3("capytaine")) if f.code == "passivity")
    assert passivity.severity == "error"
    assert passivity.numbers["omega"] == pytest.approx(3.42, abs=0.03)
