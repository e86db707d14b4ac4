"""Weak scatterers beside dynamic lines: the two-step scheme."""

import numpy as np
import pytest

import swelltree as sw

pytestmark = pytest.mark.slow
WATER = sw.Water(depth=6.0)
WAVE = sw.RegularWave(amplitude=0.2, omega=2.2, ramp=1.0)
HOW = {"duration": 1.8, "output_step": 0.3, "progress": False}
TANK = {"radius": 16.0, "spacing": 1.6, "far_spacing": 4.0, "levels": 2, "panel_size": 0.8}


def water(**options):
    options = TANK | {"symmetric": True, "step": 0.1} | options
    return sw.WeakScatterer("sea", bodies=["ball"], **options)


def ball_on_a_rail(**options):
    ball = sw.Body("ball", position=(0, 0, -2.5), hull=sw.Sphere(1.0, offset=(0, 0, -2.5)))
    rail = sw.Slider("rail", sw.WORLD.at(0, 0, -2.5), ball, axis="z")
    pto = sw.LinearPto("pto", joint="rail", stiffness=4e4, damping=2e3)
    return sw.System("ball", [ball], [rail], [water(**options)], ptos=[pto], water=WATER)


def off(ours, theirs, name):
    """Largest difference of a channel over its range."""
    a, b = ours[name].values, theirs[name].values
    return float(np.abs(a - b).max() / np.ptp(b))


def test_two_step_scheme_comes_to_the_run_of_runge_and_kutta_with_second_order():
    model = sw.compile(ball_on_a_rail(mode="linear"))
    known = sw.simulate(model, WAVE, **HOW)
    rows = []
    for step in (0.05, 0.025):
        run = sw.simulate(model, WAVE, solver="two_step", step=step, **HOW)
        assert run.attrs["result"] == "success"
        names = ("joint_coordinate", "weak_scatterer_elevation", "weak_scatterer_force")
        rows.append([off(run, known, name) for name in names])
        rows[-1].append(float(np.abs(run.energy_residual).max() / np.abs(run.work).max()))
    print("two-step", rows)
    assert max(rows[1]) < 3e-3
    assert (np.log2(np.array(rows[0]) / np.array(rows[1])) > 1.6).all()


def tethered(theory):
    """A buoyant ball on a taut line to the bottom."""
    place, pull = (0, 0, -2.5), (4 / 3 * np.pi * WATER.rho - 3000.0) * WATER.g
    ball = sw.Body("ball", 3000.0, (1e3,) * 3, position=place, hull=sw.Sphere(1.0, offset=place))
    rope = sw.LineType("rope", diameter=0.05, mass_per_length=4.0, EA=2e6, damping_ratio=0.1)
    ends = (sw.WORLD.at(0, 0, -6.0), ball.at(0, 0, -1.0))
    line = sw.Line("tether", *ends, 2.5 / (1 + pull / 2e6), rope, model=theory, segments=4)
    joint = sw.SubsetJoint("free", sw.WORLD.at(*place), ball, dofs=("Surge", "Heave", "Pitch"))
    return sw.System("tether", [ball], [joint], [water()], lines=[line], water=WATER)


def test_body_on_a_dynamic_line_moves_as_on_one_without_inertia():
    """The line weighs 10 kg, the ball 3 t: inertia and drag of the line change little."""
    runs = [
        sw.simulate(sw.compile(tethered(theory)), WAVE, start="equilibrium", **HOW)
        for theory in ("dynamic", "quasi_static")
    ]
    assert [run.attrs["solver"] for run in runs] == ["two_step", "rk4"]
    for run in runs:
        assert run.attrs["result"] == "success"
        assert np.abs(run.energy_residual).max() < 0.01 * np.abs(run.work).max()
    surge = [run.position.sel(body="ball", dof="Surge").values for run in runs]
    pull = [run.fairlead_tension.values.reshape(len(run.time), -1)[:, 0] for run in runs]
    print("tether", surge, pull)
    np.testing.assert_allclose(surge[0], surge[1], atol=0.03 * np.ptp(surge[1]))
    np.testing.assert_allclose(pull[0], pull[1], atol=0.05 * np.ptp(pull[1]))
