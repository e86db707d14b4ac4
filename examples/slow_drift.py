"""Slow drift of a moored cylinder: given mean drift coefficients, Newman's approximation."""

import numpy as np
from scipy.special import jvp, yvp

import swelltree as sw

RADIUS, RHO, G = 6.0, 1025.0, 9.81


def cylinder_drift(omega: np.ndarray) -> np.ndarray:
    """Surge drift of a long vertical cylinder per square metre of amplitude (Havelock 1940)."""
    kR = (omega**2 / G * RADIUS)[:, None]
    n = np.arange(20)
    size = jvp(n, kR) ** 2 + yvp(n, kR) ** 2
    terms = (1.0 - n * (n + 1) / kR**2) ** 2 / size
    force = 4.0 / (np.pi * kR[:, 0] ** 1.5) ** 2 * (terms[:, :-1] / size[:, 1:]).sum(axis=1)
    return RHO * G * RADIUS * force


def main() -> None:
    buoy = sw.Body(
        "buoy",
        hull=sw.Cylinder(radius=RADIUS, draft=20.0, height=26.0, panel_size=2.0),
        com=(0, 0, -13),
        reference_point=(0, 0, 0),
    )
    soft = {"Surge": 2e4, "Sway": 2e4, "Yaw": 1e7}
    slow = {"Surge": 5e4, "Sway": 5e4, "Heave": 2e5, "Roll": 2e7, "Pitch": 2e7, "Yaw": 1e7}
    mooring = sw.LinearMooring("mooring", buoy, stiffness=soft, damping=slow)
    water = sw.Water(rho=RHO, g=G)
    system = sw.System(
        "drift", [buoy], [sw.Free("free", sw.WORLD, buoy)], moorings=[mooring], water=water
    )
    data = sw.run_bem(system, np.linspace(0.2, 2.2, 21))

    # coefficients from a code or a formula go into the data by name
    omega = data.omega.values
    known = (omega > 0) & np.isfinite(omega)
    drift = np.zeros((len(omega), 1, 6))
    drift[known, 0, 0] = cylinder_drift(omega[known])
    data["mean_drift"] = (("omega", "wave_direction", "influenced_dof"), drift)

    spectrum = sw.Jonswap(Hs=4.0, Tp=9.0)
    sea = sw.IrregularSea(spectrum, seed=2, ramp=50, omega_min=0.3, omega_max=2.1)
    model = sw.compile(system, data, drift="newman")
    run = sw.simulate(model, sea, duration=1500, output_step=0.5)
    late = run.sel(time=slice(500, None), body="buoy", dof="Surge")
    force, surge = late["drift_force"], late["position"]
    mean = sw.slow_force_spectrum(model, spectrum, [0.1]).mean[0, 0]
    print(
        f"drift force {float(force.mean()) / 1e3:.1f} kN ({mean / 1e3:.1f} kN from the spectrum), "
        f"offset {float(surge.mean()):.2f} m, surge {float(surge.std()):.2f} m rms"
    )
    # the mean force sets the offset; the tolerance is the variability of 1000 s of one sea
    assert abs(float(force.mean()) / mean - 1) < 0.3
    assert abs(float(surge.mean()) * 2e4 / float(force.mean()) - 1) < 0.15
    assert float(abs(run["energy_residual"]).max()) < 1e-3 * float(abs(run["work"]).max())


if __name__ == "__main__":
    main()
