"""Thrust of rotors in the wind against closed forms."""

import numpy as np
import pytest

import swelltree as sw

U = (3.0, 7.5, 11.4, 16.0, 25.0)
CT = (0.9, 0.82, 0.77, 0.31, 0.08)
CP = (0.2, 0.45, 0.46, 0.2, 0.05)
AREA = np.pi * 63.0**2


def tower(*rotors, wind=None, stiffness=4e4, axis=(1.0, 0.0, 0.0), **more):
    body = sw.Body("b", mass=1e6, inertia=(1e8,) * 3, **more)
    rail = sw.Slider("rail", sw.WORLD, body, axis=axis)
    spring = sw.JointForce("spring", "rail", stiffness=stiffness)
    wind = wind or sw.Wind(12.0, reference_height=90.0)
    return sw.System("s", [body], [rail], forces=[spring, *rotors], wind=wind)


def rotor(name="r", **more):
    return sw.Rotor(name, sw.Point("b", (0, 0, 90.0)), 126.0, U, CT, CP, **more)


def test_thrust_along_a_turned_axis_holds_the_tower_at_its_offset():
    beta, yaw = 0.7, 0.4
    wind = sw.Wind(11.0, beta, reference_height=90.0)
    along = np.cos(beta - yaw) * 11.0
    system = tower(
        rotor(),
        wind=wind,
        axis=(np.cos(yaw), np.sin(yaw), 0.0),
        rotation_deg=(0.0, 0.0, np.degrees(yaw)),
    )
    rest = sw.equilibrium(sw.compile(system))
    thrust = 0.5 * 1.225 * AREA * np.interp(along, U, CT) * along**2
    moved = np.linalg.norm(rest.position.values[0, :3])
    assert moved == pytest.approx(thrust / 4e4, rel=1e-6)


def test_motion_of_the_hub_is_damped_as_the_slope_of_the_curve_says():
    model = sw.compile(tower(rotor()))
    rest = sw.equilibrium(model)
    x0 = float(rest.position.values[0, 0])
    system = tower(rotor())
    (rail,) = system.joints
    moved = system.replace(joints=[rail.replace(position=x0 + 0.05)])
    run = sw.simulate(
        sw.compile(moved), duration=120.0, rtol=1e-9, atol=1e-12, output_step=0.05, progress=False
    )
    x = run.position.values[:, 0, 0] - x0
    h = 0.01
    thrust = [0.5 * 1.225 * AREA * np.interp(v, U, CT) * v**2 for v in (12.0 - h, 12.0 + h)]
    damping = (thrust[1] - thrust[0]) / (2 * h)
    k, m = 4e4, 1e6
    decay = damping / (2 * m)
    w, t = np.sqrt(k / m - decay**2), run.time.values
    expected = 0.05 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    # motions of 5 cm in a curve that bends: what is left is of their second order
    assert np.abs(x - expected).max() < 0.01 * 0.05


def test_two_rotors_with_other_tables_and_their_power():
    small = sw.Rotor("small", sw.Point("b", (0, 9.0, 30.0)), 20.0, (5.0, 20.0), (0.8, 0.2))
    run = sw.simulate(
        sw.compile(tower(rotor(), small)), duration=5.0, rtol=1e-9, atol=1e-12, progress=False
    )
    wind = run.rotor_wind.values
    big = 0.5 * 1.225 * AREA * np.interp(wind[:, 0], U, CT) * wind[:, 0] ** 2
    np.testing.assert_allclose(run.rotor_thrust.values[:, 0], big, rtol=1e-12)
    other = 0.5 * 1.225 * np.pi * 100.0 * np.interp(wind[:, 1], (5, 20), (0.8, 0.2))
    np.testing.assert_allclose(run.rotor_thrust.values[:, 1], other * wind[:, 1] ** 2, rtol=1e-12)
    power = 0.5 * 1.225 * AREA * np.interp(wind[:, 0], U, CP) * wind[:, 0] ** 3
    np.testing.assert_allclose(run.rotor_power.sel(rotor="r").values, power, rtol=1e-12)
    # wind at 30 m by the profile
    assert wind[0, 1] == pytest.approx(12.0 * (30.0 / 90.0) ** 0.12, rel=1e-9)
    assert float(np.abs(run.energy_residual).max()) < 1e-6 * float(run.kinetic_energy.max())


def test_it_stands_in_a_case_file():
    system = tower(rotor())
    assert sw.loads(system.to_toml()).system == system


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: rotor(axis=(0, 0, 0)), "rotor 'r'|force 'r': axis has no length"),
        (lambda: rotor().replace(Ct=(0.8,)), "differ in length"),
        (lambda: rotor().replace(wind_speed=(3.0, 2.0, 4.0, 5.0, 6.0)), "does not increase"),
        (lambda: rotor().replace(diameter=-1.0), "diameter -1.0 m is not positive"),
        (
            lambda: sw.compile(tower(rotor()).replace(wind=None)),
            r"force 'r': there is no wind\. Give System",
        ),
    ],
)
def test_mistakes_are_told(make, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        make()
