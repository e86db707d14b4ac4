r"""Radiation of all bodies as one linear block of their velocities.

What the moving bodies radiate acts back on them at once, by added mass and damping, and later, by
the memory of the water. In the axes of the data, with exp(+iwt),

.. math:: -w = A_\infty \dot v + D v + \mu, \qquad \hat\mu = K(i\omega)\, \hat v, \qquad
          K(i\omega) = B(\omega) + i\omega\,(A(\omega) - A_\infty)

The memory is the data themselves (`RadiationData`), or fitted states (`Memory`), which step in
time as well. Time stepping, the periodic solver and the linear model all use these two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Complex, Float

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.hydro.linear.data import RadiationMemory
from swelltree.hydro.linear.excitation import interpolated
from swelltree.jit import Array, jnp, namespace, pytree
from swelltree.model.capabilities import HasRadiation, having
from swelltree.model.effect import Effect, Instant, Loads
from swelltree.model.model import Model
from swelltree.spatial.linear_steps import (
    ExactStages,
    StagePorts,
    exact_stages,
    first_order_hold,
    stage_ports,
)
from swelltree.spatial.rotations import apply

SOURCES = ("data", "state_space")


@pytree("partner")
class Memory(RadiationMemory):
    r"""Radiation memory with states: chi' = A chi + B v, memory force C chi."""

    A: Array  # (k, k) 1/s
    B: Array  # (k, 6N)
    C: Array  # (6N, k)
    exact: ExactStages | None = None  # linear_steps.ExactStages of the fixed step of a run, or None
    ports: StagePorts | None = None  # the same as forces and velocities see it
    partner: tuple[int, ...] | None = None  # of each state in its oscillator: `partners_in`

    @property
    def order(self) -> int:
        return self.A.shape[0]

    @property
    def fitted(self) -> Memory:
        return self

    def start(self) -> Float[Array, " k"]:
        return np.zeros(self.order)

    def force_at(self, t: Array, v: Array, chi: Float[Array, " k"]) -> Float[Array, " b6"]:
        return apply(self.C, chi)

    def rate(self, chi: Float[Array, " k"], v: Float[Array, " b6"]) -> Float[Array, " k"]:
        """Rate of the states under the velocities of the bodies."""
        return apply(self.A, chi) + apply(self.B, v)

    def swinging(
        self, omega: Float[Array, " f"], v: Complex[Array, "f b6 ..."]
    ) -> Complex[Array, "f k ..."]:
        """Complex amplitude of the states for velocities v exp(+iwt), NumPy."""
        A, B = np.asarray(self.A), np.asarray(self.B)
        resolvent = 1j * np.asarray(omega, float)[:, None, None] * np.eye(self.order) - A
        if v.ndim == 2:
            return np.linalg.solve(resolvent, (v @ B.T)[..., None])[..., 0]
        return np.linalg.solve(resolvent, B @ v)

    def transfer(self, omega: Float[Array, " f"]) -> Complex[Array, "f b6 b6"]:
        """K(iw) = C (iw - A)^-1 B, exp(+iwt), NumPy."""
        unit = np.eye(self.B.shape[1], dtype=complex)
        units = np.broadcast_to(unit, (len(omega), *unit.shape))
        return np.asarray(self.C) @ self.swinging(omega, units)

    def propagator(self, step: float) -> tuple[Array, Array, Array]:
        r"""Exact step for a velocity that is linear in time over it, in numpy.

        .. math:: \chi_{n+1} = \Phi \chi_n + \Gamma_0 v_n + \Gamma_1 v_{n+1}
        """
        return first_order_hold(np.asarray(self.A), np.asarray(self.B), step)

    def midpoint(self, step: Array) -> tuple[Array, Array]:
        r"""Step of the implicit midpoint rule: states in its middle are X chi + Y v.

        The rule keeps a passive memory passive step by step, whatever the step; the states at the
        end are twice those in the middle less those at the start.
        """
        xp = namespace(self.A)
        X = xp.linalg.inv(np.eye(self.order) - 0.5 * step * self.A)
        return X, 0.5 * step * X @ self.B


@pytree("size", "active")
class PrescribedMemoryForce(RadiationMemory):
    """In place of the states stand the memory forces, and in place of their rates velocities.

    So stages of a step see the memory from outside, whose states are carried on once a step.
    """

    size: int  # 6N
    active: tuple[int, ...]  # DOFs that radiate

    def start(self) -> Float[Array, " m"]:
        return np.zeros(len(self.active))

    def force_at(self, t: Array, v: Array, chi: Float[Array, " m"]) -> Float[Array, " b6"]:
        if len(self.active) == self.size:
            return chi
        return jnp.zeros(self.size).at[np.array(self.active, int)].set(chi)

    def rate(self, chi: Float[Array, " m"], v: Float[Array, " b6"]) -> Float[Array, " m"]:
        return v if len(self.active) == self.size else v[np.array(self.active, int)]


def radiation_memory(model: Model) -> RadiationMemory | None:
    return next((effect.memory for effect in having(model, HasRadiation)), None)


def with_radiation_memory(model: Model, memory: RadiationMemory | None) -> Model:
    for effect in having(model, HasRadiation):
        model = model.with_effect(effect.with_memory(memory))
    return model


def with_exact_memory(model: Model, step: float) -> Model:
    """The model whose radiation memory is discretised exactly for that step."""
    memory = fitted_memory(model)
    if memory is None or namespace(memory.A) is not np:
        return model
    exact = exact_stages(np.asarray(memory.A), float(step))
    ports = stage_ports(exact, np.asarray(memory.B), np.asarray(memory.C))
    return with_radiation_memory(model, replace(memory, exact=exact, ports=ports))


def fitted_memory(model: Model) -> Memory | None:
    """State-space radiation memory of a model, or None."""
    memory = radiation_memory(model)
    return None if memory is None else memory.fitted


@dataclass(frozen=True)
class RadiationData:
    """Added mass beyond that in the mass matrix, and damping, by frequency."""

    omega: np.ndarray  # (f,) rad/s
    added_mass: np.ndarray  # (f, 6N, 6N)
    damping: np.ndarray  # (f, 6N, 6N)
    base: np.ndarray  # (6N, 6N) added mass in the mass matrix

    def within(self, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Added mass and damping at frequencies within the data, (f, 6N, 6N) each."""
        A = interpolated(self.omega, self.added_mass, omega)
        return A, interpolated(self.omega, self.damping, omega)

    def transfer(self, omega: Float[Array, " f"]) -> Complex[Array, "f b6 b6"]:
        """K(iw), exp(+iwt), at the harmonics of a motion.

        Below the data damping falls off with the square of the frequency; above them nothing is
        left.
        """
        low, high = self.omega[0], self.omega[-1]
        A, B = self.within(np.clip(omega, low, high))
        B = B * np.minimum(omega / low, 1.0)[:, None, None] ** 2
        inside = (omega <= high * (1 + 1e-9))[:, None, None]
        return np.where(inside, B + 1j * omega[:, None, None] * (A - self.base), 0.0)

    def near(self, omega: float) -> tuple[np.ndarray, np.ndarray]:
        """Added mass beyond the base and damping at the frequency of a mode, (6N, 6N) each.

        A frequency that is sought must not meet a jump: outside the data added mass stays, and
        damping dies out towards zero frequency.
        """
        A, B = self.within(np.clip(np.array([omega]), self.omega[0], self.omega[-1]))
        return A[0] - self.base, B[0] * min(omega / self.omega[0], 1.0)

    def near_rates(self, omega: float) -> tuple[np.ndarray, np.ndarray]:
        h = 1e-4 * max(omega, self.omega[0])
        (A0, B0), (A1, B1) = self.near(max(omega - h, 0.0)), self.near(omega + h)
        gap = omega + h - max(omega - h, 0.0)
        return (A1 - A0) / gap, (B1 - B0) / gap


@dataclass(frozen=True)
class Radiation:
    """Instantaneous and memory part of radiation."""

    added_mass: Array  # (6N, 6N) at infinite frequency, that of the model's mass
    damping: Array  # (6N, 6N) at once
    states: Memory | None = None  # the memory in its form with states, or
    data: RadiationData | None = None  # the data themselves

    def transfer(self, omega: np.ndarray) -> np.ndarray:
        """K(iw) of the memory, exp(+iwt), (f, 6N, 6N)."""
        memory = self.states if self.data is None else self.data
        if memory is None:
            return np.zeros((len(omega), *np.shape(self.added_mass)), dtype=complex)
        return memory.transfer(omega)

    def mass_and_damping(self, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Added mass and damping at frequencies within the data, (f, 6N, 6N) each."""
        if self.data is not None:
            A, B = self.data.within(omega)
            return A, B + np.asarray(self.damping)
        K: Array = self.transfer(omega)
        A = np.asarray(self.added_mass) + K.imag / omega[:, None, None]
        return A, np.asarray(self.damping) + K.real


@dataclass(frozen=True)
class RadiationSources:
    """Radiation of a model in all available forms."""

    added_mass: Array  # (6N, 6N) at infinite frequency
    damping: Array  # (6N, 6N) of a model of one frequency
    memory: RadiationMemory | None
    data: RadiationData | None

    def chosen(self, source: str, study: str) -> Radiation:
        """The block of a source.

        Args:
            source: "data", "state_space" (what the model steps with) or "infinite" (no memory).
            study: name in messages.
        """
        if source == "infinite":
            return Radiation(self.added_mass, self.damping)
        if source == "data":
            if self.data is None:
                raise SwelltreeError(
                    f"{study}: the model has no hydro data. Compile with compile(system, "
                    "hydro=...)."
                )
            return Radiation(self.added_mass, 0.0 * np.asarray(self.damping), data=self.data)
        if self.memory is not None and self.memory.fitted is None:
            raise SwelltreeError(
                f"{study}: the model has radiation by convolution, which has no states. "
                "Compile with radiation='state_space'."
            )
        states = None if self.memory is None else self.memory.fitted
        return Radiation(self.added_mass, self.damping, states)


def dry(size: int, added_mass: Array = None) -> Radiation:
    """The block of a model without hydro data.

    Args:
        size: 6N.
        added_mass: that of its mass matrix, if any.
    """
    none = np.zeros((size, size))
    return Radiation(none if added_mass is None else added_mass, none)


def check_source(radiation: str) -> None:
    if radiation not in SOURCES:
        raise SwelltreeError(
            f"radiation '{radiation}' is not known.{suggest(radiation, SOURCES)} "
            f"Choose one of {listed(SOURCES)}."
        )


# --- Radiation of a periodic motion, known beforehand at an instant


@pytree("names")
class KnownRadiation(Effect):
    """Radiation wrench of every body as given numbers."""

    kind: ClassVar[str] = "periodic"
    radiation: Array  # (N, 6)
    names: tuple[str, ...] = ("periodic radiation",)

    def loads(self, model: Model, now: Instant) -> Loads:
        """The wrench, with its work."""
        xp = namespace(now.motion.v)
        wrench = xp.asarray(self.radiation)
        power = (wrench * now.motion.v).sum().reshape(1)
        return Loads(wrench, 0.0 * power, power, {"radiation": wrench})
