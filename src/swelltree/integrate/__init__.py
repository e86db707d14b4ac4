"""Solvers for functions of arrays: time stepping, Newton, chunked runs.

Nothing here knows of bodies or joints; a problem is a few pure functions.
"""
