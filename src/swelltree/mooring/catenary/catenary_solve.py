r"""End forces of elastic catenaries from the positions of their ends.

Newton's method on H and V. Both equations are the gradient of a convex function, so a step is
taken if its end is not far beyond the minimum along it, and shortened otherwise. The iteration is
not differentiated: derivatives are those of the equations.
"""

from __future__ import annotations

from collections.abc import Callable

from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.mooring.catenary.catenary import Sections, span, weight_behind
from swelltree.spatial.loops import repeat_while, settled

MAX_ITERATIONS = 200  # iterations
CLOSE = 1e-14  # of the length: residual at which iteration ends
MIN_HORIZONTAL = 1e-11  # of the weight: smaller horizontal forces count as none
SHRINK = 0.9  # most of H that one step may take off
GROW = 20.0  # most by which one step may multiply it
STILL = 1e-13  # of the forces: step at which iteration ends
FAR = 0.7  # most change of V in one step, of the forces


@pytree()
class Pull:
    """Forces at end B."""

    H: Array  # (e,) horizontal, towards A, N
    V: Array  # (e,) vertical, downwards, N
    slack: Array  # (e,) a heap on the bed: no horizontal force


def _parabola(x: Array, z: Array, length: Array, weight: Array, give: Array) -> Array:
    """Tension of a flat elastic parabola: c - L = T L/EA - W_n^2 L / (24 T^2)."""
    xp = namespace(x, z, length)
    chord = xp.sqrt(x * x + z * z)
    k = (weight * x / chord) ** 2 * length / 24.0 + 1e-30
    short = length - chord
    limit = xp.cbrt(k / give)
    sag = xp.sqrt(k / xp.where(short > 0.0, short, 1.0))
    T = xp.where(short > 0.0, 0.6 * xp.minimum(sag, limit), xp.maximum(-short / give, limit))
    for _ in range(4):
        T = T - (T * give - k / T**2 + short) / (give + 2.0 * k / T**3)
    return T


def _top_weight(sections: Sections, length: Array) -> Array:
    """Weight of the uppermost part of a length."""
    xp = namespace(length, sections.length)
    above = sections.length.sum(-1, keepdims=True) - xp.cumsum(sections.length, axis=-1)
    part = xp.minimum(xp.maximum(length[:, None] - above, 0.0), sections.length)
    return (sections.weight * part).sum(-1)


def first_guess(sections: Sections, x: Array, z: Array, slope: Array | None) -> tuple[Array, Array]:
    """Initial guess of H and V: taut, suspended, or partly on the bed."""
    xp = namespace(x, z, sections.length)
    L, W, size = sections.total_length, sections.total_weight, sections.size
    give = (sections.length * sections.compliance).sum(-1)
    chord = xp.sqrt(x * x + z * z)
    # taut or nearly so
    T = _parabola(x, z, L, size, give)
    H, V = T * x / chord, T * z / chord + 0.5 * W
    # hanging deep: Irvine's parameter of the inextensible catenary
    room = xp.maximum((L * L - z * z) / (x * x) - 1.0, 1e-3)
    lam = xp.sqrt(3.0 * room)
    deep = 1.05 * chord < L
    H = xp.where(deep, size * x / (2.0 * L * lam), H)
    V = xp.where(deep, 0.5 * W * (z / (L * xp.tanh(lam)) + 1.0), V)
    # a part on the bed: 2 h^3 / (9 e^2) where the length exceeds the span by e
    rise = 0.0 if slope is None else slope
    h = xp.maximum(z - rise * x, 1e-9 * L)
    e = L - x * (1.0 + rise * rise) ** 0.5
    a = 2.0 * h / 9.0 * ((h / xp.maximum(e, 1e-3 * h)) ** 2 - 1.0)
    a = xp.maximum(a, 1e-4 * h)
    up = xp.sqrt(h * (h + 2.0 * a))
    on_bed = (sections.rests[:, 0] > 0.0) & (e > 0.0) & (up < L) & (W > 0.0)
    hanging = _top_weight(sections, up)
    H = xp.where(on_bed, hanging * a / up, H)
    V = xp.where(on_bed, hanging + rise * H, V)
    return xp.maximum(H, 10.0 * MIN_HORIZONTAL * size), V


def _residual(u: tuple[Array, Array], args: Tree) -> tuple[Array, Array]:
    """Misfit of the end positions."""
    sections, x, z, slope, friction = args
    here = span(sections, *u, slope, friction)
    return here.x - x, here.z - z


def _correct(u: tuple[Array, Array], args: Tree, r: tuple[Array, Array]) -> tuple[Array, Array]:
    """Change of H and V that corrects a misfit."""
    sections, _, _, slope, friction = args
    xp = namespace(*u)
    here = span(sections, *u, slope, friction)
    det = here.x_H * here.z_V - here.x_V * here.z_H
    det = xp.where(det > 0.0, det, 1e-300)
    slack = u[0] <= MIN_HORIZONTAL * sections.size
    dH = (here.x_V * r[1] - here.z_V * r[0]) / det
    dV = (here.z_H * r[0] - here.x_H * r[1]) / det
    alone = -r[1] / xp.maximum(here.z_V, 1e-300)
    return xp.where(slack, 0.0, dH), xp.where(slack, alone, dV)


def _newton(
    sections: Sections, x: Array, z: Array, slope: Array, friction: Array, H: Array, V: Array
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Residuals and limited Newton step."""
    xp = namespace(H, V, x)
    here = span(sections, H, V, slope, friction)
    rx, rz = here.x - x, here.z - z
    det = here.x_H * here.z_V - here.x_V * here.z_H
    det = xp.where(det > 0.0, det, 1e-300)
    dH = (here.x_V * rz - here.z_V * rx) / det
    dV = (here.z_H * rx - here.x_H * rz) / det
    slack = (MIN_HORIZONTAL * sections.size >= H) & (rx >= 0.0)
    # a step in H that is too long is cut, and V follows from the height alone
    cut = xp.where(slack, 0.0, cut_step(H, dH))
    alone = -(rz + here.z_H * cut) / xp.maximum(here.z_V, 1e-300)
    dV = xp.where(cut == dH, dV, alone)
    reach = FAR * (xp.abs(V) + H + sections.size)
    dV = xp.minimum(xp.maximum(dV, -reach), reach)
    # a line that may rest on the bed is approached from lines that hang
    lift = V - weight_behind(sections) - (0.0 if slope is None else H * slope)
    hangs = (sections.rests.sum(-1) > 0.0) & (lift > 0.0)
    dV = xp.where(hangs, xp.maximum(dV, -SHRINK * lift), dV)
    return (xp.where(slack, 0.0, rx), rz), (cut, dV)


def cut_step(H: Array, dH: Array) -> Array:
    """Limited step in H that keeps it positive."""
    xp = namespace(H, dH)
    return xp.minimum(xp.maximum(dH, -SHRINK * H), GROW * H)


def end_force(
    sections: Sections,
    x: Array,
    z: Array,
    slope: Array | None = None,
    friction: Array | None = None,
) -> Pull:
    """Force at B of pieces whose ends are x apart and z above one another.

    Args:
        sections: of the pieces, from A to B.
        x: horizontal distance, positive (e,) [m].
        z: height of B above A (e,) [m].
        slope: rise of the bed from A towards B (e,); None: flat and without friction.
        friction: of the bed (e,).
    """
    xp = namespace(x, z, sections.length)

    def solve(args: Tree) -> tuple[Array, Array]:
        line = args[0]
        begin = first_guess(*args[:4])
        least, length = MIN_HORIZONTAL * line.size, line.total_length
        return iterate(lambda *u: _newton(*args, *u), begin, least, length)

    H, V = settled(solve, _residual, _correct, (sections, x, z, slope, friction))
    slack = MIN_HORIZONTAL * sections.size >= H
    return Pull(xp.where(slack, 0.0, H), V, slack)


def iterate(
    values: Callable[..., tuple[tuple[Array, ...], tuple[Array, ...]]],
    unknowns: tuple[Array, ...],
    least: Array,
    length: Array,
    idle: Array | None = None,
) -> tuple[Array, ...]:
    """Damped Newton iteration of many small problems at once.

    Args:
        values: residuals, and Newton's step, from the unknowns; the first of these is H.
        unknowns: to begin with.
        least: H does not fall below this.
        length: scale of the residuals.
        idle: problems that need no solution, if any.
    """
    xp = namespace(*unknowns, length)
    n = len(unknowns)

    def size(r: tuple[Array, ...]) -> Array:
        return sum((xp.abs(x) for x in r[1:]), xp.abs(r[0]))

    def along(r: tuple[Array, ...], p: list[Array]) -> Array:
        return sum((x * y for x, y in zip(r[1:], p[1:], strict=True)), r[0] * p[0])

    def finished(u: tuple[Array, ...], r: tuple[Array, ...], d: tuple[Array, ...]) -> Array:
        forces = sum((xp.abs(x) for x in u[1:]), u[0])
        small = xp.abs(d[0]) <= STILL * u[0]
        for step in d[1:]:
            small = small & (xp.abs(step) <= STILL * forces)
        return (size(r) <= CLOSE * length) | small

    def go_on(state: tuple[Array, ...]) -> Array:
        return (state[0] < MAX_ITERATIONS) & ~state[1].all()

    def advance(state: tuple[Array, ...]) -> tuple[Array, ...]:
        count, done, t, low, high = state[:5]
        u, r, d = state[5 : 5 + n], state[5 + n : 5 + 2 * n], state[5 + 2 * n :]
        new = (
            xp.maximum(u[0] + t * d[0], least),
            *(a + t * b for a, b in zip(u[1:], d[1:], strict=True)),
        )
        r_new, d_new = values(*new)
        p = [a - b for a, b in zip(new, u, strict=True)]
        before, after = along(r, p), along(r_new, p)
        # too far: the slope along the step has turned; too short: far from where it turns
        good = (after <= 0.5 * xp.abs(before)) | (t < 1e-12)
        low, high = xp.where(good, t, low), xp.where(good, high, t)
        good = good & ((high < 2.0 * t) | (high > 1.0) | (after > -0.5 * xp.abs(before)))
        # with friction there is no such function, but then the residual falls
        good = good | (size(r_new) < 0.5 * size(r))
        keep = good & ~done

        def taken(new: tuple[Array, ...], old: tuple[Array, ...]) -> tuple[Array, ...]:
            return tuple(xp.where(keep, a, b) for a, b in zip(new, old, strict=True))

        u, r, d = taken(new, u), taken(r_new, r), taken(d_new, d)
        between = xp.where(low > 0.0, xp.sqrt(low * high), 0.1 * t)
        t = xp.where(good, 1.0, between)
        low, high = xp.where(good, 0.0, low), xp.where(good, 2.0, high)
        return count + 1, done | finished(u, r, d), t, low, high, *u, *r, *d

    # the first pass evaluates the start: a step of nothing from a huge residual
    one = xp.ones(length.shape) + 0.0 * length
    r, d = (1e200 * one,) * n, (0.0 * one,) * n
    done = (one < 0.0) if idle is None else idle
    state = (xp.zeros((), int), done, one, 0.0 * one, 2.0 * one, *unknowns, *r, *d)
    return repeat_while(go_on, advance, state)[5 : 5 + n]
