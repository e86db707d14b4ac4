"""Solvers for functions of arrays: time stepping, Newton, chunked runs.

A problem is a few pure functions; only `complementarity` knows of bodies and joints.
"""
