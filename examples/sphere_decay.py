"""A floating sphere released one metre above equilibrium (IEA OES Task 10), in heave.

The sphere and its data come from the gallery. `swelltree validate` compares the whole motion with
the codes of Wendt et al. (2019).
"""

import numpy as np

import swelltree as sw


def main() -> None:
    run = sw.simulate(sw.gallery.sphere(lift=1.0).model(), duration=40.0, output_step=0.01)
    heave = run["joint_coordinate"].sel(coordinate="heave__Heave").values
    times = run["time"].values
    falling = times[1:][(heave[:-1] > 0) & (heave[1:] <= 0)]
    periods = np.diff(falling)
    print(f"periods {periods[:3].round(3)} s")
    assert abs(periods[0] - 4.40) < 0.06  # of the participants of Task 10


if __name__ == "__main__":
    main()
