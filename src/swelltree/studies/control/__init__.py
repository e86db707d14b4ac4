"""Optimal and predictive control, control laws, observers.

`optimal_control` is the function users call, `control_study` its problem: `actuators`, `goal`,
`limits` of `limited` quantities; solved in `linear` or `nonlinear` at the `nodes`. `predictive`:
MPC. `laws`: simple laws. `excitation_observer`, `report`: estimates of the excitation, and what a
controller would get.
"""
