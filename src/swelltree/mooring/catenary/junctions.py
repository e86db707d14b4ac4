"""Junctions of quasi-static lines: where they rest, found inside the force.

The energy of a network is a convex function of the positions of its junctions. Newton's method
with the stiffness of the pieces finds the minimum; steps are shortened by the rule of single
lines. A junction does not sink into the bed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.jit import Array, namespace, pytree
from swelltree.mooring.catenary.catenary_ends import Ends, Pieces, bed_height, ends
from swelltree.mooring.catenary.catenary_stiffness import inside
from swelltree.spatial.loops import repeat_while, settled, stop_gradient

MAX_ITERATIONS = 300  # iterations
PATIENCE = 40  # iterations after which lines are softened
SOFT = (0.1, 2e-4)  # first and last strain under their weight that softened lines have more
ROUGHLY = 1e-4  # of the forces: imbalance at which they are hardened again
CLOSE = 1e-13  # of the forces: imbalance at which iteration ends
STILL = 1e-14  # of the longest step: step at which it ends
TOUCHING = 1e-9  # of the longest piece: height at which a junction lies on the bed
FAR = 0.25  # of the shortest piece: longest step


@pytree("at_A", "at_B")
class Junctions:
    """Free points between pieces (j of them)."""

    position: Array  # (j, 3) to begin with, m
    weight: Array  # (j,) in water, N
    at_A: tuple[int, ...]  # junction at end A of each piece, -1: none
    at_B: tuple[int, ...]

    @property
    def count(self) -> int:
        return self.position.shape[0]


def joined(junctions: Junctions, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Ends of the pieces, with those at junctions replaced by these."""
    if not junctions.count:
        return a, b
    xp = namespace(y, a, b)
    at_A, at_B = np.array(junctions.at_A), np.array(junctions.at_B)
    a = xp.where((at_A >= 0)[:, None], y[np.maximum(at_A, 0)], a)
    return a, xp.where((at_B >= 0)[:, None], y[np.maximum(at_B, 0)], b)


def _incidence(junctions: Junctions) -> tuple[np.ndarray, np.ndarray]:
    """Which pieces begin and end at which junction, (j, e) each."""
    number = np.arange(junctions.count)[:, None]
    at_A, at_B = np.array(junctions.at_A), np.array(junctions.at_B)
    return (number == at_A).astype(float), (number == at_B).astype(float)


def end_stiffness(result: Ends, S: Array) -> dict[str, Array]:
    """Second derivatives of the energy by the ends, (e, 3, 3) each, from those by distances."""
    xp = namespace(result.H)
    e, none = result.along, 0.0 * result.H
    one = none + 1.0

    def rows(sign: float, up_A: Array, up_B: Array) -> Array:
        first = xp.stack([sign * e[:, 0], sign * e[:, 1], none], axis=-1)
        return xp.stack(
            [first, *(xp.stack([none, none, up], axis=-1) for up in (up_A, up_B))], axis=-2
        )

    to_A, to_B = rows(-1.0, one, none), rows(1.0, none, one)
    flat = np.diag([1.0, 1.0, 0.0])
    wide = xp.concatenate([e, none[:, None]], axis=-1)
    across = (result.H / result.x)[:, None, None] * (flat - wide[:, :, None] * wide[:, None, :])

    def product(left: Array, right: Array, sign: float) -> Array:
        return xp.einsum("eki,ekl,elj->eij", left, S, right) + sign * across

    return {
        "AA": product(to_A, to_A, 1.0),
        "AB": product(to_A, to_B, -1.0),
        "BA": product(to_B, to_A, -1.0),
        "BB": product(to_B, to_B, 1.0),
    }


def _gradient(y: Array, args: tuple[Junctions, Pieces, Array, Array]) -> tuple[Array, Ends]:
    """Gradient of the energy by the junctions (j, 3), and the ends of the pieces."""
    junctions, pieces, a, b = args
    result = ends(pieces, *joined(junctions, y, a, b))
    in_A, in_B = _incidence(junctions)
    down = junctions.weight[:, None] * np.array([0.0, 0.0, 1.0])
    return down - in_A @ result.force_A - in_B @ result.force_B, result


def _residual(y: Array, args: tuple[Junctions, Pieces, Array, Array]) -> tuple[Array, Array]:
    """Gradient of the energy, and heights above the bed."""
    return _gradient(y, args)[0], y[:, 2] - bed_height(args[1].bed, y)


def _step(
    args: tuple[Junctions, Pieces, Array, Array],
    y: Array,
    result: Ends,
    resting: Array,
    r: Array,
    height: Array,
) -> Array:
    """Newton step (j, 3); junctions on the bed have a height and no balance."""
    junctions, pieces, a, b = args
    n = junctions.count
    xp = namespace(r, height, result.H)
    in_A, in_B = _incidence(junctions)
    S = inside(pieces, result, *joined(junctions, y, a, b)).stiffness
    K = end_stiffness(result, S)
    both = {"AA": (in_A, in_A), "AB": (in_A, in_B), "BA": (in_B, in_A), "BB": (in_B, in_B)}
    blocks = [xp.einsum("je,ke,eil->jikl", *both[key], K[key]) for key in both]
    total = (blocks[0] + blocks[1] + blocks[2] + blocks[3]).reshape(3 * n, 3 * n)
    # directions that nothing holds stay where they are
    total = total + 1e-12 * stop_gradient(xp.abs(total).max() + 1e-300) * np.eye(3 * n)
    none = 0.0 * height
    pick = xp.stack([none, none, xp.where(resting, 1.0, 0.0)], axis=-1).reshape(-1)
    total = (1.0 - pick)[:, None] * total + pick[:, None] * np.eye(3 * n)
    right = (1.0 - pick) * r.reshape(-1) + pick * xp.repeat(height, 3)
    return -xp.linalg.solve(total, right).reshape(n, 3)


def _presses(pieces: Pieces, r: Array, height: Array) -> Array:
    """Junctions that lie on the bed under compression, (j,)."""
    return (height <= TOUCHING * pieces.sections.total_length.max()) & (r[:, 2] > 0.0)


def _correct(
    y: Array, args: tuple[Junctions, Pieces, Array, Array], change: tuple[Array, Array]
) -> Array:
    """Change of the positions that corrects an imbalance."""
    r, result = _gradient(y, args)
    resting = _presses(args[1], r, y[:, 2] - bed_height(args[1].bed, y))
    return _step(args, y, result, resting, *change)


def rest_of_junctions(junctions: Junctions, pieces: Pieces, a: Array, b: Array) -> Array:
    """Where the junctions are in balance (j, 3) [m].

    Args:
        junctions: of the network.
        pieces: of its lines.
        a: ends A of the pieces (e, 3) [m]; not used where they are on junctions.
        b: ends B (e, 3) [m].
    """
    if not junctions.count:
        return namespace(a, b).zeros((0, 3))
    return settled(lambda args: _iterate(*args), _residual, _correct, (junctions, pieces, a, b))


def _iterate(junctions: Junctions, pieces: Pieces, a: Array, b: Array) -> Array:
    xp = namespace(a, b, junctions.position)
    bed, sections = pieces.bed, pieces.sections
    reach = FAR * sections.total_length.min()
    scale = sections.size.sum() + xp.abs(junctions.weight).sum()

    def values(y: Array, soft: Array) -> tuple[Array, Array]:
        give = sections.compliance + (soft / sections.size)[:, None]
        softer = replace(pieces, sections=replace(sections, compliance=give))
        args = (junctions, softer, a, b)
        r, result = _gradient(y, args)
        height = y[:, 2] - bed_height(bed, y)
        d = _step(args, y, result, _presses(pieces, r, height), r, height)
        longest = xp.sqrt((d * d).sum(-1)).max()
        return r, d * xp.minimum(1.0, reach / (longest + 1e-300))

    def imbalance(y: Array, r: Array) -> Array:
        pressed = _presses(pieces, r, y[:, 2] - bed_height(bed, y))
        up = xp.where(pressed, 0.0, r[:, 2])
        return xp.maximum(xp.abs(r[:, :2]).max(), xp.abs(up).max())

    def above(y: Array) -> Array:
        z = xp.maximum(y[:, 2], bed_height(bed, y))
        return xp.concatenate([y[:, :2], z[:, None]], axis=-1)

    def go_on(state: tuple[Array, ...]) -> Array:
        return (state[0] < MAX_ITERATIONS) & ~state[1]

    def advance(state: tuple[Array, ...]) -> tuple[Array, ...]:
        count, _, t, low, high, soft, y, r, d = state
        new = above(y + t * d)
        r_new, d_new = values(new, soft)
        before, after = (r * (new - y)).sum(), (r_new * (new - y)).sum()
        good = (after <= 0.5 * xp.abs(before)) | (t < 1e-9)
        low, high = xp.where(good, t, low), xp.where(good, high, t)
        good = good & ((high < 2.0 * t) | (high > 1.0) | (after > -0.5 * xp.abs(before)))
        good = good | (imbalance(new, r_new) < 0.5 * imbalance(y, r))
        y, r, d = (xp.where(good, u, v) for u, v in ((new, y), (r_new, r), (d_new, d)))
        t = xp.where(good, 1.0, xp.where(low > 0.0, xp.sqrt(low * high), 0.3 * t))
        low, high = xp.where(good, 0.0, low), xp.where(good, 2.0, high)
        off, still = imbalance(y, r), xp.abs(d).max() <= STILL * reach
        done = (soft == 0.0) & ((off <= CLOSE * scale) | still)
        # a junction that swings about a stiff line is slow: soften lines, then harden them again
        tired = (count + 1 == PATIENCE) & ~done
        harden = (soft > 0.0) & ((off <= ROUGHLY * scale) | still)
        less = xp.where(soft > SOFT[1], 0.1 * soft, 0.0)
        soft = xp.where(tired, SOFT[0], xp.where(harden, less, soft))
        anew = tired | harden
        r, d = xp.where(anew, 1e200, r), xp.where(anew, 0.0, d)
        t, low, high = xp.where(anew, 1.0, t), xp.where(anew, 0.0, low), xp.where(anew, 2.0, high)
        return count + 1, done, t, low, high, soft, y, r, d

    y = above(xp.asarray(junctions.position) + 0.0 * a[:1, :1])
    # the first pass evaluates the start: a step of nothing from a huge imbalance
    one = xp.ones(())
    none, huge = 0.0 * one, 1e200 + 0.0 * y
    state = (xp.zeros((), int), one < 0.0, one, none, 2.0 * one, none, y, huge, 0.0 * y)
    return repeat_while(go_on, advance, state)[6]
