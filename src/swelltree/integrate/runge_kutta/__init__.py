"""Runge-Kutta and implicit methods: `smooth` steps through output times.

`attempt` is one attempt at a step, with events and the implicit method, `explicit` the stages,
`control` the length of steps, `adjoint` derivatives of a run by its steps backwards.
"""
