"""One boundary-element computation by Capytaine: panels in, coefficients out.

Radiation and diffraction problems are solved one frequency at a time by the direct method (the
potential is the unknown); the indirect one is only first order in the panel size. Capytaine skips
a problem that fails with no more than a warning, so every value is looked at here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swelltree.hydro.meshes import to_capytaine
from swelltree.system.errors import SwelltreeError
from swelltree.system.panels import Panels
from swelltree.system.values import DOFS
from swelltree.system.water import Water

METHOD = "direct"
GREEN = ("auto", "delhommeau", "delhommeau_legacy", "liang_wu_noblesse")


@dataclass(frozen=True)
class Wetted:
    """A body as the BEM sees it: its name, panels in the world and the centre of its rotations."""

    name: str
    panels: Panels
    center: np.ndarray


@dataclass
class Solved:
    """Coefficients, frequency first; what was left out and why.

    Args:
        omega: frequencies that were solved [rad/s], 0 and inf among them.
        added_mass: (omega, dof, dof), force first, motion second.
        radiation_damping: the same.
        froude_krylov: (omega, direction, dof), zero where omega is 0 or inf.
        diffraction: the same.
        notes: sentences.
    """

    omega: np.ndarray
    added_mass: np.ndarray
    radiation_damping: np.ndarray
    froude_krylov: np.ndarray
    diffraction: np.ndarray
    notes: list[str] = field(default_factory=list)


def import_capytaine() -> Any:
    """Capytaine, or how to get it."""
    try:
        import capytaine
    except ImportError:
        raise SwelltreeError(
            "run_bem: Capytaine is not installed. Run `pip install swelltree[bem]`, "
            "or read results of another code by read_hydro(...)."
        ) from None
    if int(capytaine.__version__.split(".")[0]) < 3:
        raise SwelltreeError(
            f"run_bem: Capytaine {capytaine.__version__} is too old. "
            "Run `pip install --upgrade swelltree[bem]` for version 3 or later."
        )
    return capytaine


def green_functions(choice: str, thin: bool, depth: float) -> tuple[str, ...]:
    """Green functions to try, the preferred one first.

    Tabulated integrals (Delhommeau) are quick, but their noise can make the damping of a thin
    body negative; in deep water the expansions of Liang, Wu and Noblesse do not. In finite depth
    the second is Delhommeau's with another fit by exponentials. Capytaine's FinGreen3D is not
    offered: with the direct method its damping missed Haskind's relation by a tenth.
    """
    other = "liang_wu_noblesse" if np.isinf(depth) else "delhommeau_legacy"
    usual = ("delhommeau", other)
    if choice == "auto":
        return usual[::-1] if thin and np.isinf(depth) else usual
    return (choice, *(name for name in usual if name != choice))


def _make_green(name: str) -> Any:
    cpt = import_capytaine()
    if name == "liang_wu_noblesse":
        return cpt.LiangWuNoblesseGF()
    if name == "delhommeau_legacy":
        return cpt.Delhommeau(
            finite_depth_method="legacy", finite_depth_prony_decomposition_method="fortran"
        )
    return cpt.Delhommeau()


def solve(
    bodies: list[Wetted],
    omega: np.ndarray,
    directions: np.ndarray,
    water: Water,
    *,
    lid: bool,
    green: tuple[str, ...],
    method: str = METHOD,
    tick: Callable[[], None] = lambda: None,
) -> Solved:
    """Solve all problems of coupled bodies.

    Args:
        bodies: all bodies in the water.
        omega: frequencies [rad/s]; 0 and inf give the added mass only.
        directions: of the waves, towards [rad].
        water: density, gravity, depth.
        lid: put panels on the water inside the hulls.
        green: Green functions to try in turn.
        method: "direct" or "indirect".
        tick: called after each frequency.
    """
    cpt = import_capytaine()
    notes: list[str] = []
    with _quiet():
        floating = [_floating_body(body, lid) for body in bodies]
        body = floating[0] if len(floating) == 1 else cpt.Multibody(floating)
        _note_resolution(body, omega, water, lid, notes)
        solvers: dict[str, Any] = {}
        rows, kept = [], []
        for w in omega:
            found = None
            reasons = []
            for name in green:
                if name not in solvers:
                    solvers[name] = cpt.BEMSolver(green_function=_make_green(name), method=method)
                try:
                    found = _one(solvers[name], body, float(w), directions, water)
                except Exception as error:  # many kinds, none of them ours
                    reasons.append(f"{name}: {' '.join(str(error).split())[:120]}")
                    continue
                if name != green[0]:
                    notes.append(
                        f"omega = {w:.6g} rad/s was solved with the Green function {name}, because "
                        f"{reasons[0]}."
                    )
                break
            if found is None:
                notes.append(f"omega = {w:.6g} rad/s was left out: {'; '.join(reasons)}.")
            else:
                kept.append(w)
                rows.append(found)
            tick()
    if not rows:
        raise SwelltreeError(f"run_bem: no frequency could be solved. {notes[-1]}")
    A, B, FK, D = (np.array(column) for column in zip(*rows, strict=True))
    return Solved(np.array(kept), A, B, FK, D, notes)


def _floating_body(body: Wetted, lid: bool) -> Any:
    cpt = import_capytaine()
    mesh = to_capytaine(body.panels, body.name)
    floats = bool((body.panels.vertices[:, 2] >= 0.0).any())
    inner = mesh.generate_lid() if lid and floats else None
    if inner is not None and inner.nb_faces == 0:
        inner = None
    dofs = cpt.rigid_body_dofs(rotation_center=tuple(body.center))
    named = {f"{body.name}__{dof}": dofs[dof] for dof in DOFS}
    return cpt.FloatingBody(mesh=mesh, lid_mesh=inner, dofs=named, name=body.name)


def _one(solver: Any, body: Any, w: float, directions: np.ndarray, water: Water) -> tuple[Any, ...]:
    """All problems of one frequency; anything that is not a finite number is an error."""
    cpt = import_capytaine()
    from capytaine.bem.airy_waves import froude_krylov_force

    labels = list(body.dofs)
    common = {
        "body": body,
        "omega": w,
        "water_depth": water.depth,
        "rho": water.rho,
        "g": water.g,
    }
    n = len(labels)
    A, B = np.zeros((n, n)), np.zeros((n, n))
    FK = np.zeros((len(directions), n), complex)
    D = np.zeros((len(directions), n), complex)
    for j, label in enumerate(labels):
        problem = cpt.RadiationProblem(radiating_dof=label, **common)
        result = solver.solve(problem, keep_details=False, _check_wavelength=False)
        A[:, j] = [result.added_mass[i] for i in labels]
        B[:, j] = [result.radiation_damping[i] for i in labels]
    if 0.0 < w < np.inf:
        for k, beta in enumerate(directions):
            problem = cpt.DiffractionProblem(wave_direction=float(beta), **common)
            result = solver.solve(problem, keep_details=False, _check_wavelength=False)
            undisturbed = froude_krylov_force(problem)
            FK[k] = [undisturbed[i] for i in labels]
            D[k] = [result.forces[i] for i in labels]
    for name, values in (("added mass", A), ("damping", B), ("force", FK), ("force", D)):
        if not np.isfinite(values).all():
            raise ValueError(f"the {name} is not a finite number")
    return A, B, FK, D


def _note_resolution(
    body: Any, omega: np.ndarray, water: Water, lid: bool, notes: list[str]
) -> None:
    """Sentences about panels too large for the waves and about irregular frequencies."""
    finite = omega[(omega > 0.0) & np.isfinite(omega)]
    if not finite.size or not water.g > 0.0:
        return
    highest = np.sqrt(2.0 * np.pi * water.g / float(body.minimal_computable_wavelength))
    if finite.max() > highest:
        notes.append(
            f"the panels are large for waves above omega = {highest:.3g} rad/s (fewer than about "
            f"8 on a wavelength). Give a smaller panel_size, or refine=True to see the error."
        )
    if not lid:
        first = float(body.first_irregular_frequency_estimate(g=water.g))
        if finite.max() > first:
            notes.append(
                f"irregular frequencies may begin at omega = {first:.3g} rad/s. Use lid=True."
            )


@contextmanager
def _quiet() -> Iterator[None]:
    """Capytaine's own warnings are said by our notes."""
    logger = logging.getLogger("capytaine")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
