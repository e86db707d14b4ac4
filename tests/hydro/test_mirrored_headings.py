"""Headings of the other side of hulls that are the same on port and starboard."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.hydro.data.case import hydro_of_case


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
