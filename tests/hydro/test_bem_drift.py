"""Mean drift from boundary elements: a cylinder on the seabed, momentum, long waves."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import jvp, yvp

import swelltree as sw
from swelltree.describe.values import DOFS

pytest.importorskip("capytaine")
DEPTH, RADIUS = 3.0, 1.0


def buoy(panel_size=0.3, position=(0.7, -0.4, 0.0), **hull):
    specified = {"radius": RADIUS, "height": 1.2, "draft": 1.0} | hull
    return sw.Body("buoy", position=position, hull=sw.Cylinder(panel_size=panel_size, **specified))


def system(body, depth=np.inf):
    water = sw.Water(depth=depth)
    return sw.System("one", [body], [sw.Free("free", sw.WORLD, body)], water=water)


def exact(omega, depth=DEPTH, rho=1025.0, g=9.81):
    """Force on a cylinder from the seabed up: what is scattered, by angles of phase."""
    k = omega**2 / g
    for _ in range(200):
        k = omega**2 / g / np.tanh(k * depth) * 0.5 + 0.5 * k
    n = np.arange(30)
    delta = np.arctan2(jvp(n, k * RADIUS), yvp(n, k * RADIUS))
    width = 4.0 / k * (np.sin(np.diff(delta)) ** 2).sum()
    share = 0.5 * (1.0 + 2.0 * k * depth / np.sinh(2.0 * k * depth))
    return 0.5 * rho * g * share * width


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
def test_cylinder_on_the_seabed_has_the_force_of_the_closed_form():
    """Errors of the source method fall with the panels: 8 and 5 % with 0.25 and 0.15 m."""
    beta = 0.4
    body = buoy(0.2, draft=DEPTH, height=2 * DEPTH)
    omega = [1.5, 2.5, 3.5]
    data = sw.run_bem(system(body, DEPTH), omega, beta, drift="fixed")
    for w in omega:
        force = data["mean_drift"].sel(omega=w).values[0]
        size = np.hypot(*force[:2])
        rho, g = float(data["rho"]), float(data["g"])
        assert size == pytest.approx(exact(w, rho=rho, g=g), rel=0.08)
        assert np.arctan2(force[1], force[0]) == pytest.approx(beta, abs=0.01)
        assert abs(force[5]) < 0.02 * size * RADIUS


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
def test_a_free_body_goes_with_long_waves_and_is_pushed_by_short_ones():
    data = sw.run_bem(system(buoy()), [0.6, 4.0], [0.0, np.pi / 2], drift="free")
    held = sw.run_bem(system(buoy()), [0.6, 4.0], [0.0, np.pi / 2], drift="fixed")
    long, short = (data["mean_drift"].sel(omega=w) for w in (0.6, 4.0))
    assert np.abs(long).max() < 0.01 * np.abs(short).max()
    # round: the same force along the waves from either side
    assert float(short[0, 0]) == pytest.approx(float(short[1, 1]), rel=0.02)
    assert float(short[0, 0]) > 0
    # short waves are thrown back by it as by one that is held
    there = held["mean_drift"].sel(omega=4.0)
    assert float(short[0, 0]) == pytest.approx(float(there[0, 0]), rel=0.1)
    assert "far field" in data.attrs["notes"]


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
def test_drift_acts_in_a_run():
    body = buoy(0.4)
    base = system(body)
    moored = base.replace(
        moorings=[
            sw.LinearMooring(
                "soft", body, stiffness={"Surge": 900.0, "Sway": 900.0}, damping={"Surge": 4e3}
            )
        ]
    )
    omega = np.linspace(0.4, 4.5, 12)
    data = sw.run_bem(moored, omega, [0.0], drift="free")
    model = sw.compile(moored, hydro=data, drift="mean")
    wave = sw.RegularWave(height=0.4, period=2 * np.pi / float(data["omega"][9]), ramp=10.0)
    run = sw.simulate(model, wave, duration=160.0, output_step=0.2)
    surge = run["position"].values[400:, 0, 0] - body.position[0]
    force = 0.2**2 * float(data["mean_drift"].isel(omega=9)[0, 0])
    assert surge.mean() == pytest.approx(force / 900.0, rel=0.15)


@pytest.mark.parametrize(
    ("drift", "bodies", "sentence"),
    [("near", 1, r"drift 'near' is not a choice"), ("free", 2, r"asked for 2 bodies")],
)
def test_bad_requests_are_told_in_a_sentence(drift, bodies, sentence):
    several = [buoy().replace(name=f"b{k}", position=(9.0 * k, 0, 0)) for k in range(bodies)]
    joints = [sw.Free(f"f{k}", sw.WORLD, body) for k, body in enumerate(several)]
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.run_bem(sw.System("s", several, joints), [1.0], drift=drift)


def absorber(hull, damping=0.0, stiffness=0.0, **place):
    """A buoy on a slider, with a PTO where one is asked for."""
    body = sw.Body("buoy", hull=hull, **place)
    up = sw.Slider("up", sw.WORLD.at(*body.position), body, axis="z")
    pto = sw.LinearPto("pto", joint="up", damping=damping, stiffness=stiffness)
    return sw.System("absorber", (body,), (up,), ptos=(pto,) if damping else ())


def test_drift_of_a_jointed_device_is_that_of_its_motion():
    """A heaving buoy that absorbs all it can: rho g / (2 k), half of it for what it absorbs.

    As a body that floats freely it hardly feels such long waves, and that is said.
    """
    w, beta, rho, g = 1.4, 0.5, 1025.0, 9.81
    hull = sw.Cylinder(1.0, 2.0, 3.0, panel_size=0.4)
    place = {"position": (1.2, -0.7, 0.0), "rotation_deg": (0.0, 0.0, 20.0)}
    data = sw.run_bem(absorber(hull, **place), [1.3, w, 1.5], [beta])
    heave = {"influenced_dof": "buoy__Heave", "radiating_dof": "buoy__Heave"}
    at = data.sel(omega=w, **heave)
    mass = float(at["inertia_matrix"] + at["added_mass"])
    tuned = {
        "damping": float(at["radiation_damping"]),
        "stiffness": w**2 * mass - float(at["hydrostatic_stiffness"]),
    }
    device = absorber(hull, **tuned, **place)
    motion = sw.rao(sw.compile(device, data, radiation="none"), omega=[w], wave_direction=[beta])
    force = sw.run_bem(device, [w], [beta], drift=motion)["mean_drift"]
    assert force.attrs["motion"] == "of the device as jointed"
    surge, sway = force.sel(omega=w).values[0, :2]
    # 5 %: panels of the source method; waves scattered by the buoy when it is held
    assert np.hypot(surge, sway) == pytest.approx(rho * g**2 / (2.0 * w**2), rel=0.08)
    assert np.arctan2(sway, surge) == pytest.approx(beta, abs=0.01)
    with pytest.warns(sw.SwelltreeWarning, match="'buoy' alone, without 'up', 'pto'"):
        free = sw.run_bem(device, [w], [beta], drift="free")["mean_drift"]
    assert np.abs(free.sel(omega=w)[0, :2]).max() < 0.01 * np.hypot(surge, sway)
    assert "without joints" in free.attrs["motion"]


def test_drift_of_two_bodies_is_their_sum(tmp_path):
    """Two halves of a buoy that move as one have the drift of the whole, and it is kept."""
    hull = sw.Cylinder(1.0, 1.0, 1.5, panel_size=0.4)
    one = sw.Body("one", hull=hull)
    ring = sw.Axisymmetric([(1.6, -1.0), (1.6, 0.5)], bore=1.0, panel_size=0.4)
    two = sw.Body("two", hull=ring)
    full = sw.Body("whole", hull=sw.Cylinder(1.6, 1.0, 1.5, panel_size=0.4))
    together = sw.System("both", (one, two), (sw.Weld("a", sw.WORLD, one), sw.Weld("b", one, two)))
    still = xr.Dataset(
        {"rao": (("omega", "wave_direction", "body", "dof"), np.zeros((1, 1, 2, 6), complex))},
        {"omega": [2.6], "wave_direction": [0.4], "body": ["one", "two"], "dof": list(DOFS)},
    )
    data = sw.run_bem(together, [2.6], [0.4], drift=still)
    total = data["mean_drift_total"]
    single = sw.run_bem(system(full), [2.6], [0.4], drift="fixed")["mean_drift"].sel(omega=2.6)
    assert total.values[0, 0, :2] == pytest.approx(single.values[0, :2], rel=0.05)
    again = sw.read_hydro(sw.write_hydro(data, tmp_path / "two.nc"), check=False)
    assert again["mean_drift_total"].values == pytest.approx(total.values)


def test_motion_of_other_waves_is_refused():
    motion = xr.Dataset(
        {"rao": (("omega", "wave_direction", "body", "dof"), np.zeros((1, 1, 1, 6), complex))},
        {"omega": [1.0], "wave_direction": [0.0], "body": ["buoy"], "dof": list(DOFS)},
    )
    with pytest.raises(sw.SwelltreeError, match=r"drift has no motion at omega = 1\.5"):
        sw.run_bem(system(buoy(0.5)), [1.0, 1.5], [0.0], drift=motion)
    with pytest.raises(sw.SwelltreeError, match="drift has no motion of body 'buoy'"):
        sw.run_bem(system(buoy(0.5)), [1.0], [0.0], drift=motion.assign_coords(body=["x"]))
