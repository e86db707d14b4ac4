"""The linear mode at one frequency as users ask for it: headings, far field, error of the mesh."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.harmonic import _far_field, harmonic_flow, mean_drift

WATER = sw.Water(rho=1000.0)
OMEGA = 3.0
K = OMEGA**2 / WATER.g
LENGTH = 2 * np.pi / K


def tank_of(hull, **options):
    body = sw.Body("thing", hull=hull)
    held = sw.SubsetJoint("held", sw.WORLD, body, dofs=("Surge", "Heave"))
    specified = {"radius": 1.3 * LENGTH, "spacing": 0.7, "far_spacing": LENGTH / 5, "levels": 2}
    tank = sw.WeakScatterer("tank", mode="linear", **(specified | {"panel_size": 0.4} | options))
    return sw.compile(sw.System("water", [body], [held], [tank], water=WATER))


@pytest.fixture(scope="module")
def ball():
    return tank_of(sw.Sphere(1.0))


@pytest.fixture(scope="module")
def flow(ball):
    scene = ball.effect(WeakScatterers).scene
    return harmonic_flow(scene, OMEGA, np.inf, heading=0.7)


def test_excitation_turns_with_the_heading_and_waves_far_away_carry_what_damping_takes(flow):
    _, B, F = flow.coefficients
    # a sphere is the same from all sides
    assert abs(F[1] / F[0]) == pytest.approx(np.tan(0.7), rel=0.05)
    turn = 2 * np.pi * np.arange(72) / 72
    out = np.stack([np.cos(turn), np.sin(turn)], -1)
    speed = 0.5 * WATER.g / OMEGA
    for dof in (0, 2):
        a = _far_field(flow, K, out, flow.potential[:, dof], flow.flux[:, dof])
        taken = WATER.rho * WATER.g * speed * (np.abs(a) ** 2).mean() * 2 * np.pi
        assert B[dof, dof] == pytest.approx(taken, rel=0.06)  # coarse mesh


def test_mean_force_from_the_far_field_points_along_the_wave_and_grows_with_absorbed_power(flow):
    held = mean_drift(flow, np.zeros(6, complex))
    assert held[1] / held[0] == pytest.approx(np.tan(0.7), rel=0.1)
    assert 0.2 < np.hypot(*held) / (WATER.rho * WATER.g) < 0.7
    # a body that takes the most in heave: B v = F / 2, of the power |F|^2 / (8 B)
    _, B, F = flow.coefficients
    velocity = np.zeros(6, complex)
    velocity[2] = 0.5 * F[2] / B[2, 2]
    more = mean_drift(flow, velocity)
    along = np.array([np.cos(0.7), np.sin(0.7)])
    power = abs(F[2]) ** 2 / (8 * B[2, 2])
    assert along @ more > 0.9 * power * K / OMEGA


def test_coefficients_refuse_models_without_a_tank_and_headings_off_the_plane():
    body = sw.Body("b", mass=100.0, inertia=(9, 9, 9))
    dry = sw.compile(sw.System("dry", [body], [sw.Slider("s", sw.WORLD, body, axis="z")]))
    with pytest.raises(sw.SwelltreeError, match="the model has no WeakScatterer"):
        sw.weak_scatterer_coefficients(dry, OMEGA)
    half = tank_of(sw.Sphere(1.0), symmetric=True)
    with pytest.raises(sw.SwelltreeError, match=r"heading 0\.3 rad"):
        sw.weak_scatterer_coefficients(half, OMEGA, 0.3)
    found = sw.weak_scatterer_coefficients(half, OMEGA, estimate=False)
    heave, sway = "thing__Heave", "thing__Sway"
    assert float(found.added_mass.sel(influenced_dof=heave, radiating_dof=heave)) > 0.0
    assert np.isnan(found.excitation_force.sel(influenced_dof=sway))


@pytest.mark.slow
def test_estimated_error_of_a_box_is_about_what_finer_panels_change():
    """Edges: the error of the added mass in pitch is found within a factor of 2.5."""
    box = sw.Box(length=3.0, width=1.6, height=1.2, draft=0.6)
    options = {"symmetric": True, "spacing": 0.5, "far_spacing": LENGTH / 8}
    coarse = sw.weak_scatterer_coefficients(tank_of(box, **options), OMEGA)
    fine = tank_of(box, **(options | {"panel_size": 0.15, "spacing": 0.3}))
    best = sw.weak_scatterer_coefficients(fine, OMEGA, estimate=False)
    pitch = {"influenced_dof": "thing__Pitch", "radiating_dof": "thing__Pitch"}
    change = abs(float(best.added_mass.sel(pitch) - coarse.added_mass.sel(pitch)))
    reported = float(coarse.added_mass_error.sel(pitch))
    assert 0.4 * change < reported < 2.5 * change
    assert 0.005 < coarse.attrs["estimated_error"] < 0.3


@pytest.mark.slow
def test_model_checks_report_the_error_of_the_mesh_at_the_frequency_of_the_sea():
    half = tank_of(sw.Sphere(1.0), symmetric=True)
    sea = sw.RegularWave(0.01, omega=OMEGA)
    findings = sw.check_physics(half, sea, trial=False)
    (mesh,) = (finding for finding in findings if finding.code == "mesh")
    error = sw.weak_scatterer_coefficients(half, OMEGA).attrs["estimated_error"]
    assert mesh.numbers["estimated_error"] == pytest.approx(error)
    assert mesh.severity == ("warning" if error > 0.05 else "note")
    assert "at 3 rad/s change by up to" in mesh.sentence
