"""What the searches for optimal forces on linear and nonlinear models share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
from swelltree.integrate.fourier import from_complex
from swelltree.integrate.programming import Optimum, minimise
from swelltree.jit import Tree
from swelltree.studies.control.actuators import Passive
from swelltree.studies.control.goal import ControlProgram, Goal
from swelltree.studies.control.limited import AtRest
from swelltree.studies.control.limits import why_not
from swelltree.studies.control.linear import Port
from swelltree.studies.control.series import Response

FAR = 100.0  # of the typical force: a search without limits that goes farther has no optimum
SHARPER = (0.3, 0.1, 0.03, 0.01, 0.003)  # of the typical power


@dataclass(frozen=True)
class SearchRequest:
    """Options of a search."""

    limits: NamedValues
    efficiency: float
    copper: np.ndarray  # (p,)
    tol: float
    max_iterations: int
    points: int | None
    starts: int
    nodes: int | None
    compare: bool


@dataclass(frozen=True)
class ControlSolution:
    """Result of a search before labelling."""

    response: Response
    optimum: Optimum
    program: ControlProgram
    goal: Goal
    passive: Passive
    bodies: np.ndarray  # (N + 1, 6N) complex displacements from rest, heading axes
    search_cpu: float  # s
    notes: tuple[str, ...] = ()


def scales(port: Port, waves_alone: np.ndarray, limits: NamedValues) -> tuple[Tree, float]:
    """Typical force of every element and typical power."""
    size = np.abs(
        np.linalg.inv(port.mobility + 1e-12 * np.abs(port.mobility).max() * np.eye(len(port.ports)))
    )
    moving = np.abs(waves_alone)
    rate = np.sqrt(0.5 * (moving**2).sum(axis=0))
    lead = int((moving**2).sum(axis=1).argmax())
    force = np.maximum(size[lead].sum(axis=1) * np.sqrt(0.5 * (moving**2).sum()), 1e-12)
    specified = limits.get("force_max")
    for i, name in enumerate(port.ports.names):
        limit = specified.get(name) if isinstance(specified, dict) else specified
        if limit is not None:
            force[i] = min(force[i], float(np.abs(limit).max()))
    power = float((force * rate).sum())
    return force, power if power > 0.0 else 1.0


def spread_scale(port: Port, force_scale: np.ndarray) -> np.ndarray:
    """Scale of every unknown, element by element."""
    c = 2 * port.harmonics + 1
    return np.concatenate(
        [np.full(c - (not has_mean), s) for s, has_mean in zip(force_scale, port.mean, strict=True)]
    )


def best_of_starts(
    program: ControlProgram,
    z: np.ndarray,
    requested: SearchRequest,
    multiplier: np.ndarray | None = None,
) -> Optimum:
    """Best optimum of several starts; the first from z, the others scattered around it."""
    if program.goal.efficiency < 1.0 or program.goal.limits_power:
        # the change from generating to motoring is sharpened in steps
        rounded, give = program.rounded, program.give
        for width in SHARPER:
            program.loosen(max(width, rounded), max(width, give))
            z = minimise(program, z, tol=1e-4, max_iterations=20).z
            multiplier = None
        program.loosen(rounded, give)
    best = minimise(
        program,
        z,
        tol=requested.tol,
        max_iterations=requested.max_iterations,
        multiplier=multiplier,
    )
    if program.convex:
        return best
    rng = np.random.default_rng(11)
    for _ in range(requested.starts - 1):
        try:
            other = minimise(
                program,
                z + 0.3 * rng.standard_normal(len(z)) / np.sqrt(len(z)),
                tol=requested.tol,
                max_iterations=requested.max_iterations,
            )
        except AssertionError:
            continue
        better = other.point.cost < best.point.cost or not best.converged
        if other.converged and other.feasible and better:
            best = other
    return best


def check_found(
    program: ControlProgram,
    port: Port,
    optimum: Optimum,
    requested: SearchRequest,
    stops: bool = False,
) -> None:
    """Reject solutions that are not optima."""
    if optimum.converged and optimum.feasible:
        return
    if not optimum.feasible:
        force_rows = (
            np.diag(port.mean.astype(float)) - port.ports.stiffness[:, None] * port.compliance
        )
        rest = AtRest(port.rest_stroke, port.compliance, port.rest_force, force_rows)
        raise SwelltreeError(why_not(program, port.ports, optimum.point, rest))
    force = float(np.abs(program.force_scale * optimum.z).max())
    if program.is_lost(optimum.z):
        raise SwelltreeError(
            f"optimal_control: after {len(optimum.history)} steps the search takes ever more power "
            f"by ever larger forces, {force:.2g} N or N m by now, more than {FAR:g} times those of "
            "the linear model. Limit force_max, stroke_max or velocity_max."
        )
    if len(optimum.history) >= requested.max_iterations:
        advice = f"Raise max_iterations above {requested.max_iterations}"
    elif stops:
        advice = "Give a stroke_max inside the end stops, more nodes, or softer stops"
    elif not program.requested:
        advice = (
            f"Nothing limits the forces, which have grown to {force:.2g} N or N m: "
            "limit force_max, stroke_max or velocity_max"
        )
    else:
        advice = "Nothing near gets better: give starts=4, fewer harmonics, or more nodes"
    raise SwelltreeError(
        f"optimal_control: the search stopped with a KKT residual of {optimum.kkt:.2g} after "
        f"{len(optimum.history)} steps. {advice}."
    )


def series_of(port: Port, x: np.ndarray, v: np.ndarray, F: np.ndarray) -> Response:
    """Series of complex harmonics about the equilibrium."""
    none = np.zeros((0, 0, 0))
    mean = np.zeros((1, len(port.ports)))
    parts = [
        from_complex(np.concatenate([start[None] + 0j, y]))
        for start, y in ((port.rest_stroke, x), (mean[0], v), (port.rest_force, F))
    ]
    return Response(parts[0], parts[1], parts[2], none, none, none)
