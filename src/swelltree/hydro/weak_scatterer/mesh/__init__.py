"""Surfaces of triangles: bodies, free surface and wall of the tank, made and checked with numpy."""
