r"""Rows of complementarity, 0 <= a and 0 <= s and a s = 0, on the central path a s = tau.

Two solvers walk the same path: the smoothed function of Fischer and Burmeister, which starts well
from the last step, and the interior point, which keeps a slack variable of its own. Both give a row
``value + by_a da + by_gap dgap = 0`` of the same form, so they share all linear algebra.
"""

from __future__ import annotations

from swelltree.jit import Array, jnp, pytree


@pytree()
class Slack:
    """Interior point: the slack variables and the products they are driven to.

    Args:
        tension: slack of every segment (line, segment) [m].
        bed: slack of every node (line, node) [m].
        tension_target: wanted product of slack and scaled tension (line, segment) [m^2].
        bed_target: the same of the bed (line, node) [m^2].
    """

    tension: Array
    bed: Array
    tension_target: Array
    bed_target: Array


def fischer_burmeister(a: Array, s: Array, tau: Array | float) -> tuple[Array, Array, Array]:
    r"""Smoothed Fischer–Burmeister function and its derivatives by a and s.

    .. math:: a + s - \sqrt{a^2 + s^2 + 2\tau} = 0 \iff a s = \tau,\ a > 0,\ s > 0

    Written so that nothing cancels when one of the two is small.

    Args:
        a: scaled multiplier [m].
        s: gap [m].
        tau: their product [m^2].
    """
    r = jnp.sqrt(a * a + s * s + 2.0 * tau)
    total = a + s
    up = total > 0.0
    value = jnp.where(up, 2.0 * (a * s - tau) / jnp.where(up, total + r, 1.0), total - r)

    def slope(x: Array, y: Array) -> Array:
        positive = x > 0.0
        return jnp.where(
            positive, (y * y + 2.0 * tau) / jnp.where(positive, r * (r + x), 1.0), 1.0 - x / r
        )

    return value, slope(a, s), slope(s, a)


def smooth_minimum(a: Array, s: Array, tau: Array | float) -> tuple[Array, Array, Array]:
    r"""The smaller of two, smoothed, and its derivatives by a and s: the same solutions.

    .. math:: \tfrac12 \bigl(a + s - \sqrt{(a - s)^2 + 4\tau}\bigr) = 0

    For laws with a compliance, s = alpha a - law: a load that comes on within the step gets the
    slope of its law at once, where the function of Fischer and Burmeister adds half of a.

    Args:
        a: scaled multiplier [m].
        s: compliance times multiplier, less the law [m].
        tau: their product [m^2].
    """
    difference, total = a - s, a + s
    r = jnp.sqrt(difference * difference + 4.0 * tau)
    up = total > 0.0
    value = jnp.where(up, 2.0 * (a * s - tau) / jnp.where(up, total + r, 1.0), 0.5 * (total - r))
    near = 2.0 * tau / (r * (r + jnp.abs(difference)))
    by_a = jnp.where(difference > 0.0, near, 1.0 - near)
    return value, by_a, 1.0 - by_a


def interior_point(a: Array, gap: Array, slack: Array, target: Array) -> tuple[Array, Array, Array]:
    """Row of the interior point with its slack eliminated, and its derivatives by a and gap.

    a ds + slack da = target - a slack, and ds = dgap + (gap - slack), divided by a + slack.

    Args:
        a: scaled multiplier, positive [m].
        gap: gap at the iterate [m].
        slack: slack variable, positive [m].
        target: wanted product [m^2].
    """
    total = a + slack
    return (a * gap - target) / total, slack / total, a / total
