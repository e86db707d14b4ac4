"""The validation cases of weak scatterers."""

import pytest

from validation.hydro.weak_scatterers import (
    accuracy,
    ladder,
    mean_drift,
    second_order,
    submerged,
    systems,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [
        submerged.added_mass_of_a_sphere,
        submerged.moment_of_munk,
        submerged.submerged_sphere_on_a_spring,
        ladder.standing_wave_in_a_round_tank,
        ladder.added_mass_of_an_ellipsoid,
        ladder.quiet_water,
        ladder.schur_and_monolithic,
        ladder.cylinder_on_the_surface,
        accuracy.default_meshes,
        mean_drift.mean_drift_of_a_held_cylinder,
        mean_drift.mean_drift_of_a_held_box,
        mean_drift.mean_drift_of_a_held_hemisphere,
        mean_drift.mean_drift_of_a_heaving_hemisphere,
        second_order.mean_force_on_a_fixed_sphere,
        second_order.forced_heave_of_a_sphere,
        systems.two_barges_on_a_hinge,
        systems.crane_cable_and_load,
    ],
)
def test_case_passes(run):
    checks = run()
    for check in checks:
        print(check.quantity, check.shown_value, check.allowed)
    assert [check for check in checks if not check.ok] == []
