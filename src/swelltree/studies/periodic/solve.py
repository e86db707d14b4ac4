"""Newton's method for periodic motions.

Small systems are solved with their whole Jacobian, from the slopes at the nodes. Large ones are
first multiplied by the inverse of the linear impedance, harmonic by harmonic. That alone makes a
good step, which costs one evaluation; where steps get shorter too slowly, the slopes at the nodes
are taken where the motion is, and each step is found by GMRES with them. In both the size of a
step is the estimate of the error of the motion (metres, radians, and internal states by their
values at rest): a step that would empty an accumulator is shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from swelltree.integrate.newton import continuation
from swelltree.integrate.problem import Code
from swelltree.jit import Tree
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.pto.actuators.forces import stroke_forces
from swelltree.studies.periodic.nodes import Nodes, Values, at_node, points_of
from swelltree.studies.periodic.problem import Period, flat, preconditioned, scaled, sizes

DENSE = 400  # unknowns up to which the whole Jacobian is formed
SHORTEST = 2.0**-7  # min fraction of a Newton step
SMALLEST = 1e-3  # min step of the continuation in wave height
LINEAR = 1e-4  # relative accuracy of GMRES; further steps make up for it
SOFT = 1e-9  # of the largest singular value: nothing holds this direction
PROBES = 6  # motions at which rates of internal states are compared
SLOW = 0.25  # of the step before: steps that shrink less need new slopes


@dataclass(frozen=True)
class PeriodicSolution:
    """Result of Newton's iteration."""

    Y: np.ndarray
    code: Code
    history: tuple[float, ...]  # largest estimated error of the motion, per iteration
    fraction: float  # part of the wave height reached
    period: Period  # with the directions that are pinned


def at_rest(how: Formulation, period: Period) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of the residual in w = (y, y', y'') in still water, and P."""
    still = scaled(period, 0.0).bare()
    size = 3 * sum(sizes(how, period))
    points = points_of(at_node, how)
    values, jacobians = points.jacobians(still, np.zeros(1), np.zeros((1, size)))
    return jacobians[0][0], values[2][0]


def pins(R0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions without mean stiffness, and the equations that they lack."""
    # rows and columns scaled, so that metres, radians and newtons compare
    row = np.abs(R0).max(axis=1)
    row = np.where(row > 0, row, 1.0)
    column = np.abs(R0 / row[:, None]).max(axis=0)
    column = np.where(column > 0, column, 1.0)
    U, size, Vt = np.linalg.svd(R0 / row[:, None] / column)
    soft = size < SOFT * size.max()
    directions, equations = Vt[soft] / column, U.T[soft] / row
    return (
        directions / np.linalg.norm(directions, axis=1, keepdims=True),
        equations / np.linalg.norm(equations, axis=1, keepdims=True),
    )


def conserved(how: Formulation, period: Period) -> np.ndarray:
    """Sums of internal states that nothing changes, such as the oil of a closed circuit, (c, u).

    Their rates cancel at rest and at motions drawn at random. Of the mean equations of these states
    one is then missing for each, and the sum itself keeps its value at the start.
    """
    n, m, k = sizes(how, period)
    u = n + m + k
    if not k:
        return np.zeros((0, u))
    still, draw = scaled(period, 0.0).bare(), np.random.default_rng(0)
    where = np.zeros((PROBES, 3 * u))
    scale = np.ones(u)
    scale[n + m :] = 1e-3 * np.maximum(np.abs(np.asarray(flat(period.internal))), 1e-3)
    where[1:, : 2 * u] = draw.normal(size=(PROBES - 1, 2 * u)) * np.tile(0.3 * scale, 2)
    points = points_of(at_node, how)
    slopes = points.jacobians(still, np.zeros(PROBES), where)[1][0][:, n + m :]
    slopes[:, :, u + n + m : 2 * u] = 0.0  # the rates themselves
    rows = np.swapaxes(slopes, 0, 1).reshape(k, -1)
    rows = rows[:, np.isfinite(rows).all(axis=0)]
    size = np.abs(rows).max(axis=1)
    moving = np.flatnonzero(size > 0.0)
    if not moving.size or not rows.size:
        return np.zeros((0, u))
    column = np.abs(rows[moving]).max(axis=0)
    rows = rows[moving][:, column > 0.0] / column[column > 0.0]
    U, singular, _ = np.linalg.svd(rows, full_matrices=True)
    rank = int((singular > SOFT * singular.max()).sum())
    out = np.zeros((len(moving) - rank, u))
    out[:, n + m + moving] = U[:, rank:].T
    return out


def all_pins(
    how: Formulation, period: Period, R0: np.ndarray, keep_states: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Directions and equations of `pins`, those of internal states first.

    Args:
        how: formulation.
        period: the problem.
        R0: slopes of the mean equations at equilibrium.
        keep_states: hold the means of all internal states at their start, not only what is
            conserved.
    """
    n, m, _ = sizes(how, period)
    sums = np.eye(len(R0))[n + m :] if keep_states else conserved(how, period)
    directions, equations = pins(with_pins(np.array(R0), *_sized(R0, sums)))
    return np.concatenate([sums, directions]), np.concatenate([sums, equations])


def _sized(R0: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pins whose size compares with that of their equations."""
    return max(np.abs(R0).max(initial=0.0), 1e-300) * sums, sums


def with_pins(Z: np.ndarray, directions: np.ndarray, equations: np.ndarray) -> np.ndarray:
    """Mean equations with pins in place of those that cannot be balanced."""
    for direction, equation in zip(directions, equations, strict=True):
        Z = Z - np.outer(equation, equation @ Z) + np.outer(equation, direction)
    return Z


def with_impedance(how: Formulation, period: Period, keep_states: bool = False) -> Period:
    """The period with the inverse of its linear impedance, and its pins."""
    jacobians, P = at_rest(how, period)
    u, n = len(jacobians), period.rest.s.shape[0]
    R0, R1, R2 = (jacobians[:, k * u : (k + 1) * u] for k in range(3))
    directions, equations = all_pins(how, period, R0, keep_states)
    N, omega = period.basis.harmonics, float(period.basis.omega)
    s = 1j * omega * np.arange(N + 1)[:, None, None]
    Z = R0 + s * R1 + s * s * R2
    Z[:, :n, :n] += s * (P.T @ np.asarray(period.memory)[: N + 1] @ P)
    Z[0] = with_pins(Z[0], directions, equations)
    inverse = np.linalg.inv(Z)
    return replace(period, inverse=inverse, pinned=directions, unbalanced=equations)


# Y, and whether steps got shorter too slowly -> estimated error, step
Evaluate = Callable[[np.ndarray, bool], tuple[float, np.ndarray]]


def _dense_evaluate(nodes: Nodes) -> Evaluate:
    def evaluate(Y: np.ndarray, _: bool) -> tuple[float, np.ndarray]:
        values, jacobians, mu = nodes.with_jacobians(nodes.inputs(Y))
        r = nodes.residual(Y, values, mu).reshape(-1)
        J = nodes.jacobian(values, jacobians, mu)
        if not (np.isfinite(r).all() and np.isfinite(J).all()):
            return np.inf, np.zeros_like(Y)
        scale = np.abs(J).max(axis=1)
        try:
            change = -np.linalg.solve(J / scale[:, None], r / scale).reshape(Y.shape)
        except np.linalg.LinAlgError:  # a trial step where something has no slope
            return np.inf, np.zeros_like(Y)
        return nodes.size(change), change

    return evaluate


class _Krylov:
    """Newton-Krylov steps for large problems."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.jacobians: tuple[Values, Values, np.ndarray] | None = (
            None  # at some motion on the way; none: those at rest
        )
        self.where: np.ndarray | None = None  # that motion

    def __call__(self, Y: np.ndarray, slow: bool) -> tuple[float, np.ndarray]:
        nodes, period = self.nodes, self.nodes.period
        w = nodes.inputs(Y)
        if slow:
            values, jacobians, mu = nodes.with_jacobians(w)
            self.jacobians, self.where = (values, jacobians, nodes.node_jacobians(jacobians, mu)), Y
        else:
            values, mu = nodes.at(w)
        change = -preconditioned(period, nodes.residual(Y, values, mu))
        size = nodes.size(change)
        if not np.isfinite(change).all():
            return np.inf, change
        if self.jacobians is None or size < 1e-14:
            return size, change
        from scipy.sparse.linalg import LinearOperator, gmres

        at, jacobians, rho = self.jacobians

        def push(d: np.ndarray) -> np.ndarray:
            moved = nodes.along(at, jacobians, rho, d.reshape(Y.shape))
            return preconditioned(period, moved).reshape(-1)

        # columns in units of displacements, so one scale serves all
        product = LinearOperator((Y.size, Y.size), matvec=push, dtype=float)  # type: ignore[call-arg]
        solution, _ = gmres(product, change.reshape(-1), rtol=LINEAR, restart=60, maxiter=5)
        return size, solution.reshape(Y.shape)


def newton(
    how: Formulation,
    period: Period,
    Y: np.ndarray,
    tol: float,
    max_iterations: int,
    keep_states: bool = False,
) -> PeriodicSolution:
    """Newton with a line search; continuation in wave height when that fails.

    Args:
        how: formulation.
        period: the problem.
        Y: coefficients to begin from.
        tol: of the estimated error.
        max_iterations: of Newton.
        keep_states: hold the means of all internal states at their start.
    """
    if Y.size > DENSE:
        period = with_impedance(how, period, keep_states)
    else:
        # the slopes at equilibrium show what nothing restrains
        jacobians, _ = at_rest(how, period)
        directions, equations = all_pins(how, period, jacobians[:, : Y.shape[1]], keep_states)
        period = replace(period, pinned=directions, unbalanced=equations)
    solution = _newton(how, period, Y, tol, max_iterations)
    if solution.code is Code.SUCCESS:
        return solution
    # from still water upwards, in steps that shrink on failure
    history = list(solution.history)

    def attempt(goal: float, reached: float, Y: np.ndarray) -> np.ndarray | None:
        guess = Y if reached == 0.0 else Y * goal / reached
        found = _newton(how, scaled(period, goal), guess, tol, max_iterations)
        history.extend(found.history)
        return found.Y if found.code is Code.SUCCESS else None

    best, reached = continuation(attempt, np.zeros_like(Y), 0.25, SMALLEST, largest=0.5)
    code = Code.SUCCESS if reached == 1.0 else Code.NO_PROGRESS
    return PeriodicSolution(best, code, tuple(history), reached, period)


def _newton(
    how: Formulation, period: Period, Y: np.ndarray, tol: float, max_iterations: int
) -> PeriodicSolution:
    nodes = Nodes(how, period)
    large = Y.size > DENSE
    evaluate: Evaluate = _Krylov(nodes) if large else _dense_evaluate(nodes)
    size, change = evaluate(Y, False)
    history = [size]
    for _ in range(max_iterations):
        if not np.isfinite(size):
            return PeriodicSolution(Y, Code.NOT_FINITE, tuple(history), 0.0, period)
        scale = tol * max(1.0, float(np.abs(Y).max()))
        if size <= scale:
            return PeriodicSolution(Y + change, Code.SUCCESS, tuple(history), 1.0, period)
        part = 1.0
        while part >= SHORTEST:
            now, next_change = evaluate(Y + part * change, False)
            if now < (1.0 - 1e-4 * part) * size:
                break
            part *= 0.5
        else:
            # at the limit of rounding nothing gets better
            if size <= 1e3 * scale:
                return PeriodicSolution(Y, Code.SUCCESS, tuple(history), 1.0, period)
            if not isinstance(evaluate, _Krylov) or evaluate.where is Y:
                return PeriodicSolution(Y, Code.NO_PROGRESS, tuple(history), 0.0, period)
            size, change = evaluate(Y, True)
            continue
        Y = Y + part * change
        if large and now > SLOW * size and now > scale:
            now, next_change = evaluate(Y, True)
        size, change = now, next_change
        history.append(size)
    return PeriodicSolution(Y, Code.TOO_MANY_STEPS, tuple(history), 0.0, period)


# --- Forces that change their sign over a small velocity: found from smoother ones, step by step

WIDER = 30.0  # times the velocities of the model: where the search for its motion begins
WIDEST = WIDER**3  # and where it begins at most, as a heavy flywheel needs
RATIO, MIN_RATIO = 2.0, 1.02  # of two widths in turn, and when no further one is tried
FIELDS = ("smoothing_velocity", "friction_velocity")
HARD = ("clutch_damping",)  # forces that are smooth where these are small


def smoother(model: Model, factor: float) -> Model:
    """The model with smoothing velocities multiplied by a factor."""
    forces = stroke_forces(model)
    if not forces.names:
        return model
    laws = []
    law: Tree
    for law in forces.laws:
        wide = {x: factor * np.asarray(getattr(law, x)) for x in FIELDS if hasattr(law, x)}
        wide |= {x: np.asarray(getattr(law, x)) / factor for x in HARD if hasattr(law, x)}
        laws.append(replace(law, **wide) if wide else law)
    return model.with_effect(replace(forces, laws=tuple(laws)))


def sharp_forces(model: Model) -> list[str]:
    """Text of the velocities over which forces change sign."""
    forces, names = stroke_forces(model), []
    for law, part in zip(forces.laws, forces.slices(), strict=True):
        for field in FIELDS:
            for k, value in enumerate(np.atleast_1d(getattr(law, field, []))):
                if field == "smoothing_velocity" or float(getattr(law, "friction", [0.0])[k]):
                    names.append(f"{field} of {forces.words(part.start + k)} ({value:g} m/s)")
    return names


def has_clutch(model: Model) -> bool:
    """Whether a clutch engages over a small slip velocity."""
    return any(hasattr(law, field) for law in stroke_forces(model).laws for field in HARD)


Search = Callable[[Model, np.ndarray, bool], PeriodicSolution]


def continued(search: Search, model: Model, Y: np.ndarray) -> PeriodicSolution:
    """The motion of a model found from that with smoother forces, in ratios that adapt.

    Smoother forces may pump so little that a motor empties its accumulator. Then the mean pressures
    are held at those of the start while forces become sharper, and released as late as possible.

    Args:
        search: for the motion of a model from coefficients; whether the means of internal states
            are held.
        model: with sharp forces.
        Y: coefficients to begin from.
    """

    def free(factor: float, Y: np.ndarray) -> PeriodicSolution:
        return search(smoother(model, factor), Y, False)

    def held(factor: float, Y: np.ndarray) -> PeriodicSolution:
        return search(smoother(model, factor), Y, True)

    factor, solution = _smoothest(free, Y)
    *_, (_, solution) = _sharper(free, factor, solution)
    if solution.code is Code.SUCCESS:
        return solution
    for factor, kept in reversed(list(_sharper(held, *_smoothest(held, Y)))):
        if kept.code is Code.SUCCESS:
            released = free(factor, kept.Y)
            *_, (_, released) = _sharper(free, factor, released)
            if released.code is Code.SUCCESS:
                return released
    return solution


Found = Callable[[float, np.ndarray], PeriodicSolution]  # at a width, from coefficients


def _smoothest(found_at: Found, Y: np.ndarray) -> tuple[float, PeriodicSolution]:
    """Smoothing width at which a motion is found from rest, and that motion."""
    factor = WIDER
    solution = found_at(factor, Y)
    while solution.code is not Code.SUCCESS and factor < WIDEST:
        factor *= WIDER
        solution = found_at(factor, Y)
    return factor, solution


def _sharper(
    found_at: Found, factor: float, solution: PeriodicSolution
) -> Iterator[tuple[float, PeriodicSolution]]:
    """Motions at decreasing widths; the last is that of the model, or has failed."""
    ratio = RATIO
    yield factor, solution
    while solution.code is Code.SUCCESS and factor > 1.0:
        narrower = max(1.0, factor / ratio)
        found = found_at(narrower, solution.Y)
        if found.code is Code.SUCCESS:
            solution, factor, ratio = found, narrower, min(RATIO, ratio**1.5)
            yield factor, solution
        else:
            ratio = np.sqrt(ratio)
            if ratio < MIN_RATIO:
                yield narrower, found
                return


def advice(model: Model) -> str:
    """Advice on smoothing for messages."""
    names = sharp_forces(model)
    forces = stroke_forces(model)
    for law, part in zip(forces.laws, forces.slices(), strict=True):
        for k, value in enumerate(np.atleast_1d(getattr(law, "clutch_damping", []))):
            names.append(
                f"the slip of {forces.words(part.start + k)} by a smaller clutch_damping "
                f"({value:g} N m s/rad)"
            )
    return f", raise {' and '.join(names)}," if names else ""
