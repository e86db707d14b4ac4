"""Fixed steps whose stages share what was made for the whole step."""

import numpy as np

from swelltree.integrate.runge_kutta.smooth import Options, Problem, integrate, start


def rate(args, t, y):
    return -args * y + t


def held(args, t, y, h):
    """What a step gets: the number in its middle."""
    return args * (1.0 + t + 0.5 * h)


def run(problem, step, parts=1):
    times = np.array([0.0, 0.35, 1.0, 1.7])
    options = Options(step=step, parts=parts)
    carry, values = integrate(problem, 0.8, start(0.0, 1.3), times, options, method="rk4")
    assert int(carry.code) == 0
    return np.asarray(values), carry


def test_parts_of_a_step_are_steps():
    """Uneven output times: each whole step is divided by the same number."""
    plain = Problem(rate)
    shared = Problem(rate, in_step=lambda args, t, y, h: args)
    fine, _ = run(plain, 0.05)
    full, carry = run(shared, 0.35, parts=7)
    np.testing.assert_allclose(full, fine, rtol=1e-7)
    assert int(carry.n_rate) == 4 * 7 * int(carry.n_accepted)


def test_what_a_step_holds_stays_in_all_of_its_parts():
    problem = Problem(rate, in_step=held)
    values, _ = run(problem, 0.5, parts=50)
    # y' = -k y + t exactly within each step, with the k of its middle
    y, t, want = 1.3, 0.0, [1.3]
    for target, steps in ((0.35, 1), (1.0, 2), (1.7, 2)):
        h = (target - t) / steps
        for _ in range(steps):
            k = 0.8 * (1.0 + t + 0.5 * h)
            y = (y - t / k + 1 / k**2) * np.exp(-k * h) + (t + h) / k - 1 / k**2
            t += h
        want.append(y)
    np.testing.assert_allclose(values, want, rtol=1e-7)
