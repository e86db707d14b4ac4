r"""Linear model predictive control on the control-oriented model of a system.

With z = (y, y', chi), displacements and rates of the free directions and the states of the
radiation memory,

.. math::
    (M + P^\top A_\infty P) \ddot y + C \dot y + K y + P^\top C_r \chi = P^\top F_e + G^\top u,
    \qquad \dot\chi = A_r \chi + B_r P \dot y

is made discrete with inputs that change linearly over a sample. Every sample the controller
corrects its estimate of z by the measured strokes and rates (a Kalman filter of constant gain),
and solves a quadratic program for the forces over the horizon: most work taken from the motion,
within the force limit, and within the stroke limit as far as the force allows.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed
from swelltree.hydro.linear.hydro import linear_hydro
from swelltree.hydro.linear.radiation import radiation_memory
from swelltree.integrate.programming import solve_quadratic
from swelltree.model.model import Model
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.pto.controllers.controllers import (
    CompiledController,
    PlainLaw,
    with_controller,
)
from swelltree.spatial.linear_steps import first_order_hold
from swelltree.studies.control.actuators import Ports, find_ports, freed, port_rows
from swelltree.studies.control.linear import rest_strokes
from swelltree.studies.linear.linearise import linear_model
from swelltree.studies.options import linear_waves
from swelltree.waves.airy import Components
from swelltree.waves.sea import AnySea, RealisedSea
from swelltree.waves.spectral_lines import synthesised

SOFT = 1e3  # price of leaving the stroke limit, in units of the typical work
MIN_CURVATURE = 1e-7  # of the largest curvature of the work: smaller ones are raised to it


class Plant:
    """Discrete linear model: z+ = A z + B0 u + B1 u+ + E0 f + E1 f+, y = C z."""

    def __init__(self, model: Model, ports: Ports, sample: float) -> None:
        memory = radiation_memory(model)
        if linear_hydro(model) is None or (memory is not None and memory.fitted is None):
            raise SwelltreeError(
                "mpc: the model needs radiation states. Compile with radiation='state_space'."
            )
        how = chosen_formulation("path_matrix")
        self.linear = linear_model(model, how, "state_space", study="mpc")
        G, first = port_rows(ports, self.linear), self.linear.first_order()
        n, p = first.free, len(ports)
        B = np.concatenate([first.push @ G.T, first.push], axis=1)
        self.A, B0, B1 = first_order_hold(first.A, B, sample)
        self.B0, self.B1 = B0[:, :p], B1[:, :p]
        self.E0, self.E1 = B0[:, p:], B1[:, p:]
        self.C = np.zeros((2 * p, len(first.A)))
        self.C[:p, :n] = G
        self.C[p:, n : 2 * n] = G
        self.continuous = first.A, B[:, :p]


class Mpc:
    """The controller: a function of time, of what is measured, of its states and of a preview.

    It remembers nothing: estimate and decided forces are states of the run, and the sea ahead is
    that of the run. Between samples the force runs linearly from one decided value to the next,
    which was decided a sample ahead.

    `solves` counts the quadratic programs solved so far, in all runs.
    """

    def __init__(
        self,
        model: Model,
        ports: Ports,
        *,
        sample: float,
        horizon: int,
        force_max: float,
        stroke_max: float,
        noise: float,
    ) -> None:
        self.sample, self.horizon = sample, horizon
        self.force_max, self.stroke_max = force_max, stroke_max
        self.ports = ports
        self.plant = plant = Plant(model, ports, sample)
        if plant.linear.excitation.by_data is None:
            raise SwelltreeError("mpc: the model has no hydro data. Compile with hydro=...")
        rest = rest_strokes(model, chosen_formulation("path_matrix"), ports, plant.linear.at.state)
        self.rest = np.concatenate([rest, 0.0 * rest])
        self.gain = self._kalman(noise)
        self._predictor()
        self.solves = 0

    def __getstate__(self) -> Mapping[str, object]:
        # a copy has solved nothing yet, and what was solved changes no fingerprint
        return vars(self) | {"solves": 0}

    @property
    def states(self) -> tuple[str, ...]:
        """Names of controller states: the estimate, previous and present forces."""
        estimate = (f"estimate{k}" for k in range(len(self.plant.A)))
        forces = (f"{word}_{name}" for word in ("last", "force") for name in self.ports.names)
        return *estimate, *forces

    def preview(self, sea: RealisedSea | None) -> np.ndarray:
        """Waves as the controller gets them: ramp, then frequencies and complex forces.

        Args:
            sea: of the run, or forecast; None: still water.
        """
        n = self.plant.E0.shape[1]
        if sea is None:
            return np.zeros(1)
        if not isinstance(sea, Components) or not sea.is_known:
            raise SwelltreeError(
                "mpc works on linear waves whose numbers are known, and the sea of this run is not "
                "such a sea. Use RegularWave(...) or IrregularSea(...) outside of jit and grad, or "
                "give with_mpc a forecast."
            )
        linear = self.plant.linear
        assert linear.excitation.by_data is not None
        inside = linear.excitation.by_data.in_band(sea)
        w = np.asarray(sea.omega)[inside]
        F = linear.excitation(w, np.asarray(sea.beta)[inside])
        F = F * np.asarray(sea.complex_amplitude)[inside][:, None] @ linear.to_bodies
        assert F.shape == (len(w), n)
        parts = np.array([float(sea.ramp)]), w, F.real.reshape(-1), F.imag.reshape(-1)
        return np.concatenate(parts)

    def excitation(self, times: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Excitation in the free directions at times, from a preview."""
        n = self.plant.E0.shape[1]
        count = (len(known) - 1) // (1 + 2 * n)
        ramp, w, F = known[0], known[1 : 1 + count], known[1 + count :].reshape(2, count, n)
        grown = np.clip(times / ramp, 0.0, 1.0) if ramp > 0 else np.ones_like(times)
        envelope = 0.5 * (1.0 - np.cos(np.pi * grown))[:, None]
        return envelope * synthesised(times, w, F[0] + 1j * F[1])

    def _kalman(self, noise: float) -> np.ndarray:
        """Constant gain of the estimator; process noise enters with the forces."""
        from scipy.linalg import solve_discrete_are

        A, C = self.plant.A, self.plant.C
        drive = np.concatenate([self.plant.E0 + self.plant.E1, 1e-3 * np.eye(len(A))], axis=1)
        scale = max(float(np.abs(self.plant.E0 + self.plant.E1).max()), 1e-300)
        Q = drive @ drive.T / scale**2 * 1e-6 + 1e-12 * np.eye(len(A))
        N = noise**2 * np.eye(len(C))
        S = solve_discrete_are(A.T, C.T, Q, N)
        return S @ C.T @ np.linalg.inv(C @ S @ C.T + N)

    def _predictor(self) -> None:
        """Strokes over the horizon per force, state and excitation; the work as a quadratic."""
        plant, H, p = self.plant, self.horizon, len(self.ports)
        n = len(plant.A)
        free, forced = np.zeros((H, p, n)), np.zeros((H, p, H + 1, p))
        pushed = np.zeros((H, p, H + 1, plant.E0.shape[1]))
        state = np.eye(n)
        by_u, by_f = np.zeros((n, H + 1, p)), np.zeros((n, H + 1, plant.E0.shape[1]))
        for j in range(H):
            state = plant.A @ state
            by_u = np.tensordot(plant.A, by_u, 1)
            by_f = np.tensordot(plant.A, by_f, 1)
            by_u[:, j] += plant.B0
            by_u[:, j + 1] += plant.B1
            by_f[:, j] += plant.E0
            by_f[:, j + 1] += plant.E1
            free[j] = plant.C[:p] @ state
            forced[j] = np.tensordot(plant.C[:p], by_u, 1)
            pushed[j] = np.tensordot(plant.C[:p], by_f, 1)
        self.free, self.pushed = free, pushed
        # unknowns u_1 .. u_H; u_0 is decided already
        self.now = forced[:, :, 0]
        self.ahead = forced[:, :, 1:].reshape(H * p, H * p)
        # work of the PTO on the motion: sum of (u_j + u_j+1) / 2 (x_j+1 - x_j)
        difference = np.kron(np.eye(H) - np.eye(H, k=-1), np.eye(p))
        average = 0.5 * np.kron(np.eye(H) + np.eye(H, k=-1), np.eye(p))
        self.difference, self.average = difference, average
        work = average.T @ difference @ self.ahead
        hessian = work + work.T
        value, vector = np.linalg.eigh(hessian)
        self.scale = float(value.max())
        self.hessian = (vector * np.maximum(value, MIN_CURVATURE * self.scale)) @ vector.T

    def plan(self, f: np.ndarray, z: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Forces at the next samples, (horizon, p).

        Args:
            f: excitation now and at these samples.
            z: estimate now.
            u: force now.
        """
        H, p = self.horizon, len(self.ports)
        x0 = (self.plant.C @ z)[:p]
        unforced = (
            self.free @ z + self.now @ u + np.einsum("jphn,hn->jp", self.pushed, f)
        ).reshape(-1)
        moved = self.difference @ unforced
        moved[:p] -= x0
        g = self.average.T @ moved
        first = np.zeros(H * p)
        first[:p] = 0.5 * u
        g = g + (self.difference @ self.ahead).T @ first
        s = (
            self.force_max
            if np.isfinite(self.force_max)
            else max(np.abs(g).max() / self.scale, 1e-12)
        )
        cost = self.scale * s**2
        n = H * p
        Q = np.zeros((n + 1, n + 1))
        Q[:n, :n] = self.hessian * s**2 / cost
        Q[n, n] = SOFT
        c = np.append(g * s / cost, SOFT)
        rows, low, high = [np.eye(n + 1)[:n]], [np.full(n, -self.force_max / s)], []
        high.append(np.full(n, self.force_max / s))
        if np.isfinite(self.stroke_max):
            at = unforced + np.tile(self.rest[:p], H)
            A = self.ahead * s / self.stroke_max
            one = np.ones((n, 1))
            rows += [np.concatenate([A, -one], 1), np.concatenate([A, one], 1)]
            infinite = np.full(n, np.inf)
            low += [-infinite, -1.0 - at / self.stroke_max]
            high += [1.0 - at / self.stroke_max, infinite]
        rows.append(np.eye(n + 1)[n:])
        low.append(np.zeros(1))
        high.append(np.full(1, np.inf))
        solution = solve_quadratic(
            Q, c, np.concatenate(rows), np.concatenate(low), np.concatenate(high)
        )
        self.solves += 1
        best = solution.x[:n] if np.isfinite(solution.x).all() else np.zeros(n)
        return np.clip(s * best, -self.force_max, self.force_max).reshape(H, p)

    def __call__(self, t: float, requested: np.ndarray) -> np.ndarray:
        """The force of this sample, its slope towards the next one, and the next states.

        Args:
            t: a multiple of the sample [s].
            requested: strokes and rates, states, and the preview of a sea.
        """
        p, n = len(self.ports), len(self.plant.A)
        y, z, last, now, known = np.split(requested, np.cumsum([2 * p, n, p, p]))
        k = round(t / self.sample)
        f = self.excitation(self.sample * (k + np.arange(-1, self.horizon + 1)), known)
        plant = self.plant
        if k > 0:
            z = plant.A @ z + plant.B0 @ last + plant.B1 @ now + plant.E0 @ f[0] + plant.E1 @ f[1]
        z = z + self.gain @ (y - self.rest - plant.C @ z)
        ahead = self.plan(f[1:], z, now)[0]
        return np.concatenate([now, (ahead - now) / self.sample, z, now, ahead])


def with_mpc(
    model: Model,
    sea: AnySea,
    pto: str | Sequence[str] | None = None,
    *,
    force_max: float = np.inf,
    stroke_max: float = np.inf,
    sample: float | None = None,
    horizon: float | None = None,
    noise: float = 1e-4,
    case: int | str = 0,
    forecast: AnySea | None = None,
) -> tuple[Model, Mpc]:
    """The model under linear model predictive control, and the controller itself.

    It is a sampled `Controller`: its estimate and its decisions are part of a run, and every run,
    also of a batch or a campaign, has those of its own. It uses the future excitation of the sea of
    the run, or that of a forecast.

    Args:
        model: compiled with radiation="state_space".
        sea: a sea like those of the runs, by whose peak period sample and horizon are chosen.
        pto: name or names of PTOs without damping and stiffness of their own; laws of other PTOs
            are replaced by the controller.
        force_max: largest force [N, N m]; never exceeded.
        stroke_max: largest stroke [m, rad]; exceeded only if the force is not sufficient.
        sample: time between decisions [s]; a thirtieth of the peak period if not given.
        horizon: length of the prediction [s]; one and a half peak periods if not given.
        noise: standard deviation of the measured strokes and rates [m, m/s].
        case: number or name of the run.
        forecast: the sea that the controller expects in place of that of the run.
    """
    ports = find_ports(model, pto)
    model = freed(model, ports.place)
    for name, c, k in zip(ports.names, ports.damping, ports.stiffness, strict=True):
        if c or k:
            raise SwelltreeError(
                f"pto '{name}': damping {c:g} and stiffness {k:g} would add to the controller, "
                "which could then not keep its force limit. Set both to zero."
            )
    waves = linear_waves("mpc", model, sea, case)
    peak = 2 * np.pi / float(np.asarray(waves.omega)[np.asarray(waves.amplitude).argmax()])
    sample = peak / 30 if sample is None else sample
    length = 1.5 * peak if horizon is None else horizon
    mpc = Mpc(
        model,
        ports,
        sample=sample,
        horizon=max(2, int(np.ceil(length / sample))),
        force_max=force_max,
        stroke_max=stroke_max,
        noise=noise,
    )
    expected = None if forecast is None else linear_waves("mpc", model, forecast, case)
    return _sampled(model, ports, mpc, expected), mpc


def _sampled(model: Model, ports: Ports, mpc: Mpc, forecast: Components | None) -> Model:
    p, states = len(ports), mpc.states
    zero = np.concatenate([ports.zero, 0.0 * ports.zero])

    @functools.wraps(mpc)  # whose name and line messages give
    def from_zero(t: float, requested: np.ndarray) -> np.ndarray:
        return mpc(t, np.concatenate([requested[: 2 * p] - zero, requested[2 * p :]]))

    def preview(sea: RealisedSea | None) -> np.ndarray:
        return mpc.preview(sea if forecast is None else forecast)

    controller = CompiledController(
        PlainLaw(from_zero, 2 * p + len(states), ports.names[0]),
        tuple(("stroke", i, is_rate) for is_rate in (False, True) for i in ports.place),
        ports.place,
        name=f"mpc of {listed(ports.names)}",
        states=states,
        start=tuple(np.zeros(()) for _ in states),
        sample_time=np.array(mpc.sample),
        ramps=True,
        preview=preview,
        data=preview(None),
    )
    return with_controller(model, controller)
