"""RK4 with few arrays against the stages of its tableau."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from swelltree.integrate.problem import LinearBlock, Problem, start
from swelltree.integrate.runge_kutta.explicit import TABLEAUS, explicit
from swelltree.integrate.runge_kutta.smooth import rk4_step
from swelltree.spatial.linear_steps import Ports, exact_stages, stage_ports

A = np.array([[-0.7, 2.0, 0.0], [-2.0, -0.7, 0.0], [0.0, 0.0, -9.0]])
COUPLED = np.array([[-0.7, 2.0, 0.3], [-2.0, -0.7, 0.1], [0.2, 0.0, -9.0]])


B = np.array([[1.0, 0.1], [-0.5, 0.1], [3.0, 0.1]])
C = np.array([[1.0, 0.4, -0.2], [0.0, 0.3, 0.1]])


def problem(stages):
    """A swinging mass with a linear memory of its speed and place, pushed in time.

    The argument is the matrix of the memory, or nothing where only its ports are seen.
    """

    def rate(args, t, y):
        x, v = y["x"]
        w = y["z"] if args is None else C @ y["z"]
        push = jnp.sin(1.3 * t) - 4.0 * jnp.sin(x) - w[0] + 0.2 * x * w[1]
        u = jnp.stack([v, x**2])
        z_dot = u if args is None else jnp.asarray(args) @ y["z"] + B @ u
        return {"x": jnp.stack([v, push]), "z": z_dot}

    block = LinearBlock(
        lambda y: y["z"],
        lambda y, z: y | {"z": z},
        lambda args: stages,
        lambda args: args,
        lambda args: Ports(None, stage_ports(stages, B, C)),
    )
    return Problem(rate=rate, block=None if stages is None else block)


@pytest.mark.parametrize("matrix", [A, COUPLED], ids=["banded", "full"])
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "tableau"])
@pytest.mark.parametrize("h", [0.2, 0.13], ids=["whole", "part"])
def test_a_step_is_that_of_the_tableau(matrix, exact, h):
    stages = exact_stages(matrix, 0.2) if exact else None
    equations = problem(stages)
    y = {"x": jnp.array([0.4, -0.3]), "z": jnp.array([0.2, -0.1, 0.5])}
    latest = np.inf
    found = jax.jit(lambda y: rk4_step(equations, matrix, y, 0.7, h, latest))(y)
    carry = start(0.7, y)
    right = explicit(TABLEAUS["rk4"], equations, matrix, carry, h, latest, False, bounded=False).y
    for name, value in right.items():
        np.testing.assert_allclose(found[name], value, rtol=0, atol=1e-15)
