"""The default road: vector fitting, balanced truncation, then a passive form that is enlarged."""

import numpy as np

from swelltree.hydro.radiation.data import RadiationData, missing_mass
from swelltree.hydro.radiation.methods import vector_fitted
from swelltree.hydro.radiation.passive_form import FASTEST, Oscillators, PassiveProblem
from swelltree.hydro.radiation.reduction import StateSpace, balance, modes, truncate
from swelltree.jit import Array

MOST_ROWS = 60
WIDTHS = (0.1, 0.4, 0.03)  # damping of a new oscillator: at first, after one and two in vain
COSTLIER = 4.0  # squared misfit that faint damping may cost


class Part:
    """DOFs that radiate together, during the passive fit."""

    def __init__(self, data: RadiationData, basis: Array, most: int, enough: float) -> None:
        self.basis = basis
        self.K = basis.T @ data.K @ basis
        self.size = basis.shape[1]
        # a few dozen frequencies determine the fit
        rows = _telling_rows(data)
        omega = data.omega[rows] / data.omega[-1]
        # the weight of a frequency beside the width of its band
        width = np.gradient(data.omega)
        width[[0, -1]] /= 2
        weight = np.gradient(omega) * (data.weight / width)[rows]
        self.problem = PassiveProblem(omega, self.K[rows], weight)
        self.faint = self.problem.with_faint_damping()
        self.enough = enough  # misfit that is small enough
        self.settled = False
        self.data = data
        self.model = self._start(most)
        self.step = max(1, self.size // 5)
        self.idle = 0
        self._measure()

    def _start(self, most: int) -> Oscillators:
        """Oscillators with the poles of the balanced model, at most one for each DOF."""
        problem, count = self.problem, min(self.size, most)
        model = problem.none()
        if problem.omega.size >= 12:
            A, B, C = vector_fitted(problem.omega, problem.K, min(12, problem.omega.size // 2))
            _, right, left = balance(A, B, C)
            A, B, C = truncate(A, B, C, right, left, 2 * count)
            poles, V = modes(A)
            inputs, outputs = np.linalg.solve(V, B), C @ V
            for k in np.flatnonzero((poles.imag > 0) & (np.abs(poles) <= FASTEST)):
                R = 2 * (outputs[:, k, None] * inputs[k]).real
                size, direction = np.linalg.eigh((R + R.T) / 2)
                drive = np.sqrt(max(size[-1], 1e-4)) * direction[:, -1]
                model = model.with_one_more(abs(poles[k]), -2 * poles[k].real, drive)
        if model.frequency.size == 0:
            model = problem.grow(model)
        return self._refined(model)

    def enlarge(self, room: int) -> None:
        """Add a few oscillators, each refined together with all others."""
        for _ in range(min(self.step, room)):
            self.model = self.problem.grow(self.model, WIDTHS[self.idle])
        before = self.misfit
        self.model = self._refined(self.model)
        self._measure()
        # three enlargements in vain: what is left is noise
        self.idle = self.idle + 1 if self.misfit > 0.96 * before else 0

    def _refined(self, model: Oscillators) -> Oscillators:
        """Refined overall and, if nearly converged, with small damping."""
        near = self.problem.refine(model)
        self.settled = False
        if self._misfit(near) > COSTLIER * self.enough:
            return near
        return self._with_faint(near)

    def _with_faint(self, near: Oscillators) -> Oscillators:
        """Correct small damping; with too few oscillators the overall misfit decides."""
        both = self.faint.refine(near)
        self.settled = self._misfit(both) <= max(COSTLIER * self._misfit(near), self.enough)
        return both if self.settled else near

    def finish(self) -> None:
        """Correct small damping at the end, if the requested error was not reached."""
        if not self.settled:
            self.model = self._with_faint(self.model)
            self._measure()

    def _misfit(self, model: Oscillators) -> float:
        omega, weight = self.data.omega, self.data.weight
        gap = self.K - model.transfer(1j * omega / omega[-1])
        gap = gap - 1j * omega[:, None, None] * missing_mass(omega, weight, gap)
        return float(np.einsum("f,fij->", weight, np.abs(gap) ** 2))

    def _measure(self) -> None:
        self.misfit = self._misfit(self.model)


def _telling_rows(data: RadiationData) -> Array:
    """At most this many frequencies, denser where K has curvature or its misfit has more weight."""
    if data.omega.size <= MOST_ROWS:
        return np.arange(data.omega.size)
    step = np.linalg.norm(np.diff(data.K, axis=0), axis=(1, 2))
    way = [np.ones(data.omega.size - 1), step, np.maximum(data.weight[1:], data.weight[:-1])]
    along = np.append(0.0, np.cumsum(sum(each / each.sum() for each in way)))
    even = np.interp(np.linspace(0.0, along[-1], MOST_ROWS), along, np.arange(along.size))
    return np.unique(even.round().astype(int))


def passive(
    data: RadiationData, error: float, limit: int, entry_order: int
) -> tuple[StateSpace, Array | None, list[str]]:
    """Passive oscillators for every part, extended where the misfit is largest."""
    full = float(np.einsum("f,fij->", data.weight, np.abs(data.K) ** 2))
    # oscillators are shared out by the number of motions, at least one for each part
    dofs = sum(basis.shape[1] for basis in data.parts)
    spare = limit // 2 - len(data.parts)
    enough = error**2 * full / max(len(data.parts), 1)
    parts = [Part(data, b, 1 + spare * b.shape[1] // dofs, enough) for b in data.parts]
    # what couples the parts is noise; it counts as misfit
    inside = sum(float(np.einsum("f,fij->", data.weight, np.abs(p.K) ** 2)) for p in parts)
    between = max(full - inside, 0.0)

    def states() -> int:
        return sum(2 * p.model.frequency.size for p in parts)

    while states() + 2 <= limit:
        near = np.sqrt((sum(p.misfit for p in parts) + between) / full) <= error
        hopeful = [p for p in parts if p.idle < 3 and not (near and p.settled)]
        if not hopeful:
            break
        worst = max(hopeful, key=lambda p: p.misfit)
        worst.enlarge((limit - states()) // 2)
    for part in parts:
        part.finish()
    m, k = data.scale.size, states()
    A, B = np.zeros((k, k)), np.zeros((k, m))
    at = 0
    for part in parts:
        a, b, _ = part.model.state_space()
        n = a.shape[0]
        A[at : at + n, at : at + n] = a * data.omega[-1]
        B[at : at + n] = b @ part.basis.T * np.sqrt(data.omega[-1])
        at += n
    notes = [
        "passive by construction: "
        + ", ".join(f"{p.model.frequency.size} oscillators for {p.size} motions" for p in parts)
        + "."
    ]
    return (A, B, B.T), np.eye(k), notes
