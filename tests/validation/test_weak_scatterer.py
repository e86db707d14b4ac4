"""The validation cases of weak scatterers."""

import pytest

from swelltree.validation.waters import weak_scatterer


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [
        weak_scatterer.added_mass_of_a_sphere,
        weak_scatterer.moment_of_munk,
        weak_scatterer.submerged_sphere_on_a_spring,
    ],
)
def test_case_passes(run):
    assert [check for check in run() if not check.ok] == []
