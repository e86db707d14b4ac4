"""Mean drift from boundary elements: a cylinder on the seabed, momentum, long waves."""

import numpy as np
import pytest
from scipy.special import jvp, yvp

import swelltree as sw

pytest.importorskip("capytaine")
DEPTH, RADIUS = 3.0, 1.0


def buoy(panel_size=0.3, position=(0.7, -0.4, 0.0), **hull):
    given = {"radius": RADIUS, "height": 1.2, "draft": 1.0} | hull
    return sw.Body("buoy", position=position, hull=sw.Cylinder(panel_size=panel_size, **given))


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
