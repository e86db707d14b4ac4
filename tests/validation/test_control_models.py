"""Cases of the group `control_models`; the paper's equations by themselves here, the rest slow."""

import numpy as np
import pytest

from swelltree.gallery.tank import ARM1, ARM2
from validation import all_cases
from validation.hydro import two_barges
from validation.pto import control_models


def assert_ok(checks):
    assert checks
    failed = [f"{c.quantity}: {c.shown_value}, allowed {c.allowed}" for c in checks if not c.ok]
    assert not failed, "; ".join(failed)


def test_cases_are_registered():
    names = {name for name, case in all_cases().items() if case.group == "control_models"}
    assert names == {
        "export_frequency_response",
        "export_step_response",
        "excitation_observer",
        "two_barges_003",
    }


def test_mass_and_coriolis_matrices_are_those_of_print():
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, s = rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 2)
        P, M = two_barges.partial_velocities(q), two_barges.rigid_mass()
        np.testing.assert_allclose(P @ M @ P.T, two_barges.rigid_mass_printed(q), rtol=1e-13)
        printed = two_barges.coriolis_printed(q, s) @ s
        np.testing.assert_allclose(two_barges.velocity_force(M, q, s), printed, rtol=1e-12)


def test_restoring_matrix_is_equation_60_with_rho_g():
    P = two_barges.partial_velocities(np.zeros(2))
    areas = [length * width for length, width, *_ in two_barges.BOXES]
    G = two_barges.restoring()
    found = P @ G @ P.T
    turn = np.diag(G)[[4, 10]]
    lift = 1000.0 * 9.81 * areas[1]
    expected = [
        [lift * ARM1**2 + turn[0], lift * ARM1 * ARM2],
        [lift * ARM1 * ARM2, lift * ARM2**2 + turn[1]],
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["export_frequency_response", "export_step_response"])
def test_export_of_the_two_barges(name):
    assert_ok(getattr(control_models, name)())


@pytest.mark.slow
def test_observer_of_the_two_barges():
    assert_ok(control_models.observer_in_irregular_sea())


@pytest.mark.slow
def test_two_barges_as_in_the_paper():
    assert_ok(control_models.two_barges_003())
