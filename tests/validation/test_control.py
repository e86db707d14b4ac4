"""Validation of optimal control."""

import numpy as np
import pytest

from support import refdata
from swelltree.hydro.readers.read import read_hydro
from validation.pto.control import conjugate_limit, mpc_batch


def test_every_number_of_the_power_limits_is_within_its_tolerance():
    checks = conjugate_limit(refdata() / "opt_conjugate_limit")
    assert len(checks) == 4
    for check in checks:
        assert check.ok, check.quantity


def test_motions_printed_after_the_forces_are_not_taken_for_them():
    """The WAMIT listing prints RAOs under headings of the same form as excitation."""
    path = refdata() / "opt_conjugate_limit" / "waveBotBuoy.out"
    data = read_hydro(path, names=["buoy"], rho=1000.0, check=False)
    heave = data["excitation_force"].sel(influenced_dof="buoy__Heave", wave_direction=0.0)
    i = int(np.abs(data.omega.values - 2.1).argmin())
    assert abs(heave.values[i]) == pytest.approx(15398.0, rel=1e-3)


@pytest.mark.slow
def test_predictive_control_in_a_batch_is_that_of_single_runs():
    (check,) = mpc_batch(refdata() / "opt_conjugate_limit")
    assert check.ok, check.value
