"""One buoy, four power take-offs: damper, hydraulics, flywheel and latch in the same wave.

The buoy is given by coefficients: its mass with added mass, its waterplane stiffness and its
radiation damping. Its natural period is 4.3 s, the wave period 8 s.
"""

import math

import numpy as np

import swelltree as sw

MASS, STIFFNESS, RADIATION, WAVE = 3.8e5, 8.0e5, 1.0e5, 5.5e5  # kg, N/m, N s/m, N
OMEGA = 2 * math.pi / 8.0

MACHINES = [
    sw.LinearPto("damper", joint="guide_damper", damping=7.3e5),
    sw.HydraulicPto(
        "hydraulic",
        joint="guide_hydraulic",
        piston_area=0.06,
        precharge=4e6,
        gas_volume=1.0,
        motor_gain=3.0e-9,
        low_gas_volume=2.0,
        force_limit=4e5,
    ),
    sw.MechanicalRectifierPto(
        "flywheel", joint="guide_flywheel", ratio=40.0, inertia=500.0, generator_damping=200.0
    ),
    sw.LatchingPto("latch", joint="guide_latch", damping=1.5e5, release_after=1.8),
]


def system() -> sw.System:
    """Four equal buoys in a row, each with its own PTO."""
    bodies, guides, forces = [], [], []
    for pto in MACHINES:
        body = sw.Body(f"buoy_{pto.name}", mass=MASS, inertia=(1e5, 1e5, 1e5))
        push = sw.Harmonic(WAVE, OMEGA)
        bodies.append(body)
        guides.append(sw.Slider(f"guide_{pto.name}", sw.WORLD, body, axis="z"))
        forces += [
            sw.JointForce(
                f"water_{pto.name}", f"guide_{pto.name}", stiffness=STIFFNESS, damping=RADIATION
            ),
            sw.AppliedForce(f"wave_{pto.name}", body, force=(0.0, 0.0, push)),
        ]
    # the weight is carried by the buoyancy at rest, so gravity is left out
    return sw.System("buoys", bodies, guides, forces, ptos=MACHINES, water=sw.Water(g=0.0))


def best_damper() -> float:
    """Power of the best of all dampers: the impedance of the buoy without it."""
    impedance = RADIATION + 1j * (OMEGA * MASS - STIFFNESS / OMEGA)
    c = abs(impedance)
    return 0.5 * c * (WAVE / abs(impedance + c)) ** 2


def main() -> None:
    run = sw.simulate(sw.compile(system()), duration=160.0, output_step=0.05)
    late = run.sel(time=slice(80.0, None))  # ten periods
    absorbed = late["absorbed_power"].mean("time")
    delivered = late["delivered_power"].mean("time")
    for name in run["pto"].values:
        a, d = float(absorbed.sel(pto=name)), float(delivered.sel(pto=name))
        print(f"{name:10s} absorbed {a / 1e3:6.1f} kW, delivered {d / 1e3:6.1f} kW, {d / a:.0%}")

    damper, latch = float(absorbed.sel(pto="damper")), float(absorbed.sel(pto="latch"))
    oil = run["pto_oil_total"].sel(pto="hydraulic")
    assert abs(damper / best_damper() - 1.0) < 0.01
    assert 2.5 < latch / damper < 3.5
    assert 0.80 < float(delivered.sel(pto="hydraulic") / absorbed.sel(pto="hydraulic")) < 0.91
    assert float(delivered.sel(pto="flywheel")) > 0.5 * damper
    assert float(np.ptp(oil.values)) < 1e-12 * float(oil[0])
    assert float(abs(run["energy_residual"]).max()) < 1e-5 * float(abs(run["work"]).max())


if __name__ == "__main__":
    main()
