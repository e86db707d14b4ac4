"""A barge capsizes after a push, and rolls in beam waves.

Buoyancy acts on the actual wetted hull, so the barge may turn upside down. In still water it stores
energy, and the energy residual is the error of the time integration.
"""

import numpy as np

import swelltree as sw


def barge(roll_rate: float) -> sw.System:
    hull = sw.Box(length=20.0, width=8.0, height=6.0, draft=3.0, panel_size=1.5)
    body = sw.Body("barge", hull=hull, com=(0.0, 0.0, -0.8))
    push = {"Roll": roll_rate}
    return sw.System("barge", [body], [sw.Free("free", sw.WORLD, body, velocity=push)])


def largest_list(run) -> float:
    """Largest angle between the deck's normal and the vertical [degrees]."""
    up = run["rotation"].sel(body="barge", axis="z", body_axis="z").values
    return float(np.degrees(np.arccos(np.clip(up, -1.0, 1.0))).max())


def main() -> None:
    for rate in (0.5, 4.0):
        run = sw.simulate(sw.compile(barge(rate), nonlinear=True), duration=10.0, rtol=1e-7)
        lost = float(np.abs(run["energy_residual"]).max() / run["kinetic_energy"].max())
        print(f"pushed at {rate} rad/s: list {largest_list(run):.0f} deg, energy to {lost:.0e}")
        assert (largest_list(run) > 170.0) == (rate > 1.0)
        assert lost < 1e-4

    # the righting arm changes sign at the angle of vanishing stability, which linear theory
    # does not have
    model = sw.compile(barge(0.0), nonlinear=True)
    waves = sw.RegularWave(height=3.0, period=7.0, beta=np.pi / 2, ramp=7.0)
    run = sw.simulate(model, waves, duration=60.0)
    print(f"beam waves of 3 m: list {largest_list(run):.0f} deg")
    assert 5.0 < largest_list(run) < 60.0


if __name__ == "__main__":
    main()
