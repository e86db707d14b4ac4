r"""Laws of tension whose work is exactly the change of stored energy.

For a one-sided spring with elongation e, p = max(0, e), the mean of p between the elongations at
t_{n-1} and t_{n+1},

.. math:: \bar p = \frac{p_+^2 - p_-^2}{2 (e_+ - e_-)},

is its discrete gradient (Gonzalez 1996): the work over the step is the change of energy whatever
the pattern of slack and taut. It grows with e_+. Where it would be zero the laws here go on below
zero, so that the compliant complementarity 0 <= mu, alpha mu - law >= 0 has the same solution and
Newton sees from afar how slack a segment is. Segments with bending stiffness also push: there p is
e itself, and a table goes on below zero with its first slope.
"""

from __future__ import annotations

import numpy as np

from swelltree.jit import Array, jnp, pytree
from swelltree.mooring.dynamic.arrays import MIN_RATIO, LineArrays

CLOSE = 1e-7  # strain: nearer than this the slope of a table is taken in the middle


def one_sided(
    e_minus: Array, e_plus: Array, kappa: Array, h: Array | float, theta: Array | float
) -> tuple[Array, Array, Array]:
    """Mean stretch of a one-sided spring with damper, and its derivatives by e_- and e_+.

    Slack before and after it is the elongation e_+, negative.

    Args:
        e_minus: elongation at t_{n-1} [m].
        e_plus: elongation at t_{n+1} [m].
        kappa: damping over stiffness [s].
        h: step [s].
        theta: 1/2 for the exact mean, 1 for the value at t_{n+1}.
    """
    p_minus, p_plus = jnp.maximum(e_minus, 0.0), jnp.maximum(e_plus, 0.0)
    taut_minus, taut_plus = e_minus > 0.0, e_plus > 0.0
    change = e_plus - e_minus
    same = change == 0.0
    # fraction of the step during which the spring is taut
    share = jnp.where(same, taut_plus * 1.0, (p_plus - p_minus) / jnp.where(same, 1.0, change))
    rise, fall = share * (1.0 - 0.5 * share), 0.5 * share**2
    late, rate = 2.0 * theta - 1.0, kappa / (2.0 * h)
    value = (1.0 - late) * 0.5 * (p_plus + p_minus) * share + late * p_plus
    value = value + rate * (p_plus - p_minus)
    by_plus = (1.0 - late) * jnp.where(taut_plus, rise, fall) + (late + rate) * taut_plus
    by_minus = (1.0 - late) * jnp.where(taut_minus, rise, fall) - rate * taut_minus
    loose = ~(taut_plus | taut_minus)
    return (
        jnp.where(loose, e_plus, value),
        jnp.where(loose, 0.0, by_minus),
        jnp.where(loose, 1.0, by_plus),
    )


@pytree()
class SlowSpring:
    r"""Two springs in series, of segments (..., segment): a fast one, and a slow one with damper.

    .. math:: T = E_d (\epsilon - z) + B_d (\dot\epsilon - \dot z)
              = E_1 (z - \epsilon_p) + B \dot z, \quad 1/EA = 1/E_1 + 1/E_d

    The slow strain z lives at half steps, :math:`\bar z = (z_- + z_+)/2`, so that the tension over
    a step is that of one spring with the strain :math:`\bar \epsilon` and what z_- adds. Without
    an original curve :math:`\epsilon_p = 0`; with one EA and :math:`\epsilon_p` are those of the
    working curve by the max mean tension so far. On the way to rest, where time stands still, the
    segment follows EA or its table.

    Args:
        stiffness: growth of T with the mean strain [N].
        damping: growth of T with the strain rate [N s].
        memory: what z_- adds [N].
        stiff: T per mean slow strain [N].
        past: T at no mean slow strain [N].
        moves: one, or zero on the way to rest (line, segment).
    """

    stiffness: Array
    damping: Array
    memory: Array
    stiff: Array
    past: Array
    moves: Array


@pytree()
class SlowState:
    """State of slow springs half a step ago (line, segment).

    Args:
        strain: of the slow springs.
        most: max mean tension so far [N], on original curves.
    """

    strain: Array
    most: Array


def slow_spring(lines: LineArrays, slow: SlowState, h: Array, moves: Array) -> SlowSpring:
    """The springs of a step.

    Args:
        lines: all lines.
        slow: their state before the step.
        h: step [s].
        moves: one, or zero on the way to rest.
    """
    z, (EA, permanent) = slow.strain, working(lines, slow.most)
    fast, spring = springs(lines, EA, _mean_tension(lines, EA, z - permanent))
    dynamic = lines.dynamic_EA > 0.0
    B, Bd = 2.0 / h * lines.slow_BA, lines.kappa * lines.EA
    stiff = jnp.where(dynamic, spring + B, 1.0)
    both = fast + 2.0 / h * Bd
    share = jnp.where(dynamic, stiff / (stiff + both), 1.0)
    past = -B * z - jnp.where(dynamic, spring * permanent, 0.0)
    return SlowSpring(
        stiffness=share * fast,
        damping=share * Bd,
        memory=jnp.where(dynamic, share * (both * past / stiff + 2.0 / h * Bd * z), 0.0),
        stiff=stiff,
        past=past,
        moves=jnp.broadcast_to(moves, past.shape),
    )


def working(lines: LineArrays, most: Array) -> tuple[Array, Array]:
    """EA and permanent strain of slow changes by the max mean tension so far (..., segment)."""
    if lines.original.shape[-2] == 0:
        return lines.EA, jnp.zeros_like(most)
    has = lines.working_EA > 0.0
    EA = jnp.where(has, lines.working_EA, lines.EA)
    strain = _interpolated(most, lines.original[..., 1], lines.original[..., 0])
    return EA, jnp.where(has, strain - most / EA, 0.0)


def _interpolated(x: Array, at: Array, values: Array) -> Array:
    """Values between points (..., point); beyond the last its piece goes on."""
    low, high = at[..., :-1], at[..., 1:]
    step = high - low
    slope = (values[..., 1:] - values[..., :-1]) / jnp.where(step > 0.0, step, 1.0)
    last = np.arange(low.shape[-1]) == low.shape[-1] - 1
    part = jnp.clip(x[..., None], low, jnp.where(last, jnp.inf, high)) - low
    return values[..., 0] + jnp.sum(slope * part, -1)


def springs(lines: LineArrays, EA: Array, tension: Array) -> tuple[Array, Array]:
    """Stiffness of the fast and of the slow spring at a mean tension (..., segment) [N]."""
    fast = lines.dynamic_EA + lines.dynamic_EA_slope * jnp.maximum(tension, 0.0)
    fast = jnp.maximum(fast, MIN_RATIO * EA)
    return fast, fast * EA / (fast - EA)


def _mean_tension(lines: LineArrays, EA: Array, z: Array) -> Array:
    """Tension T of the slow springs at their strains: T = E_1 z with E_1 by T (..., segment)."""
    D, grows = lines.dynamic_EA, lines.dynamic_EA_slope
    strain = jnp.maximum(z, 0.0)
    b, c = D - EA - grows * EA * strain, D * EA * strain
    root = jnp.sqrt(b * b + 4.0 * grows * c)
    rises = (b > 0.0) | (grows == 0.0)
    T = jnp.where(
        rises,
        2.0 * c / jnp.where(rises, b + root, 1.0),
        (root - b) / (2.0 * jnp.where(grows > 0.0, grows, 1.0)),
    )
    bounded = D + grows * T < MIN_RATIO * EA
    return jnp.where(bounded, MIN_RATIO / (MIN_RATIO - 1.0) * EA * strain, T)


def at_mean_tension(lines: LineArrays, tension: Array) -> SlowState:
    """Slow springs that have come to rest at a tension (line, segment)."""
    most = jnp.maximum(tension, lines.max_mean_tension)
    EA, permanent = working(lines, most)
    dynamic = lines.dynamic_EA > 0.0
    spring = jnp.where(dynamic, springs(lines, EA, tension)[1], 1.0)
    return SlowState(jnp.where(dynamic, permanent + tension / spring, 0.0), most)


def next_slow(lines: LineArrays, spring: SlowSpring, slow: SlowState, tension: Array) -> SlowState:
    """Slow springs half a step on, from the tension of the step (line, segment)."""
    rest = at_mean_tension(lines, tension)
    strain = 2.0 * (tension - spring.past) / spring.stiff - slow.strain
    most = slow.most
    if lines.original.shape[-2]:
        original = lines.original
        reached = _interpolated(strain, original[..., 2], original[..., 1])
        most = jnp.maximum(most, jnp.where(lines.working_EA > 0.0, reached, 0.0))
    pick = lambda a, b: jnp.where(spring.moves > 0.0, a, b)  # noqa: E731
    return SlowState(pick(strain, rest.strain), pick(most, rest.most))


def _of_slow_spring(
    line: LineArrays,
    spring: SlowSpring,
    e: tuple[Array, Array],
    L: Array,
    h: Array | float,
    theta: Array | float,
) -> tuple[Array, Array, Array]:
    """`one_sided` for segments with a slow spring, in units of length."""
    per = 1.0 / line.EA
    k, c = spring.stiffness * per, spring.damping * per / (2.0 * h)
    value = k * (theta * e[1] + (1.0 - theta) * e[0]) + c * (e[1] - e[0])
    value = value + L * per * spring.memory
    return value, k * (1.0 - theta) - c, k * theta + c


def _two_sided(
    e_minus: Array, e_plus: Array, kappa: Array, h: Array | float, theta: Array | float
) -> tuple[Array, Array, Array]:
    """`one_sided` for a spring that carries compression."""
    rate = kappa / (2.0 * h)
    value = theta * e_plus + (1.0 - theta) * e_minus + rate * (e_plus - e_minus)
    return value, 1.0 - theta - rate, theta + rate


def stretch_law(
    line: LineArrays,
    lengths: tuple[Array, Array],
    rest: tuple[Array, Array],
    h: Array | float,
    theta: Array | float,
    spring: SlowSpring | None = None,
) -> tuple[Array, Array, Array]:
    r"""Elastic law alpha mu of the segments of one line.

    With psi = (|d|^2 - L^2)/(2 L) and e = |d| - L the multiplier that does the work of the tension
    T(e) is the mean of T times 2 L/(|d_+| + |d_-|).

    Args:
        line: one line.
        lengths: of the segments at t_{n-1} and t_{n+1} (segment,) each [m].
        rest: unstretched lengths at the same times.
        h: step [s].
        theta: 1/2 to 1.
        spring: of lines with slow springs.

    Returns:
        alpha mu where positive [m], and its derivatives by the two lengths, each divided by that
        length, so that
        they multiply d_- and d_+.
    """
    (l_minus, l_plus), (L_minus, L_plus) = lengths, rest
    L = 0.5 * (L_minus + L_plus)
    e_minus, e_plus = l_minus - L_minus, l_plus - L_plus
    if line.stretch.shape[-2] == 0:
        mean, by_minus, by_plus = one_sided(e_minus, e_plus, line.kappa, h, theta)
        if line.bending:
            law = _two_sided(e_minus, e_plus, line.kappa, h, theta)
            old = mean, by_minus, by_plus
            mean, by_minus, by_plus = (
                jnp.where(line.pushes, a, b) for a, b in zip(law, old, strict=True)
            )
    else:
        mean, by_minus, by_plus = _table(line, e_minus, e_plus, L, h, theta)
    if spring is not None:
        law = _of_slow_spring(line, spring, (e_minus, e_plus), L, h, theta)
        old = mean, by_minus, by_plus
        mean, by_minus, by_plus = (
            jnp.where((line.dynamic_EA > 0.0) & (spring.moves > 0.0), a, b)
            for a, b in zip(law, old, strict=True)
        )
    late = 2.0 * theta - 1.0
    total = (1.0 - late) * (l_plus + l_minus) + late * 2.0 * l_plus
    factor = 2.0 * L / total
    down = -mean * factor / total
    return (
        mean * factor,
        (by_minus * factor + down * (1.0 - late)) / l_minus,
        (by_plus * factor + down * (1.0 + late)) / l_plus,
    )


def _table(
    line: LineArrays,
    e_minus: Array,
    e_plus: Array,
    L: Array,
    h: Array | float,
    theta: Array | float,
) -> tuple[Array, Array, Array]:
    """`one_sided` for a tabulated law, in units of length (times L/EA)."""
    x_minus, x_plus = e_minus / L, e_plus / L
    scale = L / line.EA
    change = x_plus - x_minus
    same = change == 0.0
    safe = jnp.where(same, 1.0, change)
    # each piece of the table adds its fraction of the way times its mean tension there
    low, T_low, slope, limits = _pieces(line)
    a, b = jnp.clip(x_minus[:, None], *limits), jnp.clip(x_plus[:, None], *limits)
    part = (b - a) / safe[:, None]
    mean = jnp.sum(part * (T_low + slope * (0.5 * (a + b) - low)), -1)
    T_minus, k_minus = _tension(line.stretch, low, limits, slope, x_minus)
    T_plus, k_plus = _tension(line.stretch, low, limits, slope, x_plus)
    mean = jnp.where(same, T_plus, mean)
    close = jnp.abs(change) < CLOSE
    off = jnp.where(close, 1.0, change)
    by_plus = jnp.where(close, 0.5 * k_plus, (T_plus - mean) / off)
    by_minus = jnp.where(close, 0.5 * k_minus, (mean - T_minus) / off)
    late, rate = 2.0 * theta - 1.0, line.kappa / (2.0 * h)
    on_plus, on_minus = (e_plus > 0.0) | line.pushes, (e_minus > 0.0) | line.pushes
    p_plus, p_minus = jnp.where(on_plus, e_plus, 0.0), jnp.where(on_minus, e_minus, 0.0)
    value = scale * ((1.0 - late) * mean + late * T_plus) + rate * (p_plus - p_minus)
    per = scale / L
    out_plus = per * ((1.0 - late) * by_plus + late * k_plus) + rate * on_plus
    out_minus = per * (1.0 - late) * by_minus - rate * on_minus
    loose = ~(on_plus | on_minus)
    return (
        jnp.where(loose, e_plus, value),
        jnp.where(loose, 0.0, out_minus),
        jnp.where(loose, 1.0, out_plus),
    )


def _pieces(line: LineArrays) -> tuple[Array, Array, Array, tuple[Array, Array]]:
    """Strain and tension at the breakpoints of tables, their slopes, and where they apply."""
    low, T_low = line.stretch[:, :-1, 0], line.stretch[:, :-1, 1]
    slope = (line.stretch[:, 1:, 1] - T_low) / (line.stretch[:, 1:, 0] - low)
    piece = jnp.arange(low.shape[1])
    high = jnp.where(piece == low.shape[1] - 1, jnp.inf, line.stretch[:, 1:, 0])
    return low, T_low, slope, (jnp.where((piece == 0) & line.pushes[:, None], -jnp.inf, low), high)


def _tension(
    points: Array, low: Array, limits: tuple[Array, Array], slope: Array, x: Array
) -> tuple[Array, Array]:
    """Tension and slope of a table at the strains x."""
    part = jnp.clip(x[:, None], *limits) - low
    inside = (x[:, None] > limits[0]) & (x[:, None] <= limits[1])
    return points[:, 0, 1] + jnp.sum(slope * part, -1), jnp.sum(slope * inside, -1)


def stored(line: LineArrays, lengths: Array, rest: Array) -> Array:
    """Energy stored in the segments of one line (segment,) [J].

    Args:
        line: one line.
        lengths: of the segments [m].
        rest: unstretched lengths [m].
    """
    e = lengths - rest
    p = jnp.where((e > 0.0) | line.pushes, e, 0.0)
    soft = jnp.isfinite(line.EA)
    if line.stretch.shape[-2] == 0:
        return jnp.where(soft, 0.5 * jnp.where(soft, line.EA, 0.0) / rest * p * p, 0.0)
    low, T_low, slope, limits = _pieces(line)
    part = jnp.clip((p / rest)[:, None], *limits) - low
    return jnp.where(soft, rest * jnp.sum(part * (T_low + 0.5 * slope * part), -1), 0.0)


def stretched_by_winch(
    line: LineArrays, lengths: tuple[Array, Array], rest: Array, mu: Array
) -> Array:
    """Energy that changes of rest lengths put into the stretch of one line (segment,) [J].

    With the elongations e and the mean rest length L of the step the tension T does the work
    T (e_+ - e_- + L_+ - L_-) / 2: the first part is that of lengths that do not change, the second
    the winch does, and it strains the rope that comes in.

    Args:
        line: one line.
        lengths: of the segments at t_{n-1} and t_{n+1} [m].
        rest: unstretched lengths at the same times (2, segment) [m].
        mu: multipliers of the step [N].
    """
    L = 0.5 * (rest[0] + rest[1])
    into = -mu * (lengths[0] + lengths[1]) / (2.0 * L) * (rest[1] - rest[0])
    for sign, length, own in zip((-1.0, 1.0), lengths, rest, strict=True):
        into = into + sign * (stored(line, length, own) - stored(line, length - own + L, L))
    return into


def static_multipliers(lines: LineArrays, q: Array) -> Array:
    """Multipliers of elastic segments as they lie (line, segment) [N]: a first guess at a start.

    Args:
        lines: all lines.
        q: positions of their nodes (line, node, 3) [m].
    """
    length = jnp.sqrt(jnp.sum((q[:, 1:] - q[:, :-1]) ** 2, -1) + 1e-20)
    e = length - lines.rest_length
    p = jnp.where((e > 0.0) | lines.pushes, e, 0.0)
    return jnp.where(jnp.isfinite(lines.EA), lines.EA, 0.0) * p / length
