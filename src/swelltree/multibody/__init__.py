"""Rigid bodies and joints: layout, kinematics, inertia, constraints, five formulations."""
