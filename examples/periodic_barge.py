"""The hinge barge in periodic steady state: one period as a Fourier series.

The device of Paparella et al. (2015) with its damping plate. Its slowest motion decays at 0.027
per second, so a time-domain run needs minutes of waves until it is periodic; the Fourier series
needs none. Drag on the barges and Coulomb friction in the hinge are added, which are nonlinear.
"""

import numpy as np

import swelltree as sw
from swelltree.gallery.hinge_barge import viscous_losses

AMPLITUDE = 0.06  # m


def heave(run) -> np.ndarray:
    """Amplitudes of all harmonics of the heave of barge 2, per metre of wave."""
    return np.abs(run.position_harmonics.sel(body="barge2", dof="Heave").values) / AMPLITUDE


def rough(system: sw.System) -> sw.System:
    one, two = system.bodies
    return system.replace(
        forces=(
            sw.QuadraticDrag("drag1", one, damping={"Heave": 150.0, "Pitch": 10.0}),
            sw.QuadraticDrag("drag2", two, damping={"Heave": 300.0, "Pitch": 100.0}),
            sw.JointForce("friction", "hinge", friction=2.0, friction_velocity=0.1),
        )
    )


def main() -> None:
    data = sw.gallery.hinge_barge().hydro
    system = sw.gallery.hinge_barge(viscous_losses(data)).system
    smooth = sw.compile(system, data, radiation="none")
    wave = sw.RegularWave(amplitude=AMPLITUDE, omega=2.61)

    # the device of the paper is almost linear
    linear = sw.rao(smooth, omega=[2.61], wave_direction=[0.0])
    expected = abs(linear["rao"].sel(body="barge2", dof="Heave").values.item())
    ode = sw.steady_state(smooth, wave, 5)
    print(f"heave of barge 2: rao {expected:.4f}, steady state {heave(ode)[1]:.4f} m/m")
    assert abs(expected - 0.694) < 0.01
    assert abs(heave(ode)[1] / expected - 1) < 1e-3

    # all bodies with multipliers for the joints give the same motion
    dae = sw.steady_state(smooth, wave, 5, formulation="lagrange")
    gap = np.abs(heave(dae) - heave(ode)).max()
    print(f"DAE against ODE form: {gap:.1e} m/m")
    assert gap < 1e-8

    # drag and friction change the motion and reduce the power
    found = sw.steady_state(sw.compile(rough(system), data, radiation="none"), wave, 15)
    before, after = (float(run.absorbed_power.values.mean()) for run in (ode, found))
    size = heave(found)
    print(f"with drag and friction: {size[1]:.4f} m/m, third harmonic {size[3]:.1e}")
    print(f"ram: {1e3 * before:.2f} mW, with drag and friction {1e3 * after:.2f} mW")
    print(f"Newton steps: {found.attrs['newton_iterations']}")
    assert found.attrs["newton_iterations"] <= 4
    assert after < before
    assert size[3] > 10 * size[7]


if __name__ == "__main__":
    main()
