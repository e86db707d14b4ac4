"""BEM runs: closed forms, invariants, the cache and what is told when something fails."""

import json
import sys
import warnings

import numpy as np
import pytest

import swelltree.describe as sw
from swelltree.hydro.bem import run as bem_run
from swelltree.hydro.bem import solve as bem_solve
from swelltree.hydro.bem.meshes import common_symmetry, folded, to_capytaine, wetted_panels
from swelltree.hydro.bem.run import run_bem

pytest.importorskip("capytaine")

# Hulme (1982): floating hemisphere in heave, deep water. Ka, A33 and B33 / omega over the
# displaced mass
HULME = {0.2: (0.7938, 0.2793), 0.5: (0.5861, 0.3391), 1.0: (0.4284, 0.2484), 2.0: (0.3884, 0.1031)}


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def system(*bodies, **water):
    joints = [sw.Free(f"f{i}", sw.WORLD, body) for i, body in enumerate(bodies)]
    return sw.System("s", bodies, joints, water=sw.Water(**{"rho": 1000.0, **water}))


def heave(data, name, body="b"):
    label = f"{body}__Heave"
    chosen = {"influenced_dof": label}
    if "radiating_dof" in data[name].dims:
        chosen["radiating_dof"] = label
    return data[name].sel(chosen).values


@pytest.fixture(scope="module")
def hemisphere():
    omega = np.sqrt(9.81 * np.array(list(HULME)))
    body = sw.Body("b", hull=sw.Hemisphere(1.0, panel_size=0.28))
    return run_bem(system(body), omega, refine="extrapolate")


def test_hemisphere_in_heave_is_that_of_hulme(hemisphere):
    # extrapolated from 120 panels: 1 % of the largest value
    mass = 1000.0 * 2.0 / 3.0 * np.pi
    omega = hemisphere["omega"].values
    A = heave(hemisphere, "added_mass") / mass
    B = heave(hemisphere, "radiation_damping")[1:-1] / mass / omega[1:-1]
    expected = np.array(list(HULME.values()))
    assert omega[0] == 0.0
    assert np.isinf(omega[-1])
    assert np.allclose(A[1:-1], expected[:, 0], atol=0.006)
    assert np.allclose(B, expected[:, 1], atol=0.004)
    assert np.allclose(A[[0, -1]], (0.8310, 0.5), atol=0.006)


def test_unextrapolated_error_is_within_its_estimate(hemisphere):
    body = sw.Body("b", hull=sw.Hemisphere(1.0, panel_size=0.28))
    plain = run_bem(system(body), hemisphere["omega"].values[1:-1], refine=True)
    mass = 1000.0 * 2.0 / 3.0 * np.pi
    true = np.array([0.8310, *(a for a, _ in HULME.values()), 0.5])
    off = np.abs(heave(plain, "added_mass") / mass - true)
    assert (off < 2.0 * heave(plain, "added_mass_error") / mass + 0.003).all()
    assert not json.loads(plain.attrs["refinement"])["extrapolated"]


def test_estimated_error_falls_with_the_panels(hemisphere):
    body = sw.Body("b", hull=sw.Hemisphere(1.0, panel_size=0.4))
    coarse = run_bem(system(body), hemisphere["omega"].values[1:-1], refine=True)
    near, far = (json.loads(d.attrs["refinement"]) for d in (hemisphere, coarse))
    assert near["panels"][0] > 1.5 * far["panels"][0]
    for name in ("added_mass", "radiation_damping"):
        assert near[name]["relative"] < 0.8 * far[name]["relative"]


def test_damping_is_that_of_the_waves_made(hemisphere):
    # Haskind for an axisymmetric body in deep water: B = k |X|^2 / (4 rho g c_g)
    omega = hemisphere["omega"].values[1:-1]
    k, group = omega**2 / 9.81, 9.81 / (2.0 * omega)
    X = heave(hemisphere, "excitation_force")[1:-1, 0]
    expected = k * np.abs(X) ** 2 / (4.0 * 1000.0 * 9.81 * group)
    assert np.allclose(heave(hemisphere, "radiation_damping")[1:-1], expected, rtol=0.02)


def test_long_waves_lift_like_the_water_level(hemisphere):
    K = heave(hemisphere, "hydrostatic_stiffness")
    assert np.isclose(K, 1000.0 * 9.81 * np.pi)
    X = heave(hemisphere, "excitation_force")[:, 0]
    assert np.isclose(X[0], K)
    assert X[-1] == 0.0
    body = sw.Body("b", hull=sw.Hemisphere(1.0, panel_size=0.4))
    slow = run_bem(system(body), [0.2])
    assert np.isclose(heave(slow, "excitation_force")[1, 0].real, K, rtol=0.03)


def test_excitation_is_undisturbed_wave_plus_diffraction(hemisphere):
    both = hemisphere["Froude_Krylov_force"] + hemisphere["diffraction_force"]
    assert np.allclose(both, hemisphere["excitation_force"])


def test_cached_result_is_identical_and_solves_nothing(monkeypatch):
    one = system(sw.Body("b", hull=sw.Sphere(1.0, panel_size=0.5)))
    first = run_bem(one, [1.0, 2.0])

    def solve(*_):
        raise AssertionError("solved again")

    monkeypatch.setattr(bem_run, "import_capytaine", solve)
    assert run_bem(one, [1.0, 2.0]).identical(first)
    # another mass is no other flow
    heavy = system(sw.Body("b", 5000.0, (1, 1, 1), hull=sw.Sphere(1.0, panel_size=0.5)))
    other = run_bem(heavy, [1.0, 2.0])
    assert other.attrs["hash"] == first.attrs["hash"]
    assert other["inertia_matrix"].values[0, 0] == 5000.0


def test_freedoms_are_about_the_reference_point():
    body = sw.Body("b", hull=sw.Box(2.0, 1.0, 1.0, 0.5, panel_size=0.3))
    point = (0.3, 0.2, -0.7)
    here, there = (
        run_bem(system(body.replace(reference_point=p)), [3.0], 0.4) for p in ((0, 0, 0), point)
    )
    assert here.attrs["hash"] == there.attrs["hash"]
    assert np.allclose(there["rotation_center"].values[0], point)
    # moment about another point, and the motion it does work on
    X, Y = (d["excitation_force"].values[1, 0] for d in (here, there))
    assert np.allclose(Y[:3], X[:3])
    assert np.allclose(Y[3:], X[3:] - np.cross(point, X[:3]))
    omega, v = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, 3.0])
    motion = np.concatenate([v, omega])
    other = np.concatenate([v - np.cross(omega, point), omega])
    A, B = (d["added_mass"].values[1] for d in (here, there))
    assert np.isclose(motion @ B @ motion, other @ A @ other)


def test_damaged_cache_is_computed_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    one = system(sw.Body("b", hull=sw.Sphere(1.0, panel_size=0.7)))
    first = run_bem(one, [1.0])
    (file,) = (tmp_path / "bem").glob("*.npz")
    file.write_bytes(file.read_bytes()[:200])
    assert np.allclose(run_bem(one, [1.0])["added_mass"], first["added_mass"])
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", "off")
    assert np.allclose(run_bem(one, [1.0])["added_mass"], first["added_mass"])


def test_lid_takes_away_the_irregular_frequency():
    # inside a cylinder of radius and draft 1 m the water sloshes at g k coth k, k = 2.405
    body = sw.Body("b", hull=sw.Cylinder(1.0, 1.0, 1.5, panel_size=0.35))
    omega = np.linspace(4.6, 5.2, 4)
    lid = run_bem(system(body), omega, lid=True)
    bare = run_bem(system(body), omega, lid=False)
    bend = [np.abs(np.diff(heave(d, "added_mass")[1:-1], 2)).max() for d in (lid, bare)]
    assert bend[0] < 0.2 * bend[1]
    assert "irregular" in bare.attrs["notes"]
    # away from it the lid changes little
    low = [heave(run_bem(system(body), [2.0], lid=x), "added_mass")[1] for x in (True, False)]
    assert abs(low[0] / low[1] - 1.0) < 0.01


@pytest.fixture(scope="module")
def two_boxes():
    a = sw.Body("a", hull=sw.Box(1.1, 0.67, 0.57, 0.37, panel_size=0.19))
    b = sw.Body("b", hull=sw.Box(2.5, 0.64, 0.12, 0.08, panel_size=0.3), position=(2.26, 0, 0))
    return run_bem(system(a, b), [3.0, 5.0], [0.0, np.pi / 2])


def test_two_bodies_act_on_each_other_alike(two_boxes):
    # moments are made comparable with forces by a length of half a metre
    units = np.tile([1.0, 1.0, 1.0, 0.5, 0.5, 0.5], 2)
    for name in ("added_mass", "radiation_damping"):
        values = two_boxes[name].values / np.outer(units, units)
        skew = np.abs(values - values.transpose(0, 2, 1)).max(axis=(1, 2))
        assert (skew <= 0.03 * np.abs(values).max(axis=(1, 2))).all()
    cross = two_boxes["added_mass"].sel(influenced_dof="a__Heave", radiating_dof="b__Heave")
    assert np.abs(cross.values).max() > 1.0


def test_damping_takes_energy(two_boxes):
    for B in two_boxes["radiation_damping"].values[1:3]:
        eigenvalues = np.linalg.eigvalsh(0.5 * (B + B.T))
        assert eigenvalues[0] > -0.005 * eigenvalues[-1]


def test_waves_from_the_side_do_not_push_forwards(two_boxes):
    # the undisturbed wave; the other body does send waves along x
    side = two_boxes["Froude_Krylov_force"].isel(wave_direction=1)
    surge = side.sel(influenced_dof="a__Surge").values[1:3]
    sway = side.sel(influenced_dof="a__Sway").values[1:3]
    assert (np.abs(surge) < 1e-9 * np.abs(sway)).all()


def test_moved_body_feels_the_wave_later_and_no_other_way():
    still = sw.Body("b", hull=sw.Box(1.1, 0.67, 0.57, 0.37, panel_size=0.25))
    moved = still.moved(position=(3.0, 1.0, 0.0), rotation_deg=(0, 0, 40))
    beta, omega = 0.3, 4.0
    here = run_bem(system(still), [omega], beta)
    there = run_bem(system(moved), [omega], beta + np.radians(40))
    k, heading = omega**2 / 9.81, beta + np.radians(40)
    shift = np.exp(1j * k * (3.0 * np.cos(heading) + np.sin(heading)))
    X, Y = (heave(d, "excitation_force")[1, 0] for d in (here, there))
    assert np.isclose(Y, X * shift, rtol=2e-3)
    assert np.allclose(heave(here, "added_mass"), heave(there, "added_mass"), rtol=2e-3)


def test_thin_plate_makes_waves_and_takes_no_energy():
    plate = sw.Body("b", 0.0, hull=sw.Plate(2.2, 1.34, 0.03, 1.47, panel_size=0.28))
    data = run_bem(system(plate), [2.61, 5.0])
    assert (heave(data, "radiation_damping")[1:3] > 0.0).all()
    assert data.attrs["notes"].startswith("Green function liang_wu_noblesse (thin body).")


def test_finite_depth_has_no_limit_at_zero_and_a_floor():
    body = sw.Body("b", hull=sw.Sphere(1.0, panel_size=0.6))
    data = run_bem(system(body, depth=10.0), [1.5])
    assert data["omega"].values.tolist() == [1.5, np.inf]
    with pytest.warns(sw.SwelltreeWarning, match=r"the water is 0.9 m deep, so it stands on the"):
        run_bem(system(body, depth=0.9), [1.5])
    with pytest.raises(sw.SwelltreeError, match="needs infinite depth"):
        run_bem(system(body, depth=9.0), [1.5], green="liang_wu_noblesse")


def test_failing_frequency_is_retried_or_named(monkeypatch):
    one = system(sw.Body("b", hull=sw.Sphere(1.0, panel_size=0.8)))
    usual = bem_solve._one
    seen = []

    def failing(solver, body, w, *rest):
        seen.append(w)
        found = usual(solver, body, w, *rest)
        if w == 2.0 or (w == 1.0 and seen.count(1.0) == 1):
            raise ValueError("the force is not a finite number")
        return found

    monkeypatch.setattr(bem_solve, "_one", failing)
    data = run_bem(one, [1.0, 2.0, 3.0], cache=False)
    assert data["omega"].values.tolist() == [0.0, 1.0, 3.0, np.inf]
    notes = data.attrs["notes"]
    assert "omega = 1 rad/s was solved with the Green function liang_wu_noblesse" in notes
    assert "omega = 2 rad/s was left out" in notes
    assert all(np.isfinite(data[name]).all() for name in ("added_mass", "excitation_force"))


def test_frequencies_too_high_for_the_panels_are_told():
    one = system(sw.Body("b", hull=sw.Sphere(1.0, panel_size=0.8)))
    assert "panels are large" in run_bem(one, [9.0]).attrs["notes"]


def test_progress_is_counted():
    seen = []
    one = system(sw.Body("b", hull=sw.Sphere(1.0, panel_size=0.8)))
    run_bem(one, [1.0], cache=False, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_mistakes_are_told(monkeypatch):
    ball = sw.Body("b", hull=sw.Sphere(1.0, panel_size=0.8))
    for make, message in (
        (lambda: run_bem(system(sw.Body("dry", 1.0)), [1.0]), "no body of system 's' has a hull"),
        (lambda: run_bem(system(ball), [-1.0]), "omega has no or negative frequencies"),
        (lambda: run_bem(system(ball), [1.0], green="delhomeau"), "Did you mean 'delhommeau'"),
        (lambda: run_bem(system(ball), [1.0], refine="yes"), "refine 'yes' is not a choice"),
        (lambda: run_bem(system(ball, g=0.0), [1.0]), "g is zero"),
        (
            lambda: run_bem(system(sw.Body("b", 1, hull=sw.Sphere(1, offset=(0, 0, 2)))), [1]),
            "body 'b': its hull lies above the water",
        ),
    ):
        with pytest.raises(sw.SwelltreeError, match=message):
            make()
    monkeypatch.setitem(sys.modules, "capytaine", None)
    with pytest.raises(sw.SwelltreeError, match=r"Run `pip install swelltree\[bem\]`"):
        run_bem(system(ball), [1.2345])


@pytest.mark.slow
def test_ceto_sphere_under_water():
    # 004 section 6.1: sphere R 3.5 m, centre 7 m deep in 20 m
    body = sw.Body("b", hull=sw.Sphere(3.5, offset=(0, 0, -7), panel_size=1.0))
    data = run_bem(system(body, rho=1025.0, depth=20.0), [1.0], refine="extrapolate")
    A = heave(data, "added_mass")
    assert np.isclose(A[0], 1.034e5, rtol=0.01)
    assert np.isclose(A[-1], 8.887e4, rtol=0.01)
    mass = 1025.0 * 4.0 / 3.0 * np.pi * 3.5**3
    B, X = heave(data, "radiation_damping")[0], heave(data, "excitation_force")[0, 0]
    motion = X / (302478.6 - (mass + A[0]) - 1j * (B + 5e4))
    assert np.isclose(np.abs(motion), 2.18, rtol=0.01)


def test_command_writes_the_data_of_a_case(tmp_path):
    from typer.testing import CliRunner

    from swelltree.cli import app
    from swelltree.hydro.readers.read import read_hydro

    text = """
        [system]
        name = "s"
        bodies = [ { name = "b", hull = { shape = "sphere", radius = 1, panel_size = 0.8 } } ]
        joints = [ { name = "f", type = "free", base = "world", follower = "b" } ]
        """
    (tmp_path / "dry.toml").write_text(text)
    (tmp_path / "wet.toml").write_text(text + "[hydro]\nsource = 'capytaine'\nomega = [1.0, 2.0]\n")
    runner = CliRunner()
    out = tmp_path / "hydro.nc"
    result = runner.invoke(app, ["bem", str(tmp_path / "wet.toml"), "--out", str(out)])
    assert result.exit_code == 0, result.output
    found = read_hydro(out, check=False)
    true = run_bem(sw.load(tmp_path / "wet.toml").system, [1.0, 2.0])
    for name in ("added_mass", "excitation_force", "hydrostatic_stiffness", "rotation_center"):
        assert np.allclose(found[name], true[name]), name
    result = runner.invoke(app, ["bem", str(tmp_path / "dry.toml")])
    assert result.exit_code == 2
    assert "asks for no BEM run" in result.output


def test_a_sphere_that_turns_about_its_centre_is_no_error():
    """Its rotations radiate nothing: the rounding of panels is no damping, of either sign."""
    body = sw.Body("ball", 2.6e5, (1e6, 1e6, 1e6), hull=sw.Sphere(5.0, panel_size=1.3))
    data = run_bem(system(body), [1.4, 2.0], refine="extrapolate", cache=False)
    roll = data.radiation_damping.values[:, 3, 3]
    assert np.abs(roll).max() < 1e-4 * data.radiation_damping.values[:, 2, 2].max() * 6.4**2


@pytest.mark.parametrize("lid", [False, True])
def test_symmetric_hulls_are_solved_by_parts_with_the_same_result(lid, monkeypatch):
    """Two boxes on one line: a half each; their data are those without symmetry."""
    boxes = [
        sw.Body(name, "displacement", (1.0, 1.0, 1.0), position=(x, 0, 0), hull=hull)
        for name, x, hull in (
            ("a", 0.0, sw.Box(2.0, 2.0, 1.0, 0.5, panel_size=0.5)),
            ("b", 4.0, sw.Box(1.0, 2.0, 1.0, 0.7, panel_size=0.5)),
        )
    ]
    system = sw.System("two", boxes, [sw.Free(f"f{b.name}", sw.WORLD, b) for b in boxes])
    seen = []

    def plane(meshes):
        seen.append(common_symmetry(meshes))
        return seen[-1]

    found = []
    for choice in (plane, lambda meshes: None):
        monkeypatch.setattr(bem_solve, "common_symmetry", choice)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(run_bem(system, [2.0], [0.4], lid=lid, cache=False))
    assert set(seen) == {"xOz"}
    for name in ("added_mass", "radiation_damping", "excitation_force", "far_field_residual"):
        one, other = (x[name].values for x in found)
        assert one == pytest.approx(other, abs=1e-9 * np.abs(other).max())


def test_hulls_without_common_symmetry_are_solved_whole():
    """Odd panels across, a body off the line, one turned: no plane mirrors all of them."""

    def mesh(panel_size=0.5, **place):
        hull = sw.Box(2.0, 1.0, 1.0, 0.5, panel_size=panel_size)
        return to_capytaine(wetted_panels(sw.Body("b", 1.0, (1, 1, 1), hull=hull, **place)), "b")

    full = mesh()
    assert common_symmetry([full]) == "xOz"
    assert folded(full, "xOz").faces_areas.sum() == pytest.approx(5.0)
    assert common_symmetry([full, mesh(position=(3.0, 0.0, 0.0))]) == "xOz"
    assert common_symmetry([full, mesh(position=(3.0, 0.1, 0.0))]) is None
    assert common_symmetry([mesh(rotation_deg=(0.0, 0.0, 20.0))]) is None
    assert common_symmetry([mesh(0.34)]) == "yOz"


@pytest.mark.parametrize("lid", [False, True])
def test_bodies_of_revolution_are_solved_by_sectors_with_the_same_result(lid, monkeypatch):
    """A ring around a column with a plate, 16 panels around both: 16 small problems."""
    ring = sw.Axisymmetric(((1.4, -1.0), (2.0, -0.8), (2.0, 1.0)), bore=1.2, panel_size=0.8)
    rows = ((2.0, -4.0), (2.0, -3.5), (0.8, -3.5), (0.8, 1.0))
    column = sw.Axisymmetric(rows, panel_size=0.8)
    bodies = [
        sw.Body(name, "displacement", (1.0, 1.0, 1.0), hull=hull)
        for name, hull in (("ring", ring), ("column", column))
    ]
    system = sw.System("two", bodies, [sw.Free(f"f{b.name}", sw.WORLD, b) for b in bodies])
    parts = []

    def seen(mesh, symmetry):
        parts.append(symmetry)
        return folded(mesh, symmetry)

    found = []
    for fold in (seen, lambda mesh, symmetry: mesh):
        monkeypatch.setattr(bem_solve, "folded", fold)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(run_bem(system, [2.0], [0.4], lid=lid, cache=False))
    assert set(parts) == {16}
    for name in ("added_mass", "radiation_damping", "excitation_force", "far_field_residual"):
        one, other = (x[name].values for x in found)
        assert one == pytest.approx(other, abs=1e-8 * np.abs(other).max())


def test_columns_on_a_ring_keep_their_lids():
    """Six columns, which six rotations map to each other: rings around the origin miss them."""
    turn = np.pi / 3.0 * np.arange(6)
    columns = [
        sw.Cylinder(2.0, 3.0, 4.0, offset=(8.0 * c, 8.0 * s, 0.0), panel_size=0.5)
        for c, s in zip(np.cos(turn), np.sin(turn), strict=True)
    ]
    body = sw.Body("six", 1.0, (1, 1, 1), hull=sw.Union(tuple(columns)))
    panels = wetted_panels(body)
    assert common_symmetry([to_capytaine(panels, "six")]) == 6
    lid = bem_solve.lid_inside(panels, to_capytaine(panels, "six"), -0.5, turns=6)
    assert lid is not None
    assert lid.faces_areas.sum() == pytest.approx(6 * np.pi * 2.0**2, rel=0.3)


def test_bodies_with_other_numbers_of_panels_around_share_sectors():
    def mesh(size, x=0.0):
        body = sw.Body("b", 1.0, (1, 1, 1), hull=sw.Cylinder(2.0, 1.0, 2.0, panel_size=size))
        return to_capytaine(wetted_panels(body.replace(position=(x, 0.0, 0.0))), "b")

    assert common_symmetry([mesh(0.8)]) == 16
    assert common_symmetry([mesh(0.8), mesh(0.5)]) == 8
    assert folded(mesh(0.8), 8).faces_areas.sum() == pytest.approx(mesh(0.8).faces_areas.sum())
    assert common_symmetry([mesh(0.8, 5.0)]) == "xOz"
    box = sw.Body("b", 1.0, (1, 1, 1), hull=sw.Box(2.0, 2.0, 1.0, 0.5, panel_size=0.4))
    assert common_symmetry([to_capytaine(wetted_panels(box), "b")]) == 4
