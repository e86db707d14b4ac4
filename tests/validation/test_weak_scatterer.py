"""The validation cases of weak scatterers."""

import pytest

from swelltree.validation.waters import weak_scatterer, weak_scatterer_ladder


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [
        weak_scatterer.added_mass_of_a_sphere,
        weak_scatterer.moment_of_munk,
        weak_scatterer.submerged_sphere_on_a_spring,
        weak_scatterer_ladder.standing_wave_in_a_round_tank,
        weak_scatterer_ladder.added_mass_of_an_ellipsoid,
        weak_scatterer_ladder.quiet_water,
        weak_scatterer_ladder.schur_and_monolithic,
        weak_scatterer_ladder.cylinder_on_the_surface,
    ],
)
def test_case_passes(run):
    checks = run()
    for check in checks:
        print(check.quantity, check.shown_value, check.allowed)
    assert [check for check in checks if not check.ok] == []
