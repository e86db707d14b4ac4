"""Hydrostatics against closed forms."""

import numpy as np
import pytest

import swelltree.describe as sw
from swelltree.describe.bodies.hull_panels import hull_panels
from swelltree.describe.bodies.solids import immersed_of_panels
from swelltree.describe.values import euler_matrix
from swelltree.hydro.bem.hydrostatics import hydrostatics

WATER = sw.Water(1000.0)
RG = 9810.0


def test_box_has_its_metacentric_heights():
    L, B, T, H = 4.0, 2.0, 1.5, 3.0
    found = hydrostatics(sw.Body("b", hull=sw.Box(L, B, H, T)), WATER)
    V, com, buoyancy = L * B * T, -T + H / 2, -T / 2
    GM = np.array([B**2, L**2]) / (12 * T) + buoyancy - com
    expected = np.diag([0, 0, RG * L * B, *(RG * V * GM), 0])
    assert np.allclose(found.stiffness, expected, atol=1e-6)
    assert np.isclose(found.volume, V)
    assert np.allclose(found.center_of_buoyancy, (0, 0, buoyancy))


def test_sphere_turns_freely_about_its_centre():
    found = hydrostatics(sw.Body("b", hull=sw.Sphere(2.0, draft=1.3)), WATER)
    K = found.stiffness
    assert np.isclose(K[2, 2], RG * np.pi * (1.3 * 2.7))
    assert np.allclose(K[3:, 3:], 0.0, atol=1e-6 * K[2, 2])


@pytest.mark.parametrize(
    "hull", [sw.Box(4, 2, 3, 1.5, offset=(0.3, 0.1, 0)), sw.Cylinder(1.0, 2.0, 3.0)]
)
def test_panels_give_the_closed_form(hull):
    body = sw.Body(
        "b",
        hull=hull,
        position=(1, 2, -0.4),
        rotation_deg=(0, 0, 30),
        com=(0.2, -0.3, 0.1),
        reference_point=(0.1, 0.2, 0.3),
    )
    true, found = (hydrostatics(body, WATER, from_panels=x) for x in (False, True))
    size = np.abs(true.stiffness).max()
    assert np.allclose(found.stiffness, true.stiffness, atol=0.01 * size)
    assert np.allclose(found.center_of_buoyancy, true.center_of_buoyancy, atol=0.01)


def test_stiffness_is_the_slope_of_buoyancy_and_weight():
    # wrench at the moving reference point of a body pushed a little from its place
    hull = sw.Box(4.0, 2.0, 3.0, 1.5, offset=(0.4, 0.3, 0.0))
    com, point = np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.2, -0.4])
    body = sw.Body("b", 9000.0, com=com, reference_point=point, hull=hull)
    panels = hull_panels(hull)

    def wrench(xi):
        R = euler_matrix(*xi[3:])
        wet = immersed_of_panels(
            panels.moved(-point).moved(np.asarray(xi[:3]) + point, R).immersed()
        )
        lift, weight = RG * wet.volume, -9000.0 * 9.81
        moment = np.cross(wet.center - point - xi[:3], (0, 0, lift))
        moment += np.cross(R @ (com - point), (0, 0, weight))
        return np.array([0, 0, lift + weight, *moment])

    # central differences; rotation vectors and angles agree to first order
    step = 1e-5
    slope = [(wrench(step * e) - wrench(-step * e)) / (2 * step) for e in np.eye(6)]
    found = hydrostatics(body, WATER)
    assert np.allclose(-np.transpose(slope), found.stiffness, rtol=1e-5, atol=1.0)
    without = hydrostatics(body, WATER, weight=False)
    assert np.allclose(without.stiffness + found.weight_stiffness, found.stiffness)
