"""Rings, and bodies that lie against one another: no water is between them."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.system.bodies.hull_panels import hull_panels
from swelltree.system.bodies.solids import (
    hull_immersed,
    hull_solid,
    immersed_of_panels,
    solid_of_panels,
)

OMEGA = [0.7, 1.3]


def test_solid_and_waterplane_of_a_ring_are_those_of_its_panels():
    ring = sw.Axisymmetric(
        [(4.1, -2.7), (7.3, -1.4), (6.2, 1.9)], bore=2.6, offset=(1.3, -0.7, 0.2), panel_size=0.25
    )
    whole, panels = hull_solid(ring), hull_panels(ring, true_sections=True)
    other = solid_of_panels(panels)
    assert whole.volume == pytest.approx(other.volume, rel=1e-9)
    assert whole.centroid == pytest.approx(other.centroid, abs=1e-9)
    assert np.diag(whole.moments) == pytest.approx(np.diag(other.moments), rel=3e-3)
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
    whole = sw.Body("whole", hull=sw.Cylinder(4.0, 3.0, 4.0, panel_size=size), position=place)
    parts, one = _data(post, ring), _data(whole)
    assert "lies against another body" in parts.attrs["notes"]
    for name in ("added_mass", "radiation_damping"):
        both, single = (x[name].sel(omega=OMEGA).values for x in (parts, one))
        both = both.reshape(len(OMEGA), 2, 6, 2, 6).sum(axis=(1, 3))
        # about the reference points, which lie at the same place: homogeneous, different heights
        for k in (0, 1, 2):
            assert both[:, k, k] == pytest.approx(single[:, k, k], rel=0.03), (name, k)
    force, single = (x["excitation_force"].sel(omega=OMEGA).values for x in (parts, one))
    force = force.reshape(len(OMEGA), 1, 2, 6).sum(axis=2)
    assert np.abs(force[..., :3] - single[..., :3]).max() < 0.02 * np.abs(single[..., :3]).max()
