"""Hulls: closed forms against panels, mass properties, files."""

import struct

import numpy as np
import pytest

import swelltree.describe as sw
from swelltree.describe.bodies.hull_panels import hull_panels
from swelltree.describe.bodies.solids import (
    hull_immersed,
    hull_solid,
    immersed_of_panels,
    solid_of_panels,
)

OFF = {"offset": (1.0, 2.0, -0.3)}
HULLS = [
    sw.Box(4, 2, 3, 1.5, **OFF),
    sw.Cylinder(2, 3, 5, **OFF),
    sw.HorizontalCylinder(1, 5),
    sw.HorizontalCylinder(1, 5, 0.6, "x", **OFF),
    sw.Sphere(2),
    sw.Sphere(2, draft=1.2),
    sw.Sphere(2, offset=(0, 0, -7)),
    sw.Hemisphere(2),
    sw.Hemisphere(2, 1.5),
    sw.Cone(2, 3, 2.0),
    sw.Cone(2, 3, 2.0, 1.0, **OFF),
    sw.Axisymmetric(((0, -3), (2, -2), (1, 0), (1, 2))),
    sw.Plate(2, 1, 0.05, 1.0),
    sw.Union([sw.Box(1, 1, 1, 0.5), sw.Plate(2, 2, 0.03, 1.5)], offset=(0, 0, -0.1)),
]


@pytest.mark.parametrize("hull", HULLS, ids=lambda h: h.shape)
def test_closed_form_and_panels_agree(hull):
    # flat panels on round hulls miss up to 1.5 % of areas and their moments
    flat = hull.shape in ("box", "plate", "union")
    rtol = 1e-9 if flat else 0.02
    panels = hull_panels(hull)
    for true, found in ((hull_solid(hull), solid_of_panels(panels)),):
        assert np.isclose(found.volume, true.volume, rtol=rtol)
        assert np.allclose(found.centroid, true.centroid, atol=rtol)
        size = np.abs(true.inertia_per_mass).max()
        assert np.allclose(found.inertia_per_mass, true.inertia_per_mass, atol=rtol * size)
    true, found = hull_immersed(hull), immersed_of_panels(panels.immersed())
    assert np.isclose(found.volume, true.volume, rtol=rtol)
    assert np.allclose(found.center, true.center, atol=rtol)
    assert np.isclose(found.area, true.area, rtol=rtol, atol=1e-9)
    assert np.allclose(found.first, true.first, rtol=rtol, atol=max(1e-9, rtol * true.area))
    assert np.allclose(found.second, true.second, atol=max(1e-9, 2 * rtol * true.second.max()))


@pytest.mark.parametrize("hull", HULLS, ids=lambda h: h.shape)
def test_divided_panels_are_the_same_solid(hull):
    panels = hull_panels(hull)
    finer = panels.divided()
    assert len(finer.faces) == 4 * len(panels.faces)
    assert np.isclose(solid_of_panels(finer).volume, solid_of_panels(panels).volume, rtol=1e-9)


def test_tilted_box_displaces_the_same_when_half_under_water():
    hull = sw.Box(2.0, 1.0, 1.0, 0.5)
    tilted = sw.Body("b", hull=hull, rotation_deg=(20, 10, 30))
    assert np.isclose(hull_immersed(hull, tilted.rotation_matrix).volume, 1.0)
    assert np.isclose(tilted.resolved(sw.Water(1000.0)).mass, 1000.0)


def test_floating_body_needs_only_its_hull():
    # hinge-barge-tank of EQUATIONS: mass and inertia of the first barge
    barge = sw.Body("b", hull=sw.Box(1.1, 0.67, 0.57, 0.37))
    found = barge.resolved(sw.Water(1000.0))
    assert np.isclose(found.mass, 272.69)
    assert np.isclose(found.inertia_matrix[1, 1], 34.8793, atol=1e-4)
    assert np.allclose(found.com, (0, 0, -0.085))
    assert np.allclose(barge.reference, (0, 0, -0.085))
    assert (barge.mass, barge.inertia, barge.com) == ("displacement", "homogeneous", "homogeneous")


def test_hull_floats_wherever_the_origin_of_its_body_is():
    low = sw.Body("b", hull=sw.Box(1, 1, 1, 0.4), position=(0, 0, -2))
    assert np.allclose(low.hull_origin, (0, 0, 2))
    assert np.allclose(low.center_of_mass, (0, 0, 2.1))
    assert np.isclose(low.resolved(sw.Water(1000.0)).mass, 400.0)


def test_given_numbers_are_kept():
    body = sw.Body("b", 5.0, (1, 1, 1), (0, 0, -1), hull=sw.Sphere(1))
    assert body.resolved(sw.Water()) is body
    assert sw.Body("b", 5.0, hull=sw.Sphere(1)).inertia == (0, 0, 0)
    half = sw.Body("b", 10.0, "homogeneous", hull=sw.Sphere(1))
    assert np.allclose(half.inertia_matrix, 4.0 * np.eye(3))
    assert sw.Body("b", 0.0, hull=sw.Sphere(1)).mass == 0.0


def test_hulls_come_back_from_toml():
    bodies = [sw.Body(f"b{i}", hull=hull) for i, hull in enumerate(HULLS)]
    bodies += [sw.Body("m", "displacement", (1, 1, 1), hull=sw.MeshFile("hull.stl", 0.001))]
    bodies += [sw.Body("n", 0.0, hull=sw.Sphere(1, panel_size=0.1)), sw.Body("o", 2.0)]
    bodies += [sw.Body("p", 3.0, "homogeneous", (0, 0, -1), hull=sw.Sphere(1))]
    joints = [sw.Free(f"f{b.name}", sw.WORLD, b) for b in bodies]
    spec = sw.HydroSpec("capytaine", omega=sw.OmegaRange(0.5, 2.0, 4), wave_direction_deg=(0, 90))
    case = sw.Case(sw.System("s", bodies, joints), hydro=spec)
    again = sw.loads(case.to_toml())
    assert again.system == case.system
    assert again.hydro == spec
    assert again.hydro.frequencies == (0.5, 1.0, 1.5, 2.0)
    assert np.allclose(again.hydro.wave_direction, (0, np.pi / 2))


def write_stl(path, panels, binary):
    triangles = panels.triangles
    if binary:
        rows = [struct.pack("<12fH", 0, 0, 0, *t.ravel(), 0) for t in triangles]
        path.write_bytes(b" " * 80 + struct.pack("<I", len(rows)) + b"".join(rows))
    else:
        lines = ["solid s"]
        for t in triangles:
            corners = "\n".join(f"vertex {x} {y} {z}" for x, y, z in t)
            lines.append(f"facet normal 0 0 0\nouter loop\n{corners}\nendloop\nendfacet")
        path.write_text("\n".join([*lines, "endsolid"]))


@pytest.mark.parametrize("binary", [True, False])
def test_stl_file_is_a_hull(tmp_path, binary):
    write_stl(tmp_path / "hull.stl", hull_panels(sw.Box(2, 1, 1, 0.4)), binary)
    text = """
        [system]
        name = "s"
        bodies = [ { name = "b", hull = { shape = "mesh", path = "hull.stl" } } ]
        joints = [ { name = "f", type = "free", base = "world", follower = "b" } ]
        """
    (tmp_path / "case.toml").write_text(text)
    found = sw.load(tmp_path / "case.toml").system.resolved.body("b")
    assert np.isclose(found.mass, 1025.0 * 0.8, rtol=1e-6)
    assert np.isclose(found.inertia_matrix[2, 2], found.mass * 5.0 / 12.0, rtol=1e-6)
    assert np.allclose(found.com, (0, 0, 0.1), atol=1e-6)


def test_mistakes_in_hulls_are_told(tmp_path):
    (tmp_path / "bad.stl").write_text("solid s\nvertex 1 2\nendsolid")
    for make, message in (
        (lambda: sw.Axisymmetric([(1, 0)]), "is not a profile"),
        (lambda: sw.Axisymmetric([(1, 0), (1, -1)]), "profile decreases in z"),
        (lambda: sw.HorizontalCylinder(1, 2, axis="z"), "axis 'z' does not exist"),
        (lambda: sw.Cone(0, 1, 0.5), "do not make a cone"),
        (lambda: sw.Union([]), "is not a list of hulls"),
        (lambda: sw.Plate(1, 1, 0, 1), "thickness 0.0 m is not positive"),
        (lambda: sw.Sphere(1, panel_size=-1), "panel_size -1.0 m is not positive"),
        (lambda: sw.Body("b", "displacement"), "mass is 'displacement' but there is no hull"),
        (lambda: sw.Body("b", "displacment"), "Did you mean 'displacement'"),
        (
            lambda: sw.Body("b", hull=sw.Sphere(1, offset=(0, 0, 3))).resolved(sw.Water()),
            "the hull is above the water",
        ),
        (lambda: hull_panels(sw.MeshFile(str(tmp_path / "x.stl"))), "does not exist"),
        (lambda: hull_panels(sw.MeshFile(str(tmp_path / "bad.stl"))), "cannot be read as stl"),
        (lambda: sw.HydroSpec(), "give either source"),
        (lambda: sw.HydroSpec("capytaine"), "omega is missing"),
        (lambda: sw.HydroSpec("capytaine", omega={"from": 1}), "is not a range"),
        (lambda: sw.HydroSpec("capytaine", omega=[0.0]), "no positive frequencies"),
        (lambda: sw.HydroSpec(file="a", radiation="constant"), "belong together"),
        (lambda: sw.HydroSpec(file="a", radiation_omega=1.0), "belong together"),
        (lambda: sw.HydroSpec(file="a", radiation="memory"), "is not a kind of radiation"),
        (
            lambda: sw.HydroSpec(file="a", convolution_step=0),
            "convolution_step 0.0 is not positive",
        ),
        (lambda: sw.HydroSpec(file="a", fit=0.03), "0.03 is not a table"),
        (lambda: sw.HydroSpec(file="a", fit={"eror": 0.03}), "Did you mean 'error'"),
        (lambda: sw.HydroSpec(file="a", fit={"error": 3}), "error 3.0 is not between 0 and 1"),
        (lambda: sw.HydroSpec(file="a", frame="heading"), "is not a frame"),
    ):
        with pytest.raises(sw.SwelltreeError, match=message):
            make()
