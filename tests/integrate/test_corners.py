"""Steps end at corners, and see of a jump the side they are on."""

import numpy as np
import pytest

from swelltree.integrate.problem import Options, Problem, padded_corners, start
from swelltree.integrate.runge_kutta.smooth import compiled
from swelltree.jit import jnp

JUMP = 1.0 / 3.0
PULSE = (JUMP, JUMP + 0.01)


def kicked(args, t, y):
    """A mass pushed by a force of one during a short time."""
    on = (t >= PULSE[0]) & (t < PULSE[1])
    return jnp.stack([y[1], jnp.where(on, 1.0, 0.0)])


@pytest.mark.parametrize("method", ["tsit5", "dopri5", "rk4", "stiff"])
def test_a_short_push_gives_its_whole_impulse(method):
    times = np.array([0.0, 2.0, 5.0])
    options = Options(step=0.7, corners=padded_corners(PULSE), rtol=1e-9, atol=1e-9)
    carry, out = compiled(Problem(rate=kicked), method)(
        None, options, start(0.0, np.zeros(2)), times
    )
    # constant force in three stretches: every method is exact
    length = PULSE[1] - PULSE[0]
    assert out[1:, 1] == pytest.approx(length, abs=1e-12)
    assert out[2, 0] == pytest.approx(length * (5.0 - PULSE[0] - 0.5 * length), abs=1e-11)
    assert int(carry.n_rejected) == 0


def test_no_step_is_longer_than_allowed():
    seen = []
    steps = []
    problem = Problem(
        rate=lambda args, t, y: 0.0 * y,
        settle=lambda args, t, y: y + 1.0,  # counts accepted steps
    )
    for method in ("tsit5", "rk4", "stiff"):
        options = Options(step=9.0, max_step=0.25)
        carry, out = compiled(problem, method)(
            None, options, start(0.0, np.zeros(1)), np.array([0.0, 1.0, 1.6, 10.0])
        )
        steps.append(int(carry.n_accepted))
        seen.append(np.asarray(out)[:, 0])
    # 4 + 3 + 34 steps of a quarter second or less, but for the controller's first ones
    assert seen[1].tolist() == [0.0, 4.0, 7.0, 41.0]
    for counted in seen:
        assert (np.diff(counted) >= [4, 3, 34]).all()
        assert counted[-1] <= 60


def test_corners_are_kept_in_order_with_room_behind_them():
    assert padded_corners([3.0, 1.0, 3.0, np.inf]).tolist() == [1.0, 3.0, np.inf, np.inf]
    assert padded_corners(()).tolist() == [np.inf]
