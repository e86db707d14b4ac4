r"""Bodies and dynamic lines in waves: motions that agree with the equivalent drag of both.

The lines enter the equations of the bodies by the impedance at their ends (`line_matrices`), from
which its value at frequency zero is taken: the static stiffness is that of the linear model
already. Junctions are eliminated alike. Drag on nodes and junctions is linearised as that on
bodies (`drag`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swelltree.describe.errors import warn_user
from swelltree.hydro.morison.drag import DragPieces
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import lines_of, required_lines
from swelltree.multibody.kinematics import with_world
from swelltree.spatial.rotations import matvec, skew
from swelltree.studies.linear.drag import (
    ROUNDS,
    DragSolver,
    LinearDrag,
    Waves,
    cycle,
    gaussian,
)
from swelltree.studies.linear.line_matrices import Condensed, LineGroup, LinesAtRest, lines_at_rest
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.studies.linear.wave_forces import water_velocity

TOLERANCE = 1e-5  # of the largest motion
AT_ONCE = 64  # waves: the blocks of more would not fit into the cache


class LineDrag(NamedTuple):
    """Equivalent matrices of all pieces of drag: on bodies, on nodes and junctions."""

    bodies: list[np.ndarray]
    points: list[np.ndarray]


class Motion(NamedTuple):
    """Motion per metre of wave amplitude."""

    y: np.ndarray  # (c, f) free directions of the bodies
    points: np.ndarray  # (c, k, 3) nodes of all lines, then junctions
    tension: np.ndarray  # (c, line, segment)
    end_force: np.ndarray  # (c, line, 2, 3) on what holds the ends A and B


class LineSystem:
    """Dynamic lines on the bodies of a linear model.

    Args:
        linear: bodies, with lines as static catenaries and drag apart.
        at_rest: the lines.
    """

    def __init__(self, linear: LinearModel, at_rest: LinesAtRest) -> None:
        self.linear, self.model, self.lines = linear, at_rest.model, at_rest.lines
        dynamic, rest = required_lines(at_rest.model), at_rest.rest
        self.names, self.n = dynamic.pieces, dynamic.nodes.n
        self.end_force = at_rest.end_force
        counts = [line.nodes for line in self.lines]
        self.offset: list[int] = np.cumsum([0, *counts]).tolist()
        self.sizes = sorted(set(counts))
        self.rows = [np.flatnonzero(np.array(counts) == size) for size in self.sizes]
        self.groups = [LineGroup([self.lines[k] for k in rows]) for rows in self.rows]
        J = len(dynamic.junctions)
        self.junctions = J
        # junctions that a tie holds on a body move with it
        pose = rest.state.pose
        R = with_world(np.asarray(pose.R), np.eye(3))
        to_bodies = with_world(
            np.asarray(linear.to_bodies).reshape(-1, 6, linear.free), np.zeros((6, linear.free))
        )

        def carried(body: np.ndarray, point: np.ndarray) -> np.ndarray:
            """Motion of points on bodies per free direction (k, 3, f)."""
            arm = matvec(R[body], point)
            return to_bodies[body, :3] - skew(arm) @ to_bodies[body, 3:]

        free = linear.free + 3 * J
        own = np.zeros((J + 1, 3, free))
        for j in range(J):
            own[j, :, linear.free + 3 * j : linear.free + 3 * j + 3] = np.eye(3)
        held = [
            k
            for k, waits in enumerate(dynamic.tie_waits)
            if waits == 0.0 and not np.asarray(rest.state.let_go)[k]
        ]
        self.tied = [dynamic.tie_junction[k] for k in held if dynamic.tie_junction[k] < J]
        for k in held:
            j = dynamic.tie_junction[k]
            if j < J:
                own[j] = 0.0
                at = carried(np.array([dynamic.tie_body[k]]), np.asarray(dynamic.tie_point)[[k]])
                own[j, :, : linear.free] = at[0]
        ends = np.zeros((len(dynamic.end_body), 3, free))
        body = np.array(dynamic.end_body, dtype=int)
        ends[:, :, : linear.free] = carried(body, np.asarray(dynamic.end_point))
        ends = ends + own[np.array(dynamic.end_junction, dtype=int)]
        self.own = own[:J]
        self.ends = ends.reshape(len(self.lines), -1, free)  # (line, points * 3, masters)
        self.junction_position = np.asarray(rest.state.lines.y)
        rho = float(self.model.rho)
        volume = rho * np.asarray(dynamic.junction_volume, float)
        added = np.asarray(dynamic.junction_added, float)
        self.junction_mass = np.asarray(dynamic.junction_mass, float) + volume * added
        self.junction_fluid = volume * (1.0 + added)
        self.drag = self._pieces(0.5 * rho * np.asarray(dynamic.junction_drag, float))

    def _pieces(self, junction_drag: np.ndarray) -> list[DragPieces]:
        """Drag across and along the nodes, and that of clumps and junctions."""
        stack = lambda name: np.concatenate([getattr(line, name) for line in self.lines])  # noqa: E731
        self.at = np.concatenate([stack("position"), self.junction_position])
        t, drag, current = stack("tangent"), stack("drag"), stack("current")
        k = len(t)
        # two directions across
        aside = np.where(np.abs(t[:, 2:]) < 0.8, [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
        n = np.cross(t, aside)
        n = n / np.linalg.norm(n, axis=1, keepdims=True)
        across = np.stack([n, np.cross(t, n)], 1)
        isotropic = np.concatenate([drag[:, 2], junction_drag])
        complete = np.flatnonzero(isotropic > 0.0)
        flow = np.concatenate([current, np.zeros((len(junction_drag), 3))])
        parts = [
            (np.arange(k), across, drag[:, 0]),
            (np.arange(k), t[:, None], drag[:, 1]),
            (complete, np.tile(np.eye(3), (len(complete), 1, 1)), isotropic[complete]),
        ]
        pieces = []
        for rows, axes, size in parts:
            if len(rows) and size.any():
                mean = (axes @ flow[rows, :, None])[..., 0]
                back = axes.swapaxes(1, 2)

                def law(w: np.ndarray, size: np.ndarray = size) -> np.ndarray:
                    return size[:, None] * np.linalg.norm(w, axis=-1, keepdims=True) * w

                pieces.append(DragPieces(rows, self.at[rows], axes, axes, mean, back, law))
        return pieces

    def water(self, waves: Waves) -> np.ndarray:
        """Water velocity at all points per metre of amplitude (c, k, 3)."""
        return water_velocity(self.linear.at.model, waves.omega, waves.beta, self.at)

    def point_damping(self, matrices: list[np.ndarray], count: int) -> np.ndarray:
        """Damping of all points (1 or c, k, 3, 3)."""
        k = len(self.at)
        waves = count if matrices and matrices[0].ndim == 4 else 1
        out = np.zeros((waves, k, 3, 3))
        for piece, B in zip(self.drag, matrices, strict=True):
            out[:, piece.body] += piece.to_wrench @ B @ piece.from_body
        return out

    def solved(
        self, waves: Waves, force: np.ndarray, equivalent: LinearDrag | None, points: np.ndarray
    ) -> Motion:
        """Motion per metre of bodies, nodes and junctions, some waves at a time.

        Args:
            waves: c of them.
            force: on the bodies (c, 6N).
            equivalent: damping of the bodies and its excitation, or None.
            points: damping of the points (1 or c, k, 3, 3).
        """
        parts = []
        for first in range(0, len(waves.omega), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            few = Waves(waves.omega[some], waves.beta[some], waves.amplitude[some])
            body = None
            if equivalent is not None:
                damping = equivalent.damping
                damping = damping[some] if damping.ndim == 3 else damping
                body = LinearDrag(damping, equivalent.force[some])
            parts.append(
                self._solved(few, force[some], body, points[some] if len(points) > 1 else points)
            )
        return Motion(*(np.concatenate(rows) for rows in zip(*parts, strict=True)))

    def _solved(
        self, waves: Waves, force: np.ndarray, equivalent: LinearDrag | None, points: np.ndarray
    ) -> Motion:
        linear, w = self.linear, waves.omega
        c = len(w)
        u = self.water(waves)
        push = self._push(w, u, points)
        assembled = self._assembled(w, points, push)
        still = self._assembled(np.zeros(1), 0.0 * points[:1], 0.0 * push[:1])
        Z, g = self._without_junctions(*assembled[:2])
        Z0, _ = self._without_junctions(*still[:2])
        damping = None
        if equivalent is not None:
            shape = (c, *equivalent.damping.shape[-2:])
            damping = np.broadcast_to(equivalent.damping, shape)
            force = force + equivalent.force
        D = linear.impedance(w, damping) + Z - Z0
        y = np.linalg.solve(D, (force @ linear.to_bodies + g)[..., None])[..., 0]
        masters = np.concatenate([y, self._junctions(*assembled[:2], y)], -1)
        return self._moved(w, masters, assembled[2], points, push)

    def _push(self, w: np.ndarray, u: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """Water force on all points per metre of amplitude (c, k, 3): inertia and drag."""
        fluid = np.concatenate(
            [line.fluid for line in self.lines]
            + [mass * np.eye(3)[None] for mass in self.junction_fluid]
        )
        both = -1j * w[:, None, None, None] * fluid + damping
        return (both @ u[..., None])[..., 0]

    def _of_group(self, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Values at points (c, k, ...) of the lines of a group (c, g, m, ...)."""
        places = [np.arange(self.offset[k], self.offset[k + 1]) for k in rows]
        return x[:, np.stack(places)]

    def _assembled(
        self, w: np.ndarray, damping: np.ndarray, push: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[Condensed]]:
        """Impedance and force of bodies and junctions by lines, and the condensed lines."""
        size = self.ends.shape[-1]
        Z = np.zeros((len(w), size, size), dtype=complex)
        g = np.zeros((len(w), size), dtype=complex)
        parts = []
        for rows, group in zip(self.rows, self.groups, strict=True):
            forces = self._of_group(rows, push)
            part = group.condensed(w, self._of_group(rows, damping), forces)
            E = self.ends[rows]
            Z += (E.swapaxes(1, 2) @ part.impedance @ E).sum(1)
            g += (E.swapaxes(1, 2) @ part.force[..., None])[..., 0].sum(1)
            parts.append(part)
        first = self.offset[-1]
        for j in range(self.junctions):
            E = self.own[j]
            own = -(w[:, None, None] ** 2) * self.junction_mass[j] * np.eye(3)
            own = own - 1j * w[:, None, None] * damping[:, first + j]
            Z += E.T @ own @ E
            g += push[:, first + j] @ E
        return Z, g, parts

    def _without_junctions(self, Z: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Impedance and force of the bodies with the junctions eliminated."""
        f = self.linear.free
        if not self.junctions:
            return Z, g
        Z_jj = self._regular(Z)
        both = np.concatenate([Z[:, f:, :f], g[:, f:, None]], -1)
        X = np.linalg.solve(Z_jj, both)
        reduced = Z[:, :f, :f] - Z[:, :f, f:] @ X[..., :-1]
        return reduced, g[:, :f] - (Z[:, :f, f:] @ X[..., -1:])[..., 0]

    def _regular(self, Z: np.ndarray) -> np.ndarray:
        """Impedance of the junctions; tied ones are not unknowns."""
        f = self.linear.free
        Z_jj = Z[:, f:, f:].copy()
        size = 1e-9 * np.abs(Z_jj).max((1, 2), initial=1e-9)
        Z_jj += size[:, None, None] * np.eye(Z_jj.shape[-1])
        for j in self.tied:
            Z_jj[:, 3 * j : 3 * j + 3, 3 * j : 3 * j + 3] += np.eye(3)
        return Z_jj

    def _junctions(self, Z: np.ndarray, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Motion of the junctions (c, 3J) for that of the bodies."""
        f = self.linear.free
        if not self.junctions:
            return np.zeros((len(y), 0))
        right = g[:, f:] - (Z[:, f:, :f] @ y[..., None])[..., 0]
        return np.linalg.solve(self._regular(Z), right[..., None])[..., 0]

    def _moved(
        self,
        w: np.ndarray,
        masters: np.ndarray,
        parts: list[Condensed],
        damping: np.ndarray,
        push: np.ndarray,
    ) -> Motion:
        """Nodes, tensions and attachment forces for the motion of the masters."""
        c, f = len(w), self.linear.free
        points = np.zeros((c, len(self.at), 3), dtype=complex)
        tension = np.full((c, len(self.lines), self.n), np.nan, dtype=complex)
        force = np.zeros((c, len(self.lines), 2, 3), dtype=complex)
        for rows, group, part in zip(self.rows, self.groups, parts, strict=True):
            ends = (self.ends[rows] @ masters[:, None, :, None])[..., 0]
            shape = (c, len(rows), -1, 3)
            inner = part.inner(ends).reshape(shape)
            r = np.concatenate([ends[..., None, :3], inner, ends[..., None, 3:6]], -2)
            on_ends = part.force - (part.impedance @ ends[..., None])[..., 0]
            force[:, rows] = on_ends[..., :6].reshape(c, len(rows), 2, 3)
            for i, k in enumerate(rows):
                line = group.lines[i]
                points[:, self.offset[k] : self.offset[k + 1]] = r[:, i]
                grows = (np.diff(r[:, i], axis=1) * line.direction).sum(-1)
                rate = line.axial - 1j * w[:, None] * line.axial_damping
                tension[:, k, line.first :] = rate * grows
        if self.junctions:
            moved = (self.own @ masters[:, None, :, None])[..., 0]
            points[:, self.offset[-1] :] = moved
        return Motion(masters[:, :f], points, tension, force)


class CoupledDrag:
    """Finds drag on bodies and lines, and motions, that agree.

    Args:
        system: bodies and lines.
        waves: the waves.
        force: excitation of the bodies per metre without that by drag, (c, 6N).
    """

    def __init__(self, system: LineSystem, waves: Waves, force: np.ndarray) -> None:
        self.system, self.waves, self.force = system, waves, force
        linear = system.linear
        self.bodies = DragSolver(linear.at.model, linear.drag, waves, None)
        self.water = system.water(waves)

    def matrices(self, X: np.ndarray, points: np.ndarray, how: str) -> LineDrag:
        """Equivalent matrices for the motion of bodies (c, 6N) and points (c, k, 3)."""
        a, w = self.waves.amplitude, self.waves.omega
        bodies = self.bodies.matrices(X, how) if self.system.linear.drag else []
        flow = self.water + 1j * w[:, None, None] * points
        found = []
        for piece in self.system.drag:
            relative = (piece.from_water @ flow[:, piece.body, :, None])[..., 0]
            if how == "harmonic":
                found.append(cycle(a[:, None, None] * relative, piece.mean, piece))
            else:
                both = relative[..., :, None] * np.conj(relative[..., None, :])
                covariance = 0.5 * np.einsum("c,ckij->kij", a**2, np.real(both))
                found.append(gaussian(covariance, piece.mean, piece))
        return LineDrag(bodies, found)

    def solved(self, matrices: LineDrag) -> Motion:
        """Motion under the equivalent drag."""
        equivalent = self.bodies.linear(matrices.bodies) if matrices.bodies else None
        damping = self.system.point_damping(matrices.points, len(self.waves.omega))
        return self.system.solved(self.waves, self.force, equivalent, damping)

    def run(self, how: str) -> tuple[Motion, LineDrag, int]:
        """Motion per metre of amplitude, its drag matrices, and the number of iterations."""
        linear, size = self.system.linear, self.waves.amplitude[:, None]
        c = len(size)
        X = np.zeros((c, linear.to_bodies.shape[0]), dtype=complex)
        points = np.zeros((c, len(self.system.at), 3), dtype=complex)
        matrices, change = self.matrices(X, points, how), np.inf
        moved, last = None, None
        for count in range(1, ROUNDS + 1):
            moved = self.solved(matrices)
            both = np.concatenate([moved.y @ linear.to_bodies.T, moved.points.reshape(c, -1)], -1)
            if last is not None:
                top = max(np.abs(size * both).max(), 1e-300)
                change = np.abs(size * (both - last)).max() / top
            last = both
            if change < TOLERANCE:
                return moved, matrices, count
            fresh = self.matrices(both[:, : X.shape[1]], moved.points, how)
            # the mean of old and new, as of bodies
            pairs = [list(zip(a, b, strict=True)) for a, b in zip(matrices, fresh, strict=True)]
            matrices = LineDrag(*([0.5 * (a + b) for a, b in part] for part in pairs))
        warn_user(
            f"drag linearisation: bodies and lines still change by {100 * change:.2g} % after "
            f"{ROUNDS} rounds. Compare with simulate."
        )
        assert moved is not None
        return moved, matrices, ROUNDS


def line_system(linear: LinearModel, model: Model) -> LineSystem | None:
    """The dynamic lines of a model on the bodies of its linear one; None without any.

    Args:
        linear: of the model, with drag apart.
        model: compiled, with its dynamic lines.
    """
    lines = lines_of(model)
    if lines is None or lines.arrays is None:
        return None
    return LineSystem(linear, lines_at_rest(model))
