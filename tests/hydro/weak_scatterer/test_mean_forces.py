"""Mean forces: pressure on hulls against the far field, sharp edges, exact cylinder."""

import numpy as np
import pytest
from scipy.special import h1vp, jvp

from swelltree.describe import Box, Water
from swelltree.hydro.weak_scatterer.beach import FIRST, required_beach
from swelltree.hydro.weak_scatterer.harmonic import harmonic_flow, mean_drift, pressure_drift
from swelltree.hydro.weak_scatterer.mesh.hulls import cylinder, hull_surface, sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.bodies import Wetted, at_corners, at_points
from swelltree.hydro.weak_scatterer.motion.edges import edges
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.scene import build_scene
from swelltree.hydro.weak_scatterer.problem.boundary import build_boundary
from swelltree.jit import jnp
from validation.hydro.weak_scatterers.truncated_cylinder import mean_force

WATER = Water(rho=1000.0)
OMEGA = np.sqrt(WATER.g)  # k = 1 / m
LENGTH = 2 * np.pi


def flow_of(surface, size, spacing=0.5):
    radius = 1.5 * LENGTH
    beach = required_beach(OMEGA, (1 - FIRST) * radius, radius, WATER.g)
    tank = Tank(radius, radius, spacing, LENGTH / 8, fine=1.5, symmetric=True, levels=3)
    scene = build_scene(
        tank, [Floater("body", surface, meridians=size)], WATER, "linear", beach=beach
    )
    return harmonic_flow(scene, OMEGA, np.inf)


@pytest.fixture(scope="module")
def ball():
    return flow_of(sphere(8), 0.3)


def held(**velocity):
    result = np.zeros(6, complex)
    for name, value in velocity.items():
        result[["surge", "sway", "heave", "roll", "pitch", "yaw"].index(name)] = value
    return result


@pytest.mark.slow
@pytest.mark.parametrize("motion", [{}, {"surge": 1.0}, {"heave": 1j}, {"surge": 1j, "heave": 1.0}])
def test_pressure_on_a_hemisphere_has_the_mean_force_of_its_far_field(ball, motion):
    near, far = (f(ball, held(**motion))[0] for f in (pressure_drift, mean_drift))
    assert near == pytest.approx(far, rel=0.02)  # 61 vertices on half of the hull


@pytest.mark.slow
def test_a_sphere_that_turns_about_its_centre_has_the_mean_force_of_one_that_does_not(ball):
    """Water does not feel it: all terms with rotations cancel, but for flat triangles."""
    for motion in ({}, {"heave": 1j}):
        still = pressure_drift(ball, held(**motion))[0]
        assert pressure_drift(ball, held(pitch=1.0, **motion))[0] == pytest.approx(still, rel=0.01)


def test_triangles_of_a_hull_know_those_beyond_their_sides():
    box = hull_surface(Box(length=2.0, width=1.0, height=1.0, draft=0.5, panel_size=0.5))
    boundary, _ = build_boundary(None, [box])
    across, faces = boundary.across, boundary.wet_triangles
    for panel, row in enumerate(across):
        for corner, other in enumerate(row):
            side = set(np.delete(faces[panel], corner))
            assert side <= set(faces[other])
            assert other != panel
            assert panel in across[other]


@pytest.mark.parametrize("degrees", [90.0, 60.0])
def test_edges_add_what_linear_triangles_miss_of_the_flow_around_them(degrees):
    """phi = c r^beta on both faces: c^2 beta^2 / (2 beta - 1) h^(2 beta - 1) on each."""
    turn, c, h, length = np.radians(degrees), 0.7, (0.3, 0.2), 0.5
    # the edge along y at the origin, one face along -x, the other turned downwards
    down = np.array([np.cos(turn), 0.0, -np.sin(turn)])
    one, two = np.array([0.0, 0.0, 0.0]), np.array([0.0, length, 0.0])
    first, second = np.array([-h[0], 0.2, 0.0]), h[1] * down + [0.0, 0.1, 0.0]
    corner = np.array([[first, two, one], [second, one, two]])  # normals into the body
    cross = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = 0.5 * np.linalg.norm(cross, axis=1)
    normal = cross / np.linalg.norm(cross, axis=1)[:, None]
    assert normal[0] @ [0, 0, 1] == pytest.approx(-1.0)
    across = np.array([[1, 0, 0], [0, 1, 1]])
    wet = Wetted(*(jnp.asarray(x) for x in (corner, corner, normal, area, np.zeros((2, 3, 6)))))
    found = edges(across, wet)
    beta = np.pi / (np.pi + turn)
    velocity = np.array([[c * h[0] ** (beta - 1), 0, 0], c * h[1] ** (beta - 1) * down])
    for panel in (0, 1):
        strength = (
            found.here[panel, 0] @ velocity[panel] + found.excess[panel, 0] @ velocity[1 - panel]
        )
        assert abs(strength) == pytest.approx(c)
        full = beta**2 / (2 * beta - 1) * h[panel] ** (2 * beta - 1)
        linear = h[panel] ** (2 * beta - 1)
        assert found.missing[panel, 0] == pytest.approx(length * (full - linear))
        assert not found.missing[panel, 1:].any()


def test_linear_functions_of_points_have_the_mean_of_an_exponential_between_corners():
    corner = jnp.asarray([[[0.0, 0, 0], [0.5, 0, 0.1], [0.1, 0, -0.6]]])
    linear = at_corners(jnp.exp(at_points(corner)[..., 2]).reshape(-1))
    np.testing.assert_allclose(at_points(linear), jnp.exp(at_points(corner)[..., 2]))
    part = np.linspace(0, 1, 201)
    a, b = np.meshgrid(part, part)
    weight = np.where(a + b <= 1.0, 1.0, 0.0)
    exact = (weight * np.exp(0.1 * a - 0.6 * b)).sum() / weight.sum()
    assert float(linear.mean()) == pytest.approx(exact, rel=1e-3)
    assert float(jnp.exp(corner[..., 2]).mean()) > 1.01 * exact


def test_mean_force_on_a_cylinder_down_to_the_bottom_is_that_of_maccamy_and_fuchs():
    """With the gap below it closed only the wave is left outside."""
    m, depth, angle = np.arange(10), 6.0, 2 * np.pi * np.arange(360) / 360
    # orders of the scattered wave: the slope of the incident one over that of the outgoing one
    each = np.where(m == 0, 1, 2) * jvp(m, 1.0) / h1vp(m, 1.0)
    power = 2 / np.pi * np.abs(each @ np.cos(m[:, None] * angle)) ** 2
    group = 0.5 * (1 + 2 * depth / np.sinh(2 * depth))
    exact = 0.5 * 9810.0 * group * (power * (1 - np.cos(angle))).mean() * 2 * np.pi
    assert mean_force(1.0, 1.0, 5.9, depth, 1000.0, 9.81) == pytest.approx(exact, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("surface", "size"),
    [
        (cylinder(1.0, 4.0, 0.28), 0.28),
        (hull_surface(Box(length=2.0, width=2.0, height=2.0, draft=1.0, panel_size=0.25)), 0.25),
    ],
    ids=["cylinder", "box"],
)
def test_pressure_on_bodies_with_edges_has_the_mean_force_of_their_far_field(surface, size):
    flow = flow_of(surface, size, 0.4)
    for motion in ({}, {"surge": 1.0}, {"heave": 1.0}, {"pitch": 1.0}, {"heave": 1j, "pitch": 1.0}):
        near, far = (f(flow, held(**motion))[0] for f in (pressure_drift, mean_drift))
        assert near == pytest.approx(far, rel=0.025), motion
