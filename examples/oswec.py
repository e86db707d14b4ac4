"""A flap hinged near the seabed (OSWEC), released at ten degrees; then with a damper in waves.

Capytaine data of the flap and its base; compared with WEC-Sim. Needs the reference data.
"""

import numpy as np
from reference import reference

import swelltree as sw


def main() -> None:
    data = sw.read_hydro(
        reference("bem_oswec", "capytaine", "oswec_hydrodynamics.nc"),
        names=["flap", "base"],
        gaps="drop",  # the lowest three frequencies hold NaN
    )
    data = data.sel(omega=data["omega"] <= 8.0)  # irregular frequencies above
    model = sw.compile(
        sw.gallery.oswec(0.0, angle=np.radians(10.0)).bare, data, fit={"error": 0.01}
    )
    times = np.arange(0.0, 130.0, 0.05)
    pitch = (
        sw.simulate(model, times=times)["joint_coordinate"].sel(coordinate="hinge__Pitch").values
    )
    internal = (pitch[1:-1] > pitch[:-2]) & (pitch[1:-1] >= pitch[2:])
    at, peaks = times[1:-1][internal], pitch[1:-1][internal]
    period = float(np.diff(at)[:5].mean())
    print(f"period {period:.2f} s (WEC-Sim 19.27)")
    print(f"peaks {peaks[:3].round(4)} (WEC-Sim 0.1451 0.1289 0.1146)")
    assert abs(period / 19.27 - 1) < 0.01
    assert np.abs(peaks[:3] / [0.14514, 0.12885, 0.11459] - 1).max() < 0.03

    # with a damper, in a wave of one metre: power
    model = sw.compile(sw.gallery.oswec(5e6).bare, data)
    linear = sw.rao(model, omega=np.linspace(0.4, 2.0, 17), wave_direction=0.0)
    power = 0.5**2 * linear["absorbed_power"].squeeze() / 1e3
    best = float(linear["omega"][int(np.argmax(power.values))])
    print(f"most power {float(power.max()):.1f} kW at {best:.2f} rad/s in waves of 1 m height")
    assert float(power.min()) > 0.0


if __name__ == "__main__":
    main()
