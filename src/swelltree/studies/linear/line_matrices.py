r"""Dynamic lines about their equilibrium: mass, damping and stiffness of their nodes.

A segment of length l with tension T, direction t and axial stiffness k = dT/dl pulls its nodes
together by

.. math:: K = k\, t t^\top + \frac{T}{l} (1 - t t^\top), \qquad C = \kappa \frac{EA}{L}\, t t^\top,

bending adds the second derivative of its energy, and half of the mass and of the added mass of a
segment is on each of its nodes. Nodes on a rigid bed are held across it, on a rough one along it
too: small motions do not overcome friction. At one frequency the nodes between the ends follow from
the motion of the ends, so that a line is an impedance at its ends and a force of the waves there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from swelltree.hydro.linear.hydro import without_table
from swelltree.integrate.complementarity.attached import end_positions
from swelltree.integrate.complementarity.lines.bending import kink_weights
from swelltree.integrate.complementarity.lines.channels import end_forces
from swelltree.integrate.complementarity.lines.forces import (
    LaggedCoefficients,
    NodeWater,
    freeze,
    node_parts,
)
from swelltree.integrate.complementarity.lines.winch_statics import present
from swelltree.integrate.complementarity.relax import Rest
from swelltree.integrate.complementarity.state import form_of
from swelltree.jit import Tree, mapped
from swelltree.model.model import Model
from swelltree.model.sea import surface_and_water_at
from swelltree.model.solved import prepared
from swelltree.mooring.dynamic.arrays import LineArrays
from swelltree.mooring.dynamic.lines import required_lines
from swelltree.studies.time.complementarity.start import to_rest

MATRICES = ("mass", "damping", "stiffness")
RIGID = 1e6  # stiffness of segments that cannot stretch, of their tension
REGULAR = 1e-9  # of the largest stiffness: what is slack has none of its own


@dataclass(frozen=True)
class LineMatrices:
    """One line about its equilibrium: m active nodes from A to B, then points beyond the ends."""

    position: Float[np.ndarray, "m 3"]
    mass: Float[np.ndarray, "x x"]  # x = 3 (m + points beyond)
    damping: Float[np.ndarray, "x x"]  # axial, and of a soft bed
    stiffness: Float[np.ndarray, "x x"]
    free: Float[np.ndarray, "m 3 3"]  # directions in which the bed lets a node move
    fluid: Float[np.ndarray, "m 3 3"]  # force per acceleration of the water [kg]
    tangent: Float[np.ndarray, "m 3"]
    drag: Float[np.ndarray, "m 3"]  # across, along and of clumps [N s^2/m^2]
    current: Float[np.ndarray, "m 3"]  # [m/s]
    axial: Float[np.ndarray, "n"]  # change of tension per elongation [N/m]
    axial_damping: Float[np.ndarray, "n"]  # [N s/m]
    direction: Float[np.ndarray, "n 3"]  # of the segments
    tension: Float[np.ndarray, "n"]  # [N]
    first: int  # idle segments before it
    nonlinearity: bool

    @property
    def nodes(self) -> int:
        """Active nodes."""
        return len(self.position)

    @property
    def inner(self) -> np.ndarray:
        """Rows of the nodes between the ends."""
        return np.arange(3, 3 * (self.nodes - 1))

    @property
    def outer(self) -> np.ndarray:
        """Rows of the attachment points: A, B and those beyond them."""
        last = np.arange(3 * (self.nodes - 1), len(self.mass))
        return np.concatenate([np.arange(3), last])

    @property
    def projector(self) -> np.ndarray:
        """Projector of the inner nodes, (y, y)."""
        return block_diagonal(self.free[1:-1])


def block_diagonal(blocks: np.ndarray) -> np.ndarray:
    """Square matrix of blocks (k, b, b)."""
    k, b, _ = blocks.shape
    out = np.zeros((k, b, k, b), dtype=blocks.dtype)
    out[np.arange(k), :, np.arange(k), :] = blocks
    return out.reshape(k * b, k * b)


class LinesAtRest(NamedTuple):
    """Dynamic lines of a model at the equilibrium."""

    model: Model  # with its lines as long as they are there
    rest: Rest
    lines: tuple[LineMatrices, ...]
    end_force: np.ndarray  # (line, 2, 3) on what holds the ends A and B [N]


def lines_at_rest(model: Model, *, hold: bool = False) -> LinesAtRest:
    """Matrices of all dynamic lines of a model at its equilibrium.

    Args:
        model: compiled, with dynamic lines.
        hold: bodies stay where they are described.
    """
    model = prepared(without_table(model))
    rest = mapped(np.asarray, to_rest(model, form_of(model, "lagrange"), hold=hold))
    model = present(model, rest.state)
    dynamic = required_lines(model)
    arrays, state = dynamic.nodes, rest.state.lines
    q = np.asarray(state.q)
    points = q.reshape(-1, 3)
    still = model.replace(sea=replace(model.sea, waves=None))
    _, velocity, _ = surface_and_water_at(still, np.zeros(()), points)
    current = np.asarray(velocity).reshape(q.shape)
    rise, reach = (np.asarray(x) for x in node_parts(arrays, q))
    water = NodeWater(
        velocity=current,
        acceleration=0.0 * q,
        depth=-q[..., 2] - rise,
        reach=reach,
    )
    gravity = -np.asarray(model.gravity)[2]
    frozen = mapped(np.asarray, freeze(arrays, dynamic.bed, q, water, gravity, model.rho))
    ends = np.asarray(end_positions(dynamic, rest.state.pose, np.asarray(state.y)))
    report = rest.sample.lines.report
    lines = tuple(
        _matrices(_row(arrays, k), _row(frozen, k), q[k], ends[k, 2:], *flags, float(model.rho))
        for k, flags in enumerate(zip(report.tension, report.grounded, strict=True))
    )
    return LinesAtRest(model, rest, lines, np.asarray(end_forces(dynamic, rest.sample)))


def _row(tree: Tree, k: int) -> Tree:
    """Arrays of one line."""
    return mapped(lambda x: np.asarray(x)[k], tree)


def _matrices(
    line: LineArrays,
    frozen: LaggedCoefficients,
    q: np.ndarray,
    excess: np.ndarray,
    tension: np.ndarray,
    grounded: np.ndarray,
    rho: float,
) -> LineMatrices:
    """Matrices of one line at its equilibrium.

    Args:
        line: its arrays.
        frozen: masses, drag and bed at its nodes.
        q: positions of the nodes (node, 3).
        excess: points beyond its ends (2, 3), or none.
        tension: of the segments (segment,).
        grounded: which nodes lie on the bed (node,).
        rho: density of the water.
    """
    first = int(line.first)
    r, T = q[first:], tension[first:]
    d = np.diff(r, axis=0)
    length = np.linalg.norm(d, axis=1)
    t = d / length[:, None]
    L = line.rest_length[first:]
    k = axial_stiffness(line, length / line.rest_length[first:] - 1.0, T)
    EA = np.where(np.isfinite(line.EA), line.EA, 0.0)[first:]
    taut = (T > 0.0) | (line.EI[first:] > 0.0)
    c = np.where(taut, line.kappa[first:] * EA / L, 0.0)
    m = len(r)
    size = 3 * (m + len(excess))
    K, C, M = (np.zeros((size, size)) for _ in range(3))
    tt = t[:, :, None] * t[:, None, :]
    _add_pairs(K, k[:, None, None] * tt + (T / length)[:, None, None] * (np.eye(3) - tt))
    _add_pairs(C, c[:, None, None] * tt)
    if len(excess):
        K += bending_stiffness(line, frozen, q, excess)
    mass, contact = frozen.mass[first:], frozen.contact
    lies = (contact.touch[first:] > 0.0) & grounded[first:]
    normal = contact.normal[first:]
    nn = normal[:, :, None] * normal[:, None, :]
    free = np.tile(np.eye(3), (m, 1, 1))
    if contact.kind == "soft":
        stiff = np.where(lies, 1.0 / np.where(lies, contact.alpha[first:], 1.0), 0.0)
        K[: 3 * m, : 3 * m] += block_diagonal(stiff[:, None, None] * nn)
        soft = (stiff * contact.kappa[first:])[:, None, None] * nn
        C[: 3 * m, : 3 * m] += block_diagonal(soft)
        held = np.eye(3) - nn if contact.rough else 0.0 * nn
    else:
        held = np.tile(np.eye(3), (m, 1, 1)) if contact.rough else nn
    free = free - np.where(lies[:, None, None], held, 0.0)
    M[: 3 * m, : 3 * m] = block_diagonal(mass)
    half = 0.125 * np.pi * line.diameter[first:] ** 2 * L
    volume = np.append(half, 0.0) + np.append(0.0, half) + line.point_volume[first:]
    dry = 0.5 * line.mass_per_length[first:] * L
    dry = np.append(dry, 0.0) + np.append(0.0, dry) + line.point_mass[first:]
    carried = rho * frozen.wet[first:] * volume - dry
    fluid = mass + carried[:, None, None] * np.eye(3)
    drag = np.zeros((m, 3))
    drag[:, :2] = frozen.drag[first:, :2]
    if frozen.drag.shape[1] > 2:
        drag[:, 2] = frozen.drag[first:, 3]
    current, tangent = frozen.velocity[first:], frozen.tangent[first:]
    parts = free, fluid, tangent, drag, current, k, c, t, T, first
    return LineMatrices(r, M, C, K, *parts, bool(len(excess)))


def axial_stiffness(line: LineArrays, strain: np.ndarray, tension: np.ndarray) -> np.ndarray:
    """Change of tension per elongation of the segments in use [N/m]; none of slack ones.

    Args:
        line: one line.
        strain: of the segments in use.
        tension: of the same [N].
    """
    first = int(line.first)
    L = line.rest_length[first:]
    slope = np.where(np.isfinite(line.EA), line.EA, RIGID * max(tension.max(), 1.0))[first:]
    if line.stretch.shape[-2]:
        table = line.stretch[first:]
        piece = (strain[:, None] >= table[:, 1:-1, 0]).sum(-1)
        rows = np.arange(len(L))
        rise = table[rows, piece + 1] - table[rows, piece]
        slope = rise[:, 1] / rise[:, 0]
    taut = (tension > 0.0) | (line.EI[first:] > 0.0)
    return np.where(taut, slope / L, 0.0)


def _add_pairs(matrix: np.ndarray, blocks: np.ndarray) -> None:
    """Add couplings between neighbours, blocks (n, 3, 3) between nodes i and i + 1."""
    for i, block in enumerate(blocks):
        here, there = slice(3 * i, 3 * i + 3), slice(3 * i + 3, 3 * i + 6)
        matrix[here, here] += block
        matrix[there, there] += block
        matrix[here, there] -= block
        matrix[there, here] -= block


def bending_stiffness(
    line: LineArrays, frozen: LaggedCoefficients, q: np.ndarray, excess: np.ndarray
) -> np.ndarray:
    """Second derivative of the bending energy by all points, ordered as in `LineMatrices`."""
    first, m = int(line.first), len(q) - int(line.first)
    w = np.asarray(kink_weights(line, frozen.active))[first:]
    r = np.concatenate([excess[:1], q[first:], excess[1:]])

    def gradient(r: np.ndarray) -> np.ndarray:
        """Of the energy, at points (..., m + 2, 3), which may be complex."""
        d = np.diff(r, axis=-2)
        length = np.sqrt((d * d).sum(-1, keepdims=True))
        # points beyond the ends are a metre away: their d is their t
        length[..., [0, -1], :] = 1.0
        t = d / length
        kink = w[:, None] * np.diff(t, axis=-2)
        zero = np.zeros((*kink.shape[:-2], 1, 3))
        moment = np.concatenate([zero, kink], -2) - np.concatenate([kink, zero], -2)
        across = moment - (t * moment).sum(-1, keepdims=True) * t
        across[..., [0, -1], :] = moment[..., [0, -1], :]
        pull = across / length
        return np.concatenate([zero, pull], -2) - np.concatenate([pull, zero], -2)

    step = 1e-30j * np.eye(r.size).reshape(r.size, *r.shape)
    H = np.imag(gradient(r + step)).reshape(r.size, r.size) / 1e-30
    order = np.concatenate([np.arange(1, m + 1), [0, m + 1]])
    rows = (3 * order[:, None] + np.arange(3)).reshape(-1)
    return H[rows[:, None], rows]


class Condensed(NamedTuple):
    """Lines of equal size condensed to their ends, at c frequencies."""

    impedance: Complex[np.ndarray, "c g e e"]
    force: Complex[np.ndarray, "c g e"]
    by_ends: Complex[np.ndarray, "c g y e"]  # inner nodes per motion of the ends, sign reversed
    by_force: Complex[np.ndarray, "c g y"]

    def inner(self, ends: np.ndarray) -> np.ndarray:
        """Motion of the inner nodes (c, g, y) with that of the ends (c, g, e)."""
        return self.by_force - (self.by_ends @ ends[..., None])[..., 0]


class LineGroup:
    """Lines that have equally many nodes, ready for many frequencies.

    Args:
        lines: g of them.
    """

    def __init__(self, lines: list[LineMatrices]) -> None:
        self.lines = lines
        self.m, self.nonlinearity = lines[0].nodes, lines[0].nonlinearity
        inner, outer = lines[0].inner, lines[0].outer
        self.free = np.stack([line.free[1:-1] for line in lines])
        self.block = 6 if self.nonlinearity else 3
        P = np.stack([line.projector for line in lines])
        full = [np.stack([getattr(line, name) for line in lines]) for name in MATRICES]
        pick = lambda A, rows, columns: A[:, rows[:, None], columns]  # noqa: E731
        self.inside = [_blocks(P @ pick(A, inner, inner) @ P, self.block) for A in full]
        self.held = _blocks(np.eye(len(inner)) - P, self.block, fill=1.0)[0]
        self.coupling = [P @ pick(A, inner, outer) for A in full]
        self.ends = [pick(A, outer, outer) for A in full]
        self.regular = REGULAR * np.abs(full[2]).max((1, 2))[:, None, None, None]

    def condensed(self, omega: np.ndarray, damping: np.ndarray, force: np.ndarray) -> Condensed:
        """Impedance and force at the ends.

        Args:
            omega: (c,) [rad/s].
            damping: of the nodes by drag (c or 1, g, m, 3, 3).
            force: on the nodes (c, g, m, 3), exp(-iwt).
        """
        w = omega[:, None, None, None]

        def at(parts: list[np.ndarray], w: np.ndarray) -> np.ndarray:
            M, C, K = parts
            return K - w**2 * M - 1j * w * C

        diagonal, up, low = (at([part[k] for part in self.inside], w[..., None]) for k in range(3))
        diagonal = diagonal + self.held
        still = (omega == 0.0)[:, None, None, None, None]
        diagonal = diagonal + np.where(still, self.regular, 0.0) * np.eye(self.block)
        # drag is on the diagonal: of the inner nodes, and of the half segments at the ends
        more = -1j * w[..., None] * damping
        inside = self.free @ more[:, :, 1:-1] @ self.free
        per, count = self.block // 3, self.m - 2
        for k in range(per):
            of_block = inside[:, :, k::per]
            place = slice(3 * k, 3 * k + 3)
            diagonal[:, :, : of_block.shape[2], place, place] += of_block
        coupling, ends = at(self.coupling, w), at(self.ends, w)
        ends[..., :3, :3] += more[:, :, 0]
        ends[..., 3:6, 3:6] += more[:, :, -1]
        shape = force.shape[:2]
        f_i = (self.free @ force[:, :, 1:-1, :, None]).reshape(*shape, 3 * count, 1)
        f_e = np.zeros(ends.shape[:-1], dtype=complex)
        f_e[..., :3], f_e[..., 3:6] = force[:, :, 0], force[:, :, -1]
        right = np.concatenate([np.broadcast_to(coupling, (*shape, *coupling.shape[2:])), f_i], -1)
        X = _tridiagonal(diagonal, up, low, right)
        X_e, X_f = X[..., :-1], X[..., -1]
        # symmetric: what the ends do to the nodes, the nodes do to the ends
        back = coupling.swapaxes(-1, -2)
        return Condensed(ends - back @ X_e, f_e - (back @ X_f[..., None])[..., 0], X_e, X_f)


def _blocks(A: np.ndarray, b: int, fill: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Diagonal, upper and lower blocks (g, k, b, b) of matrices (g, y, y), padded to blocks."""
    y = A.shape[-1]
    more = -y % b
    A = np.pad(A, [(0, 0), (0, more), (0, more)])
    A[:, np.arange(y, y + more), np.arange(y, y + more)] = fill
    k = (y + more) // b
    A = A.reshape(len(A), k, b, k, b)
    i = np.arange(k)
    blocks = A[:, i, :, i], A[:, i[:-1], :, i[1:]], A[:, i[1:], :, i[:-1]]
    return tuple(np.moveaxis(x, 0, 1) for x in blocks)  # pyright: ignore[reportReturnType]


def _tridiagonal(
    diagonal: np.ndarray, up: np.ndarray, low: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Solution of block-tridiagonal systems (..., k, b, b) for right-hand sides (..., y, r)."""
    count, b = diagonal.shape[-3], diagonal.shape[-1]
    y = right.shape[-2]
    if not y:  # a line of one segment
        return right
    pad = [(0, 0)] * (right.ndim - 2)
    right = np.pad(right, [*pad, (0, count * b - y), (0, 0)])
    right = right.reshape(*right.shape[:-2], count, b, right.shape[-1])
    ups, values = [], []
    D, f = diagonal[..., 0, :, :], right[..., 0, :, :]
    for i in range(count):
        last = i + 1 == count
        both = np.linalg.solve(D, f if last else np.concatenate([up[..., i, :, :], f], -1))
        values.append(both[..., 0 if last else b :])
        if not last:
            ups.append(both[..., :b])
            D = diagonal[..., i + 1, :, :] - low[..., i, :, :] @ ups[-1]
            f = right[..., i + 1, :, :] - low[..., i, :, :] @ values[-1]
    for i in range(count - 2, -1, -1):
        values[i] = values[i] - ups[i] @ values[i + 1]
    return np.concatenate(values, -2)[..., :y, :]
