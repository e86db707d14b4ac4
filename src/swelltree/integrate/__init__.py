"""Solvers for functions of arrays; only `complementarity` knows of bodies and joints.

`stepper`: the interface of time stepping and its driver, in chunks, with `checkpoint`. `problem`:
what a stepper is given and how it ended. `runge_kutta`: explicit and implicit steps, events,
adjoint. `newton`: damped Newton iteration. `programming`: quadratic and sequential programs.
`fourier`, `linear_reduction`, `extremes`: series, smaller linear systems, extremes between samples.
"""
