"""A floating sphere released from one metre above rest (IEA OES Task 10), in heave.

The sphere and its data come from the gallery; where the reference data are at hand, the motion is
compared with the InWave+HOTINT run of Wendt et al. (2019).
"""

import numpy as np
from reference import reference

import swelltree as sw


def main() -> None:
    model = sw.gallery.sphere(lift=1.0).model()
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
