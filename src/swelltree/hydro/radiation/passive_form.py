r"""Radiation as oscillators that cannot return energy.

The memory force of the water is written as that of :math:`p` oscillators of unit mass,
driven by the body velocity through :math:`\beta`, with springs :math:`\Omega^2` (diagonal)
and dampers :math:`D = L L^\top + \delta I`:

.. math:: K(s) = s\,\beta^\top \left(s^2 I + s D + \Omega^2\right)^{-1} \beta

Every such K is stable, symmetric, positive real and zero at s = 0 and s = infinity, whatever the
numbers in it, so they can be fitted freely: by a quasi-Newton method, adding oscillators
where the misfit is largest (docs/theory/radiation.md). Time is scaled so that the
highest frequency of the data is one.
"""

from copy import copy
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Complex, Float

from swelltree.jit import Array

# above the band nothing is known of the water: resonances there act in the band as a constant
# added mass, which is left out of the misfit and goes to A_inf. Fitted as oscillators it rings:
# the impulse response of the RM3 was 2.9 times too large with faint poles at 1.5 times the band.
# A resonance whose rise the data end in is theirs: two boxes need 44 states, else more than 48
FASTEST = 1.2  # natural frequency in units of the highest frequency of the data
STIFFEST = 2.0  # dampers likewise: critical damping at the end of the band
SLOWEST = 2e-3  # min damping: every oscillator decays
FENCE = 0.05  # weight of the two upper limits
FAINT = 0.03  # damping below this part of the largest gains no more weight


@dataclass(frozen=True)
class Oscillators:
    """Parameters of the passive form (scaled DOFs).

    Args:
        frequency: natural frequencies, the square roots of the springs.
        L: factor of the damper matrix, lower triangular.
        beta: how each oscillator is driven by each DOF.
        least: damping that every oscillator has at least.
    """

    frequency: Float[Array, " p"]
    L: Float[Array, "p p"]
    beta: Float[Array, "p m"]
    least: float = SLOWEST

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
        """The oscillators and a new one, weakly coupled to them by a damper."""
        p = self.frequency.size
        L = np.zeros((p + 1, p + 1))
        L[:p, :p] = self.L
        L[p, :p] = 0.01
        L[p, p] = np.sqrt(max(damping - self.least, self.least))
        return Oscillators(
            np.append(self.frequency, frequency), L, np.vstack([self.beta, drive]), self.least
        )


@lru_cache(maxsize=64)
def _lower(p: int) -> tuple[Array, ...]:
    """Lower-triangle indices, cached."""
    return np.tril_indices(p)


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
        self.i, self.j = np.triu_indices(self.m)
        self.y = K[:, self.i, self.j]
        # an entry off the diagonal stands for two of the symmetric matrix
        scale = np.sqrt(weight)[:, None] * np.where(self.i == self.j, 1.0, np.sqrt(2.0))
        self.imag_scale = scale / max(float(np.linalg.norm(scale * self.y)), 1e-300)
        self.real_scale = self.imag_scale
        # residuals of a unit of added mass, normed for each entry
        mass = omega[:, None] * self.imag_scale
        self.mass = mass / np.linalg.norm(mass, axis=0)

    def with_faint_damping(self) -> "PassiveProblem":
        """The same data; damping gains weight below its rise.

        There it is a small part of K, but it alone damps a flap or a moored hull whose resonance
        lies below the waves.
        """
        other = copy(self)
        size = np.linalg.norm(self.K.real, axis=(1, 2))
        rise = np.maximum.accumulate(size) / max(float(size.max(initial=0.0)), 1e-300)
        other.real_scale = self.imag_scale * ((rise + FAINT) ** -1.5)[:, None]
        return other

    def none(self) -> Oscillators:
        """Form without oscillators."""
        return Oscillators(np.zeros(0), np.zeros((0, 0)), np.zeros((0, self.m)))

    def pack(self, model: Oscillators) -> Float[Array, " n"]:
        p = model.frequency.size
        return np.concatenate([model.frequency, model.beta.ravel(), model.L[_lower(p)]])

    def unpack(self, x: Float[Array, " n"], p: int) -> Oscillators:
        L = np.zeros((p, p))
        L[_lower(p)] = x[p + p * self.m :]
        beta = x[p : p + p * self.m].reshape(p, self.m)
        return Oscillators(x[:p], L, beta)

    def misfit(self, model: Oscillators, W: Array) -> Float[Array, " r"]:
        """Relative residuals up to a constant added mass, and the penalty outside the band."""
        K = self.s[:, None, None] * (model.beta.T @ W)
        r = K[:, self.i, self.j] - self.y
        real, imag = r.real * self.real_scale, r.imag * self.imag_scale
        # an orthogonal projection, so that the gradient needs no other form
        imag = imag - self.mass * (self.mass * imag).sum(axis=0)
        fast = np.maximum(np.abs(model.frequency) / FASTEST - 1, 0)
        stiff = np.maximum((model.L**2).sum(axis=1) / STIFFEST - 1, 0)
        return np.concatenate([real.ravel(), imag.ravel(), FENCE * fast, FENCE * stiff])

    def cost_and_slope(self, x: Float[Array, " n"], p: int) -> tuple[float, Float[Array, " n"]]:
        r"""Square of the misfit and its gradient.

        .. math:: dK = s\,(d\beta^\top W + W^\top d\beta - W^\top dZ\,W), \quad W = Z^{-1}\beta
        """
        model = self.unpack(x, p)
        W = model.solve(self.s)
        r = self.misfit(model, W)
        # E = derivative of the squared misfit by K, as a full symmetric matrix
        f, e = self.y.shape
        real, imag = r[: 2 * f * e].reshape(2, f, e)
        gap = real * self.real_scale - 1j * imag * self.imag_scale
        E = np.zeros((f, self.m, self.m), dtype=complex)
        E[:, self.i, self.j] = gap / 2
        E += E.transpose(0, 2, 1)
        EW = E @ W.transpose(0, 2, 1)
        s = self.s[:, None, None]
        by_beta = 4 * (s * EW).real.sum(axis=0).T
        by_Z = -s * (W @ EW)
        by_w = 4 * by_Z.real.sum(axis=0).diagonal() * model.frequency
        by_D = (2 * (s * by_Z).real).sum(axis=0)
        by_L = (by_D + by_D.T) @ model.L
        fast, stiff = r[2 * f * e : 2 * f * e + p], r[2 * f * e + p :]
        by_w = by_w + 2 * fast * FENCE * np.sign(model.frequency) / FASTEST
        by_L = by_L + (4 * stiff * FENCE / STIFFEST)[:, None] * model.L
        slope = np.concatenate([by_w, by_beta.ravel(), by_L[_lower(p)]])
        return float(r @ r), slope

    def refine(self, model: Oscillators, iterations: int = 300) -> Oscillators:
        """Nearest passive model of the same size (L-BFGS)."""
        from scipy.optimize import minimize

        p = model.frequency.size
        start = self.pack(model)
        start[:p] = np.clip(start[:p], -FASTEST, FASTEST)
        result = minimize(
            self.cost_and_slope,
            start,
            (p,),
            "L-BFGS-B",
            jac=True,
            bounds=[(-FASTEST, FASTEST)] * p + [(None, None)] * (start.size - p),
            options={"maxiter": iterations, "maxcor": 30, "ftol": 1e-10},
        )
        return self.unpack(result.x, p)

    def grow(self, model: Oscillators, damping: float = 0.1) -> Oscillators:
        """Add an oscillator where the damping deficit is largest."""
        left = self.K.real - (model.transfer(self.s).real if model.frequency.size else 0.0)
        size, direction = np.linalg.eigh(left)
        worst = int(np.argmax(size[:, -1]))
        drive = np.sqrt(max(size[worst, -1], 1e-3) * damping) * direction[worst][:, -1]
        return model.with_one_more(self.omega[worst], damping, drive)
