"""Damping far below its peak: little of K, but all that damps a resonance down there."""

import numpy as np

from swelltree.hydro.radiation.fit import fit_radiation
from swelltree.hydro.radiation.memory import added_mass_change
from swelltree.hydro.radiation.passive_form import PassiveProblem


def test_low_damping_is_fitted_by_its_own_size():
    omega = np.linspace(0.1, 8.0, 80)
    fine = np.linspace(0.0, 40.0, 4001)

    def damping(w):  # rises as fast as that of a flap in shallow water
        return (w**4 / (1.0 + w**4) ** 2)[:, None, None]

    B = damping(omega)
    A = 1.0 + added_mass_change(fine, damping(fine), omega)
    model = fit_radiation(omega, A, B, np.eye(1), error=0.03)
    assert model.error <= 0.03
    low = np.array([0.3, 0.4, 0.5])  # 3 to 22 % of the peak
    np.testing.assert_allclose(model.radiation_damping(low), damping(low), rtol=0.05)


def test_gradient_with_weights():
    rng = np.random.default_rng(1)
    omega = np.linspace(0.1, 1.0, 9)
    K = (omega**2)[:, None, None] * np.eye(2) + 1j * rng.normal(size=(9, 1, 1)) * np.eye(2)
    problem = PassiveProblem(omega, K, np.full(9, 0.1))
    model = problem.none().with_one_more(0.5, 0.2, np.array([1.0, 0.3]))
    model = model.with_one_more(0.8, 0.3, np.array([0.2, 1.0]))
    x = problem.pack(model)
    _, slope = problem.cost_and_slope(x, 2)
    for k, step in enumerate(1e-6 * np.eye(x.size)):
        up, down = (problem.cost_and_slope(x + sign * step, 2)[0] for sign in (1, -1))
        np.testing.assert_allclose(slope[k], (up - down) / 2e-6, rtol=1e-5, atol=1e-7)
