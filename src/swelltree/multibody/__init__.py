"""Rigid bodies and joints: positions, constraints, inertia, five formulations.

`layout`: static description of bodies and joints, made by `build_layout`, with the constraint rows
of the kinds in `rows`. `kinematics`: poses and velocities. `inertia`: mass and bias forces.
"""
