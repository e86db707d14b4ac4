r"""Wrenches of hydrodynamics: buoyancy, damping, radiation memory, excitation, drift.

The inertial part, added mass at infinite frequency, is in the mass matrix of
every formulation. All terms are counted as work in the energy budget.

Excitation is summed once, on a grid of times,

.. math:: F(t) = r(t) \sum_c \mathrm{Re}\left[ \hat F(\omega_c, \beta_c)\, a_c\,
                 e^{-i\omega_c t + i\varphi_c} \right]

with r the ramp. The grid has forty points per shortest period, so that the cubic Hermite
polynomial between them is exact to about 2e-6.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from swelltree.hydro.linear.data import (
    RadiationMemory,
    Table,
    WaveForce,
    WaveLoads,
    Window,
    displacement,
    grid_begin,
    grid_points,
)
from swelltree.hydro.linear.excitation import (
    DataExcitation,
    Record,
    convolved_loads,
    excitation_at,
    in_band,
)
from swelltree.hydro.linear.frame import in_axes, mean_yaw, out_of_axes, unturned
from swelltree.hydro.linear.radiation import RadiationData, RadiationSources
from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import HasCalmForm, HasNonlinearity, HasRadiation
from swelltree.model.effect import Instant, LinearForm, Loads
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Pose
from swelltree.spatial.rotations import apply
from swelltree.waves.ramp import ramped
from swelltree.waves.spectral_lines import sum_and_rate

if TYPE_CHECKING:
    from swelltree.waves.airy import Components
    from swelltree.waves.dispersion import AnyWater


POINTS_PER_PERIOD = 40


@pytree("names")
class Hydro(HasRadiation, HasCalmForm, HasNonlinearity):
    """Linear hydrodynamics of all bodies, from data."""

    mean: Pose
    buoyancy: Array  # (N, 6) in the mean pose
    stiffness: Array  # (6N, 6N) of buoyancy alone
    damping: Array  # (6N, 6N)
    memory: RadiationMemory | None
    waves: WaveForce | None
    table: Table | None
    reach: Array = np.inf  # (N,) m, from the mean waterline to top or keel; infinite: not known
    drift: WaveForce | None = None  # second-order loads

    kind: ClassVar[str] = "hydro"
    names: tuple[str, ...] = (
        "hydrostatics",
        "hydrodynamic damping",
        "radiation",
        "excitation",
        "drift",
    )

    @property
    def radiation_data(self) -> tuple[Array, ...]:
        table = self.table
        if table is None:
            return ()
        return table.omega, table.added_mass, table.radiation_damping, table.added_mass_inf

    def in_still_water(self) -> Hydro:
        """The effect without excitation and drift."""
        waves, drift = (x if x is None else x.flat() for x in (self.waves, self.drift))
        return replace(self, waves=waves, drift=drift)

    def loads(self, model: Model, now: Instant) -> Loads:
        t, motion, internal = now.t, now.motion, now.internal
        xp = namespace(motion.pose.p)
        shape = motion.v.shape
        chi, psi = internal.radiation, mean_yaw(internal)
        v = in_axes(psi, motion.v).reshape(-1)
        xi = displacement(self.mean, unturned(psi, self.mean, motion.pose)).reshape(-1)
        static = self.buoyancy - apply(self.stiffness, xi).reshape(shape)
        damping = -apply(self.damping, v).reshape(shape)
        radiation = xp.zeros(shape)
        if self.memory is not None:
            radiation = -self.memory.force_at(t, v, chi).reshape(shape)
        excitation, drift = (
            xp.zeros(shape) if acts is None else acts.acting(t, motion.pose.p[:, :2], psi)
            for acts in (self.waves, self.drift)
        )
        parts = (static, damping, radiation, excitation, drift)
        static, damping, radiation, excitation, drift = (out_of_axes(psi, x) for x in parts)
        parts = xp.stack([static, damping, radiation, excitation, drift])
        power = (parts * motion.v).sum((1, 2))
        channels = {"excitation": excitation, "radiation": radiation, "hydrostatics": static}
        if self.drift is not None:
            channels["drift"] = drift
        return Loads(parts.sum(0), xp.zeros(len(self.names)), power, channels)

    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        return ""

    def without_radiation(self) -> Hydro:
        """The effect without waves and radiation, as linear studies differentiate it."""
        none = np.zeros_like(self.damping)
        return replace(self, memory=None, waves=None, damping=none, table=None)

    def radiation_sources(self, model: Model) -> RadiationSources:
        """Available forms of radiation: fitted states, data, constant damping."""
        data, table = None, self.table
        if table is not None:
            values = (table.omega, table.added_mass, table.radiation_damping, model.added_mass)
            data = RadiationData(*(np.asarray(x) for x in values))
        return RadiationSources(model.added_mass, self.damping, self.memory, data)

    def linear_form(self, model: Model, now: Instant) -> LinearForm:
        excitation, psi = None, mean_yaw(now.internal)
        if self.table is not None:
            excitation = DataExcitation(self.table, model.water, psi)
        return LinearForm(self.radiation_sources(model), excitation)

    def with_memory(self, memory: RadiationMemory | None) -> Hydro:
        return replace(self, memory=memory)

    def radiation_rate(self, now: Instant) -> Array:
        assert self.memory is not None
        v = in_axes(mean_yaw(now.internal), now.motion.v).reshape(-1)
        return self.memory.rate(now.internal.radiation, v)


# --- What a model has of it


def linear_hydro(model: Model) -> Hydro | None:
    """Linear hydrodynamics of a model; None for dry systems."""
    return model.effect(Hydro)


def hydro_table(model: Model) -> Table | None:
    """Frequency-domain data of a model, or None."""
    hydro = linear_hydro(model)
    return None if hydro is None else hydro.table


def without_table(model: Model) -> Model:
    hydro = linear_hydro(model)
    if hydro is None or hydro.table is None:
        return model
    return model.with_effect(replace(hydro, table=None))


def excitation_of(model: Model) -> WaveForce | None:
    """Excitation in the model's sea, or None."""
    hydro = linear_hydro(model)
    return None if hydro is None else hydro.waves


def with_excitation(model: Model, loads: WaveForce) -> Model:
    """The model with other excitation, if it has hydrodynamic data."""
    hydro = linear_hydro(model)
    return model if hydro is None else model.with_effect(replace(hydro, waves=loads))


def without_radiation(model: Model) -> Model:
    hydro = linear_hydro(model)
    return model if hydro is None else model.with_effect(hydro.without_radiation())


def wave_loads(
    table: Table,
    water: AnyWater,
    waves: Components,
    duration: float,
    method: str = "components",
    step: float | None = None,
    window: Window | None = None,
) -> WaveLoads:
    """Excitation of realised components on a grid from 0 to the duration, or in a window.

    The step resolves the highest frequency that the description of the sea allows, whatever was
    drawn, and the number of points is rounded up (`grid_points`): other seeds and runs of similar
    length share a compiled program.

    Args:
        table: the data.
        water: of the model.
        waves: of the sea in it.
        duration: [s].
        method: "components" (sum over the waves) or "convolution" (impulse response on the
            elevation record at each body).
        step: spacing of the grid [s]; a fortieth of the shortest period if not given.
        window: part of an endless run, instead of all times up to the duration.
    """
    highest = float(table.omega[-1])
    if waves.is_known:
        highest = min(waves.ends[1], highest)
    step = step or float(2.0 * np.pi / highest / POINTS_PER_PERIOD)
    count = grid_points(duration, step)
    begin = 0.0
    if window is not None:
        begin, count = grid_begin(window, step), window.points
    if not waves.is_known:
        from swelltree.hydro.linear.traced_loads import traced_loads

        return traced_loads(table, waves, step, count)
    inside = in_band(table, waves)
    omega = np.asarray(waves.omega)[inside]
    amplitude = np.asarray(waves.complex_amplitude)[inside] * np.exp(-1j * omega * begin)
    if method == "convolution":
        record = Record(omega, amplitude, step, count)
        force, rate = convolved_loads(table, water, np.asarray(waves.beta)[inside], record)
    else:
        beta = np.asarray(waves.beta)[inside]
        k = np.asarray(waves.wavenumber)[inside]
        F = excitation_at(table, omega, beta, k, amplitude) * amplitude[:, None]
        force, rate = sum_and_rate(omega, F, step, count)
    duration_of_ramp = float(waves.ramp)
    t = begin + step * np.arange(count)
    grows = slice(0, int(np.searchsorted(t, duration_of_ramp)))
    force[grows], rate[grows] = ramped(t[grows], duration_of_ramp, force[grows], rate[grows])
    return WaveLoads(np.array(step), force, rate, np.array(begin))
