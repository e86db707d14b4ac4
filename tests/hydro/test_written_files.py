"""Formats round-tripped on small files written after their descriptions, and mistakes in them."""

import warnings

import numpy as np
import pytest

from hydro.samples import made_up, write_aqwa, write_hams, write_nemoh, write_wamit
from made_drift import drift_data
from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.data.dataset import body_names, complete, rename_bodies, select_bodies
from swelltree.hydro.data.write import write_hydro
from swelltree.hydro.readers.read import read_hydro

FORCES = ("excitation_force", "Froude_Krylov_force", "diffraction_force")


def agree(found, data, names=FORCES, rtol=1e-6):
    """All numbers of `found` are those of the data at its frequencies."""
    rows = [np.argmin(abs(data.omega.values - w)) if w < 99 else -1 for w in found.omega.values]
    data = data.isel(omega=rows)
    np.testing.assert_allclose(found.omega, data.omega, rtol=1e-6)
    for name in ("added_mass", "radiation_damping", "hydrostatic_stiffness", *names):
        top = np.abs(data[name].values).max()
        np.testing.assert_allclose(
            found[name].values, data[name].values, rtol=rtol, atol=rtol * top
        )
    np.testing.assert_allclose(found.wave_direction, data.wave_direction, atol=1e-8)
    np.testing.assert_allclose(found.rotation_center, data.rotation_center, atol=1e-6)
    assert found.attrs["time_convention"] == "exp(-iwt)"


@pytest.mark.parametrize("length", [1.0, 3.0])
def test_wamit_numeric_files_of_two_bodies(tmp_path, length):
    data = made_up()
    found = read_hydro(write_wamit(data, tmp_path, length=length), rho=1025, g=9.81, length=length)
    assert body_names(found) == ("float", "spar")
    agree(found, data)
    assert found.omega.values[0] == 0
    assert np.isinf(found.omega.values[-1])


def test_wamit_generalised_modes_are_kept_with_labels(tmp_path):
    data = made_up(bodies=("barge",), modes=2)
    found = read_hydro(write_wamit(data, tmp_path), rho=1025, g=9.81)
    assert list(found.influenced_dof.values[-2:]) == ["barge__Mode7", "barge__Mode8"]
    agree(found, data)


def test_wamit_modes_of_two_bodies_need_the_configuration(tmp_path):
    data = made_up(modes=1)
    path = write_wamit(data, tmp_path)
    with pytest.raises(SwelltreeError, match="14 modes, which 2 bodies"):
        read_hydro(path, rho=1025, g=9.81)
    (tmp_path / "device.cfg").write_text("NEWMDS(1)=1\nNEWMDS(2)=1\n")
    assert list(read_hydro(path, rho=1025, g=9.81).influenced_dof.values[6:8]) == [
        "float__Mode7",
        "spar__Surge",
    ]


def test_wamit_axes_turned_about_z_give_the_same_data(tmp_path):
    from swelltree.hydro.data.frames import transform, transform_matrix

    data = made_up()
    angle = 0.3
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    # the file holds the second body's data in its own, turned axes
    own = transform(data, {"spar": transform_matrix(turn, np.zeros(3))})
    path = write_wamit(own, tmp_path)
    pot = tmp_path / "device.pot"
    old = "3.0 -1.0 -3.0 0.0 XBODY"
    assert old in pot.read_text()
    pot.write_text(pot.read_text().replace(old, f"3.0 -1.0 -3.0 {np.rad2deg(angle)} XBODY"))
    agree(read_hydro(path, rho=1025, g=9.81), data)


def test_wamit_second_order_files(tmp_path):
    data = made_up(bodies=("barge",), headings=(0.0,))
    path = write_wamit(data, tmp_path)
    t1, t2 = (2 * np.pi / w for w in data.omega.values[1:3])
    rho_g = 1025 * 9.81
    (tmp_path / "device.9").write_text(
        f"{t1:.12e} 0.0 0.0 1 2.0 0.0 2.0 0.0\n{t1:.12e} 0.0 0.0 5 3.0 0.0 3.0 0.0\n"
    )
    (tmp_path / "device.12d").write_text(
        f"{t1:.12e} {t2:.12e} 0.0 0.0 1 5.0 53.13 3.0 4.0\n"
        f"{t1:.12e} {t1:.12e} 0.0 0.0 1 2. 0. 2. 0.\n"
    )
    (tmp_path / "device.12s").write_text(f"{t1:.12e} {t2:.12e} 0.0 0.0 3 5.0 53.13 3.0 4.0\n")
    found = read_hydro(path, rho=1025, g=9.81)
    drift = found.mean_drift.sel(wave_direction=0.0).isel(omega=1)
    assert float(drift.sel(influenced_dof="barge__Surge")) == pytest.approx(2 * rho_g)
    assert float(drift.sel(influenced_dof="barge__Pitch")) == pytest.approx(3 * rho_g)
    qtf = found.qtf_difference.isel(difference_headings=0).sel(influenced_dof="barge__Surge").values
    assert qtf[0, 1] == pytest.approx(rho_g * (3 - 4j))  # our phases lag
    assert qtf[1, 0] == pytest.approx(rho_g * (3 + 4j))
    total = found.qtf_sum.isel(sum_headings=0).sel(influenced_dof="barge__Heave").values
    assert total[0, 1] == pytest.approx(total[1, 0])


def test_nemoh_folder_of_version_2_with_another_wave_point(tmp_path):
    data = made_up()
    agree(read_hydro(write_nemoh(data, tmp_path, point=(4.0, -3.0))), data)


def test_aqwa_phases_move_from_the_centres_of_gravity_to_the_origin(tmp_path):
    data = made_up()
    found = read_hydro(write_aqwa(data, tmp_path), names=["float", "spar"])
    agree(found, data)
    assert found.displaced_volume.values.tolist() == [500, 600]


def test_aqwa_without_listing_has_excitation_only(tmp_path):
    found = read_hydro(write_aqwa(made_up(), tmp_path, listing=False))
    assert "Froude_Krylov_force" not in found


def test_hams_folder(tmp_path):
    data = made_up(bodies=("Buoy",))
    found = read_hydro(write_hams(data, tmp_path), rho=1025, g=9.81)
    agree(found, data)
    assert found.inertia_matrix.values[0, 0] == pytest.approx(5e5)
    assert found.attrs["solver"] == "HAMS"


@pytest.mark.parametrize("ending", [".nc", ".h5"])
def test_mean_drift_is_written_and_read(tmp_path, ending):
    data = made_up()
    shape = data["excitation_force"].transpose("omega", "wave_direction", "influenced_dof").shape
    drift = np.random.default_rng(4).normal(size=shape)
    drift[(data["omega"].values == 0.0) | np.isinf(data["omega"].values)] = 0.0
    data["mean_drift"] = (("omega", "wave_direction", "influenced_dof"), drift)
    found = read_hydro(write_hydro(data, tmp_path / f"data{ending}"))
    stored = np.isin(data["omega"].values, found["omega"].values)  # BEMIO has no omega = 0
    same = found["mean_drift"].transpose(*data["mean_drift"].dims).values
    assert stored.sum() > 2
    np.testing.assert_allclose(same, drift[stored], rtol=1e-12, atol=1e-12)


def test_second_order_loads_that_bemio_cannot_hold_are_named(tmp_path):
    data = drift_data(second=("mean", "qtf"))
    data["mean_drift_own_headings"] = (("drift_omega", "drift_direction"), np.ones((2, 2)))
    with pytest.warns(SwelltreeWarning, match=r"cannot hold .*own_headings.* 'qtf_difference'"):
        write_hydro(data, tmp_path / "data.h5")


@pytest.mark.parametrize("ending", [".nc", ".h5"])
@pytest.mark.parametrize("modes", [0, 2])
def test_written_data_read_back_the_same(tmp_path, ending, modes):
    data = made_up(modes=modes)
    found = read_hydro(write_hydro(data, tmp_path / f"data{ending}"))
    agree(found, data, rtol=1e-12)
    np.testing.assert_allclose(found.displaced_volume, data.displaced_volume)
    assert list(found.influenced_dof.values) == list(data.influenced_dof.values)
    assert not list(tmp_path.glob(".*"))


def test_deep_water_survives_bemio(tmp_path):
    data = made_up(depth=np.inf)
    assert np.isinf(float(read_hydro(write_hydro(data, tmp_path / "a.h5")).water_depth))


def test_capytaine_dimension_orders_are_read_by_name(tmp_path):
    data = made_up(bodies=("float",))
    path = write_hydro(data, tmp_path / "new.nc")
    import xarray as xr

    with xr.open_dataset(path, engine="h5netcdf") as raw:
        raw.load().transpose("omega", "radiating_dof", "influenced_dof", ...).to_netcdf(
            tmp_path / "old.nc", engine="h5netcdf"
        )
    agree(read_hydro(tmp_path / "old.nc"), data)


@pytest.mark.slow
def test_file_of_capytaine_3_reads(tmp_path):
    cpt = pytest.importorskip("capytaine", minversion="3")
    import xarray as xr

    def ball(x, name):
        hull = cpt.mesh_sphere(radius=1, center=(x, 0, 0), resolution=(6, 8)).immersed_part()
        point = (x, 0, -0.2)
        dofs = cpt.rigid_body_dofs(rotation_center=point)
        return cpt.FloatingBody(hull, name=name, center_of_mass=point, dofs=dofs)

    two = ball(0, "a") + ball(4, "b")
    grid = {"omega": [1.0, 2.0, np.inf], "wave_direction": [0.0], "radiating_dof": list(two.dofs)}
    raw = cpt.BEMSolver().fill_dataset(xr.Dataset(coords=grid), two, hydrostatics=True)
    cpt.export_dataset(tmp_path / "balls.nc", raw)
    data = read_hydro(tmp_path / "balls.nc")
    assert body_names(data) == ("a", "b")
    np.testing.assert_allclose(data.rotation_center, [[0, 0, -0.2], [4, 0, -0.2]])
    pair = {"omega": 1.0, "influenced_dof": "a__Surge", "radiating_dof": "b__Pitch"}
    assert data.added_mass.sel(pair).item() == pytest.approx(raw.added_mass.sel(pair).item())
    assert not np.abs(data.excitation_force.values[-1]).any()


def test_bodies_are_chosen_and_renamed_by_name():
    data = rename_bodies(made_up(), {"Float": "buoy"})
    assert body_names(data) == ("buoy", "spar")
    one = select_bodies(data, ["spar"])
    assert one.sizes["influenced_dof"] == 6
    assert one.added_mass.values[1, 0, 0] == data.added_mass.values[1, 6, 6]
    with pytest.raises(SwelltreeError, match=r"no body 'sparr'. Did you mean 'spar'"):
        select_bodies(data, ["sparr"])
    with pytest.raises(SwelltreeError, match="1 entries but the hydro data hold 2 bodies"):
        rename_bodies(data, ["one"])


def test_limits_of_excitation_are_exact():
    data = made_up()
    heave = data.hydrostatic_stiffness.values[:, [2, 8]].sum(axis=1)
    np.testing.assert_allclose(data.excitation_force.values[0], np.broadcast_to(heave, (3, 12)))
    assert not np.abs(data.excitation_force.values[-1]).any()


def test_complete_drops_frequencies_with_nan():
    data = made_up()
    data["added_mass"].values[2, 0, 0] = np.nan
    assert complete(data).sizes["omega"] == data.sizes["omega"] - 1


# --- mistakes -------------------------------------------------------------------------------------


def test_density_of_wamit_files_is_asked_for(tmp_path):
    path = write_wamit(made_up(), tmp_path)
    with pytest.raises(SwelltreeError, match=r"rho is not known.*Give rho="):
        read_hydro(path, g=9.81)
    with pytest.raises(SwelltreeError, match=r"g is not known: no .out file gives it. Give g="):
        read_hydro(path, rho=1025)


def test_other_density_than_the_file_is_refused(tmp_path):
    path = write_hydro(made_up(), tmp_path / "a.nc")
    with pytest.raises(SwelltreeError, match="computed with rho = 1025, but rho = 1000 is given"):
        read_hydro(path, rho=1000)


def test_wrong_line_of_a_wamit_file_is_named(tmp_path):
    path = write_wamit(made_up(), tmp_path)
    lines = path.read_text().splitlines()
    lines[4] = "8.0 1 x 3.0"
    path.write_text("\n".join(lines))
    with pytest.raises(SwelltreeError, match=r"device.1' line 5: in PER I J A\(I,J\).*, 'x' is"):
        read_hydro(path, rho=1025, g=9.81)
    path.write_text("")
    with pytest.raises(SwelltreeError, match="ends at line 0: expected PER I J"):
        read_hydro(path, rho=1025, g=9.81)


def test_cut_nemoh_table_is_named(tmp_path):
    folder = write_nemoh(made_up(), tmp_path)
    path = folder / "results" / "RadiationCoefficients.tec"
    path.write_text(path.read_text()[:-30])
    with pytest.raises(SwelltreeError, match=r"RadiationCoefficients.tec' line 61: expected 25"):
        read_hydro(folder)


def test_cut_aqwa_file_is_named(tmp_path):
    path = write_aqwa(made_up(), tmp_path)
    text = path.read_text()
    path.write_text(text[: text.index("COG")])
    with pytest.raises(SwelltreeError, match="expected a block COG"):
        read_hydro(path)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.xyz", "1 2 3", "the ending '.xyz' and the contents are not known"),
        ("a.nc", "\x89HDF\r\n\x1a\n", "cannot be read"),
    ],
)
def test_unknown_files_are_told(tmp_path, name, content, text):
    (tmp_path / name).write_bytes(content.encode("latin1"))
    with pytest.raises(SwelltreeError, match=text):
        read_hydro(tmp_path / name)


def test_missing_file_suggests_a_near_name(tmp_path):
    (tmp_path / "device.out").write_text("")
    with pytest.raises(SwelltreeError, match=r"do not exist. Did you mean 'device.out'"):
        read_hydro(tmp_path / "devcie.out")


def test_folder_without_known_files_names_one(tmp_path):
    (tmp_path / "rm3.out").write_text("")
    with pytest.raises(SwelltreeError, match=r"Name a file in it, such as 'rm3.out'"):
        read_hydro(tmp_path)


def test_unknown_ending_is_not_written(tmp_path):
    with pytest.raises(SwelltreeError, match=r"Use .nc \(Capytaine\) or .h5 \(BEMIO\)"):
        write_hydro(made_up(), tmp_path / "a.txt")
    with pytest.raises(SwelltreeError, match=r"does not exist. Make it first"):
        write_hydro(made_up(), tmp_path / "no" / "a.nc")


@pytest.mark.parametrize("write", [write_wamit, write_hams])
def test_a_case_file_tells_the_water_that_its_hydro_files_do_not(tmp_path, write):
    """WAMIT and HAMS divide by density and gravity and do not write them."""
    from swelltree.describe import loads
    from swelltree.hydro.data.case import hydro_of_case

    data = made_up(bodies=("Buoy",))
    path = write(data, tmp_path)
    text = f"""
[system]
name = "buoy"
water = {{ rho = 1025.0, g = 9.81, depth = 30.0 }}
bodies = [{{ name = "Buoy", mass = 5e5, inertia = [1e6, 1e6, 1e6] }}]
joints = [{{ name = "free", type = "free", base = "world", follower = "Buoy" }}]
[hydro]
file = "{path}"
"""
    found = hydro_of_case(loads(text))
    agree(found, data)
    assert float(found.rho) == 1025.0
    light = hydro_of_case(loads(text.replace("1025.0", "1000.0")))
    assert light.added_mass.values == pytest.approx(found.added_mass.values / 1.025)


def test_another_density_than_that_of_the_frc_file_is_refused(tmp_path):
    """Given by hand it took the place of the file's without a word."""
    path = write_wamit(made_up(), tmp_path)
    (tmp_path / "device.frc").write_text("heading\n1 0 1 0 0 0 0 0 0\n1025.0 RHO\n")
    assert float(read_hydro(path, g=9.81).rho) == 1025.0
    with pytest.raises(SwelltreeError, match="computed with rho = 1025, but rho = 1000 is given"):
        read_hydro(path, rho=1000.0, g=9.81)
    # the water of a case speaks only where the files do not
    assert float(read_hydro(path, water=Water(1000.0, 9.81, 12.0)).rho) == 1025.0


def test_data_in_single_precision_are_read_without_a_warning(tmp_path):
    data = made_up()
    single = {name: data[name].astype(np.float32) for name in ("added_mass", "radiation_damping")}
    path = tmp_path / "single.nc"
    write_hydro(data.assign(single), path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_hydro(path, check=False)
    assert found.added_mass.values == pytest.approx(data.added_mass.values, rel=1e-6)
