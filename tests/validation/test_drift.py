"""Drift of a vertical cylinder: the validation case, and that it can fail."""

import numpy as np
import pytest

from validation.hydro import cylinder_drift
from validation.hydro import drift as validation


def test_drift_of_a_cylinder():
    checks = validation.drift_cylinder()
    assert all(check.ok for check in checks), [
        (c.quantity, c.shown_value, c.allowed) for c in checks
    ]


def test_pressure_and_momentum_give_the_same_drift():
    """Far field: the wave momentum that the cylinder turns away (Havelock 1940)."""
    from scipy.special import jvp, yvp

    for kR in (0.3, 1.0, 2.5):
        n = np.arange(30)
        size = jvp(n, kR) ** 2 + yvp(n, kR) ** 2
        terms = (1 - n * (n + 1) / kR**2) ** 2 / size
        far = 4 / (np.pi**2 * kR**3) * (terms[:-1] / size[1:]).sum()
        omega = np.array([np.sqrt(9.81 * kR)])
        near = cylinder_drift.transfer_functions(omega, 1.0, 1.0, 9.81)[0][0, 0].real / 9.81
        assert near == pytest.approx(far, rel=1e-9)


def test_a_wrong_phase_is_noticed(monkeypatch):
    right = validation.transfer_functions
    monkeypatch.setattr(
        validation,
        "transfer_functions",
        lambda *a: (right(*a)[0].conj(), right(*a)[1]),
    )
    checks = {check.quantity: check for check in validation.drift_cylinder()}
    assert not checks["all pairs in time"].ok
