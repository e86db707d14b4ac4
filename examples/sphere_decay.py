"""A floating sphere released from one metre above rest (IEA OES Task 10), in heave.

The data come from a BEM run on a half sphere; where the reference data are at hand, the motion is
compared with the InWave+HOTINT run of Wendt et al. (2019).
"""

import numpy as np
from reference import reference

import swelltree as sw

MASS = 261_800.0  # kg


def sphere() -> sw.System:
    ball = sw.Body(
        "sphere",
        mass=MASS,
        inertia=(1.69e6, 1.69e6, 2.61e6),
        position=(0, 0, -2),
        hull=sw.Sphere(5.0, panel_size=0.7),
    )
    heave = sw.Slider("heave", sw.WORLD.at(0, 0, -2), ball, axis="z", position=1.0)
    return sw.System("sphere decay", [ball], [heave], water=sw.Water(rho=1000.0))


def main() -> None:
    system = sphere()
    data = sw.run_bem(system, np.arange(0.2, 5.01, 0.2))
    model = sw.compile(system, data)
    times = np.arange(0.0, 40.0, 0.01)
    run = sw.simulate(model, times=times)
    heave = run["joint_coordinate"].sel(coordinate="heave__Heave").values
    up = times[1:][(heave[:-1] > 0) & (heave[1:] <= 0)]
    print(f"periods {np.diff(up)[:3].round(3)} s")
    assert abs(np.diff(up)[0] - 4.40) < 0.06
    try:
        table = np.loadtxt(reference("ts_sphere", "decay", "sphere_decay_ref_data.txt"), skiprows=1)
    except SystemExit as none:
        print(none)
        return
    other = np.interp(times, table[:, 0], table[:, 6])
    gap = np.abs(heave - other)[times < table[-1, 0]].max()
    print(f"largest difference from InWave+HOTINT {gap:.4f} m of 1 m")
    # proposed for this benchmark: 0.015 m; panels of 1.1 m give 0.021, of 0.55 m 0.010
    assert gap < 0.015


if __name__ == "__main__":
    main()
