"""Joints: the base class, its kinds, couplings between joint coordinates."""
