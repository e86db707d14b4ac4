"""Headings of the other side of hulls that are the same on port and starboard."""

import numpy as np
import pytest

import swelltree as sw
from made_drift import MASS, RHO, drift_data
from swelltree.hydro.data.case import hydro_of_case
from swelltree.hydro.drift.loads import drift_loads
from swelltree.waves.airy import Components


def _data(headings, **place):
    """Two barges in a row, off the origin along x."""
    bodies = [
        sw.Body(name, hull=sw.Box(4.0, 2.0, 1.5, 0.8, panel_size=0.7), position=at, **place)
        for name, at in (("a", (1.3, 0.0, 0.0)), ("b", (7.0, 0.0, 0.0)))
    ]
    joints = [sw.Free(f"f{b.name}", sw.WORLD.at(*b.position), b) for b in bodies]
    return sw.run_bem(sw.System("s", tuple(bodies), tuple(joints)), [1.2, 2.0], headings)


@pytest.fixture(scope="module")
def both_sides():
    return _data([-2.0, -0.6, 0.0, 0.6, 2.0, np.pi])


def test_mirrored_headings_are_those_that_are_computed(both_sides):
    half = both_sides.sel(wave_direction=[0.0, 0.6, 2.0, np.pi])
    assert "one_sided" in {one.code for one in sw.hydro_report(half)}
    found = sw.mirror_headings(half)
    assert found["wave_direction"].values == pytest.approx(both_sides["wave_direction"].values)
    for name in ("excitation_force", "Froude_Krylov_force", "diffraction_force"):
        size = np.abs(both_sides[name]).max().item()
        gap = np.abs(found[name].transpose(*both_sides[name].dims).values - both_sides[name].values)
        assert gap.max() < 1e-3 * size, name
    assert "one_sided" not in {one.code for one in sw.hydro_report(found)}
    assert "2 headings were mirrored" in found.attrs["notes"]
    assert sw.mirror_headings(found) is found


def test_hulls_that_differ_on_both_sides_are_refused():
    heeled = _data([0.0, 0.6], rotation_deg=(8.0, 0.0, 0.0), reference_point=(0.0, 0.0, 0.0))
    assert "one_sided" not in {one.code for one in sw.hydro_report(heeled)}
    with pytest.raises(sw.SwelltreeError, match="not the same on port and starboard"):
        sw.mirror_headings(heeled)


def test_data_of_planar_motions_show_no_asymmetry():
    """A heeled hull in surge, heave and pitch: nothing said that the other side is a guess."""
    heeled = _data([0.0, 0.6], rotation_deg=(8.0, 0.0, 0.0), reference_point=(0.0, 0.0, 0.0))
    planar = [x for x in heeled["influenced_dof"].values if x.endswith(("Surge", "Heave", "Pitch"))]
    planar = heeled.sel(influenced_dof=planar, radiating_dof=planar)
    assert "one_sided" not in {one.code for one in sw.hydro_report(planar)}
    with pytest.warns(sw.SwelltreeWarning, match="the data have no sway, roll and yaw"):
        sw.mirror_headings(planar)


def test_bodies_off_the_plane_are_refused(both_sides):
    aside = both_sides.copy(deep=True)
    aside["rotation_center"].values[0, 1] = 3.0
    with pytest.raises(sw.SwelltreeError, match="not all reference points lie on the plane y = 0"):
        sw.mirror_headings(aside)


def test_case_file_asks_for_degrees_of_freedom_and_the_other_side():
    case = sw.loads(
        """
        [system]
        name = "one"
        [[system.bodies]]
        name = "b"
        hull = { shape = "box", length = 4, width = 2, height = 1.5, draft = 0.8, panel_size = 1 }
        [[system.joints]]
        name = "f"
        type = "free"
        base = "world"
        follower = "b"
        [hydro]
        source = "capytaine"
        omega = [1.0, 1.5]
        wave_direction_deg = [0, 40]
        dofs = ["Pitch", "Heave"]
        mirror = true
        """
    )
    data = hydro_of_case(case)
    assert data["influenced_dof"].values.tolist() == ["b__Heave", "b__Pitch"]
    assert np.degrees(data["wave_direction"].values) == pytest.approx([-40.0, 0.0, 40.0])
    with pytest.raises(sw.SwelltreeError, match=r"'Heav' is not one.*Did you mean 'Heave'"):
        sw.HydroSpec(source="capytaine", omega=[1.0], dofs=["Heav"])


def _even_drift(headings, second):
    """Made-up second-order data of a hull that is the same on port and starboard."""
    data = drift_data(headings=headings, second=second)
    force = data["excitation_force"].transpose("omega", "wave_direction", "influenced_dof")
    beta = data["wave_direction"].values[:, None]
    along, across = np.array([1.0, 0, 1, 0, 1, 0]), np.array([0.0, 1, 0, 1, 0, 1])
    return data.assign(excitation_force=force * along + force * (np.sin(beta) * across))


def test_second_order_loads_of_the_other_side_are_mirrored():
    """Mean drift, its own headings and pairs of crossing waves; y-components change their sign."""
    full = _even_drift((-0.9, -0.4, 0.0, 0.4, 0.9), ("mean",))
    first, second = np.array([0.4, 0.4, 0.9, 0.0]), np.array([0.4, 0.9, 0.4, 0.0])
    half = full.sel(wave_direction=[0.0, 0.4, 0.9])
    rng = np.random.default_rng(5)
    for short in ("difference", "sum"):
        axes = (f"{short}_omega_1", f"{short}_omega_2", f"{short}_headings", "influenced_dof")
        values = rng.normal(size=(3, 3, 4, 6)) + 1j * rng.normal(size=(3, 3, 4, 6))
        omega = {name: [0.5, 0.9, 1.4] for name in axes[:2]}
        headings = {f"{short}_heading_1": (axes[2], first), f"{short}_heading_2": (axes[2], second)}
        half[f"qtf_{short}"] = (axes, values)
        half = half.assign_coords(omega | headings)
    own = ("drift_omega", "drift_direction", "influenced_dof")
    half["mean_drift_own_headings"] = (own, rng.normal(size=(2, 2, 6)))
    half = half.assign_coords(drift_omega=[0.6, 1.0], drift_direction=[0.2, 0.7])
    error = np.abs(rng.normal(size=half["excitation_force"].shape))
    half["excitation_force_error"] = (half["excitation_force"].dims, error)

    found = sw.mirror_headings(half)
    across = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    drift = found["mean_drift"].transpose("omega", "wave_direction", "influenced_dof")
    np.testing.assert_allclose(drift, full["mean_drift"], atol=1e-9)
    lost = found["excitation_force_error"].sel(wave_direction=-0.4)
    np.testing.assert_array_equal(lost, half["excitation_force_error"].sel(wave_direction=0.4))
    assert found["drift_direction"].values == pytest.approx([-0.7, -0.2, 0.2, 0.7])
    there = found["mean_drift_own_headings"].transpose(*own).values
    np.testing.assert_allclose(there[:, :2], there[:, [3, 2]] * across)
    for short in ("difference", "sum"):
        pairs = [found[f"{short}_heading_{k}"].values for k in (1, 2)]
        assert len(pairs[0]) == 7  # waves along the hull are their own image
        axes = (f"{short}_omega_1", f"{short}_omega_2", f"{short}_headings", "influenced_dof")
        ours, here = (x[f"qtf_{short}"].transpose(*axes).values for x in (half, found))
        for k in range(3):
            (row,) = np.flatnonzero(
                np.isclose(pairs[0], -first[k]) & np.isclose(pairs[1], -second[k])
            )
            np.testing.assert_allclose(here[:, :, row], ours[:, :, k] * across)
    assert f"{2 + 2 + 3 + 3} headings were mirrored" in found.attrs["notes"]
    assert sw.mirror_headings(found) is found


@pytest.mark.parametrize("drift", ["newman", "qtf"])
def test_a_wave_from_the_mirrored_side_drifts_the_body_there(drift):
    """Data of one side; sway is that of a wave from there with the other sign."""
    half = _even_drift((0.0, 0.4, 0.9), ("qtf",))
    pairs = half["qtf_difference"]
    pairs[..., 1] = pairs[..., 0] * np.sin(half["difference_heading_1"])
    body = sw.Body("box", MASS, (1e8, 1e8, 1e8))
    system = sw.System("s", [body], [sw.Free("free", sw.WORLD, body)], water=sw.Water(rho=RHO))
    model = sw.compile(system, sw.mirror_headings(half), radiation="none", drift=drift)
    force = []
    for sign in (1.0, -1.0):
        waves = [[2.0], [0.9], [0.9**2 / 9.81], [0.4 * sign], [0.0]]
        force.append(drift_loads(model.hydro.table, Components(*map(np.array, waves)), 10.0).force)
    assert np.abs(force[0][:, 0]).max() > 1e4
    np.testing.assert_allclose(force[1], force[0] * [1, -1, 1, -1, 1, -1], rtol=1e-9, atol=1e-6)
