"""A flap hinged near the seabed (OSWEC), released at ten degrees; then with a damper in waves.

The device and its hydrodynamic data come from the gallery; period and peaks of the decay are
compared with WEC-Sim.
"""

import numpy as np

import swelltree as sw


def main() -> None:
    flap = sw.gallery.oswec(damping=0.0, angle=np.radians(10.0))
    times = np.arange(0.0, 130.0, 0.05)
    run = sw.simulate(flap.model(fit={"error": 0.02}), times=times)
    pitch = run["joint_coordinate"].sel(coordinate="hinge__Pitch").values
    peak = (pitch[1:-1] > pitch[:-2]) & (pitch[1:-1] >= pitch[2:])
    period = float(np.diff(times[1:-1][peak])[:5].mean())
    peaks = pitch[1:-1][peak][:3]
    print(f"period {period:.2f} s (WEC-Sim 19.27)")
    print(f"peaks {peaks.round(4)} rad (WEC-Sim 0.1451 0.1289 0.1146)")
    assert abs(period / 19.27 - 1) < 0.01
    assert np.abs(peaks / [0.14514, 0.12885, 0.11459] - 1).max() < 0.03

    # power of a damper in waves of one metre height
    device = sw.gallery.oswec(damping=5e6)
    linear = sw.rao(device.model(), omega=np.linspace(0.4, 2.0, 17), wave_direction=0.0)
    power = 0.5**2 * linear["absorbed_power"].squeeze() / 1e3
    best = float(linear["omega"][int(np.argmax(power.values))])
    print(f"maximum power {float(power.max()):.1f} kW at {best:.2f} rad/s in waves of 1 m height")
    assert float(power.min()) > 0.0


if __name__ == "__main__":
    main()
