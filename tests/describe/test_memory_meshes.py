"""Hulls from meshes in memory: those of Capytaine and meshio, and plain arrays."""

from types import SimpleNamespace

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.bodies.hull_panels import hull_panels
from swelltree.describe.bodies.solids import hull_immersed, hull_solid


def arrays(rng=None):
    """Panels of a box with a draft of 1 m, its points in any order."""
    panels = hull_panels(sw.Box(4.0, 3.0, 2.0, 1.0, panel_size=0.7))
    order = (
        np.arange(len(panels.vertices)) if rng is None else rng.permutation(len(panels.vertices))
    )
    place = np.argsort(order)
    return panels.vertices[order], place[panels.faces]


def test_a_mesh_in_memory_displaces_what_its_shape_does():
    vertices, faces = arrays(np.random.default_rng(3))
    hull = sw.Mesh(vertices, faces, offset=(1.0, -2.0, 0.3))
    shape = sw.Box(4.0, 3.0, 2.0, 1.0, offset=(1.0, -2.0, 0.3))
    for found, requested in (
        (hull_immersed(hull), hull_immersed(shape)),
        (hull_immersed(hull, rotated()), hull_immersed(shape, rotated())),
    ):
        assert found.volume == pytest.approx(requested.volume, rel=1e-9)
        np.testing.assert_allclose(found.center, requested.center, atol=1e-9)
    np.testing.assert_allclose(hull_solid(hull).centroid, hull_solid(shape).centroid, atol=1e-9)


def rotated():
    c, s = np.cos(0.2), np.sin(0.2)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def test_objects_of_other_packages_become_hulls():
    vertices, faces = arrays()
    requested = sw.Mesh(vertices, faces)
    plain = SimpleNamespace(vertices=vertices, faces=faces)  # as capytaine.Mesh
    floating = SimpleNamespace(mesh=plain)  # as capytaine.FloatingBody
    block = SimpleNamespace(type="quad", data=faces)
    line = SimpleNamespace(type="line", data=faces[:, :2])
    meshio = SimpleNamespace(points=vertices, cells=[line, block])
    for specified in (plain, floating, meshio):
        body = sw.Body("b", hull=specified)
        assert body.hull == requested
        assert body.mass == "displacement"


def test_a_real_mesh_of_capytaine_is_a_hull():
    cpt = pytest.importorskip("capytaine")
    mesh = cpt.mesh_sphere(radius=2.0, center=(0, 0, 0), resolution=(12, 12)).immersed_part()
    body = sw.Body("b", hull=cpt.FloatingBody(mesh, name="ball"))
    assert hull_immersed(body.hull).volume == pytest.approx(mesh.volume, rel=1e-6)


def test_a_real_mesh_of_meshio_is_a_hull():
    meshio = pytest.importorskip("meshio")
    vertices, faces = arrays()
    body = sw.Body("b", hull=meshio.Mesh(vertices, [("quad", faces)]))
    assert hull_immersed(body.hull).volume == pytest.approx(12.0)


def test_a_mesh_in_memory_is_written_and_read_again():
    vertices, faces = arrays()
    body = sw.Body("b", hull=sw.Mesh(vertices, faces))
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)])
    assert sw.loads(system.to_toml()).system == system


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: sw.MeshFile("x.stl", panel_size=0.5), "a mesh keeps its own panels"),
        (lambda: sw.Mesh([[0, 0, 0]] * 3, [[0, 1, 2]], panel_size=1), "keeps its own panels"),
        (lambda: sw.Mesh([[0, 0, 0]] * 3, [[0, 1, 3]]), "a panel has point 3 of 3"),
        (lambda: sw.Mesh([[0, 0, 0]] * 3, [[0, 1, -1]]), "Count points from zero"),
        (lambda: sw.Mesh([[0, 0, 0]] * 3, [[0, 1]]), "three or four numbers"),
        (lambda: sw.Mesh([[0, 0]] * 3, [[0, 1, 2]]), "Give x, y, z for each"),
        (lambda: sw.Mesh([[0, 0, np.nan]] * 3, [[0, 1, 2]]), "nan"),
        (lambda: sw.Body("b", hull=3), "is not a hull"),
    ],
)
def test_meshes_that_are_none_are_a_sentence(make, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        make()
