"""Runs in time.

`simulate`: one run and its result. `task`: what it is to do. `smooth`: stepper of Runge-Kutta
methods; `complementarity`: that of lines and contacts. `verify`: the run judged afterwards.
`stepped`: runs by hand. `operability`: many conditions judged by limits.
"""
