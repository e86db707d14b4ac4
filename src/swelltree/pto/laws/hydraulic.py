r"""Cylinder, check valves, accumulators and motor.

Oil is incompressible and the valves are ideal but for their resistance R. With the pressure
difference d = p_h - p_l and the smoothed sign g(v) = tanh(v / v_s),

.. math::
    F = -A d\, g(v) - A^2 R v, \qquad q = A v g(v), \qquad
    \dot V_h = q - q_m = -\dot V_l, \qquad q_m = q_0 + k d + u

where V is the oil on either side and p = p_0 (V_0 / (V_0 - V))^gamma. The oil pumped is that of
the smoothed force, so the piston's work is d q exactly; near standstill the rest leaks past the
valves. A limit of the force makes the acting area smaller, with less oil pumped.
"""

from __future__ import annotations

from typing import ClassVar

from swelltree.jit import Array, namespace, pytree
from swelltree.pto.laws.base import Law, LawInputs, LawOutputs

CLOSING = 0.01  # fraction of volume or pressure over which the motor's inlet closes


@pytree()
class Hydraulic(Law):
    """Hydraulic PTOs; states are the oil volumes of the high and the low side."""

    piston_area: Array
    precharge: Array  # Pa, gas of the high side without oil
    gas_volume: Array  # m^3
    start_oil: Array  # m^3, high side
    low_pressure: Array  # Pa at the start
    low_gas_volume: Array  # m^3 of gas at the start; infinite: a reservoir
    low_oil: Array  # m^3 at the start
    gamma: Array
    motor_flow: Array
    motor_gain: Array
    efficiency: Array
    valve_resistance: Array
    smoothing_velocity: Array

    states: ClassVar[int] = 2
    direct: ClassVar[tuple[str, ...]] = (
        "piston_area",
        "motor_flow",
        "motor_gain",
        "efficiency",
        "valve_resistance",
        "smoothing_velocity",
    )
    linear: ClassVar[str] = (
        "its valves count as a damper of slope A (p_high - p_low) / smoothing_velocity, as at rest"
    )

    def start(self) -> Array:
        return namespace(self.start_oil).stack([self.start_oil, self.low_oil])

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        v, (high, low) = inputs.v, inputs.z
        xp = namespace(v, high)
        p_high, e_high = self.gas(high)
        p_low, e_low = self.low_side(low)
        d = p_high - p_low
        drop = xp.maximum(d, 0.0)  # against the valves oil flows freely

        # the pump; a limit makes its area smaller
        share = 1.0 + 0.0 * drop
        sign = xp.tanh(v / self.smoothing_velocity)
        if inputs.bound is not None:
            # what the spring leaves of the limit
            room = xp.maximum(inputs.bound + inputs.spring * sign, 0.0)
            share = xp.minimum(1.0, room / xp.maximum(self.piston_area * drop, 1e-9))
        area = share * self.piston_area
        flow = area * v * sign
        valves = self.valve_resistance * self.piston_area**2 * v
        force = -area * drop * sign - valves

        # the motor stops when the accumulator is empty or without pressure
        open_ = xp.clip(high / (CLOSING * self.gas_volume), 0.0, 1.0)
        open_ = open_ * xp.clip(d / (CLOSING * self.precharge), 0.0, 1.0)
        motor = open_ * xp.maximum(self.motor_flow + self.motor_gain * drop + inputs.u, 0.0)

        delivered = self.efficiency * drop * motor
        lost = drop * motor - delivered + valves * v + (drop - d) * (flow - motor)
        rate = xp.stack([flow - motor, motor - flow])
        shown = {"pressure": d, "oil_volume": high, "oil_total": high + low}
        excess = xp.where(share < 1.0, 1.0, 0.0)
        return LawOutputs(force, e_high + e_low, delivered, lost, rate, excess, shown)

    def gas(self, oil: Array) -> tuple[Array, Array]:
        """Pressure and energy of the gas above the oil, energy from no oil on."""
        ratio = self.gas_volume / (self.gas_volume - oil)
        pressure = self.precharge * ratio**self.gamma
        unloaded = self.precharge * self.gas_volume
        return pressure, (pressure * (self.gas_volume - oil) - unloaded) / (self.gamma - 1.0)

    def low_side(self, oil: Array) -> tuple[Array, Array]:
        xp = namespace(oil)
        added = oil - self.low_oil
        is_gas = self.low_gas_volume < 1e29
        volume = xp.where(is_gas, self.low_gas_volume, 1.0)
        left = xp.where(is_gas, volume - added, 1.0)
        pressure = self.low_pressure * (volume / left) ** self.gamma
        gas = (pressure * left - self.low_pressure * volume) / (self.gamma - 1.0)
        return pressure, xp.where(is_gas, gas, self.low_pressure * added)


# --- One-way clutches, flywheel and generator


@pytree()
class Rectifier(Law):
    """Mechanical rectifiers; the state is the speed of the flywheel."""

    ratio: Array
    inertia: Array
    generator_damping: Array
    clutch_damping: Array
    both_ways: Array  # one or zero
    start_speed: Array
    friction: Array
    efficiency: Array

    states: ClassVar[int] = 1
    direct: ClassVar[tuple[str, ...]] = ("ratio", "inertia", "friction", "efficiency")
    linear: ClassVar[str] = (
        "its clutches count as engaged about standstill if the flywheel rests, else as free"
    )

    def start(self) -> Array:
        return namespace(self.start_speed).stack([self.start_speed])

    def outputs(self, inputs: LawInputs) -> LawOutputs:
        omega = inputs.z[0]
        xp = namespace(inputs.v, omega)
        out = self.clutch_damping * xp.maximum(self.ratio * inputs.v - omega, 0.0)
        back = self.clutch_damping * xp.maximum(-self.ratio * inputs.v - omega, 0.0)
        # at standstill both are at the verge; a limit lets the clutch slip
        requested = -self.ratio * (out - self.both_ways * back)
        force = inputs.reduced(requested)
        torque = xp.abs(force) / self.ratio
        slip = self.ratio * xp.abs(inputs.v) - omega
        brake = self.generator_damping * omega + inputs.u
        drag = self.friction * omega
        delivered = self.efficiency * brake * omega
        lost = (1.0 - self.efficiency) * brake * omega + drag * omega + torque * slip
        rate = xp.stack([(torque - brake - drag) / self.inertia])
        stored, shown = 0.5 * self.inertia * omega**2, {"flywheel_speed": omega}
        return LawOutputs(force, stored, delivered, lost, rate, inputs.excess(requested), shown)
