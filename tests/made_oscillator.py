"""A driven oscillator whose absorbed power is known in closed form."""

import swelltree as sw

POWER = sw.mean_of("absorbed_power")


def oscillator(mass=3.0, stiffness=40.0, damping=2.0, amplitude=5.0, omega=4.0):
    body = sw.Body("mass", mass=mass, inertia=(1.0, 1.0, 1.0))
    return sw.System(
        "oscillator",
        [body],
        [sw.Slider("rail", sw.WORLD, body, axis="x", position=0.3)],
        [sw.AppliedForce("push", body, force=(sw.Harmonic(amplitude, omega), 0.0, 0.0))],
        ptos=[sw.LinearPto("pto", joint="rail", damping=damping, stiffness=stiffness)],
    )
