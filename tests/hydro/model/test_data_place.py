"""Hydrodynamic data where the bodies are: moved and turned exactly, or refused."""

import warnings

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from made_hydro import vessel
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.data.frames import shift, turn
from swelltree.hydro.linear.data_place import placed
from swelltree.hydro.linear.excitation import excitation_at
from swelltree.model.checks import mass_against_displacement

OMEGA = np.array([0.5, 0.9])
HEADINGS = np.radians(np.arange(0.0, 360.0, 30.0))


def barge(name="barge", **changes):
    options = {"hull": sw.Box(8.0, 4.0, 2.0, 1.0, panel_size=2.0), "com": (0.3, 0.0, -0.2)}
    return sw.Body(name, 8e3 * 4.1, (6e4, 2e5, 2e5), **(options | changes))


def system(*bodies):
    return sw.System("s", list(bodies), [sw.Free(f"f_{b.name}", sw.WORLD, b) for b in bodies])


def bem(*bodies, beta=HEADINGS):
    pytest.importorskip("capytaine")
    return sw.run_bem(system(*bodies), OMEGA, list(beta), lid=False)


def loads(model):
    """Coefficients in world axes about the reference points, and the forces of a few waves."""
    table = model.hydro.table
    beta = np.radians([10.0, 100.0])
    return (
        table.added_mass,
        model.hydro.stiffness,
        excitation_at(table, OMEGA, beta, OMEGA**2 / 9.81),
    )


def close(found, exact):
    for a, b in zip(found, exact, strict=True):
        assert a == pytest.approx(b, abs=2e-5 * np.abs(b).max())


def test_a_body_moved_and_turned_over_the_sea_has_the_data_computed_there():
    """100 m away and turned by two steps of the headings: only phases and axes change."""
    there = {"position": (100.0, -37.0, 0.0), "rotation_deg": (0.0, 0.0, 60.0)}
    built, moved = bem(barge()), system(barge(**there))
    found = sw.compile(moved, built, radiation="none")
    # the exact data: panels moved and turned
    exact = sw.compile(moved, bem(barge(**there)), radiation="none")
    close(loads(found), loads(exact))
    assert any("turned by 60 degrees and moved by (100, -37) m" in line for line in found.report)
    assert exact.hydro.buoyancy == pytest.approx(found.hydro.buoyancy, rel=1e-9)


def test_two_bodies_moved_together_keep_their_coupling():
    two = [barge("a"), barge("b", position=(14.0, 2.0, 0.0), rotation_deg=(0, 0, 20.0))]
    built = bem(*two, beta=[0.0, 0.5])
    angle = np.radians(35.0)
    c, s = np.cos(angle), np.sin(angle)
    far = [
        barge("a", position=(5.0, 9.0, 0.0), rotation_deg=(0, 0, 35.0)),
        barge(
            "b",
            position=(5.0 + 14.0 * c - 2.0 * s, 9.0 + 14.0 * s + 2.0 * c, 0.0),
            rotation_deg=(0, 0, 55.0),
        ),
    ]
    found, _ = placed(system(*far).resolved, built)
    exact = shift(turn(built, angle), 5.0, 9.0)
    xr.testing.assert_allclose(found, exact)
    far[1] = far[1].replace(position=(20.0, 20.0, 0.0))
    with pytest.raises(
        SwelltreeError, match=r"bodies 'a' and 'b' are described .* m and .*run_bem"
    ):
        sw.compile(system(*far), built)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"position": (0.0, 0.0, -0.4)}, r"described at z = -0.4 m, .* with it at z = 0 m"),
        ({"rotation_deg": (0.0, 3.0, 0.0)}, r"trimmed by 3 degrees, .* by 0 degrees"),
        ({"rotation_deg": (2.0, 0.0, 70.0)}, r"trimmed by 2 degrees, .* by 0 degrees"),
        (
            {"hull": sw.Box(8.0, 4.0, 2.0, 1.3, panel_size=2.0)},
            r"hull displaces 41\.6 m\^3, its hydro data 32 m\^3",
        ),
    ],
)
def test_another_draft_or_trim_is_refused_with_both_numbers(changes, words):
    built = bem(barge(), beta=[0.0])
    with pytest.raises(SwelltreeError, match=words):
        sw.compile(system(barge(**changes)), built)


def test_trim_of_the_data_is_stated_too():
    built = bem(barge(rotation_deg=(0.0, 2.0, 0.0)), beta=[0.0])
    words = r"trimmed by 3 degrees, .* made with it trimmed by 2 degrees, 5 degrees apart"
    with pytest.raises(SwelltreeError, match=words):
        sw.compile(system(barge(rotation_deg=(0.0, -3.0, 0.0))), built)


def test_data_of_a_file_follow_a_body_far_away():
    """Made data about the origin, the body 100 m off: as if the data had been shifted."""
    data = vessel()
    mass = data.displaced_volume.item() * float(data.rho)
    body = sw.Body("vessel", mass, (1e7, 1e8, 1e8), position=(100.0, 3.0, 0.0))
    water = sw.Water(rho=float(data.rho))
    there = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], water=water)
    found = sw.compile(there, data, radiation="none")
    exact = sw.compile(there, shift(data, 100.0, 3.0), radiation="none")
    close(loads(found), loads(exact))


def test_a_body_of_a_file_at_another_draft_is_refused_with_both_numbers():
    """A barge of 4 m draft, 4 m too deep: less than half the edge of the cube it displaces."""
    data = vessel()
    volume = 80.0 * 24.0 * 4.0
    data["displaced_volume"][:] = volume
    data["center_of_buoyancy"].values[:] = (0.0, 0.0, -2.0)
    for name in ("center_of_mass", "rotation_center"):
        data[name].values[:] = (0.0, 0.0, 1.0)
    water = sw.Water(rho=float(data.rho))
    inertia = (1e9, 1e10, 1e10)

    def compiled(**changes):
        body = sw.Body("vessel", volume * float(data.rho), inertia, **changes)
        free = sw.Free("f", sw.WORLD, body)
        return sw.compile(sw.System("s", [body], [free], water=water), data, radiation="none")

    with pytest.raises(SwelltreeError, match=r"mass is at z = -3 m, in the hydro data at z = 1 m"):
        compiled(position=(0.0, 0.0, -4.0), com=(0.0, 0.0, 1.0))
    # where the origin of its axes is does not matter; a centre of mass nearby is reported
    compiled(position=(0.0, 0.0, -4.0), com=(0.0, 0.0, 5.0))
    with pytest.warns(SwelltreeWarning, match=r"at z = 2\.2 m, .* its draft may not be that"):
        compiled(com=(0.0, 0.0, 2.2))
    # another load at the same draft, stated by the reference point
    high = {"position": (0.0, 0.0, -4.0), "com": (0.0, 0.0, 9.0)}
    with pytest.warns(SwelltreeWarning, match="this is another load"):
        compiled(**high, reference_point=(0.0, 0.0, 5.0))
    with pytest.raises(SwelltreeError, match=r"at z = 5 m, .* give its hull, or as"):
        compiled(**high, reference_point=(0.0, 0.0, 1.0))


def bare(data):
    """As a file would give them: without the pose of their bodies."""
    return data.drop_vars(["body_position", "body_axes"])


def turned_vessel(data, **changes):
    mass = data.displaced_volume.item() * float(data.rho)
    body = sw.Body("vessel", mass, (1e7, 1e8, 1e8), **changes)
    water = sw.Water(rho=float(data.rho))
    return sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], water=water)


def test_a_body_turned_against_data_that_do_not_tell_their_axes_is_warned_of():
    data = vessel()
    with warnings.catch_warnings():
        warnings.simplefilter("error", SwelltreeWarning)
        sw.compile(turned_vessel(data), data, radiation="none")
    words = r"'vessel' is described tilted by 17 degrees and turned by 0 degrees .* at 0 degrees"
    with pytest.warns(SwelltreeWarning, match=words):
        sw.compile(turned_vessel(data, rotation_deg=(0.0, 17.0, 0.0)), data, radiation="none")
    rng = np.random.default_rng(5)
    roll, pitch, yaw = rng.uniform(-40.0, 40.0, 3)
    tilt = np.degrees(np.arccos(np.cos(np.radians(roll)) * np.cos(np.radians(pitch))))
    words = f"tilted by {tilt:.3g} degrees and turned by {yaw:.3g} degrees"
    with pytest.warns(SwelltreeWarning, match=words):
        sw.compile(turned_vessel(data, rotation_deg=(roll, pitch, yaw)), data, radiation="none")


def test_axes_of_a_file_told_by_the_user_turn_its_data_or_refuse_them(tmp_path):
    """Yaw is exact, trim is refused with both numbers, and what agrees is taken in silence."""
    data = vessel()
    path = sw.write_hydro(data, tmp_path / "vessel.nc")
    level = sw.read_hydro(path, rotation_deg={"vessel": (0.0, 0.0, 0.0)})
    yawed = turned_vessel(data, rotation_deg=(0.0, 0.0, 30.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", SwelltreeWarning)
        found = sw.compile(yawed, level, radiation="none")
        tilted = sw.read_hydro(path, rotation_deg={"vessel": (0.0, 17.0, 0.0)})
        sw.compile(turned_vessel(data, rotation_deg=(0.0, 17.0, 0.0)), tilted, radiation="none")
    turned = turn(sw.read_hydro(path, rotation_deg={"vessel": (0, 0, 0)}), np.radians(30.0))
    close(loads(found), loads(sw.compile(yawed, turned, radiation="none")))
    with pytest.raises(SwelltreeError, match=r"trimmed by 17 degrees, .* trimmed by 0 degrees"):
        sw.compile(turned_vessel(data, rotation_deg=(0.0, 17.0, 0.0)), level)
    with pytest.raises(SwelltreeError, match=r"rotation_deg of body 'vessel' has 2 numbers"):
        sw.read_hydro(path, rotation_deg={"vessel": (0.0, 17.0)})


def test_data_of_a_bem_run_keep_their_pose_in_a_file(tmp_path):
    there = {"position": (3.0, -2.0, 0.0), "rotation_deg": (0.0, 0.0, 20.0)}
    built = bem(barge(**there), beta=[0.0, 0.5])
    again = sw.read_hydro(sw.write_hydro(built, tmp_path / "barge.nc"))
    for name in ("body_position", "body_axes"):
        xr.testing.assert_allclose(again[name], built[name].drop_vars("axis", errors="ignore"))
    with pytest.raises(SwelltreeError, match=r"trimmed by 3 degrees, .* by 0 degrees"):
        sw.compile(system(barge(rotation_deg=(0.0, 3.0, 0.0))), again)
    unknown = built.copy(deep=True)
    unknown["body_axes"].values[:] = np.nan
    back = sw.read_hydro(sw.write_hydro(unknown, tmp_path / "unknown.nc"))
    assert np.isnan(back["body_axes"].values).all()
    built["body_axes"].values[0, 1, 1] = 2.0
    path = sw.write_hydro(built, tmp_path / "broken.nc")
    with pytest.raises(SwelltreeError, match=r"body_axes does not give three axes"):
        sw.read_hydro(path)


def test_a_hull_pitched_against_the_data_of_a_file_has_its_buoyancy_elsewhere():
    """Nearly the same volume, its centre 1.4 m ahead."""
    built = bare(bem(barge(), beta=[0.0]))
    deep = sw.Box(8.0, 4.0, 4.0, 1.0, panel_size=2.0)  # its deck stays dry
    words = r"buoyancy of its hull is at \(1.*\) m, that of its hydro data at \(.*-0\.5\) m"
    with (
        pytest.warns(SwelltreeWarning, match="tilted by 17 degrees"),
        pytest.raises(SwelltreeError, match=words),
    ):
        sw.compile(system(barge(hull=deep, rotation_deg=(0.0, 17.0, 0.0))), built)


def lifted_sphere(lift, free, hull=True, mass=None):
    """The sphere of the gallery at another height, on a heave slider or free."""
    device = sw.gallery.sphere()
    (ball,) = device.system.bodies
    there = ball.replace(
        position=(0.0, 0.0, ball.position[2] + lift),
        hull=ball.hull if hull else None,
        mass=mass or ball.mass,
    )
    joint = (
        sw.Free("free", sw.WORLD, there)
        if free
        else sw.Slider("heave", sw.WORLD.at(*there.position), there, axis="z")
    )
    return sw.System("moved", (there,), (joint,), water=device.system.water), device.hydro


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("lift", [-2.5, -1.5, -0.25, 0.25, 1.5, 2.0])
def test_a_sphere_above_or_below_its_data_is_never_taken_silently(lift, free):
    """Data of a file, draft 3.75 m: one rule above and below, whatever joint holds the body."""
    heights = rf"at z = {-2.0 + lift:g} m, in the hydro data at z = -2 m"
    with pytest.warns(SwelltreeWarning, match=heights + r"\. The draft of the data is used"):
        sw.compile(*lifted_sphere(lift, free), radiation="none")
    bare = lifted_sphere(lift, free, hull=False)
    if abs(lift) > 0.5 * 3.75:
        with pytest.raises(sw.SwelltreeError, match=heights + ": its draft is not that of"):
            sw.compile(*bare, radiation="none")
    else:
        with pytest.warns(SwelltreeWarning, match=heights + ": its draft may not be that of"):
            sw.compile(*bare, radiation="none")


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("factor", "word"), [(0.8, "too light"), (1.25, "too heavy")])
def test_a_mass_that_is_not_that_of_the_displaced_water_is_reported(factor, word, free):
    system, data = lifted_sphere(0.0, free, hull=False, mass=261_800.0 * factor)
    report = sw.compile(system, data, radiation="none").report
    assert [x for x in report if f"has a mass of {261_800 * factor:.5g} kg" in x and word in x]


def test_a_mass_that_something_else_carries_is_reported_as_a_note():
    """A line may carry the difference, so that the model is not doubted."""
    system, data = lifted_sphere(0.0, False, hull=False, mass=300_000.0)
    (ball,) = system.bodies
    rope = sw.LineType("rope", diameter=0.1, mass_per_length=1.0, EA=1e6)
    line = sw.Line("hanger", (0.0, 0.0, 30.0), ball.at(0.0, 0.0, 0.0), 30.0, rope, "quasi_static")
    model = sw.compile(system.replace(lines=(line,)), data, radiation="none")
    (found,) = mass_against_displacement(model)
    assert found.severity == "note"
    assert "N to line 'hanger'" in found.sentence
