"""One boundary-element computation by Capytaine: panels in, coefficients out.

Radiation and diffraction problems are solved one frequency at a time by the direct method (the
potential is the unknown); the indirect one is only first order in the panel size. Capytaine skips
a problem that fails with no more than a warning, so every value is looked at here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from swelltree.describe.bodies.meshes import Panels
from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.values import DOFS, NamedValues
from swelltree.hydro.bem.meshes import common_symmetry, folded, to_capytaine
from swelltree.hydro.bem.residuals import by_kind, residuals
from swelltree.hydro.data.relations import RESIDUAL

if TYPE_CHECKING:
    import capytaine as cpt


# --- Lids: panels inside a hull against irregular frequencies, only where the hull is there

PULLED = 0.05  # of the way to the middle of a panel, its corners are looked at
APART = 0.25  # of a panel: distance of a lid from the hull
RING = 2.0  # panels around a lid of rings are at most so long
BELOW = 1e-4  # of the draft: where the section of a lid on the surface itself is taken


def lid_inside(hull: Panels, mesh: cpt.Mesh, z: float, turns: int = 1) -> cpt.Mesh | None:
    """The lid of a hull at a height, None where no panel of it lies inside.

    Args:
        hull: panels of the wetted hull.
        mesh: the same for Capytaine.
        z: height [m], not above zero.
        turns: rotations about the origin that map the hull to itself; with as many panels around
            the lid is made of rings.
    """
    draft = -float(hull.vertices[:, 2].min())
    a, b = section(hull, min(z, -BELOW * draft))
    size = float(np.sqrt(mesh.faces_areas.mean()))
    around = 2.0 * np.pi * np.linalg.norm(a, axis=1).max(initial=0.0) / turns
    cells = _rings(a, b, size, turns) if around <= RING * size else _cells(a, b, size)
    cells = cells[_all_inside(cells, a, b)]
    if not len(cells):
        return None
    # downwards: Capytaine would turn them, and a single panel [3, 2, 1, 0] it takes for a triangle
    corners = np.pad(cells[:, ::-1].reshape(-1, 2), ((0, 0), (0, 1)), constant_values=z)
    return type(mesh)(vertices=corners, faces=np.arange(len(corners)).reshape(-1, 4).tolist())


def _all_inside(corners: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which panels (n, 4, 2) lie entirely inside."""
    middle = corners.mean(axis=1, keepdims=True)
    probes = np.concatenate([corners + PULLED * (middle - corners), middle], axis=1)
    result = inside(probes.reshape(-1, 2), a, b).reshape(probes.shape[:2])
    return np.asarray(result.all(axis=1))


def _cells(a: np.ndarray, b: np.ndarray, size: float) -> np.ndarray:
    """Squares of about that size around a section (n, 4, 2), counter-clockwise from above.

    Their numbers are even, so that the lid of a symmetric hull has its symmetry.
    """
    ends = np.concatenate([a, b])
    if not len(ends):
        return np.zeros((0, 4, 2))
    # a lid that meets the hull in an edge makes its equations singular
    low, high = ends.min(axis=0) + APART * size, ends.max(axis=0) - APART * size
    nx, ny = (2 * max(int(np.ceil(0.5 * x / size)), 1) for x in high - low)
    x, y = np.linspace(low[0], high[0], nx + 1), np.linspace(low[1], high[1], ny + 1)
    X, Y = np.meshgrid(x, y, indexing="ij")
    grid = np.stack([X, Y], -1)
    around = [grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]]
    return np.stack(around, 2).reshape(-1, 4, 2)


def _rings(a: np.ndarray, b: np.ndarray, size: float, turns: int) -> np.ndarray:
    """Panels of that height in rings around the origin (n, 4, 2), counter-clockwise from above."""
    ends = np.concatenate([a, b])
    if not len(ends):
        return np.zeros((0, 4, 2))
    radii = np.linalg.norm(0.5 * (a + b), axis=1)  # of the middles of sides
    low, high = radii.min() + APART * size, radii.max() - APART * size
    if inside(np.zeros((1, 2)), a, b)[0]:
        low = 0.0
    r = np.linspace(low, high, max(round((high - low) / size), 1) + 1)
    first = np.arctan2(*ends[np.linalg.norm(ends, axis=1).argmax(), ::-1])
    angle = first + 2.0 * np.pi / turns * np.arange(turns + 1)
    grid = r[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], -1)
    around = [grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]]
    return np.stack(around, 2).reshape(-1, 4, 2)


def section(hull: Panels, z: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the line segments in which the panels of a hull cross a level (s, 2) each."""
    corners = hull.vertices[hull.faces]
    triangles = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
    above = triangles[:, :, 2] > z
    alone = np.where(above.sum(axis=1) == 1, above.argmax(axis=1), (~above).argmax(axis=1))
    cut = triangles[above.any(axis=1) & ~above.all(axis=1)]
    alone = alone[above.any(axis=1) & ~above.all(axis=1)]
    tip = cut[np.arange(len(cut)), alone]

    def met(step: int) -> np.ndarray:
        other = cut[np.arange(len(cut)), (alone + step) % 3]
        part = (z - tip[:, 2]) / (other[:, 2] - tip[:, 2])
        return tip[:, :2] + part[:, None] * (other - tip)[:, :2]

    return met(1), met(2)


def inside(points: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which points (n, 2) lie within closed lines of segments a to b, by ray crossing."""
    x, y = points[:, :1], points[:, 1:]
    spans = (a[None, :, 1] > y) != (b[None, :, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = (y - a[None, :, 1]) / (b[:, 1] - a[:, 1])[None]
        ahead = a[None, :, 0] + part * (b[:, 0] - a[:, 0])[None] > x
    return (spans & ahead).sum(axis=1) % 2 == 1


METHOD = "direct"
NEGATIVE = 0.005  # of omega A: a diagonal damping more negative than this becomes NaN
OFF_DEEP = 0.02  # of omega A: farther from deep water than this becomes NaN in short waves
SHORT = 6.0  # k h from which waves do not feel the bottom
LIDS = (0.5, 1.0, 0.0)  # heights of a lid to try, as fractions of the lowest one
NO_LID = -1.0  # in place of the height of a lid
DEEPEST_LID = 0.5  # of the draft
BETTER = 0.8  # of the residuals of one way to solve: those of another must be smaller
GREEN = ("auto", "delhommeau", "delhommeau_legacy", "liang_wu_noblesse")


@dataclass(frozen=True)
class Wetted:
    """A body as the BEM sees it: its name, panels in the world and the centre of its rotations.

    Args:
        name: of the body.
        panels: that close the hull below the water.
        center: of its rotations [m].
        wet: those of them that meet the water.
        dofs: degrees of freedom that are solved.
    """

    name: str
    panels: Panels
    center: np.ndarray
    wet: Panels
    dofs: tuple[str, ...] = DOFS


@dataclass
class Solved:
    """Coefficients, frequency first; what was left out and why.

    Args:
        omega: frequencies that were solved [rad/s], 0 and inf among them.
        added_mass: (omega, dof, dof), force first, motion second.
        radiation_damping: the same.
        froude_krylov: (omega, direction, dof), zero where omega is 0 or inf.
        diffraction: the same.
        haskind: (omega, dof), see `residuals.residuals`.
        far_field: the same.
        lid: (omega,) height of the lid as a fraction of the lowest one, `NO_LID` without one.
        green: (omega,) name of the Green function.
        notes: messages.
    """

    omega: np.ndarray
    added_mass: np.ndarray
    radiation_damping: np.ndarray
    froude_krylov: np.ndarray
    diffraction: np.ndarray
    haskind: np.ndarray
    far_field: np.ndarray
    lid: np.ndarray
    green: np.ndarray
    notes: list[str] = field(default_factory=list)


class OneFrequency(NamedTuple):
    """Results of one frequency; see `Solved`."""

    added_mass: np.ndarray
    radiation_damping: np.ndarray
    froude_krylov: np.ndarray
    diffraction: np.ndarray
    haskind: np.ndarray
    far_field: np.ndarray


def import_capytaine() -> Any:
    """Import Capytaine, or explain how to install it."""
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


def _make_green(name: str) -> cpt.Delhommeau | cpt.LiangWuNoblesseGF:
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
    fixed: bool = False,
    method: str = METHOD,
    like: Solved | None = None,
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
        fixed: take the first of them wherever it gives numbers, however consistent they are.
        method: "direct" or "indirect".
        like: results of other panels, whose lids and Green functions are taken at every frequency;
            the error of the panels is the difference of results that have nothing else that
            differs.
        tick: called after each frequency.
    """
    notes: list[str] = []
    with quiet():
        tried = _Variants(bodies, water, omega, lid, method)
        _note_resolution(tried.body(None), omega, water, lid, notes)
        ways = {}
        if like is not None:
            heights = [None if lid == NO_LID else float(lid) for lid in like.lid]
            ways = dict(zip(like.omega, zip(like.green, heights, strict=True), strict=True))
        chosen: dict[float, _Trial] = {}
        better: dict[float, tuple[_Trial, _Trial]] = {}
        for w in omega:
            todo = list(tried.order(green))
            if w in ways:
                name, height = ways[w]
                others = [one for one in todo if one[1] == height and one[0] != name]
                todo = [(name, height), *others]
            free = () if fixed or w in ways else green
            found, reasons = _improved(tried, float(w), todo, free, directions)
            if not found:
                notes.append(f"omega = {w:.6g} rad/s was left out: {'; '.join(reasons)}.")
            else:
                first, last = found[0], found[-1]
                chosen[w] = last
                if first is not last:
                    better[float(w)] = first, last
                if reasons:
                    notes.append(
                        f"omega = {w:.6g} rad/s was solved with the Green function {last.green}, "
                        f"{_lid_words(last.lid)}, because {reasons[0]}."
                    )
            tick()
    if not chosen:
        raise SwelltreeError(f"run_bem: no frequency could be solved. {notes[-1]}")
    notes += _notes_on_better(better)
    rows = chosen.values()
    columns = [np.array(column) for column in zip(*(one.result for one in rows), strict=True)]
    lids = np.array([NO_LID if one.lid is None else one.lid for one in rows])
    names = np.array([one.green for one in rows])
    return Solved(np.array(list(chosen)), *columns, lid=lids, green=names, notes=notes)


class _Trial(NamedTuple):
    """The result of one way to solve a frequency."""

    result: OneFrequency
    green: str
    lid: float | None
    error: float  # mean of the residuals


def _improved(
    tried: _Variants,
    w: float,
    todo: list[tuple[str, float | None]],
    green: tuple[str, ...],
    directions: np.ndarray,
) -> tuple[list[_Trial], list[str]]:
    """Results of one frequency, each more consistent than the one before, and what failed before.

    What breaks the relations of the data is solved without the lid and with the other Green
    functions too. Near a deep plate none of these is the best at all frequencies: that of Liang, Wu
    and Noblesse is in long waves, Delhommeau's in short ones.

    Args:
        tried: solvers and bodies.
        w: frequency [rad/s].
        todo: Green functions and heights of the lid, the preferred ones first.
        green: the other Green functions that may be taken.
        directions: of the waves, towards [rad].
    """
    found: list[_Trial] = []
    reasons: list[str] = []
    while todo:
        name, height = todo.pop(0)
        try:
            result = _one(tried.solver(name), tried.body(height), w, directions, tried.water)
        except Exception as error:  # many kinds, none of them ours
            if not found:
                reasons.append(f"{name}: {' '.join(str(error).split())[:120]}")
            continue
        doubt = tried.doubt(w, result, height)
        if doubt is not None:
            if not found:
                reasons.append(f"{name}, {_lid_words(height)}: {doubt}")
            continue
        both = np.concatenate([result.haskind, result.far_field])
        trial = _Trial(result, name, height, float(both.mean()))
        if not found:
            also = [(name, None), *((other, height) for other in green)]
            todo = [one for one in todo if one in also and both.max() > RESIDUAL]
        elif trial.error >= BETTER * found[-1].error:
            continue
        found.append(trial)
    return found, reasons


def _notes_on_better(better: dict[float, tuple[_Trial, _Trial]]) -> Iterator[str]:
    """Where data are more consistent with another lid or Green function than the first."""
    lid = {w: pair for w, pair in better.items() if pair[0].lid != pair[1].lid}
    green = {w: pair for w, pair in better.items() if pair[0].green != pair[1].green}
    for text, found in (("the lid was left out", lid), ("another Green function was taken", green)):
        if found:
            first, last = max(found.values(), key=lambda pair: pair[0].error)
            yield (
                f"{text} at {len(found)} frequencies from {min(found):.4g} to {max(found):.4g} "
                f"rad/s, where the data are more consistent so (by {last.error:.0%} instead of "
                f"{first.error:.0%} on average)."
            )


def _lid_words(share: float | None) -> str:
    if share is None:
        return "no lid"
    return f"lid at {share:.0%} of its lowest height" if share else "lid on the surface"


def lid_height(body: Wetted, share: float, highest: float, g: float) -> float | None:
    """Of the lid of a body [m]: a fraction of the lowest that closes out irregular frequencies.

    Args:
        body: in the water; None for one that is under it.
        share: of the lowest.
        highest: frequency [rad/s].
        g: [m/s^2].
    """
    if not (body.panels.vertices[:, 2] >= 0.0).any():
        return None
    draft = -float(body.panels.vertices[:, 2].min())
    mesh = to_capytaine(body.panels, body.name)
    with np.errstate(invalid="ignore"):
        lowest = float(mesh.lowest_lid_position(highest, g=g))
    # not a number: there are none up to the highest frequency
    lowest = lowest if lowest < 0.0 else -draft
    return share * max(lowest, -DEEPEST_LID * draft)


def lid_heights(
    bodies: Sequence[Wetted], share: float | None, highest: float, g: float
) -> list[float | None]:
    """Of the lids of all bodies [m], at one height in those that touch over a face.

    No panels are left between these, so lids at two heights would leave a way round them to the
    water inside (float and spar of the RM3, 2.2 rad/s: the heave force on the float contradicts
    itself by 40 %, with one height by 0.4 %).

    Args:
        bodies: in the water.
        share: as for `lid_height`; None for no lids.
        highest: frequency [rad/s].
        g: [m/s^2].
    """
    if share is None:
        return [None] * len(bodies)
    heights = [lid_height(body, share, highest, g) for body in bodies]
    joined = [
        h is not None and body.wet.areas.sum() < 0.999 * body.panels.areas.sum()
        for body, h in zip(bodies, heights, strict=True)
    ]
    pairs = list(zip(heights, joined, strict=True))
    top = max((h for h, one in pairs if one and h is not None), default=0.0)
    return [top if one else h for h, one in pairs]


class _Variants:
    """The ways to solve a frequency, and whether what came out can be true.

    A lid on the surface itself, or nearer to it than a fifth of a panel, spoils short waves in any
    depth (barge 80 x 24 x 4 m, 2.2 rad/s: heave damping from -2.5e6 to 0.7e6 with the Green
    function; half a metre below all of them give 0.2e6 to 0.4e6). Half way down to the lowest lid
    that closes out irregular frequencies (Capytaine's estimate) is the first choice.
    """

    def __init__(
        self, bodies: list[Wetted], water: Water, omega: np.ndarray, lid: bool, method: str
    ) -> None:
        self.bodies, self.water, self.method = bodies, water, method
        self.built: dict[float | None, cpt.FloatingBody] = {}
        self.solvers: NamedValues = {}
        self.low = min(float(body.panels.vertices[:, 2].min()) for body in bodies)
        self.lids: list[float | None] = [None]
        floats = any((body.panels.vertices[:, 2] >= 0.0).any() for body in bodies)
        if lid and floats:
            self.lids = [*LIDS, None]
        finite = omega[(omega > 0.0) & np.isfinite(omega)]
        self.highest = float(finite.max(initial=1e-3))

    def order(self, green: tuple[str, ...]) -> Iterator[tuple[str, float | None]]:
        """Green functions and lid heights, preferred ones first."""
        for height in dict.fromkeys(self.lids):
            for name in green:
                yield name, height

    def body(self, height: float | None) -> cpt.FloatingBody:
        """All bodies with their lid at that height."""
        if height not in self.built:
            heights = lid_heights(self.bodies, height, self.highest, self.water.g)
            self.built[height] = floating_bodies(self.bodies, heights)
        return self.built[height]

    def solver(self, name: str) -> cpt.BEMSolver:
        if name not in self.solvers:
            cpt = import_capytaine()
            built = _make_green(name)
            self.solvers[name] = cpt.BEMSolver(green_function=built, method=self.method)
        return self.solvers[name]

    def doubt(self, w: float, result: OneFrequency, height: float | None) -> str | None:
        """Why damping is implausible: negative, or not the deep-water value in short waves."""
        if not 0.0 < w < np.inf:
            return None
        B = np.diagonal(result.radiation_damping)
        labels = list(self.body(height).dofs)
        size = w * by_kind(np.abs(np.diagonal(result.added_mass)), labels)
        k = int((B / size).argmin())
        if B[k] < -NEGATIVE * size[k]:
            return f"the damping of {labels[k]} was {B[k]:.3g}"
        deep = w**2 / self.water.g * self.water.depth > SHORT
        if np.isinf(self.water.depth) or not deep or -self.low > self.water.depth / 3.0:
            return None
        B_deep = self._deep_damping(w, height)
        k = int((np.abs(B - B_deep) / size).argmax())
        if abs(B[k] - B_deep[k]) > OFF_DEEP * size[k]:
            return f"the damping of {labels[k]} was {B[k]:.3g}, in deep water {B_deep[k]:.3g}"
        return None

    def _deep_damping(self, w: float, height: float | None) -> np.ndarray:
        cpt = import_capytaine()
        body, solver = self.body(height), self.solver("delhommeau")
        common = {"body": body, "omega": w, "rho": self.water.rho, "g": self.water.g}
        rows = []
        for label in body.dofs:
            problem = cpt.RadiationProblem(radiating_dof=label, water_depth=np.inf, **common)
            result: Any = solver.solve(problem, keep_details=False, _check_wavelength=False)
            rows.append(result.radiation_damping[label])
        return np.array(rows)


def floating_bodies(bodies: Sequence[Wetted], lids: Sequence[float | None]) -> cpt.FloatingBody:
    """All bodies for Capytaine, with what symmetry they have together.

    Args:
        bodies: in the water.
        lids: heights of their lids [m], None for no lid.
    """
    cpt = import_capytaine()
    hulls = [to_capytaine(body.wet, body.name) for body in bodies]
    turns = common_symmetry(hulls)
    turns = turns if isinstance(turns, int) else 1
    inner = [
        None if lid is None else lid_inside(body.panels, mesh, lid, turns)
        for body, mesh, lid in zip(bodies, hulls, lids, strict=True)
    ]
    symmetry = common_symmetry([*hulls, *(lid for lid in inner if lid is not None)])
    floating = []
    for body, mesh, lid in zip(bodies, hulls, inner, strict=True):
        dofs = cpt.rigid_body_dofs(rotation_center=tuple(body.center))
        floating.append(
            cpt.FloatingBody(
                mesh=folded(mesh, symmetry),
                lid_mesh=None if lid is None else folded(lid, symmetry),
                dofs={f"{body.name}__{dof}": dofs[dof] for dof in body.dofs},
                name=body.name,
            )
        )
    return floating[0] if len(floating) == 1 else cpt.Multibody(floating)


def _one(
    solver: cpt.BEMSolver, body: cpt.FloatingBody, w: float, directions: np.ndarray, water: Water
) -> OneFrequency:
    """All problems of one frequency; results that are not finite raise an error."""
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
    waves = 0.0 < w < np.inf
    potentials = []
    for j, label in enumerate(labels):
        problem = cpt.RadiationProblem(radiating_dof=label, **common)
        result: Any = solver.solve(problem, keep_details=waves, _check_wavelength=False)
        A[:, j] = [result.added_mass[i] for i in labels]
        B[:, j] = [result.radiation_damping[i] for i in labels]
        if waves:
            potentials.append(result.potential[body.hull_mask] / (-1j * w))
    if waves:
        for k, beta in enumerate(directions):
            problem = cpt.DiffractionProblem(wave_direction=float(beta), **common)
            result = solver.solve(problem, keep_details=False, _check_wavelength=False)
            undisturbed = froude_krylov_force(problem)
            FK[k] = [undisturbed[i] for i in labels]
            D[k] = [result.forces[i] for i in labels]
    for name, values in (("added mass", A), ("damping", B), ("force", FK), ("force", D)):
        if not np.isfinite(values).all():
            raise ValueError(f"the {name} is not a finite number")
    if not waves:
        return OneFrequency(A, B, FK, D, np.zeros(n), np.zeros(n))
    haskind, far = residuals(np.array(potentials), common, directions, A, B, FK, D)
    return OneFrequency(A, B, FK, D, haskind, far)


def _note_resolution(
    body: cpt.FloatingBody, omega: np.ndarray, water: Water, lid: bool, notes: list[str]
) -> None:
    """Messages about panels too large for the waves, and about irregular frequencies."""
    finite = omega[(omega > 0.0) & np.isfinite(omega)]
    if not finite.size or not water.g > 0.0:
        return
    highest = np.sqrt(2.0 * np.pi * water.g / float(body.minimal_computable_wavelength))
    if finite.max() > highest:
        notes.append(
            f"the panels are large for waves above omega = {highest:.3g} rad/s (fewer than about "
            "8 on a wavelength). Give a smaller panel_size, or refine=True to see the error."
        )
    if finite.max() > highest:
        warn_user("run_bem: " + notes[-1])
    if not lid:
        first = float(body.first_irregular_frequency_estimate(g=water.g))
        if finite.max() > first:
            notes.append(
                f"irregular frequencies may begin at omega = {first:.3g} rad/s. Use lid=True."
            )


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress Capytaine's warnings, which are replaced by notes."""
    logger = logging.getLogger("capytaine")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
