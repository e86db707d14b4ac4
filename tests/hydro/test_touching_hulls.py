"""Rings, and bodies that lie against one another: no water is between them."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.bodies.hull_panels import hull_panels
from swelltree.describe.bodies.solids import (
    hull_immersed,
    hull_solid,
    immersed_of_panels,
    solid_of_panels,
)
from swelltree.hydro.bem.meshes import wet_panels, wetted_panels
from swelltree.hydro.bem.run import _job, _wetted
from swelltree.hydro.bem.solve import lid_height, lid_heights

OMEGA = [0.7, 1.3]


def test_solid_and_waterplane_of_a_ring_are_those_of_its_panels():
    ring = sw.Axisymmetric(
        [(4.1, -2.7), (7.3, -1.4), (6.2, 1.9)], bore=2.6, offset=(1.3, -0.7, 0.2), panel_size=0.25
    )
    full, panels = hull_solid(ring), hull_panels(ring, true_sections=True)
    other = solid_of_panels(panels)
    assert full.volume == pytest.approx(other.volume, rel=1e-9)
    assert full.centroid == pytest.approx(other.centroid, abs=1e-9)
    assert np.diag(full.moments) == pytest.approx(np.diag(other.moments), rel=3e-3)
    wet, other = hull_immersed(ring), immersed_of_panels(panels.immersed())
    assert wet.volume == pytest.approx(other.volume, rel=1e-9)
    assert wet.area == pytest.approx(other.area, rel=1e-9)
    assert wet.second == pytest.approx(other.second, rel=3e-3)


@pytest.mark.parametrize("bore", [-0.1, 4.1, 9.0])
def test_bore_that_is_not_within_the_profile_is_refused(bore):
    with pytest.raises(sw.SwelltreeError, match=r"bore .* is not between zero and the smallest"):
        sw.Axisymmetric([(4.1, -2.7), (7.3, 1.4)], bore=bore)


def _data(*bodies):
    joints = [sw.Free(f"free_{body.name}", sw.WORLD.at(*body.position), body) for body in bodies]
    return sw.run_bem(sw.System("s", list(bodies), joints), OMEGA, [0.4], cache=False)


def test_bodies_that_touch_together_are_the_whole():
    """A post in a ring: their forces in a common motion add up to those of one cylinder."""
    size, place = 0.8, (3.0, -2.0, 0.0)
    post = sw.Body("post", hull=sw.Cylinder(2.0, 3.0, 4.0, panel_size=size), position=place)
    hull = sw.Axisymmetric([(4.0, -3.0), (4.0, 1.0)], bore=2.0, panel_size=size)
    ring = sw.Body("ring", hull=hull, position=place)
    full = sw.Body("whole", hull=sw.Cylinder(4.0, 3.0, 4.0, panel_size=size), position=place)
    parts, one = _data(post, ring), _data(full)
    assert "touches another body" in parts.attrs["notes"]
    for name in ("added_mass", "radiation_damping"):
        both, single = (x[name].sel(omega=OMEGA).values for x in (parts, one))
        both = both.reshape(len(OMEGA), 2, 6, 2, 6).sum(axis=(1, 3))
        # about the reference points, which lie at the same place: homogeneous, different heights
        for k in (0, 1, 2):
            assert both[:, k, k] == pytest.approx(single[:, k, k], rel=0.03), (name, k)
    force, single = (x["excitation_force"].sel(omega=OMEGA).values for x in (parts, one))
    force = force.reshape(len(OMEGA), 1, 2, 6).sum(axis=2)
    assert np.abs(force[..., :3] - single[..., :3]).max() < 0.02 * np.abs(single[..., :3]).max()


@pytest.mark.parametrize("size", [0.75, pytest.param(0.9, marks=pytest.mark.slow)])
def test_post_on_a_wider_disc_is_the_stepped_column(size):
    """The disc's panels do not end at the post: left out whole, added mass was 10 to 29 % off."""
    place, post = (3.0, -2.0, 0.0), sw.Cylinder(2.0, 3.0, 4.0, panel_size=0.75)
    disc = sw.Axisymmetric([(4.0, -5.0), (4.0, -3.0)], panel_size=size)
    step = [(4.0, -5.0), (4.0, -3.0), (2.0, -3.0), (2.0, 1.0)]
    full = sw.Axisymmetric(step, panel_size=0.75)
    upper = sw.Body("upper", hull=post, position=place)
    lower = sw.Body("lower", 1e5, hull=disc, position=place, com=(0.0, 0.0, -4.0))
    parts, one = _data(upper, lower), _data(sw.Body("whole", 2e5, hull=full, position=place))
    both, single = (x["added_mass"].sel(omega=OMEGA).values for x in (parts, one))
    both = both.reshape(len(OMEGA), 2, 6, 2, 6).sum(axis=(1, 3))
    for k in (0, 1, 2):
        # coarse panels: 2.4 % where their sizes differ
        assert both[:, k, k] == pytest.approx(single[:, k, k], rel=0.035), k
    force, single = (x["excitation_force"].sel(omega=OMEGA).values for x in (parts, one))
    force = force.reshape(len(OMEGA), 1, 2, 6).sum(axis=2)
    assert np.abs(force[..., :3] - single[..., :3]).max() < 0.02 * np.abs(single[..., :3]).max()


def test_bodies_that_touch_along_a_line_keep_all_their_surface():
    """A round log on a box, both turned: leaving out what is near the line opens both."""
    turned = {"rotation_deg": (0.0, 0.0, 25.0)}
    log = sw.HorizontalCylinder(1.0, 8.0, 2.0, axis="x", offset=(0, 0, -2), panel_size=0.5)
    box = sw.Box(8.0, 3.0, 1.5, 1.5, offset=(0.0, 0.0, -4.0), panel_size=0.5)
    panels = {
        name: wetted_panels(sw.Body(name, 1e4, hull=hull, **turned))
        for name, hull in (("log", log), ("box", box))
    }
    lowest = panels["log"].vertices[:, 2].min()
    panels["box"] = panels["box"].moved((0.0, 0.0, lowest - panels["box"].vertices[:, 2].max()))
    notes = []
    wet = wet_panels(panels, notes)
    assert not notes
    for name, full in panels.items():
        assert wet[name].areas.sum() == pytest.approx(full.areas.sum(), rel=1e-3)
        assert len(wet[name].faces) > len(full.faces)  # those on the line are divided


def test_what_two_bodies_leave_out_is_the_same_face():
    """Boxes with different panels, one turned upon the other: what is left encloses their sum."""
    below = wetted_panels(
        sw.Body("b", 1e4, hull=sw.Box(5.0, 4.0, 2.0, 2.0, offset=(0, 0, -2.0), panel_size=0.9))
    )
    above = wetted_panels(
        sw.Body(
            "a",
            1e4,
            hull=sw.Box(2.6, 3.0, 3.0, 2.0, panel_size=0.5),
            position=(0.3, -0.2, 0.0),
            rotation_deg=(0.0, 0.0, 33.0),
        )
    )
    notes = []
    wet = wet_panels({"below": below, "above": above}, notes)
    left_out = [b.areas.sum() - wet[n].areas.sum() for n, b in (("below", below), ("above", above))]
    # panels divided three times on the edge of the contact
    assert left_out == pytest.approx([2.6 * 3.0] * 2, rel=0.03)
    assert sum("is not wetted" in note for note in notes) == 2


def test_lids_of_bodies_that_touch_are_at_one_height():
    """A deep post in a shallow ring: nothing divides the water inside the two."""
    post = sw.Body("post", hull=sw.Cylinder(2.0, 9.0, 10.0, panel_size=0.8))
    hull = sw.Axisymmetric([(4.0, -3.0), (4.0, 1.0)], bore=2.0, panel_size=0.8)
    for place, one_height in (((0.0, 0.0, 0.0), True), ((9.0, 2.0, 0.0), False)):
        ring = sw.Body("ring", hull=hull, position=place)
        joints = [sw.Free(f"{b.name}_free", sw.WORLD.at(*b.position), b) for b in (post, ring)]
        job = _job(sw.System("s", [post, ring], joints), [2.8], [0.0], True, "auto", "direct", True)
        bodies = _wetted(job)
        own = [lid_height(body, 0.5, 2.8, 9.81) or 0.0 for body in bodies]
        assert own[0] < own[1] < 0.0
        assert lid_heights(bodies, 0.5, 2.8, 9.81) == ([own[1]] * 2 if one_height else own)
        assert lid_heights(bodies, None, 2.8, 9.81) == [None, None]
