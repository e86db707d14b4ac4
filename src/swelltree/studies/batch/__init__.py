"""Many cases of one model at once.

`batch` is the function users call. `cases` makes the model of each case; `engine` runs a scheme
(`runge_kutta`, `complementarity`) on a target, chosen in `engines`; `sequential` is the last
resort. Loads of waves are summed by `many_seas`, `lane_wave_sums`, `gpu_wave_sums`; `summaries`
reduces samples.
"""
