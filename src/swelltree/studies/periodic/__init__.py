"""Periodic steady states by Fourier series.

`steady_state` is the function users call, `problem` the equations, `nodes` their values in time,
`solve` the Newton iteration.
"""
