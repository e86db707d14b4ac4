r"""Radiation as oscillators that cannot return energy.

The memory force of the water is written as that of :math:`p` oscillators of unit mass,
driven by the body velocity through :math:`\beta`, with springs :math:`\Omega^2` (diagonal)
and dampers :math:`D = L L^\top + \delta I`:

.. math:: K(s) = s\,\beta^\top \left(s^2 I + s D + \Omega^2\right)^{-1} \beta

Every such K is stable, symmetric, positive real and zero at s = 0 and s = infinity, whatever the
numbers in it, so they can be fitted freely: here by Levenberg-Marquardt, adding
oscillators where the misfit is largest (docs/theory/radiation.md).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float
from numpy import ndarray as Array

FASTEST = 2.5  # natural frequencies stay below this many times the band
STIFFEST = 4.0  # dampers stay below this many times the band
SLOWEST = 2e-3  # least damping, as a part of the band: every mode decays
FENCE = 0.05  # weight of the two upper limits


@dataclass(frozen=True)
class Oscillators:
    """Parameters of the passive form (scaled freedoms).

    Args:
        frequency: natural frequencies, the square roots of the springs [rad/s].
        L: factor of the damper matrix, lower triangular.
        beta: how each oscillator is driven by each freedom.
        least: damping that every oscillator has at least [rad/s].
    """

    frequency: Float[Array, " p"]
    L: Float[Array, "p p"]
    beta: Float[Array, "p m"]
    least: float

    @property
    def damping(self) -> Float[Array, "p p"]:
        """Damper matrix, positive definite."""
        return self.L @ self.L.T + self.least * np.eye(self.frequency.size)

    def solve(self, s: Complex[Array, " f"]) -> Complex[Array, "f p m"]:
        """Response of every oscillator to unit velocities, divided by s."""
        i = np.arange(self.frequency.size)
        Z = s[:, None, None] * self.damping
        Z[:, i, i] += (s**2)[:, None] + self.frequency**2
        return np.linalg.solve(Z, np.broadcast_to(self.beta, (s.size, *self.beta.shape)))

    def transfer(self, s: Complex[Array, " f"]) -> Complex[Array, "f m m"]:
        """K(s)."""
        return s[:, None, None] * (self.beta.T @ self.solve(s))

    def state_space(self) -> tuple[Array, Array, Array]:
        """A, B and C = B' with springs first: chi' = A chi + B v, force = C chi.

        The energy stored by the water is half the square of chi.
        """
        p = self.frequency.size
        W = np.diag(self.frequency)
        A = np.block([[np.zeros((p, p)), W], [-W, -self.damping]])
        B = np.vstack([np.zeros_like(self.beta), self.beta])
        return A, B, B.T

    def with_one_more(self, frequency: float, damping: float, drive: Array) -> "Oscillators":
        """The same oscillators and a new one, lightly coupled to them by a damper."""
        p = self.frequency.size
        L = np.zeros((p + 1, p + 1))
        L[:p, :p] = self.L
        L[p, :p] = 0.01
        L[p, p] = np.sqrt(max(damping - self.least, self.least))
        return Oscillators(
            np.append(self.frequency, frequency), L, np.vstack([self.beta, drive]), self.least
        )


class PassiveProblem:
    """Weighted misfit of the passive form to data, with its derivatives."""

    def __init__(
        self,
        omega: Float[Array, " f"],
        K: Complex[Array, "f m m"],
        weight: Float[Array, " f"],
    ) -> None:
        self.omega, self.K = omega, K
        self.s = 1j * omega
        self.m = K.shape[1]
        self.top = omega[-1]
        self.i, self.j = np.triu_indices(self.m)
        self.y = K[:, self.i, self.j]
        # an entry off the diagonal stands for two of the symmetric matrix
        self.scale = np.sqrt(weight)[:, None] * np.where(self.i == self.j, 1.0, np.sqrt(2.0))
        self.scale = self.scale / max(float(np.linalg.norm(self.scale * self.y)), 1e-300)

    def none(self) -> Oscillators:
        """No oscillator yet."""
        return Oscillators(np.zeros(0), np.zeros((0, 0)), np.zeros((0, self.m)), SLOWEST * self.top)

    def pack(self, model: Oscillators) -> Float[Array, " n"]:
        """Parameters as one vector."""
        p = model.frequency.size
        return np.concatenate([model.frequency, model.beta.ravel(), model.L[np.tril_indices(p)]])

    def unpack(self, x: Float[Array, " n"], p: int) -> Oscillators:
        """Vector of parameters as oscillators."""
        L = np.zeros((p, p))
        L[np.tril_indices(p)] = x[p + p * self.m :]
        beta = x[p : p + p * self.m].reshape(p, self.m)
        return Oscillators(x[:p], L, beta, SLOWEST * self.top)

    def misfit(self, model: Oscillators, W: Array) -> Float[Array, " r"]:
        """Residuals over their norm, and the fence against oscillators far above the band."""
        K = self.s[:, None, None] * (model.beta.T @ W)
        r = (K[:, self.i, self.j] - self.y) * self.scale
        fast = np.maximum(np.abs(model.frequency) / (FASTEST * self.top) - 1, 0)
        stiff = np.maximum((model.L**2).sum(axis=1) / (STIFFEST * self.top) - 1, 0)
        return np.concatenate([r.real.ravel(), r.imag.ravel(), FENCE * fast, FENCE * stiff])

    def jacobian(self, model: Oscillators, W: Array) -> Float[Array, "n r"]:
        r"""Derivatives of the misfit, one row per parameter.

        .. math:: dK = s\,(d\beta^\top W + W^\top d\beta - W^\top dZ\,W), \quad W = Z^{-1}\beta
        """
        i, j, m, p = self.i, self.j, self.m, model.frequency.size
        s = self.s[:, None, None]
        a, b = np.tril_indices(p)
        f, e = self.y.shape
        # axes: oscillator, frequency, entry
        Wi, Wj = np.moveaxis(W[:, :, i], 1, 0), np.moveaxis(W[:, :, j], 1, 0)
        V = model.L.T @ W
        Vi, Vj = np.moveaxis(V[:, :, i], 1, 0), np.moveaxis(V[:, :, j], 1, 0)
        s = self.s[:, None]
        rows = np.zeros((p + p * m + a.size, f, e), dtype=complex)
        rows[:p] = -2 * s * model.frequency[:, None, None] * Wi * Wj
        drive = rows[p : p + p * m].reshape(p, m, f, e)
        entry = np.arange(e)
        drive[:, i, :, entry] += np.transpose(s * Wj, (2, 0, 1))
        drive[:, j, :, entry] += np.transpose(s * Wi, (2, 0, 1))
        rows[p + p * m :] = -(s**2) * (Wi[a] * Vj[b] + Vi[b] * Wj[a])
        rows *= self.scale
        flat = rows.reshape(rows.shape[0], -1)
        fence = np.zeros((rows.shape[0], 2 * p))
        k = np.arange(p)
        high = np.abs(model.frequency) > FASTEST * self.top
        fence[k, k] = FENCE * high * np.sign(model.frequency) / (FASTEST * self.top)
        hard = (model.L**2).sum(axis=1) > STIFFEST * self.top
        fence[p + p * m + np.arange(a.size), p + a] = (
            FENCE * hard[a] * 2 * model.L[a, b] / (STIFFEST * self.top)
        )
        return np.concatenate([flat.real, flat.imag, fence], axis=1)

    def refine(
        self, model: Oscillators, iterations: int = 40, gain: float = 1e-3
    ) -> tuple[Oscillators, float]:
        """Levenberg-Marquardt: the nearest passive model of the same size, and its misfit."""
        p = model.frequency.size
        x = self.pack(model)
        W = model.solve(self.s)
        r = self.misfit(model, W)
        cost, mu, idle = float(r @ r), 1e-3, 0
        for _ in range(iterations):
            J = self.jacobian(model, W)
            H, slope = J @ J.T, J @ r
            diagonal = np.maximum(H.diagonal(), 1e-6 * H.diagonal().max())
            for _ in range(8):
                trial = self.unpack(x - np.linalg.solve(H + np.diag(mu * diagonal), slope), p)
                W_trial = trial.solve(self.s)
                r_trial = self.misfit(trial, W_trial)
                if r_trial @ r_trial < cost:
                    break
                mu *= 4
            else:
                break
            idle = idle + 1 if 1 - float(r_trial @ r_trial) / cost < gain else 0
            model, W, r = trial, W_trial, r_trial
            x, cost, mu = self.pack(model), float(r @ r), max(mu / 5, 1e-9)
            if idle == 2:
                break
        return model, float(np.sqrt(cost))

    def grow(self, model: Oscillators) -> Oscillators:
        """One more oscillator where the damping that is missing is largest."""
        left = self.K.real - (model.transfer(self.s).real if model.frequency.size else 0.0)
        size, direction = np.linalg.eigh(left)
        worst = int(np.argmax(size[:, -1]))
        damping = 0.1 * self.top
        drive = np.sqrt(max(size[worst, -1], 1e-3) * damping) * direction[worst][:, -1]
        return model.with_one_more(self.omega[worst], damping, drive)
