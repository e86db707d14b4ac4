"""Meshes on their way into a BEM run: turned, cleaned or refused, and said so."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import swelltree as sw
from made_hydro import vessel
from swelltree.describe.bodies.hull_panels import hull_panels
from swelltree.describe.bodies.meshes import Panels, against_neighbours, holes, join, repaired
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.bem.meshes import check_apart, checked_panels, standing
from swelltree.hydro.data.frames import turn

RNG = np.random.default_rng(5)


def wet(hull=None, place=(13.0, -4.0, 0.0), yaw=0.7):
    """A hull somewhere, turned, below the water."""
    c, s = np.cos(yaw), np.sin(yaw)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return hull_panels(hull or sw.Box(8, 4, 2, 1, panel_size=1.0)).moved(place, R).immersed()


def volume(panels):
    t = panels.triangles
    n = 0.5 * np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
    return (t.mean(1)[:, 2] * n[:, 2]).sum()


@pytest.mark.parametrize(
    "hull",
    [
        sw.Box(8, 4, 2, 1, panel_size=1.0),
        sw.Sphere(2.0, panel_size=0.8),
        sw.Cylinder(2.0, 4.0, 6.0, panel_size=1.0),
        sw.HorizontalCylinder(1.0, 6.0, panel_size=0.6),
        sw.Sphere(1.0, offset=(0, 0, -5.0), panel_size=0.5),
        sw.Plate(6.0, 4.0, 0.2, 3.0, panel_size=0.8),
    ],
)
def test_good_hulls_pass_unchanged(hull, recwarn):
    panels, notes = wet(hull), []
    found = checked_panels("b", panels, notes)
    assert not notes
    assert not recwarn.list
    assert found.vertices == pytest.approx(panels.vertices)


def test_inward_normals_are_turned_and_told():
    for hull in (sw.Box(8, 4, 2, 1, panel_size=1.0), sw.Sphere(2.0, panel_size=0.8)):
        good = wet(hull)
        inward = Panels(good.vertices, good.faces[:, ::-1])
        notes = []
        with pytest.warns(SwelltreeWarning, match="point inwards; they were reversed"):
            found = checked_panels("b", inward, notes)
        assert volume(found) == pytest.approx(volume(good))
        assert notes


HULLS = [
    sw.Box(8, 4, 2, 1, panel_size=1.0),
    sw.Sphere(2.0, panel_size=0.8),
    sw.HorizontalCylinder(1.0, 6.0, panel_size=0.6),
    sw.Plate(6.0, 4.0, 0.2, 3.0, panel_size=0.8),
]


def tilted(hull, rng):
    """A hull anywhere, trimmed, below the water."""
    turn = Rotation.from_rotvec(0.15 * rng.normal(size=3)).as_matrix()
    return hull_panels(hull).moved(rng.normal(size=3) * [20.0, 20.0, 0.0], turn).immersed()


@pytest.mark.parametrize("hull", HULLS, ids=lambda hull: hull.shape)
def test_normals_of_single_panels_against_their_neighbours_are_turned_and_told(hull):
    """One panel in a hundred is less than the volume of a coarse hull is off."""
    rng = np.random.default_rng(11)
    good = tilted(hull, rng)
    assert not against_neighbours(good).any()
    rows = rng.choice(len(good.faces), 3, replace=False)
    faces = good.faces.copy()
    faces[rows] = faces[rows][:, ::-1]
    assert set(np.flatnonzero(against_neighbours(Panels(good.vertices, faces)))) == set(rows)
    with pytest.warns(SwelltreeWarning, match=r"normals of 3 of its .* opposite to those of their"):
        found = checked_panels("b", Panels(good.vertices, faces), [])
    assert volume(found) == pytest.approx(volume(good))


@pytest.mark.parametrize("hull", HULLS, ids=lambda hull: hull.shape)
def test_every_single_panel_that_is_missing_is_found_with_its_place(hull):
    rng = np.random.default_rng(12)
    good = tilted(hull, rng)
    large = np.flatnonzero(good.areas > 0.7 * np.median(good.areas))
    for row in rng.choice(large, 12, replace=False):
        open_ = Panels(good.vertices, np.delete(good.faces, row, axis=0))
        assert len(holes(open_)) == 1
        place = good.vertices[good.faces[row]].mean(axis=0)
        assert holes(open_)[0][1] == pytest.approx(place, abs=float(np.sqrt(good.areas[row])))
        with pytest.raises(SwelltreeError, match=r"its hull has a hole"):
            checked_panels("b", open_, [])


@pytest.mark.parametrize("hull", HULLS, ids=lambda hull: hull.shape)
def test_rounded_vertices_and_panels_of_other_sizes_are_no_holes(hull):
    rng = np.random.default_rng(13)
    good = tilted(hull, rng)
    size = np.ptp(good.vertices, axis=0).max()
    corners = good.vertices[good.faces] + 1e-7 * size * rng.normal(size=(*good.faces.shape, 3))
    apart = Panels(corners.reshape(-1, 3), np.arange(good.faces.size).reshape(-1, 4))
    some = rng.random(len(good.faces)) < 0.2
    fine = Panels(good.vertices, good.faces[some]).divided()
    mixed = join([Panels(good.vertices, good.faces[~some]), fine])
    for panels in (apart, mixed):
        assert not against_neighbours(panels).any()
        assert not holes(panels)


def test_nonlinear_hulls_are_looked_at_likewise():
    """Two panels missing on opposite sides have no net area."""
    full = hull_panels(sw.Box(8, 4, 2, 1, panel_size=1.0))
    middle = full.vertices[full.faces].mean(axis=1)
    sides = [np.argmin(np.abs(middle - [0.5, y, 0.3]).sum(axis=1)) for y in (-2.0, 2.0)]
    turned = full.faces.copy()
    turned[sides[0]] = turned[sides[0]][::-1]

    def compiled(faces):
        hull = sw.Mesh(full.vertices, faces)
        body = sw.Body("b", "displacement", (1e5,) * 3, hull=hull)
        return sw.compile(sw.System("s", [body], [sw.Free("f", sw.WORLD, body)]), nonlinear=True)

    compiled(full.faces)
    with pytest.raises(SwelltreeError, match=r"2 holes, the largest of .* m\^2 near"):
        compiled(np.delete(full.faces, sides, axis=0))
    with pytest.warns(SwelltreeWarning, match=r"normals of 1 of its .* opposite to those of their"):
        mended_hull = compiled(turned)
    assert mended_hull.bodies.mass == pytest.approx(compiled(full.faces).bodies.mass)


@pytest.mark.parametrize("what", ["inward", "single", "twice", "all"])
def test_hydrostatics_of_a_mesh_that_is_mended_are_those_of_the_hull(what):
    """Displacement and stiffness go with the panels that were turned or taken once."""
    pytest.importorskip("capytaine")
    full = hull_panels(sw.Box(8, 4, 2, 1, panel_size=1.0))
    rng, faces = np.random.default_rng(4), full.faces.copy()
    if what in ("inward", "all"):
        faces = faces[:, ::-1]
    if what in ("single", "all"):
        rows = rng.choice(len(faces), 5, replace=False)
        faces[rows] = faces[rows][:, ::-1]
    if what in ("twice", "all"):
        faces = np.vstack([faces, faces[:7]])

    def data(faces):
        body = sw.Body("b", "displacement", (1e5,) * 3, hull=sw.Mesh(full.vertices, faces))
        system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)])
        return sw.run_bem(system, [0.9], [0.0], lid=False, cache=False)

    good = data(full.faces)
    with pytest.warns(SwelltreeWarning, match="reversed|duplicates"):
        found = data(faces)
    for name in ("displaced_volume", "hydrostatic_stiffness", "added_mass", "inertia_matrix"):
        size = np.abs(good[name].values).max()
        assert found[name].values == pytest.approx(good[name].values, abs=1e-9 * size)


def test_an_open_hull_with_a_deep_keel_is_not_taken_for_inward():
    """A wide flat float over a thin deep column, without its waterplane.

    Seen from the middle of its vertices most of it looks inwards.
    """
    disc = hull_panels(sw.Cylinder(10.0, 0.1, 0.3, panel_size=2.0))
    column = hull_panels(sw.Cylinder(0.3, 59.0, 59.0, offset=(0, 0, -0.5), panel_size=1.0))
    both = join([disc, column]).immersed()
    assert not repaired(both)[1]
    inward = Panels(both.vertices, both.faces[:, ::-1])
    assert repaired(inward)[1] == ("the normals of its panels point inwards; they were reversed.",)


def test_panels_that_come_twice_are_taken_once():
    good = wet()
    twice = Panels(good.vertices, np.vstack([good.faces, np.roll(good.faces[[3, 7]], 1, axis=1)]))
    with pytest.warns(SwelltreeWarning, match="2 panels were duplicates"):
        found = checked_panels("b", twice, [])
    assert len(found.faces) == len(good.faces)


@pytest.mark.parametrize("what", ["bottom", "side", "half", "millimetres"])
def test_open_and_huge_meshes_are_refused(what):
    good = wet(yaw=0.0, place=(0.0, 0.0, 0.0))
    corner = good.vertices[good.faces]
    middle = corner.mean(axis=1)
    if what == "bottom":
        lost = (np.ptp(corner[:, :, 2], axis=1) < 1e-9) & (middle[:, 0] > 2.0)
        with pytest.raises(SwelltreeError, match="hull has a hole"):
            checked_panels("b", Panels(good.vertices, good.faces[~lost]), [])
    elif what == "side":
        lost = (np.ptp(corner[:, :, 1], axis=1) < 1e-9) & (middle[:, 1] > 0) & (middle[:, 0] > 1)
        with pytest.raises(SwelltreeError, match="hull has a hole"):
            checked_panels("b", Panels(good.vertices, good.faces[~lost]), [])
    elif what == "half":
        half = Panels(good.vertices, good.faces[middle[:, 1] > 0.0])
        with pytest.raises(SwelltreeError, match="one half of a symmetric mesh"):
            checked_panels("b", half, [])
    else:
        with pytest.raises(SwelltreeError, match=r"8000 m long.*scale=0.001"):
            checked_panels("b", Panels(1e3 * good.vertices, good.faces), [])


def test_bodies_that_overlap_or_coincide_are_refused_and_neighbours_are_not():
    one = wet(place=(0, 0, 0), yaw=0.0)
    adjacent = wet(place=(0.0, 4.0, 0.0), yaw=0.0)
    check_apart({"a": one, "b": adjacent})
    inside = wet(sw.Box(2, 1, 1, 0.5, panel_size=0.5), place=(1, 0, 0), yaw=0.3)
    for other in (one, wet(place=(6.0, 2.0, 0.0), yaw=0.4), inside):
        with pytest.raises(SwelltreeError, match="bodies 'a' and 'b' overlap"):
            check_apart({"a": one, "b": other})


def test_a_pile_is_cut_at_the_seabed():
    pile = wet(sw.Cylinder(2.0, 20.0, 30.0, panel_size=1.5))
    with pytest.warns(SwelltreeWarning, match="reaches z = -20 m and the water is 12 m deep"):
        cut = standing("pile", pile, 12.0, [])
    assert cut.vertices[:, 2].min() == pytest.approx(-12.0)
    side = 2 * np.pi * 2.0 * 12.0
    assert cut.areas.sum() == pytest.approx(side, rel=0.03)
    a, b, c = np.moveaxis(cut.triangles, 1, 0)
    n = np.cross(b - a, c - a)
    out = (a + b + c)[:, :2] / 3.0 - np.array([13.0, -4.0])
    assert ((n[:, :2] * out).sum(1) > 0).all()


def test_degrees_and_tonnes_are_told():
    pytest.importorskip("capytaine")
    body = sw.Body("b", 1e3, (1e3,) * 3, hull=sw.Sphere(1.0, panel_size=0.9))

    def system(rho):
        return sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], water=sw.Water(rho=rho))

    with pytest.warns(SwelltreeWarning, match="heading of 90 rad .* looks like degrees"):
        sw.run_bem(system(1025.0), [1.0, 1.2], [0.0, 90.0])
    with pytest.warns(SwelltreeWarning, match=r"density of 1\.025 .* looks like t/m\^3"):
        sw.run_bem(system(1.025), [1.0, 1.2])
    with pytest.warns(SwelltreeWarning, match="heading of 45 rad"):
        sw.realise(sw.RegularWave(amplitude=1.0, period=8.0, beta=45.0), sw.Water())


def test_degrees_and_tonnes_in_data_are_told_when_they_are_compiled():
    data = vessel()
    body = sw.Body("vessel", 2.6e5, (1e7, 1e8, 1e8))

    def compiled(data, rho=1000.0):
        water = sw.Water(rho=rho)
        system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], water=water)
        return sw.compile(system, data, radiation="none")

    degrees = data.assign_coords(wave_direction=np.degrees(data.wave_direction.values))
    with pytest.warns(SwelltreeWarning, match="heading of 345 rad .* looks like degrees"):
        compiled(degrees)
    with warnings.catch_warnings():  # headings of data that were turned
        warnings.simplefilter("error", SwelltreeWarning)
        compiled(turn(data, 2.0))
    light = data.assign(rho=1.0, displaced_volume=1e3 * data.displaced_volume)
    with pytest.warns(SwelltreeWarning, match=r"density of 1 .* looks like t/m\^3"):
        compiled(light, 1.0)


def test_errors_of_the_data_report_stop_a_compilation():
    """Phases of exp(+iwt) mirror every force: the report knows, and compile says so."""
    pytest.importorskip("capytaine")
    body = sw.Body("b", 2.1e3 * 1.025, (1e3,) * 3, hull=sw.Sphere(1.0, panel_size=0.7))
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)])
    data = sw.run_bem(system, np.linspace(0.3, 3.0, 6), [0.0, 1.0])
    sw.compile(system, data, radiation="none")
    with pytest.raises(SwelltreeError, match=r"hydro data: .* leads the crest"):
        sw.compile(system, data.assign(excitation_force=data.excitation_force.conj()))


def test_warnings_of_a_mesh_file_are_said_again_when_its_data_come_from_the_cache(
    tmp_path, monkeypatch
):
    pytest.importorskip("capytaine")
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path / "cache"))
    rows = ["solid s"]
    triangles = hull_panels(sw.Box(8, 4, 2, 1, panel_size=2.0)).triangles
    low = triangles[triangles[..., 2].max(axis=1) < -0.5]
    for triangle in [*triangles, low[0]]:
        corners = "".join("vertex {:.9e} {:.9e} {:.9e}\n".format(*x) for x in triangle)
        rows.append(f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet")
    (tmp_path / "twice.stl").write_text("\n".join([*rows, "endsolid s\n"]))
    body = sw.Body("b", "displacement", (1e5,) * 3, hull=sw.MeshFile(str(tmp_path / "twice.stl")))
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)])
    said = []
    for _ in range(2):
        with pytest.warns(SwelltreeWarning, match="1 panels were duplicates") as heard:
            sw.run_bem(system, [0.9], [0.0], lid=False)
        said.append([str(one.message) for one in heard if one.category is SwelltreeWarning])
    assert list((tmp_path / "cache" / "bem").iterdir())
    assert said[0] == said[1]
